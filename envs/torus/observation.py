"""What a player of Torus sees, written once for tensors and for NumPy arrays."""

from __future__ import annotations

from typing import Any

__all__ = ["paint"]


def paint(planes: Any, board: Any, player: Any) -> None:
    """Fill `planes` [..., 5, n, n] from `board` [..., 2, n, n] (0 free, 1 Black, 2 White; octagons, squares).

    Planes: own octagons, own squares, the opponent's octagons, the opponent's squares, 1 everywhere if the
    player is Black (the goals differ by colour). `player` is 0 (Black) or 1, broadcastable with the board.
    """
    planes[..., 0:2, :, :] = board == player + 1
    planes[..., 2:4, :, :] = board == 2 - player
    planes[..., 4:5, :, :] = player == 0
