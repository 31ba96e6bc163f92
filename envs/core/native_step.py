"""Calls of native code that plays a whole step of a `Vector` in the memory of its state."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from cellgames.envs.native import pointer

from .state import State
from .vector import NativeStep, Transition

_ADDRESSES: WeakKeyDictionary[State, ctypes.Array[ctypes.c_void_p]] = WeakKeyDictionary()


def native_step(
    function: Callable[..., object], rules: ctypes.Structure | ctypes.c_int64, innermost: frozenset[str]
) -> NativeStep[Any]:
    """Return the step of a `Vector` by a function of the native library.

    Args:
        function: takes the addresses of the rules and of the state's fields, the numbers of games and threads, whether
            to draw actions, and the addresses of actions or bits, of the mask and of a `Transition`'s fields; its
            rewards are [P, B], as drawn actions and their bits are.
        rules: the game's options.
        innermost: the fields whose games lie next to each other in memory, `rewards` among them.
    """
    return partial(_step, function, rules, innermost)


def _step(
    function: Callable[..., object],
    rules: ctypes.Structure | ctypes.c_int64,
    innermost: frozenset[str],
    state: State,
    mask: Tensor | None,
    given: Tensor,
    random: bool,
) -> Transition:
    """Play a step of a `Vector` (see `NativeStep`)."""
    assert mask is not None  # only games compiled in stages have none
    games = len(mask)
    actions = torch.empty_like(given) if random else given
    rewards, terminated, truncated = map(torch.empty_like, (state.rewards, state.terminated, state.truncated))
    function(
        ctypes.addressof(rules),
        addresses(state, innermost),
        games,
        torch.get_num_threads(),
        random,
        pointer(given.t() if random else given, torch.int64),
        pointer(mask, torch.bool),
        *(result.data_ptr() for result in (actions, rewards, terminated, truncated)),
    )
    return Transition(actions, rewards, terminated, truncated)


def addresses(state: State, innermost: frozenset[str]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of a state's fields, which must be laid out as those of the game's `init`."""
    if (found := _ADDRESSES.get(state)) is None:
        named = {field.name: getattr(state, field.name) for field in fields(state)}
        tensors = [field.movedim(0, -1) if name in innermost else field for name, field in named.items()]
        found = (ctypes.c_void_p * len(tensors))(*(pointer(tensor, tensor.dtype) for tensor in tensors))
        _ADDRESSES[state] = found
    return found
