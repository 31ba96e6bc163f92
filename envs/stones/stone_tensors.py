"""Stones on boards of many games at the same time: the tensor side of `joining`, planes, random full boards.

Letters: `B` games, `N` cells, `W = ceil(N / 32)` words of a packed mask; `X` games to fill at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator, pointer
from cellgames.envs.native.native_library import threads

from .joining import COLOUR, GROUP

WORD_SHIFT = 5
WORD = 1 << WORD_SHIFT
"""Cells in a word of a packed mask: bit j of word w is cell 32 w + j, and the upper half is not used."""

LOTS = 1 << 21
"""Random numbers for `filled` are below this."""

OFF = 3
"""The colour of a place of a plane that is no cell of the board."""

_PLACE_BITS = 9  # of a cell's number
_GAMES_A_THREAD = 1024  # of native steps: starting a thread takes as long as some hundreds of games


def where(condition: Tensor, yes: Tensor, no: Tensor | int) -> Tensor:
    """Return `torch.where` for integers, quicker where `no` is 0 and there is no compiler to make it so."""
    if isinstance(no, int) and no == 0 and not torch.compiler.is_compiling():
        return condition * yes
    return torch.where(condition, yes, no)


def free_words(batch: int, cells: int, actions: int, device: torch.device) -> Tensor:
    """Return the packed mask of new games, int64 [B, W]: all cells, no action after those.

    In memory the batch is innermost.
    """
    full = [max(0, min(WORD, cells - start)) for start in range(0, actions, WORD)]
    words = torch.tensor([(1 << bits) - 1 for bits in full], device=device)
    return words[:, None].expand(-1, batch).contiguous().t()


def taken(free: Tensor, cell: Tensor) -> Tensor:
    """Return a packed mask, int64 [B, W], in which a cell, int64 [B], is no longer free."""
    word, bit = cell >> WORD_SHIFT, 1 << (cell & (WORD - 1))
    return torch.stack([bits & ~where(word == index, bit, 0) for index, bits in enumerate(free.unbind(1))]).t()


def threads_for(games: int) -> int:
    """Return the number of threads for a native step of `games` games."""
    return threads(games, _GAMES_A_THREAD)


def put_natively(
    function: Callable[..., object], board: object, fields: Sequence[Tensor], cell: Tensor, player: Tensor
) -> tuple[Tensor, ...]:
    """Return fields after stones of `player` on `cell`, int64 [B] both, and a mask of won games, bool [B].

    The function of the native library takes the board, the numbers of games and of threads, the cells, the players, the
    fields (codes, int32 [B, N], and others of the game), which it changes, and the mask of won games, which it fills.
    """
    # Fields of words have the batch innermost in memory, the others each game's numbers.
    after = [
        field.t().clone(memory_format=torch.contiguous_format).t()
        if field.dtype == torch.int64
        else field.clone(memory_format=torch.contiguous_format)
        for field in fields
    ]
    won = cell.new_empty(len(cell), dtype=torch.bool)
    function(board, len(cell), threads_for(len(cell)), cell, player, *(x.data_ptr() for x in (*after, won)))
    return *after, won


def relabelled(
    codes: Tensor, cells: Tensor, place: Tensor, code: Tensor, groups: Sequence[Tensor], shifts: Sequence[Tensor]
) -> Tensor:
    """Return the codes of all cells, int32 [B, N], after a stone of `code` [B] on `place` [B] has joined groups.

    For each of some groups, int32 [B] as `code & GROUP`, a number is added to its cells; a group that takes others over
    stands before them. All cells, 0 to N - 1, are int32 [N].
    """
    if torch.compiler.is_compiling():  # one pass over all rows, fused
        moved = codes
        for group, shift in zip(groups, shifts, strict=True):
            moved = moved + torch.where(codes & GROUP == group[:, None], shift[:, None], 0)
        return torch.where(cells == place[:, None], code[:, None], moved)
    codes = codes.clone(memory_format=torch.contiguous_format)
    for group, shift in zip(groups, shifts, strict=True):  # only the rows in which groups join
        env_ids = shift.nonzero().squeeze(1)
        rows = codes.index_select(0, env_ids)
        old, move = group.index_select(0, env_ids)[:, None], shift.index_select(0, env_ids)[:, None]
        others = ((rows ^ old) & GROUP).bool()  # without a compiler comparisons are slow, this is not
        codes.index_copy_(0, env_ids, rows + move - others * move)
    return codes.scatter_(1, place.long()[:, None], code[:, None])


def filled(stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
    """Return full boards, [X, N]: the mover gets half of the free cells, of the lowest lots (`StoneGame._winners`)."""
    free, places = stones == 0, torch.arange(stones.shape[1], dtype=torch.int32, device=stones.device)
    order = ((lots << _PLACE_BITS) + places).masked_fill(~free, torch.iinfo(torch.int32).max)  # no two are equal
    half = (free.sum(1, keepdim=True) + 1) >> 1
    # NumPy sorts integers in a tenth of the time.
    ordered = torch.from_numpy(np.sort(order.numpy())) if order.device.type == "cpu" else order.sort().values
    last = ordered.gather(1, (half - 1).clamp(min=0))
    mover = player[:, None].to(stones.dtype) + 1
    return torch.where(free, torch.where(order <= last, mover, 3 - mover), stones)


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
