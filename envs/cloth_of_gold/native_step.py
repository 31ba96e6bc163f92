"""A step of a `Vector` of Cloth of Gold in native code."""

from __future__ import annotations

import ctypes
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from cellgames.envs.core.vector import NativeStep, Transition
from cellgames.envs.native import Library, pointer

from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

_ADDRESSES: WeakKeyDictionary[ClothState, ctypes.Array[ctypes.c_void_p]] = WeakKeyDictionary()
_INNERMOST = {"rewards", "scores", "units", "neutral", "killed", "territory", "placed"}  # whose games lie side by side
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
    return partial(_step, native, rules)


def _step(
    native: Library, rules: _Rules, state: ClothState, mask: Tensor | None, given: Tensor, random: bool
) -> Transition:
    """Play a step of a `Vector` (see `NativeStep`)."""
    assert mask is not None  # only games compiled in stages have none
    games = len(mask)
    if (addresses := _ADDRESSES.get(state)) is None:
        addresses = _ADDRESSES[state] = _addresses(state)
    actions = torch.empty_like(given) if random else given
    rewards = torch.empty((2, games), dtype=torch.float32, device="cpu")
    terminated, truncated = torch.empty((2, games), dtype=torch.bool, device="cpu").unbind()
    native.cellgames_cloth_of_gold_step(
        ctypes.addressof(rules),
        addresses,
        games,
        torch.get_num_threads(),
        random,
        pointer(given, torch.int64),
        pointer(mask, torch.bool),
        *(result.data_ptr() for result in (actions, rewards, terminated, truncated)),
    )
    return Transition(actions, rewards.t(), terminated, truncated)


def _addresses(state: ClothState) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of a state's fields, which must be laid out as those of the game's `init`."""
    named = {field.name: getattr(state, field.name) for field in fields(ClothState)}
    tensors = [field.movedim(0, -1) if name in _INNERMOST else field for name, field in named.items()]
    return (ctypes.c_void_p * len(tensors))(*(pointer(tensor, tensor.dtype) for tensor in tensors))
