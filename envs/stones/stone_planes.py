"""The planes of a board of connected stones that a player sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator, pointer

from .joining import COLOUR
from .stone_tensors import threads_for

OFF = 3
"""The colour of a place of a plane that is no cell of the board."""


@Operator
def planes(codes: Tensor, player: Tensor, places: Tensor | None, size: int, free: bool) -> Tensor:
    """Return own stones, the opponent's, free cells if `free`, and 1 everywhere for Black: int8 [B, C, n, n].

    Codes are int32 [B, N], players who look int64 [B]. The cell at each place of `K` planes is `places`, int64 [K n^2],
    `N` at a place without a cell; None if the cells are numbered by their places.
    """
    stones = codes & COLOUR
    if places is not None:
        stones = torch.nn.functional.pad(stones, (0, 1), value=OFF)[:, places]
    grids, seat = stones.view(len(codes), -1, size, size), player.view(-1, 1, 1, 1)
    parts = [grids == seat + 1, grids == 2 - seat, *([grids == 0] if free else [])]
    return torch.cat((*parts, (seat == 0).expand(-1, 1, size, size)), 1).to(torch.int8)


@planes.native
def _native_planes(
    native: Library, codes: Tensor, player: Tensor, places: Tensor | None, size: int, free: bool
) -> Tensor:
    kinds = (codes.shape[1] if places is None else len(places)) // (size * size)
    seen = torch.empty((len(codes), (3 if free else 2) * kinds + 1, size, size), dtype=torch.int8, device="cpu")
    codes, player = codes.contiguous(), player.contiguous()  # kept until the end of the call
    native_writer(native, codes, player, places, size, free, seen.dtype)(seen.data_ptr())
    return seen


def native_writer(
    native: Library, codes: Tensor, player: Tensor, places: Tensor | None, size: int, free: bool, dtype: torch.dtype
) -> Callable[[int], object]:
    """Return the call that writes `planes` of this memory, as int8 or float32, to an address."""
    games, cells = codes.shape
    return partial(
        native.cellgames_stone_planes,
        games,
        threads_for(games),
        cells,
        cells if places is None else len(places),
        size * size,
        free,
        dtype == torch.float32,
        None if places is None else places.data_ptr(),
        pointer(codes, torch.int32),
        pointer(player, torch.int64),
    )
