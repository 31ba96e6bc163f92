"""Placing units and taking them back, in many games at once.

Letters: `B` games, `S, N` stored rows and words in them (see `boards.bitboards`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.core.state import along_envs
from cellgames.envs.kernels.compiling import kernel
from cellgames.envs.kernels.lookup_tables import table

from . import rules
from .batch_widths import padded, steady, width_for
from .state import ClothState
from .territory import add_disks, territory

__all__ = ["act", "bits_of", "legal_actions", "legal_cells", "place"]


def legal_cells(grid: Grid, state: ClothState) -> Tensor:
    """Return bitboards of the cells where the mover may place its next unit, whatever its number: int64 [B, S, N]."""
    return _legal_cells(grid, state).movedim(-1, 0)


def _legal_cells(grid: Grid, state: ClothState) -> Tensor:
    """Return the same as [S, N, B]."""
    player = state.current_player
    homeless = state.live.gather(1, player[:, None]).squeeze(1) == 0
    planes = (*state.units.unbind(1), *state.territory.unbind(1), state.neutral, state.killed)
    words = [plane.movedim(0, -1) for plane in planes]
    flags = [-player, _words(homeless)]

    def cells(*words: Tensor) -> None:
        a, b, reach_a, reach_b, neutral, killed, second, homeless, out = words
        swap, fields = (a ^ b) & second, (reach_a ^ reach_b) & second  # what turns a's into b's for player_b
        sides = (a ^ swap, b ^ swap)
        out.copy_(rules.placeable(grid, *sides, neutral | killed, (reach_a ^ fields, reach_b ^ fields), homeless))

    width = len(state) if steady(len(state)) else width_for(len(state), state.device)
    parts = [[padded(part, width) for part in whole.split(width, -1)] for whole in (*words, *flags)]
    found = [torch.empty_like(chunk) for chunk in parts[0]]
    for arguments in zip(*parts, found, strict=True):
        kernel(cells, list(arguments))(list(arguments))
    return torch.cat(found, -1)[..., : len(state)]


def _words(flags: Tensor) -> Tensor:
    """Return all bits of a word for true, none for false."""
    return -flags.long()


def legal_actions(grid: Grid, state: ClothState, max_units: int) -> Tensor:
    """Return the cells, by rows, and the end of the turn: bool [B, H * W + 1].

    A cell that holds a unit placed in this turn takes it back; see `rules.choices`.
    """
    cells, placed = _legal_cells(grid, state), state.placed.movedim(0, -1).contiguous()
    nowhere = torch.zeros_like(state.done) if (state.left < max_units).all() else ~cells.flatten(0, 1).any(0)
    *acting, end = rules.choices(state.left, state.acts, max_units, nowhere)
    placing, taking = map(_words, acting)

    def unpack(cells: Tensor, placed: Tensor, placing: Tensor, taking: Tensor, out: Tensor) -> None:
        word, bit = _places(grid, cells.device)
        legal = (cells & placing) | (placed & taking)
        rows = legal[: grid.rows].index_select(1, word)  # [H, W, B]
        out.copy_(((rows >> bit) & 1).to(torch.int32).to(torch.uint8))

    flags = torch.empty(grid.rows * grid.cols + 1, len(end), dtype=torch.uint8, device=cells.device)
    arguments = [cells, placed, placing, taking, flags[:-1].view(grid.rows, grid.cols, len(end))]
    run = kernel(unpack, arguments, compile="auto" if steady(len(state)) else "never")
    if not run.compiled:
        return torch.cat((grid.unpack((cells & placing) | (placed & taking)).flatten(1), end[:, None]), 1)
    flags[-1] = end
    run(arguments)
    return flags.view(torch.bool).t()


@table
def _places(grid: Grid, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the word that holds each column, int64 [W], and its bit there, int64 [W, 1]."""
    col = torch.arange(grid.cols, device=device)
    return col // grid.widths[0], (col % grid.widths[0]).unsqueeze(1)


def act(grid: Grid, state: ClothState, radius: int, cell: Tensor, acting: Tensor) -> ClothState:
    """Place a unit of the mover on a cell, or take it back if it was placed in this turn.

    Args:
        grid: the board.
        state: the games; not changed.
        radius: of a unit's territory.
        cell: int64 [B], by rows.
        acting: bool [B], in which games this is done.
    """
    width = grid.widths[0]
    env_ids, player = torch.arange(len(state), device=state.device), state.current_player
    row, col = cell // grid.cols, cell % grid.cols
    word, bit = col // width, acting.long() << (col % width)
    units, placed, field = state.units.clone(), state.placed.clone(), state.territory.clone()
    back = (placed[env_ids, row, word] & bit) != 0
    units[env_ids, player, row, word] ^= bit
    placed[env_ids, row, word] ^= bit
    change = acting.int() - 2 * back.int()
    gone, new = back.nonzero().squeeze(1), (acting & ~back).nonzero().squeeze(1)
    if len(new):
        grown = field[new, player[new]]
        add_disks(grid, grown, radius, row[new], col[new])
        field[new, player[new]] = grown
    if len(gone):
        less = units[gone, player[gone]].movedim(0, -1).contiguous()
        field[gone, player[gone]] = territory(grid, less, radius).movedim(-1, 0)
    return state.replace(
        units=units,
        placed=placed,
        territory=field,
        live=state.live.scatter_add(1, player[:, None], change[:, None]),
        left=state.left - change,
        acts=state.acts + acting.int(),
    )


def bits_of(grid: Grid, cells: Tensor) -> Tensor:
    """Return bitboards of the cells named by int64 [B, K], each once: int64 [B, S, N]; -1 names none."""
    bits = cells.new_zeros(len(cells), *grid.shape)
    env_ids, _ = torch.meshgrid(*(torch.arange(size, device=cells.device) for size in cells.shape), indexing="ij")
    row, col = cells.clamp(min=0) // grid.cols, cells.clamp(min=0) % grid.cols
    bit = (cells >= 0).long() << (col % grid.widths[0])
    return bits.index_put_((env_ids, row, col // grid.widths[0]), bit, accumulate=True)


def place(grid: Grid, state: ClothState, radius: int, cells: Tensor) -> ClothState:
    """Place several units of the mover, int64 [B, K] by rows; -1 names none. As `act`, one after the other."""
    new, count = bits_of(grid, cells), (cells >= 0).sum(1, dtype=torch.int32)
    first = along_envs(state.current_player == 0, 3)
    both = torch.stack((torch.where(first, new, 0), torch.where(first, 0, new)), 1)
    grown = territory(grid, new.movedim(0, -1), radius).movedim(-1, 0)
    field = torch.stack((torch.where(first, grown, 0), torch.where(first, 0, grown)), 1)
    return state.replace(
        turn=state.turn + count,
        units=state.units | both,
        placed=state.placed | new,
        territory=state.territory | field,
        live=state.live.scatter_add(1, state.current_player[:, None], count[:, None]),
        left=state.left - count,
        acts=state.acts + count,
    )
