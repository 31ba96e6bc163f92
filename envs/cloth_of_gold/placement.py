"""Placing units and taking them back, in many games at once.

Letters: `B` games, `S, N` stored rows and words in them (see `boards.bitboards`), `K` cells of a game.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, popcount
from cellgames.envs.core.state import along_envs, innermost
from cellgames.envs.native import Library, Operator

from . import rules
from .simulation import territory
from .state import ClothState


@Operator
def legal_cells(grid: Grid, state: ClothState) -> Tensor:
    """Return bitboards of the cells where the mover may place its next unit, whatever its number: int64 [B, S, N]."""
    player = state.current_player
    homeless = state.live.gather(1, player[:, None]).squeeze(1) == 0
    first = along_envs(player == 0, 4)
    own, other = (innermost(side) for side in torch.where(first, state.units, state.units.flip(1)).unbind(1))
    fields = [innermost(side) for side in torch.where(first, state.territory, state.territory.flip(1)).unbind(1)]
    taken = innermost(state.neutral | state.killed)
    return rules.placeable(grid, own, other, taken, (fields[0], fields[1]), words(homeless)).movedim(-1, 0)


def words(flags: Tensor) -> Tensor:
    """Return all bits of a word for true, none for false."""
    return -flags.long()


@Operator
def legal_actions(grid: Grid, state: ClothState, max_units: int) -> Tensor:
    """Return the cells, by rows, and the end of the turn: bool [B, H * W + 1].

    A cell that holds a unit placed in this turn takes it back; see `rules.choices`.
    """
    cells = legal_cells.reference(grid, state)
    placing, taking, end = rules.choices(state.left, state.acts, max_units, ~cells.flatten(1).any(1))
    legal = (cells & words(along_envs(placing, 3))) | (state.placed & words(along_envs(taking, 3)))
    return torch.cat((grid.unpack(innermost(legal)).flatten(1), end[:, None]), 1)


@legal_cells.native
def _native_cells(native: Library, grid: Grid, state: ClothState) -> Tensor:
    out = state.neutral.new_empty((*state.neutral.shape[1:], len(state))).movedim(-1, 0)
    return _find(native, 0, grid, state, 0, out)


@legal_actions.native
def _native_actions(native: Library, grid: Grid, state: ClothState, max_units: int) -> Tensor:
    out = torch.empty((len(state), grid.rows * grid.cols + 1), dtype=torch.bool, device=state.device)
    return _find(native, 1, grid, state, max_units, out)


def _find(native: Library, form: int, grid: Grid, state: ClothState, max_units: int, out: Tensor) -> Tensor:
    """Write one of the two results, by `sources/cloth_of_gold_turns.cpp`."""
    boards = (state.units, state.territory, state.neutral, state.killed, state.placed)
    numbers = grid.rows, grid.cols, len(state), max_units, form, torch.get_num_threads()
    fields = (*map(innermost, boards), state.current_player, state.live, state.left, state.acts)
    native.cellgames_cloth_of_gold_legal(*numbers, *fields, out.data_ptr())
    return out


def play(grid: Grid, state: ClothState, cells: Tensor, ending: Tensor, *, radius: int, max_units: int) -> ClothState:
    """Place units of the movers, or take back those that were placed in this turn, and end turns.

    The player to move is not changed. The results share no memory with `state`. Cells, int64 [B, K], are named once
    each, -1 names none; in the games of `ending`, bool [B], the turn ends after that.
    """
    player, placed = state.current_player, state.placed
    bits = bits_of(grid, cells)
    mine = along_envs(player, 2) == torch.arange(2, device=player.device)

    def of_mover(boards: Tensor) -> Tensor:
        return torch.where(mine[:, :, None, None], boards[:, None], 0)

    back = bits & placed
    units = state.units ^ of_mover(bits)
    field = state.territory | of_mover(territory(grid, innermost(bits & ~placed), radius).movedim(-1, 0))
    gone = back.flatten(1).any(1).nonzero().squeeze(1)
    if len(gone):
        less = innermost(units[gone, player[gone]])
        field[gone, player[gone]] = territory(grid, less, radius).movedim(-1, 0)
    number = (cells >= 0).sum(1, dtype=torch.int32)
    change = number - 2 * popcount(back).sum((1, 2)).int()
    return state.replace(
        units=units,
        placed=(placed ^ bits).masked_fill(along_envs(ending, 3), 0),
        territory=field,
        live=state.live.scatter_add(1, player[:, None], change[:, None]),
        left=(state.left - change).masked_fill(ending, max_units),
        acts=(state.acts + number).masked_fill(ending, 0),
    )


def bits_of(grid: Grid, cells: Tensor) -> Tensor:
    """Return bitboards of the cells named by int64 [B, K], each once: int64 [B, S, N]; -1 names none."""
    bits = cells.new_zeros(len(cells), *grid.shape)
    env_ids, _ = torch.meshgrid(*(torch.arange(size, device=cells.device) for size in cells.shape), indexing="ij")
    row, col = cells.clamp(min=0) // grid.cols, cells.clamp(min=0) % grid.cols
    bit = (cells >= 0).long() << (col % grid.widths[0])
    return bits.index_put_((env_ids, row, col // grid.widths[0]), bit, accumulate=True)
