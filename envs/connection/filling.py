"""The ends of random games of Hex and Y, without playing them.

On a full board exactly one side has won, and stones never leave. So a game that goes on at random is won by the side
that wins the board when its free cells are filled at random, half of them by each side. Sixty games and more are looked
at in one operation: a bit of a word is a game.

Letters: `X` games, `N` cells, `W = ceil(X / 32)` words.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads
from cellgames.envs.stones.stone_tensors import filled

from .board_tables import board_tables, native_board
from .boards import Board

_GAMES_A_THREAD = 128  # of native code: starting a thread takes as long as some dozens of games


@Operator
def winners(stones: Tensor, player: Tensor, lots: Tensor, board: Board) -> Tensor:
    """Return the winners of random play from these positions: 1 Black, 2 White, int32 [X]; see `StoneGame._winners`."""
    full = filled(stones, player, lots)
    return torch.where(_black_wins(board, full == 1), 1, 2).to(torch.int32)


@winners.native
def _native_winners(native: Library, stones: Tensor, player: Tensor, lots: Tensor, board: Board) -> Tensor:
    """Return `winners`, by `sources/connection.cpp`."""
    given, games = ctypes.byref(native_board(board)), len(stones)
    winner, number = player.new_empty(games, dtype=torch.int32), threads(games, _GAMES_A_THREAD)
    native.cellgames_connection_winners(given, games, number, stones.int(), player, lots, winner)
    return winner


def _black_wins(board: Board, black: Tensor) -> Tensor:
    """Return a mask of Black's wins, bool [X], of full boards, bool [X, N]."""
    tables = board_tables(board, black.device)
    # What each side of Black's goal reaches through its stones.
    goal = torch.tensor([side for side in (1, 2, 4, 8) if board.goals[0] & side], device=black.device)
    lies = tables.sides & goal[:, None]
    reached = black & (lies != 0)[:, None]  # [sides, X, N]
    while True:
        before = reached
        for ring in tables.near[: len(board.rings[0])]:
            reached = reached | (reached[..., ring] & black)
        if torch.equal(before, reached):
            return reached.all(0).any(1)
