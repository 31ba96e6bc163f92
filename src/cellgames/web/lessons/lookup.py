"""The lessons by game."""

from __future__ import annotations

from cellgames.envs.registry import REGISTRY, spec
from cellgames.plugins import resolve

from .lesson import Lesson

__all__ = ["lesson_of"]


def lesson_of(id: str) -> Lesson | None:
    """Return the lesson of a game by its id or that of a preset; None if it has none."""
    page = spec(id).plugin.page if id in REGISTRY else None
    if page is None or page.lesson is None:
        return None
    found: Lesson = resolve(page.lesson)
    return found
