"""Torus on the contract of the suite."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isqrt
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.inputs import check_int
from cellgames.envs.native import Library, Operator
from cellgames.envs.stones.joining import frame, join, lone
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_tensors import put_natively, relabelled, taken, where
from cellgames.envs.stones.stone_view import StoneView

from . import filling, rendering, rules, threats
from .geometry import MAX_SIZE, MIN_SIZE, cell_to_name, name_to_cell, transformed, widths
from .rendering import Step, winning_class, winning_path
from .state import TorusState


@dataclass(frozen=True)
class Torus(StoneGame[TorusState]):
    """Torus by Mark Steere, a connection game without draws; it descends from Bill Taylor's ZeN (NZ).

    Two players, Black first, claim one free cell a turn on an octagon/square tiling whose edges wrap. Black wins
    by a ring or an r-helix, White by a bracelet or an l-helix. Rule sheet: marksteeregames.com.

    Attributes:
        size: octagons a side, 2 to 16; the board has 2 size^2 cells. The rule sheet leaves it open.
    """

    size: int = 8

    id: ClassVar[str] = "torus-v0"
    title: ClassVar[str] = "Torus"
    credit: ClassVar[str] = "Torus by Mark Steere (marksteeregames.com), after ZeN / NZ by Bill Taylor"
    wraps: ClassVar[bool] = True
    shows_free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_int(self, "size", MIN_SIZE, MAX_SIZE)

    _native_step = StoneGame._native_step  # it knows these rules

    @override
    def _init(self, seeds: Tensor) -> TorusState:
        return self._new(TorusState, seeds, losing=torch.zeros_like(seeds, dtype=torch.int32))

    @override
    def _step(self, state: TorusState, actions: Tensor) -> TorusState:
        after = self._place(state, actions.long(), state.current_player)
        return after.replace(turn=state.turn + 1, current_player=1 - state.current_player)

    def _place(self, state: TorusState, cell: Tensor, player: Tensor) -> TorusState:
        """Put a stone of `player` on `cell` (int64 [B] both) and detect a win; whose turn it is does not matter."""
        codes, free, losing, won = _put_stones(state.codes, state.free, state.losing, cell, player)
        return self._moved(state, player, won, codes=codes, free=free, losing=losing, last=cell.int())

    @override
    def winning_actions(self, state: TorusState, player: Tensor | None = None) -> Tensor:
        player = state.current_player if player is None else player
        return threats.winning_cells(state.codes, state.losing, player) & ~state.done[:, None]

    @override
    def _winners(self, stones: Tensor, player: Tensor, lots: Tensor) -> Tensor:
        return filling.winners(stones, player, lots)

    @property
    @override
    def symmetries(self) -> int:
        """The number of translations, and of quarter turns, which swap the colours."""
        return 4 * self.size**2

    @override
    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return the observation after symmetries; see `symmetry`."""
        return transformed(observation, actions, which)

    @override
    def action_to_string(self, action: int) -> str:
        """Return `c4` for an octagon, `c4+` for the square at its lower right corner."""
        return cell_to_name(action, self.size)

    @override
    def string_to_action(self, text: str) -> int:
        """Return the cell of a name by `action_to_string`."""
        return name_to_cell(text, self.size)

    @property
    @override
    def _widths(self) -> list[list[int]]:
        return widths(self.size)

    @override
    def _native_rules(self, native: Library) -> tuple[Callable[..., object], ctypes.c_int64]:
        return native.cellgames_torus_step, ctypes.c_int64(self.size)

    @override
    def _way(self, cells: Sequence[int], winner: int) -> tuple[Sequence[Step], str]:
        path = winning_path(cells, size=self.size, winner=winner)
        kind = winning_class(path)
        return path, f" by {'an' if kind.endswith('helix') else 'a'} {kind}"

    @override
    def _view(self, cells: Sequence[int], last: int | None, path: Sequence[Step], title: str) -> StoneView:
        through, lines = {step[0] for step in path}, tuple(rendering.lines(self.size, path))
        return StoneView(cells, rendering.form(self.size), last, path, through, lines, title)


@Operator
def _put_stones(
    codes: Tensor, free: Tensor, losing: Tensor, cell: Tensor, player: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return fields of `TorusState` after stones of `player` on `cell`, int64 [B] both, and who has won, bool [B]."""
    near, shift, cells = threats.neighbour_codes(isqrt(codes.shape[1] // 2), codes.device)
    colour, place = player.int() + 1, cell.int()
    # The envs stand innermost, so that what follows is done for many of them at once.
    around = codes.t().gather(0, near[:, cell]) + shift[:, cell]
    slots = zip(around[0::2].unbind(0), around[1::2].unbind(0), strict=True)
    frames = [frame(octagon, square, colour, where) for octagon, square in slots]
    code, groups, shifts = join(frames, lone(place, colour), where)
    cycles = rules.closed(frames, where)
    # Laid down once: the compiler would work them out again for every cell of the board.
    code, *joined = torch.stack((code, *groups, *shifts)).unbind(0)
    groups, shifts = joined[:3], joined[3:]
    won, kept = _wins(cycles, losing, colour)
    return relabelled(codes, cells, place, code, groups, shifts), taken(free, cell), kept, won


@_put_stones.native
def _native_put_stones(
    native: Library, codes: Tensor, free: Tensor, losing: Tensor, cell: Tensor, player: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return `_put_stones`, by `sources/torus_step.cpp`."""
    size = isqrt(codes.shape[1] // 2)
    put = native.cellgames_torus_put_stones
    codes, free, losing, won = put_natively(put, size, (codes, free, losing), cell, player)
    return codes, free, losing, won


def _wins(cycles: Sequence[Tensor], losing: Tensor, colour: Tensor) -> tuple[Tensor, Tensor]:
    """Return a mask of the mover's wins, bool [B], and the losing class to keep, int32 [B]; all arguments are [B]."""
    if torch.compiler.is_compiling():
        kept = rules.keep(cycles, losing, torch.where)
        return reduce(torch.logical_or, (rules.wins(cycle, kept, colour, torch.where) for cycle in cycles)), kept
    env_ids = (cycles[0] | cycles[1] | cycles[2]).nonzero().squeeze(1)  # few moves close a path around the torus
    closed = torch.stack([cycle[env_ids] for cycle in cycles])
    kept = rules.keep(closed.unbind(0), losing[env_ids], torch.where)
    won = rules.wins(closed, kept, colour[env_ids], torch.where).any(0)
    return torch.zeros_like(losing, dtype=torch.bool).index_copy(0, env_ids, won), losing.index_copy(0, env_ids, kept)
