"""Lookahead over many boards of Grid Adaptation, for players who try out spaces.

Instead of the digits of sequences boards hold where they match a player's own: the rules ask for nothing but majorities
of digits, so they hold for matches as well.

Letters: `L` games, `W` words of a board (see `boards.packedboards`), `X` boards, `N` spaces of a board.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import full_adder, popcount
from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.kernels.compiling import Compile, Kernel, kernel
from cellgames.envs.kernels.lookup_tables import table

__all__ = ["ILLEGAL", "digits_ahead", "outlook", "tiles_on"]

ILLEGAL = -(1 << 60)
"""Less than any worth: of what cannot be played."""

_BATCH = 4096  # boards that run together once the code is compiled, which it is for one number of them


def tiles_on(grid: PackedGrid, spaces: Tensor) -> Tensor:
    """Return boards [W, ...] with tiles on spaces, int64 [..., K]; `N` names none."""
    singles = _singles(grid, spaces.device)
    return functools.reduce(torch.bitwise_or, (singles[:, space] for space in spaces.unbind(-1)))


def outlook(
    grid: PackedGrid,
    tiles: Tensor,
    matches: Sequence[Tensor],
    weights: Sequence[int],
    left: Tensor,
    compile: Compile = "auto",
) -> Tensor:
    """Return by how much matching digits outnumber others in the generations to come: weighted sums.

    In each generation that is 2 * points - 3 * tiles, in proportion to the lead over the mean of all eight sequences.

    Args:
        grid: how boards are packed.
        tiles: boards [W, L, ...].
        matches: boards [W, L, ...] for each digit, where it is the player's own.
        weights: of the generations.
        left: int64 [L], generations until the match ends; those after it count nothing.
        compile: see `kernels.compiling.kernel`.

    Returns:
        int64 [L, ...].
    """
    shape = tiles.shape[1:]
    worth = tiles.new_zeros(shape)
    planes = [plane.flatten(1) for plane in (tiles, *matches)]
    for later, (weight, (balance,)) in enumerate(
        zip(weights, _balances(grid, planes, len(weights), _total, compile), strict=True)
    ):
        counts = weight * (left > later)
        worth += balance.view(shape) * counts.view(-1, *[1] * (len(shape) - 1))
    return worth


def digits_ahead(
    grid: PackedGrid, tiles: Tensor, matches: Sequence[Tensor], generations: int, compile: Compile = "auto"
) -> Tensor:
    """Return by how much each digit matches more often than not, after each of some generations.

    The sum over the digits is what `outlook` weighs. For a sequence that differs from the player's own in some digits,
    theirs count the other way round.

    Args:
        grid: as in `outlook`, and so are tiles, matches and compile.
        tiles: boards [W, L, ...].
        matches: boards [W, L, ...].
        generations: how many.
        compile: see `kernels.compiling.kernel`.

    Returns:
        int64 [generations, digits, L, ...].
    """
    planes = [plane.flatten(1) for plane in (tiles, *matches)]
    found = _balances(grid, planes, generations, _each, compile)
    return torch.stack([torch.stack(digits) for digits in found]).view(generations, -1, *tiles.shape[1:])


_Count = Callable[..., tuple[Tensor, ...]]


def _balances(
    grid: PackedGrid, planes: list[Tensor], generations: int, count: _Count, compile: Compile
) -> list[tuple[Tensor, ...]]:
    """Return `count` of four planes [W, X] after each generation, int64 [X] each."""
    boards, numbers = planes[0].shape[1], 1 if count is _total else len(planes) - 1
    chunks = -(-boards // _BATCH)
    live, tell = _kernels(grid, planes[0].device, count, numbers, compile, chunks * generations)
    if not (live.compiled and tell.compiled):
        return _eagerly(grid, planes, generations, count)
    found = [tuple(planes[0].new_empty(chunks * _BATCH) for _ in range(numbers)) for _ in range(generations)]
    for start in range(0, boards, _BATCH):
        some = [plane[:, start : start + _BATCH] for plane in planes]
        now = [torch.nn.functional.pad(plane, (0, _BATCH - plane.shape[1])).contiguous() for plane in some]
        then = [torch.empty_like(plane) for plane in now]
        for balances in found:
            live([*now, *then])
            now, then = then, now
            tell([*now, *(balance[start : start + _BATCH] for balance in balances)])
    return [tuple(balance[:boards] for balance in balances) for balances in found]


def _eagerly(grid: PackedGrid, planes: list[Tensor], generations: int, count: _Count) -> list[tuple[Tensor, ...]]:
    found = []
    for _ in range(generations):
        tiles, matches = rules.generation(grid, planes[0], planes[1:])
        planes = [tiles, *matches]
        found.append(count(*planes))
    return found


def _kernels(
    grid: PackedGrid, device: torch.device, count: _Count, numbers: int, compile: Compile, calls: int
) -> tuple[Kernel, Kernel]:
    """Return two kernels: a generation of four planes into four others, and the count of four planes."""

    def live(tiles: Tensor, one: Tensor, two: Tensor, three: Tensor, *then: Tensor) -> None:
        after, matches = rules.generation(grid, tiles, [one, two, three])
        for plane, out in zip((after, *matches), then, strict=True):
            out.copy_(plane)

    def tell(tiles: Tensor, one: Tensor, two: Tensor, three: Tensor, *out: Tensor) -> None:
        for balance, place in zip(count(tiles, one, two, three), out, strict=True):
            place.copy_(balance)

    plane = torch.empty(grid.words, _BATCH, dtype=torch.int64, device=device)
    return (
        kernel(live, [plane] * 8, compile=compile, calls=calls),
        kernel(tell, [plane] * 4 + [plane[0]] * numbers, compile=compile, calls=calls),
    )


def _total(tiles: Tensor, *matches: Tensor) -> tuple[Tensor, ...]:
    """Return 2 * points - 3 * tiles, int64 [X]."""
    ones, twos = full_adder(*matches)
    points = popcount(ones) + 2 * popcount(twos)
    return ((2 * points - 3 * popcount(tiles)).sum(0),)


def _each(tiles: Tensor, *matches: Tensor) -> tuple[Tensor, ...]:
    """Return 2 * matches - tiles for each digit, int64 [X]."""
    number = popcount(tiles)
    return tuple((2 * popcount(match) - number).sum(0) for match in matches)


@table
def _singles(grid: PackedGrid, device: torch.device) -> Tensor:
    """Return int64 [W, N + 1]: a board for each space with a tile there, and an empty one."""
    spaces = grid.rows * grid.cols
    cells = torch.eye(spaces + 1, spaces, device=device, dtype=torch.float32)
    return grid.pack(cells.view(-1, grid.rows, grid.cols))
