"""The boards of Hex and Y as tensors, and as native code takes them."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.envs.core.native_step import structure
from cellgames.envs.native.operators import table

from .boards import Board


class Tables(NamedTuple):
    """A board as tensors.

    Attributes:
        near: int64 [8, N], four slots of two neighbours; the cell itself for a missing one, as for two of hexagons.
        sides: int32 [N].
        mirrored: int64 [N], where a swap puts the stone of a cell.
        goals: int32 [2].
        cells: int32 [N], 0 to N - 1.
        places: int64 [K n^2], the cell at each place of the planes, N off the board.
    """

    near: Tensor
    sides: Tensor
    mirrored: Tensor
    goals: Tensor
    cells: Tensor
    places: Tensor


@table
def board_tables(board: Board, device: torch.device) -> Tables:
    """Return a board as tensors."""
    cells = torch.arange(board.cells, dtype=torch.int32, device=device)
    places = torch.full((board.kinds * board.size**2,), board.cells, device=device)
    places[cell_places(board, device)] = cells.long()
    return Tables(
        near=torch.tensor(board.slots, device=device).t().contiguous(),
        sides=torch.tensor(board.sides, dtype=torch.int32, device=device),
        mirrored=torch.tensor(board.swapped, device=device),
        goals=torch.tensor(board.goals, dtype=torch.int32, device=device),
        cells=cells,
        places=places,
    )


@table
def symmetries(board: Board, swap: bool, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the action, int64 [S, A], and the place of the planes, int64 [S, K n^2], that come to each.

    With a swap they keep its cell: a reflection that does not change places with the swap's is left out.
    """
    mirror = board.swapped
    kept = [
        turn
        for turn in board.symmetries
        if not swap or all(turn[mirror[cell]] == mirror[turn[cell]] for cell in range(board.cells))
    ]
    of_actions = torch.tensor([[*turn, *([board.cells] if swap else [])] for turn in kept], device=device)
    sources = torch.arange(board.kinds * board.size**2, device=device).repeat(len(kept), 1)
    at = cell_places(board, device)
    sources[:, at] = at[torch.tensor(kept, device=device)]
    return of_actions, sources


@table
def cell_places(board: Board, device: torch.device) -> Tensor:
    """Return the place of each cell in the planes, int64 [N]."""
    size = board.size
    return torch.tensor([(kind * size + row) * size + col for kind, row, col in board.spots], device=device)


@cache
def native_board(board: Board, *, swap: bool = False) -> ctypes.Structure:
    """Return `CellgamesConnectionBoard` of sources/connection.h, kept for good."""
    arrays = {"near": board.slots, "sides": board.sides, "mirrored": board.swapped}
    tables = {name: torch.tensor(array, dtype=torch.int32, device="cpu") for name, array in arrays.items()}
    return structure(cells=board.cells, swap=swap, black=board.goals[0], white=board.goals[1], **tables)
