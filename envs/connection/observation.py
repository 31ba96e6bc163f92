"""The observation of a player of Hex or Y, written once for tensors and for NumPy arrays."""

from __future__ import annotations

from typing import Any

__all__ = ["OFF", "num_planes", "planes"]

OFF = 3
"""A place of a plane that is no cell of the board."""


def num_planes(kinds: int) -> int:
    """Return the number of planes: own, the opponent's and free cells of each kind, and one for the colour."""
    return 3 * kinds + 1


def planes(board: Any, player: Any) -> tuple[Any, Any, Any, Any]:
    """Return own stones, the opponent's stones, free cells, and whether the player is Black (goals differ by colour).

    Args:
        board: integers [..., K, n, n]; 0 free, 1 Black, 2 White, `OFF` off the board.
        player: 0 for Black, 1 for White; broadcastable with the board.

    Returns:
        bool, the first three like the board and the fourth like the player.
    """
    return board == player + 1, board == 2 - player, board == 0, player == 0
