"""Visitors' own text in messages, shortened."""

from __future__ import annotations

__all__ = ["ECHO", "clipped", "short"]

ECHO = 80
"""Characters of a visitor's own text that a message repeats."""


def short(value: object) -> str:
    """Return the value as Python writes it, cut to `ECHO` characters."""
    text = repr(value)
    return text if len(text) <= ECHO else f"{text[: ECHO - 3]}..."


def clipped(text: str) -> str:
    """Return the text on one line, with words of more than `ECHO` characters cut."""
    words = (word if len(word) <= ECHO else f"{word[: ECHO - 3]}..." for word in text.split())
    return " ".join(words)
