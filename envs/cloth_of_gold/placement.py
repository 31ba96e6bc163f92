"""Placing units and taking them back, in many games at once.

Letters: `B` games, `S, N` stored rows and words in them (see `boards.bitboards`), `K` cells of a game.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, popcount
from cellgames.envs.core import sampling
from cellgames.envs.core.state import along_envs
from cellgames.envs.kernels.compiling import kernel
from cellgames.envs.native import Library, operator, pointer

from . import rules
from .state import ClothState
from .territory import LARGEST, WIDEST, territory


def _innermost(field: Tensor) -> Tensor:
    """Return a field [B, ...] as contiguous [..., B]."""
    return field.movedim(0, -1).contiguous()


def copied(field: Tensor) -> Tensor:
    """Return a copy of a field [B, ...] whose games stand next to each other in memory."""
    return field.movedim(0, -1).clone(memory_format=torch.contiguous_format).movedim(-1, 0)


# --- legal actions ------------------------------------------------------------------------------------------------


class _Situation(NamedTuple):
    """The fields of `ClothState` that say what may be done."""

    units: Tensor
    territory: Tensor
    neutral: Tensor
    killed: Tensor
    placed: Tensor
    current_player: Tensor
    live: Tensor
    left: Tensor
    acts: Tensor


_ARGUMENTS = "(Tensor[] situation, int rows, int cols, int max_units) -> Tensor"


def _situation(state: ClothState) -> list[Tensor]:
    return [getattr(state, name) for name in _Situation._fields]


def legal_cells(grid: Grid, state: ClothState) -> Tensor:
    """Return bitboards of the cells where the mover may place its next unit, whatever its number: int64 [B, S, N]."""
    return _legal_cells(_situation(state), grid.rows, grid.cols, 0)


def legal_actions(grid: Grid, state: ClothState, max_units: int) -> Tensor:
    """Return the cells, by rows, and the end of the turn: bool [B, H * W + 1].

    A cell that holds a unit placed in this turn takes it back; see `rules.choices`.
    """
    return _legal_actions(_situation(state), grid.rows, grid.cols, max_units)


def legal_bits(grid: Grid, state: ClothState, max_units: int) -> Tensor:
    """Return `legal_actions` packed as by `core.sampling.pack`: int64 [B, W]."""
    return _legal_bits(_situation(state), grid.rows, grid.cols, max_units)


@operator(
    f"cloth_of_gold_legal_cells{_ARGUMENTS}",
    fake=lambda situation, *_: torch.empty_like(situation[2]),
)
def _legal_cells(situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    """Return `legal_cells`; `max_units` plays no part."""
    grid, state = Grid(rows, cols, wrap=False), _Situation(*situation)
    player = state.current_player
    homeless = state.live.gather(1, player[:, None]).squeeze(1) == 0
    words = list(map(_innermost, (*state.units.unbind(1), *state.territory.unbind(1), state.neutral, state.killed)))

    def cells(*words: Tensor) -> None:
        a, b, reach_a, reach_b, neutral, killed, second, homeless, out = words
        swap, fields = (a ^ b) & second, (reach_a ^ reach_b) & second  # what turns a's into b's for player_b
        sides = (a ^ swap, b ^ swap)
        out.copy_(rules.placeable(grid, *sides, neutral | killed, (reach_a ^ fields, reach_b ^ fields), homeless))

    found = torch.empty_like(words[0])
    arguments = [*words, -player, _words(homeless), found]
    kernel(cells, arguments)(arguments)
    return found.movedim(-1, 0)


def _words(flags: Tensor) -> Tensor:
    """Return all bits of a word for true, none for false."""
    return -flags.long()


@operator(
    f"cloth_of_gold_legal_actions{_ARGUMENTS}",
    fake=lambda situation, *sizes: torch.empty(
        (len(situation[0]), sizes[0] * sizes[1] + 1), dtype=torch.bool, device=situation[0].device
    ),
)
def _legal_actions(situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    """Return `legal_actions`."""
    state, cells = _Situation(*situation), _legal_cells.reference(situation, rows, cols, max_units)
    placing, taking, end = rules.choices(state.left, state.acts, max_units, ~cells.flatten(1).any(1))
    legal = (cells & _words(along_envs(placing, 3))) | (state.placed & _words(along_envs(taking, 3)))
    flags = Grid(rows, cols, wrap=False).unpack(_innermost(legal))
    return torch.cat((flags.flatten(1), end[:, None]), 1)


@operator(
    f"cloth_of_gold_legal_bits{_ARGUMENTS}",
    fake=lambda situation, *sizes: torch.empty(
        (len(situation[0]), sizes[0] * sizes[1] // sampling.WORD + 1), dtype=torch.int64, device=situation[0].device
    ),
)
def _legal_bits(situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    """Return `legal_bits`."""
    return sampling.pack(_legal_actions.reference(situation, rows, cols, max_units))


@_legal_cells.native
def _native_cells(native: Library, situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    neutral = situation[2]
    out = neutral.new_empty((*neutral.shape[1:], len(neutral))).movedim(-1, 0)
    return _find(native, 0, situation, (rows, cols, max_units), out)


@_legal_actions.native
def _native_actions(native: Library, situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    out = situation[0].new_empty((len(situation[0]), rows * cols + 1), dtype=torch.bool)
    return _find(native, 1, situation, (rows, cols, max_units), out)


@_legal_bits.native
def _native_bits(native: Library, situation: list[Tensor], rows: int, cols: int, max_units: int) -> Tensor:
    out = situation[0].new_empty((len(situation[0]), rows * cols // sampling.WORD + 1))
    return _find(native, 2, situation, (rows, cols, max_units), out)


def _find(native: Library, form: int, situation: list[Tensor], sizes: tuple[int, int, int], out: Tensor) -> Tensor:
    """Write one of the three results, by `sources/cloth_of_gold_turns.cpp`."""
    rows, cols, max_units = sizes
    if cols > WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    boards, player, numbers = situation[:5], situation[5].contiguous(), [x.contiguous() for x in situation[6:]]
    words = list(map(_innermost, boards))  # kept until the end of the call
    native.cellgames_cloth_of_gold_legal(
        rows,
        cols,
        len(player),
        max_units,
        form,
        torch.get_num_threads(),
        *(pointer(x, torch.int64) for x in (*words, player)),
        *(pointer(x, torch.int32) for x in numbers),
        out.data_ptr(),
    )
    return out


# --- turns --------------------------------------------------------------------------------------------------------


def play(grid: Grid, state: ClothState, cells: Tensor, ending: Tensor, *, radius: int, max_units: int) -> ClothState:
    """Place units of the movers, or take back those that were placed in this turn, and end turns.

    The player to move is not changed. The results share no memory with `state`.

    Args:
        grid: the board.
        state: the games; not changed.
        cells: int64 [B, K], each once, by rows; -1 names no cell.
        ending: bool [B], mask of games in which the turn ends after that.
        radius: radius of a unit's territory.
        max_units: the most units placed in a turn.
    """
    changing = ("units", "placed", "territory", "live", "left", "acts")
    fields = [getattr(state, name) for name in changing]
    sizes = (grid.rows, grid.cols, radius, max_units)
    return state.replace(**dict(zip(changing, _turn(fields, state.current_player, cells, ending, *sizes), strict=True)))


@operator(
    "cloth_of_gold_turn(Tensor[] fields, Tensor player, Tensor cells, Tensor ending, int rows, int cols, int radius, "
    "int max_units) -> Tensor[]",
    fake=lambda fields, *_: list(map(torch.empty_like, fields)),
)
def _turn(
    fields: list[Tensor],
    player: Tensor,
    cells: Tensor,
    ending: Tensor,
    rows: int,
    cols: int,
    radius: int,
    max_units: int,
) -> list[Tensor]:
    """Return the fields after `play`."""
    units, placed, field, live, left, acts = fields
    grid = Grid(rows, cols, wrap=False)
    bits = bits_of(grid, cells)
    mine = along_envs(player, 2) == torch.arange(2, device=player.device)

    def of_mover(boards: Tensor) -> Tensor:
        return torch.where(mine[:, :, None, None], boards[:, None], 0)

    back = bits & placed
    units = units ^ of_mover(bits)
    field = field | of_mover(territory(grid, _innermost(bits & ~placed), radius).movedim(-1, 0))
    gone = back.flatten(1).any(1).nonzero().squeeze(1)
    if len(gone):
        less = _innermost(units[gone, player[gone]])
        field[gone, player[gone]] = territory(grid, less, radius).movedim(-1, 0)
    number = (cells >= 0).sum(1, dtype=torch.int32)
    change = number - 2 * popcount(back).sum((1, 2)).int()
    return [
        units,
        (placed ^ bits).masked_fill(along_envs(ending, 3), 0),
        field,
        live.scatter_add(1, player[:, None], change[:, None]),
        (left - change).masked_fill(ending, max_units),
        (acts + number).masked_fill(ending, 0),
    ]


@_turn.native
def _native_turn(
    native: Library,
    fields: list[Tensor],
    player: Tensor,
    cells: Tensor,
    ending: Tensor,
    rows: int,
    cols: int,
    radius: int,
    max_units: int,
) -> list[Tensor]:
    if cols > WIDEST or radius > LARGEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    boards = [copied(x).movedim(0, -1) for x in fields[:3]]
    numbers = [x.clone(memory_format=torch.contiguous_format) for x in fields[3:]]
    given = (player.contiguous(), cells.contiguous())
    ending = ending.contiguous()
    native.cellgames_cloth_of_gold_turn(
        rows,
        cols,
        len(player),
        radius,
        cells.shape[1],
        max_units,
        torch.get_num_threads(),
        *(pointer(x, torch.int64) for x in boards),
        *(pointer(x, torch.int32) for x in numbers),
        *(pointer(x, torch.int64) for x in given),
        pointer(ending, torch.bool),
    )
    return [*(x.movedim(-1, 0) for x in boards), *numbers]


def bits_of(grid: Grid, cells: Tensor) -> Tensor:
    """Return bitboards of the cells named by int64 [B, K], each once: int64 [B, S, N]; -1 names none."""
    bits = cells.new_zeros(len(cells), *grid.shape)
    env_ids, _ = torch.meshgrid(*(torch.arange(size, device=cells.device) for size in cells.shape), indexing="ij")
    row, col = cells.clamp(min=0) // grid.cols, cells.clamp(min=0) % grid.cols
    bit = (cells >= 0).long() << (col % grid.widths[0])
    return bits.index_put_((env_ids, row, col // grid.widths[0]), bit, accumulate=True)
