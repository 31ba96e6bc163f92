"""Hex, a connection game by Piet Hein and John Nash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .boards import Shape
from .game import ConnectionGame

__all__ = ["Hex"]


@dataclass(frozen=True)
class Hex(ConnectionGame):
    """Hex by Piet Hein and John Nash: connect two opposite sides of a rhombus.

    Two players, Black first, put one stone a turn on a free cell. Black wins by a group that connects the top and the
    bottom, White by one that connects left and right. A full board always has exactly one winner. Mark Steere shows
    in the rule sheet of Torus that octagons and squares carry the game, too.

    Attributes:
        size: cells a side, 2 to 22 on hexagons (usual are 11, 13, 14 and 19), 2 to 16 on octagons.
        tiling: "hexagons", or "octagons" with a square wherever four of them meet.
        swap: True if White may, in place of its first move, take over Black's first stone, mirrored so that it serves
            White's goal as it served Black's.
    """

    size: int = 11

    id: ClassVar[str] = "hex-v0"
    shape: ClassVar[Shape] = "rhombus"
    title: ClassVar[str] = "Hex"
    credit: ClassVar[str] = "Hex by Piet Hein (1942) and John Nash (1948)"
