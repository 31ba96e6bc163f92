"""A step of a `Vector` of Cloth of Gold in native code."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from cellgames.envs.core import native_step as steps
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library

from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

INNERMOST = frozenset({"rewards", "scores", "units", "neutral", "killed", "territory", "placed"})
_LOTS = 1 << 32  # of a draw


class _Rules(ctypes.Structure):
    """The options of a game, `Rules` of `sources/cloth_of_gold_turns.cpp`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("rows", "cols", "radius", "max_units", "generations", "neutral_rules")),
        *((name, ctypes.c_int64) for name in ("max_rounds", "first_round", "first_verdict", "extinction", "neutrals")),
        ("shaping", ctypes.c_double),
    )


def native_step(game: ClothOfGold, native: Library) -> NativeStep[ClothState]:
    """Return the native step of a game."""
    rules = _Rules(
        game.height,
        game.width,
        game.radius,
        game.max_units,
        game.generations,
        game.neutral_rules,
        game.max_rounds,
        1 - game.initial_placement,
        game.first_verdict,
        game.win_rule == "extinction",
        round(game.neutral_density * _LOTS),
        game.shaping / game.cells,
    )
    return steps.InPlace(native.cellgames_cloth_of_gold_step, rules, INNERMOST)
