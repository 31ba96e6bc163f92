"""Calls of native code that plays a whole step of a `Vector` in the memory of its state."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache, partial
from typing import Any, Generic
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from cellgames.envs.native import pointer

from .state import S, State
from .vector import Transition

_ADDRESSES: WeakKeyDictionary[State, ctypes.Array[ctypes.c_void_p]] = WeakKeyDictionary()


class InPlace(Generic[S]):
    """The step of a `Vector` by a function of the native library (see `NativeStep`).

    Args:
        function: takes the addresses of the rules and of the state's fields, the numbers of games and threads, whether
            to draw actions, and the addresses of actions or bits, of the mask and of a `Transition`'s fields; its
            rewards are [P, B], as drawn actions and their bits are.
        rules: the game's options.
        innermost: the fields whose games lie next to each other in memory, `rewards` among them.
    """

    def __init__(
        self, function: Callable[..., object], rules: ctypes.Structure | ctypes.c_int64, innermost: frozenset[str]
    ) -> None:
        self._function, self._rules, self._innermost = function, rules, innermost

    def __call__(self, state: S, mask: Tensor | None, given: Tensor, random: bool) -> Transition:
        """Play a step."""
        assert mask is not None  # it writes the mask
        ends = map(torch.empty_like, (state.rewards, state.terminated, state.truncated))
        results = (torch.empty_like(given) if random else given, *ends)
        self._function(*self._arguments(state, mask, given, results, random))
        return Transition(*results)

    def bound(self, state: S, mask: Tensor, given: Tensor, results: Sequence[Tensor]) -> Callable[[], object]:
        """Return the call of a step in this memory, for as long as it lasts; `results` are a `Transition`'s fields."""
        return partial(self._function, *self._arguments(state, mask, given, results, False))

    def _arguments(
        self, state: S, mask: Tensor, given: Tensor, results: Sequence[Tensor], random: bool
    ) -> tuple[object, ...]:
        """Return the arguments of the function; the memory is as `Vector` lays it out."""
        return (
            ctypes.byref(self._rules),
            addresses(state, self._innermost),
            mask.shape[0],
            torch.get_num_threads(),
            random,
            given.data_ptr(),
            mask.data_ptr(),
            *(result.data_ptr() for result in results),
        )


def structure(**options: float | Tensor | None) -> ctypes.Structure:
    """Return options as native code takes them, in order: int64, double, or the address of a tensor, which is kept.

    None is a null address.
    """
    kind = _kind(tuple(options), tuple(map(type, options.values())))
    made: Any = kind(*(pointer(x, x.dtype) if isinstance(x, Tensor) else x for x in options.values()))
    made._options = options
    found: ctypes.Structure = made
    return found


@lru_cache(maxsize=64)
def _kind(names: tuple[str, ...], types: tuple[type, ...]) -> type[ctypes.Structure]:
    """Return the type of structures with these fields; to make one takes longer than a call of native code."""
    kinds = {bool: ctypes.c_int64, int: ctypes.c_int64, float: ctypes.c_double}
    fields = [(name, kinds.get(one, ctypes.c_void_p)) for name, one in zip(names, types, strict=True)]
    return type("Options", (ctypes.Structure,), {"_fields_": fields})


def addresses(state: State, innermost: frozenset[str]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of a state's fields, which must be laid out as those of the game's `init`."""
    if (found := _ADDRESSES.get(state)) is None:
        named = {field.name: getattr(state, field.name) for field in fields(state)}
        tensors = [field.movedim(0, -1) if name in innermost else field for name, field in named.items()]
        found = (ctypes.c_void_p * len(tensors))(*(pointer(tensor, tensor.dtype) for tensor in tensors))
        _ADDRESSES[state] = found
    return found
