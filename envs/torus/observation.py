"""The observation of a player of Torus, written once for tensors and for NumPy arrays."""

from __future__ import annotations

from typing import Any

__all__ = ["PLANES", "planes"]

PLANES = 5  # own octagons, own squares, the opponent's octagons, the opponent's squares, 1 everywhere for Black


def planes(board: Any, player: Any) -> tuple[Any, Any, Any]:
    """Return own stones, the opponent's stones, and whether the player is Black (the goals differ by colour).

    Args:
        board: integers [..., 2, n, n], octagons and squares; 0 free, 1 Black, 2 White.
        player: 0 for Black, 1 for White; broadcastable with the board.

    Returns:
        bool, the first two like the board and the third like the player: what the host lays one after the other
        into `PLANES` planes of n x n.
    """
    return board == player + 1, board == 2 - player, player == 0
