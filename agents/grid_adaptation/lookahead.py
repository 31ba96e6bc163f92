"""Lookahead over many boards of Grid Adaptation, for players who try out spaces.

Instead of the digits of sequences boards hold where they match a player's own: the rules ask for nothing but majorities
of digits, so they hold for matches as well.

Letters: `L` games, `G` guesses of each, `C` tiles or sets of tiles to try out, `W` words of a board (see
`boards.packedboards`), `N` spaces of a board.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.kernels.lookup_tables import table
from cellgames.envs.native import Library, Operator, pointer
from cellgames.utils.errors import InputError

ILLEGAL = -(1 << 60)
"""Less than any worth: of what cannot be played."""

_WORK_OF_A_THREAD = 1 << 15  # generations of single boards that take several times as long as starting a thread


def tiles_on(grid: PackedGrid, spaces: Tensor) -> Tensor:
    """Return boards [W, ...] with tiles on spaces, int64 [..., K]; `N` names none."""
    singles = _singles(grid, spaces.device)
    return functools.reduce(torch.bitwise_or, (singles[:, space] for space in spaces.unbind(-1)))


def base_of(tiles: Tensor, matches: Sequence[Tensor], barred: Tensor | None = None) -> Tensor:
    """Return boards for `tried`, int64 [5, W, L, G], of tiles, and of each digit where it is the player's own.

    All are [W, L, G], or [W, L] for a single one of each game; `barred` are spaces where no tile of the player's own
    can land, by default those with tiles.
    """
    base = torch.stack((tiles, *matches, tiles if barred is None else barred))
    return base if base.ndim == 4 else base[..., None]


def tried(grid: PackedGrid, base: Tensor, own: Tensor, generations: int) -> Tensor:
    """Return matching minus mismatching tiles per generation and digit.

    The sum over the digits is 2 * points - 3 * tiles, in proportion to the lead over the mean of all eight sequences.
    For a sequence that differs from the player's own in some digits, theirs count the other way round.

    Args:
        grid: how boards are packed.
        base: boards before the player's own tiles land, int64 [5, W, L, G], see `base_of`.
        own: boards of own tiles to try out, int64 [W, L or 1, C]. One on a tile that is not barred takes it away, for
            somebody else has named the space.
        generations: number of generations.

    Returns:
        int32 [generations, digits, L, C], summed over the guesses.
    """
    if grid.rows != grid.cols:
        raise InputError("grid", "a square board", f"{grid.rows} x {grid.cols}")
    return _tried(base, own, grid.rows, generations)


def weighted(found: Tensor, weights: Sequence[int], left: Tensor) -> Tensor:
    """Return weighted sums of the results of `tried` over generations and digits, int64 [L, C].

    The match ends after `left`, int64 [L], generations; those after it count nothing.
    """
    place = torch.arange(len(weights), device=left.device)[:, None]
    counts = torch.tensor(weights, device=left.device)[:, None] * (left > place)
    return (found.sum(1) * counts[:, :, None]).sum(0)


@Operator
def _tried(base: Tensor, own: Tensor, size: int, generations: int) -> Tensor:
    """Return `tried`."""
    grid = PackedGrid(size, size)
    tiles, *matches, barred = base[..., None].unbind()  # [W, L, G, 1]
    own = own[:, :, None] & ~barred
    tiles = tiles ^ own
    matches = [(match | own) & tiles for match in matches]
    found = []
    for _ in range(generations):
        tiles, matches = rules.generation(grid, tiles.flatten(1), [match.flatten(1) for match in matches])
        count = grid.count(tiles)
        found += [2 * grid.count(match) - count for match in matches]
    shape = (generations, len(matches), *base.shape[2:], own.shape[-1])
    return torch.stack(found).view(shape).sum(3).int()


@_tried.native
def _native_tried(native: Library, base: Tensor, own: Tensor, size: int, generations: int) -> Tensor:
    """Return `tried`."""
    _, words, rows, guesses = base.shape
    _, own_rows, candidates = own.shape
    if len(base) != 5 or own_rows not in (1, rows) or words != len(own) or words != PackedGrid(size, size).words:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    out = torch.empty((generations, 3, rows, candidates), dtype=torch.int32, device="cpu")
    work = rows * guesses * candidates * generations
    threads = min(torch.get_num_threads(), 1 + work // _WORK_OF_A_THREAD)
    numbers = (ctypes.c_int64 * 7)(size, rows, own_rows, guesses, candidates, generations, threads)
    base, own = base.contiguous(), own.contiguous()
    addresses = pointer(base, torch.int64), pointer(own, torch.int64), pointer(out, torch.int32)
    native.cellgames_grid_adaptation_trials(numbers, *addresses)
    return out


@table
def _singles(grid: PackedGrid, device: torch.device) -> Tensor:
    """Return int64 [W, N + 1]: a board for each space with a tile there, and an empty one."""
    spaces = grid.rows * grid.cols
    cells = torch.eye(spaces + 1, spaces, device=device, dtype=torch.float32)
    return grid.pack(cells.view(-1, grid.rows, grid.cols))
