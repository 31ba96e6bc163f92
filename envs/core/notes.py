"""Notes: an analysis of a position, for games to draw on their boards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .drawing import Inset, Picture, Text

__all__ = ["Notes", "headed"]

_INK = "#3b362f"
_HEADER = 34.0


@dataclass(frozen=True)
class Notes:
    """Shares and numbers by action, and a line of moves to come.

    Attributes:
        title: a line above the board.
        shares: by action, how much of a search went there, 0 to 1; an action that is not named got nothing.
        numbers: by action, what to write there, at most three characters.
        meaning: of the numbers, such as "win chance of Black in %".
        line: moves in their order, each an action and the player who makes it.
        of: what the shares are shares of, in words.
        most: the share that is drawn as the most; None for the largest one.
    """

    title: str
    shares: Mapping[int, float] = field(default_factory=dict)
    numbers: Mapping[int, str] = field(default_factory=dict)
    meaning: str = ""
    line: tuple[tuple[int, int], ...] = ()
    of: str = "of all visits"
    most: float | None = None


def headed(picture: Picture, title: str) -> Picture:
    """Return the picture below a line of text."""
    size = min(17.0, picture.width / (0.56 * max(1, len(title))))  # letters are about half as wide as high
    line = Text(picture.width / 2, 24, title, size, _INK, "middle", bold=True)
    spoken = f"{title}. {picture.title}" if picture.title else title
    return Picture(
        picture.width, picture.height + _HEADER, picture.background, (line, Inset(0, _HEADER, picture)), spoken
    )
