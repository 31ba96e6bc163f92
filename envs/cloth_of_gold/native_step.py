"""Steps of Cloth of Gold in native code, of a `Vector` and of a single game."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import native_step as steps
from cellgames.envs.core.solo import NativeSolo
from cellgames.envs.core.state import copied
from cellgames.envs.native import Library, Operator, library

from . import rounds
from .rules import ORDERS
from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

INNERMOST = frozenset({"rewards", "scores", "units", "neutral", "killed", "territory", "placed"})
"""Fields whose games lie next to each other in memory."""
_LOTS = 1 << 32  # of a draw


class Code(NamedTuple):
    """The native code of a game.

    Attributes:
        step: plays a step of a `Vector`.
        units: places units and ends turns.
        rules: the options that both take.
        state: the states whose fields they take.
        innermost: the fields whose games lie next to each other.
    """

    step: Callable[..., object]
    units: Callable[..., object]
    rules: ctypes.Structure
    state: type[ClothState]
    innermost: frozenset[str]


@lru_cache(maxsize=64)
def native_code(game: ClothOfGold, native: Library) -> Code:
    """Return the native code of a game without wild options."""
    step, units = native.cellgames_cloth_of_gold_step, native.cellgames_cloth_of_gold_units
    return Code(step, units, steps.structure(**options(game)), ClothState, INNERMOST)


def options(game: ClothOfGold) -> dict[str, float]:
    """Return the options of a game as `Rules` of `sources/cloth_of_gold.h` has them."""
    names = ("height", "width", "radius", "max_units", "generations", "neutral_rules", "max_rounds")
    return {
        **{name: getattr(game, name) for name in names},
        "first_round": 1 - game.initial_placement,
        "first_verdict": game.first_verdict,
        "extinction": game.win_rule == "extinction",
        "neutrals": round(game.neutral_density * _LOTS),
        "order": ORDERS.get(game.order, -1),
        "shaping": game.shaping / game.cells,
    }


@Operator
def played(game: ClothOfGold, state: ClothState, cells: Tensor, ending: Tensor) -> ClothState:
    """Return the games after units, int64 [B, K], -1 for none, and ends of turns, bool [B], each of them an action."""
    actions = ending.int() + (cells >= 0).sum(1, dtype=torch.int32)
    return game._shaped(state, game._played(state, cells, ending, actions))


@played.native
def _native_played(native: Library, game: ClothOfGold, state: ClothState, cells: Tensor, ending: Tensor) -> ClothState:
    if (code := game._native_code(native)) is None:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    now, sizes = laid_out(state, code), (len(state), cells.shape[1], torch.get_num_threads())
    code.units(ctypes.byref(code.rules), steps.addresses(now, code.innermost), *sizes, cells, ending)
    return state.replace(**vars(now))


def laid_out(state: ClothState, code: Code) -> ClothState:
    """Return a copy of games as native code wants it, without the fields that a subclass of its states adds."""
    fields: dict[str, Tensor] = {name: getattr(state, name) for name in code.state.__dataclass_fields__}
    for name, value in fields.items():
        fields[name] = copied(value) if name in code.innermost else value.clone(memory_format=torch.contiguous_format)
    return code.state(**fields)


class ClothSolo(NativeSolo):
    """One game of Cloth of Gold."""

    _game: ClothOfGold
    _state: ClothState

    @override
    def _share(self) -> None:
        super()._share()
        game, now, native = self._game, self._state, library(self._state.device)
        assert native is not None
        self._counts, self._env_id = torch.empty_like(now.rounds[:, 0, :4]), torch.zeros_like(now.seed)
        boards = now.territory.movedim(0, -1), now.killed.movedim(0, -1)
        self._count = rounds.native_tally(native, game.grid, *boards, self._env_id, self._counts)

    @override
    def _look(self) -> None:
        super()._look()
        self._facts: tuple[list[int], list[int], int] | None = None  # of both players, counted once a step

    @override
    def infos(self, player: int) -> dict[str, Any]:
        if self._facts is None:
            self._count()
            self._facts = self._counts.tolist()[0], self._state.live.tolist()[0], int(self._state.round)
        (*territory, contested, killed), units, number = self._facts
        return {
            "score": self.scores[player],
            "units": units[:],
            "territory": territory,
            "contested": contested,
            "killed": killed,
            "round": number,
        }
