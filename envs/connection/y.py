"""Y, a connection game by Claude Shannon, and by Charles Titus and Craige Schensted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .boards import Shape
from .game import ConnectionGame

__all__ = ["Y"]


@dataclass(frozen=True)
class Y(ConnectionGame):
    """Y by Claude Shannon, and by Charles Titus and Craige Schensted: connect all three sides of a triangle.

    Two players, Black first, put one stone a turn on a free cell. Whoever has a group that touches all three sides
    wins; a cell in a corner belongs to two sides. A full board always has exactly one winner. Mark Steere shows in
    the rule sheet of Torus that octagons and squares carry the game, too.

    Attributes:
        size: cells a side, 2 to 22 on hexagons, 2 to 16 on octagons.
        tiling: "hexagons", or "octagons" with a square wherever four of them, or three at the slanted side, meet.
        swap: True if White may, in place of its first move, make Black's first stone its own.
    """

    size: int = 13

    id: ClassVar[str] = "y-v0"
    shape: ClassVar[Shape] = "triangle"
    title: ClassVar[str] = "Y"
    credit: ClassVar[str] = "Y by Claude Shannon (1950s), and by Charles Titus and Craige Schensted (1953)"
