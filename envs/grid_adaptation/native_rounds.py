"""Rounds, masks and free spaces in native code: operators over `envs/native/sources/grid_adaptation.cpp`.

Their reference is the torch code of `matches` and `legality`, which runs on other devices and without the library.
A state goes to an operator as the list of its fields, a game as the numbers of its rules.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor

from cellgames.envs.core.vector import Transition
from cellgames.envs.native import Library, library, operator, pointer

from . import legality, matches
from .stages import innermost
from .state import COMPONENTS, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

__all__ = ["free_spaces", "mask", "step", "step_in_place"]

Played: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]
"""Actions, rewards, terminated and truncated, as in `Transition`."""

_GAMES: dict[tuple[tuple[int, ...], float], GridAdaptation] = {}  # by `_numbers`: whose operators have been called
_MATCHES_A_THREAD = 256  # starting a thread takes as long as some dozens of matches


def step(game: GridAdaptation, state: GridState, actions: Tensor) -> GridState:
    """Play a round, or the vote; actions are int64 [B, P, 7]."""
    if library(state.device) is None:
        return matches.step(game, state, actions)
    after = state.map(_copied)
    _step(list(after.tensors()), actions, *_numbers(game), False, False)
    return after


def step_in_place(
    game: GridAdaptation, state: GridState, mask: Tensor | None, given: Tensor, random: bool
) -> Transition:
    """Play a round or the vote, and begin new matches where one ends: see `NativeStep`.

    Args:
        game: the rules.
        state: unfinished matches, overwritten.
        mask: none; it is made when asked for.
        given: actions, int64 [B, P, 7]; or random bits of that shape.
        random: whether actions are drawn of random bits.
    """
    actions, rewards, terminated, truncated = _step(list(state.tensors()), given, *_numbers(game), random, True)
    return Transition(actions if random else given, rewards, terminated, truncated)


def mask(game: GridAdaptation, state: GridState, out: Tensor | None = None) -> Tensor:
    """Return the mask, bool [B, P, A]; `out` is one of as many matches to write into."""
    if out is None:
        out = torch.empty((len(state), game.players, game.info.num_actions), dtype=torch.bool, device=state.device)
    _mask(out, list(state.tensors()), *_numbers(game))
    return out


def free_spaces(game: GridAdaptation, state: GridState) -> Tensor:
    """Return spaces without a tile: bool [B, N]; none in the voting step."""
    free: Tensor = _free_spaces(list(state.tensors()), *_numbers(game))
    return free


# --- operators ----------------------------------------------------------------------------------------------------


def _fake_step(
    fields: Sequence[Tensor], given: Tensor, rules: Sequence[int], garnet_value: float, random: bool, renew: bool
) -> Played:
    seed, rewards = fields[0], fields[3]
    actions = seed.new_empty((rewards.shape[1], len(COMPONENTS), len(seed)) if random else (0,)).movedim(-1, 0)
    terminated, truncated = (seed.new_empty(len(seed), dtype=torch.bool) for _ in range(2))
    return actions, torch.empty_like(rewards.t(), memory_format=torch.contiguous_format).t(), terminated, truncated


@operator(
    "grid_adaptation_step_(Tensor(a!)[] fields, Tensor given, int[] rules, float garnet_value, bool random, bool renew)"
    " -> (Tensor, Tensor, Tensor, Tensor)",
    fake=_fake_step,
)
def _step(
    fields: Sequence[Tensor], given: Tensor, rules: Sequence[int], garnet_value: float, random: bool, renew: bool
) -> Played:
    """Play a step in place; with `renew`, begin new matches where one ends. Return no actions if they are given."""
    game, state = _game(rules, garnet_value), GridState(*fields)
    actions = legality.random_actions(game, state, given) if random else given
    after = matches.step(game, state, actions)
    results = after.rewards.clone(), after.terminated.clone(), after.truncated.clone()
    if renew and after.done.any():
        after = matches.restart(game, after.clone(), after.done)
    for field, value in zip(fields, after.tensors(), strict=True):
        field.copy_(value)
    return (actions if random else given.new_empty(0), *results)


@operator(
    "grid_adaptation_mask_(Tensor(a!) out, Tensor[] fields, int[] rules, float garnet_value) -> ()",
    fake=lambda out, fields, rules, garnet_value: None,
)
def _mask(out: Tensor, fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float) -> None:
    """Write the mask of every player, bool [B, P, A]."""
    legality.mask(_game(rules, garnet_value), GridState(*fields), out)


@operator(
    "grid_adaptation_free_spaces(Tensor[] fields, int[] rules, float garnet_value) -> Tensor",
    fake=lambda fields, rules, garnet_value: fields[0].new_empty((len(fields[0]), rules[0] ** 2), dtype=torch.bool),
)
def _free_spaces(fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float) -> Tensor:
    """Return spaces without a tile: bool [B, N]."""
    return legality.free_spaces(_game(rules, garnet_value), GridState(*fields)).contiguous()


# --- native code --------------------------------------------------------------------------------------------------


@_step.native
def _native_step(
    native: Library,
    fields: Sequence[Tensor],
    given: Tensor,
    rules: Sequence[int],
    garnet_value: float,
    random: bool,
    renew: bool,
) -> Played:
    """Return `_step`."""
    game, batch = _game(rules, garnet_value), len(fields[0])
    players = game.players
    if not _known(game, fields) or given.shape != (batch, players, len(COMPONENTS)):
        return NotImplemented  # type: ignore[no-any-return]
    inner = [innermost(field) for field in fields]
    rows = given.long().flatten(1)
    actions = rows.new_empty((players, len(COMPONENTS), batch) if random else (0,))
    rewards = inner[3].new_empty((players, batch))
    terminated, truncated = (rows.new_empty(batch, dtype=torch.bool) for _ in range(2))
    native.cellgames_grid_adaptation_step(
        *_call(rules, garnet_value, batch),
        renew,
        _addresses(inner),
        rows.data_ptr(),
        *rows.stride(),
        pointer(actions, torch.int64) if random else None,
        pointer(rewards, torch.float32),
        pointer(terminated, torch.bool),
        pointer(truncated, torch.bool),
    )
    for field, written in zip(fields, inner, strict=True):
        if field.data_ptr() != written.data_ptr():
            field.copy_(written.movedim(-1, 0))
    return actions.movedim(-1, 0), rewards.t(), terminated, truncated


@_mask.native
def _native_mask(
    native: Library, out: Tensor, fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float
) -> None:
    """Write `_mask`."""
    game = _game(rules, garnet_value)
    expected = (len(fields[0]), game.players, game.info.num_actions)
    if not _known(game, fields) or out.shape != expected or not out.is_contiguous():
        return NotImplemented  # type: ignore[no-any-return]
    inner = [innermost(field) for field in fields]
    arguments = _call(rules, garnet_value, len(out))
    native.cellgames_grid_adaptation_legal(*arguments, _addresses(inner), pointer(out, torch.bool), None)
    return None


@_free_spaces.native
def _native_free_spaces(native: Library, fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float) -> Tensor:
    """Return `_free_spaces`."""
    game = _game(rules, garnet_value)
    if not _known(game, fields):
        return NotImplemented  # type: ignore[no-any-return]
    inner = [innermost(field) for field in fields]
    free = torch.empty((len(fields[0]), game.spaces), dtype=torch.bool)
    arguments = _call(rules, garnet_value, len(free))
    native.cellgames_grid_adaptation_legal(*arguments, _addresses(inner), None, pointer(free, torch.bool))
    return free


def _copied(field: Tensor) -> Tensor:
    """Return a copy whose matches lie next to each other in memory."""
    inner = field.movedim(0, -1)
    return inner.clone(memory_format=torch.contiguous_format).movedim(-1, 0)


@lru_cache
def _numbers(game: GridAdaptation) -> tuple[tuple[int, ...], float]:
    """Return the rules as operators take them."""
    flips = sorted({number for number in game.flip_rounds if number <= game.rounds})
    outcome = int(game.reward_scheme == "outcome")
    kinds = (game.size, game.players, game.rounds, game.first_tiles, game.starting_garnets, game.reserves, outcome)
    numbers = (*kinds, *flips), game.garnet_value
    _GAMES[numbers] = game
    return numbers


def _game(rules: Sequence[int], garnet_value: float) -> GridAdaptation:
    """Return the game of `_numbers`."""
    return _GAMES[tuple(rules), garnet_value]


def _call(rules: Sequence[int], garnet_value: float, batch: int) -> tuple[object, int, int, int]:
    """Return the first arguments of native functions: the rules, how many numbers they are, matches and threads."""
    numbers = _for_native(tuple(rules), garnet_value)
    return numbers, len(numbers), batch, min(torch.get_num_threads(), 1 + batch // _MATCHES_A_THREAD)


@lru_cache
def _for_native(rules: tuple[int, ...], garnet_value: float) -> ctypes.Array[ctypes.c_int64]:
    (bits,) = struct.unpack("i", torch.tensor(garnet_value, dtype=torch.float32).numpy().tobytes())
    numbers = (*rules[:7], bits, *rules[7:])
    return (ctypes.c_int64 * len(numbers))(*numbers)


@lru_cache
def _kinds(game: GridAdaptation) -> list[tuple[tuple[int, ...], torch.dtype]]:
    """Return shapes, without the batch, and dtypes of the fields."""
    state = game.init(torch.zeros(1, dtype=torch.int64))
    return [(tuple(field.shape[1:]), field.dtype) for field in state.tensors()]


def _known(game: GridAdaptation, fields: Sequence[Tensor]) -> bool:
    """Return True if the fields are those of such a game; else the torch code says what is wrong."""
    batch = len(fields[0])
    return all(
        field.shape == (batch, *shape) and field.dtype == dtype
        for field, (shape, dtype) in zip(fields, _kinds(game), strict=True)
    )


def _addresses(inner: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of fields whose matches lie next to each other, on the CPU."""
    return (ctypes.c_void_p * len(inner))(*(field.data_ptr() for field in inner))
