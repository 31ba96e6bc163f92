"""Rounds, masks and free spaces in native code: operators over `envs/native/sources/grid_adaptation.cpp`.

Their reference is the torch code of `matches` and `legality`, which runs on other devices and without the library.
A state goes to an operator as the list of its fields, a game as the numbers of its rules.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor

from cellgames.envs.core.sampling import spread_over
from cellgames.envs.core.vector import Transition
from cellgames.envs.native import Library, library, operator, pointer

from . import legality, matches
from .stages import innermost
from .state import COMPONENTS, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

Played: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]
"""Actions, rewards, terminated and truncated, as in `Transition`."""

_GAMES: dict[tuple[tuple[int, ...], float], GridAdaptation] = {}  # by `numbers`: whose operators have been called
_MATCHES_A_THREAD = 256  # starting a thread takes as long as some dozens of matches


def step(game: GridAdaptation, state: GridState, actions: Tensor) -> GridState:
    """Play a round, or the vote; actions are int64 [B, P, 7]."""
    if library(state.device) is None:
        return matches.step(game, state, actions)
    after = state.map(_copied)
    _step(list(after.tensors()), actions, *numbers(game), False, False)
    return after


def step_in_place(
    game: GridAdaptation, state: GridState, mask: Tensor | None, given: Tensor, random: bool
) -> Transition:
    """Play a round or the vote, and begin new matches where one ends: see `NativeStep`.

    Args:
        game: the rules.
        state: unfinished matches, overwritten.
        mask: none; it is made when asked for.
        given: actions, int64 [B, P, 7]; or random bits of that shape, or the number they are spread out of, int64 [1].
        random: True if actions are drawn of random bits.
    """
    actions, rewards, terminated, truncated = _step(list(state.tensors()), given, *numbers(game), random, True)
    return Transition(actions if random else given, rewards, terminated, truncated)


def mask(game: GridAdaptation, state: GridState, out: Tensor | None = None) -> Tensor:
    """Return the mask, bool [B, P, A]; `out` is a mask of the same number of matches to write into."""
    if out is None:
        out = torch.empty((len(state), game.players, game.info.num_actions), dtype=torch.bool, device=state.device)
    _mask(out, list(state.tensors()), *numbers(game))
    return out


def free_spaces(game: GridAdaptation, state: GridState) -> Tensor:
    """Return spaces without a tile: bool [B, N]; none in the voting step."""
    free: Tensor = _free_spaces(list(state.tensors()), *numbers(game))
    return free


# --- operators ----------------------------------------------------------------------------------------------------


def _fake_step(
    fields: Sequence[Tensor], given: Tensor, rules: Sequence[int], garnet_value: float, random: bool, renew: bool
) -> Played:
    return results(fields, len(COMPONENTS), random)


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
    actions = legality.random_actions(game, state, bits_of(given, fields, len(COMPONENTS))) if random else given
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


def results(fields: Sequence[Tensor], components: int, random: bool) -> Played:
    """Return tensors for the results of a step, matches next to each other in memory; no actions unless drawn."""
    seed, rewards = fields[0], fields[3]
    batch, players = rewards.shape
    actions = seed.new_empty((players, components, batch) if random else (0,)).movedim(-1, 0)
    terminated, truncated = (seed.new_empty(batch, dtype=torch.bool) for _ in range(2))
    return actions, rewards.new_empty((players, batch)).t(), terminated, truncated


def bits_of(given: Tensor, fields: Sequence[Tensor], components: int) -> Tensor:
    """Return random bits, int64 [B, P, K], or those that are spread out of a number, int64 [1]."""
    return given if given.ndim > 1 else spread_over(given, (*fields[3].shape, components))


# --- native code --------------------------------------------------------------------------------------------------


def takes(given: Tensor, fields: Sequence[Tensor], components: int, random: bool) -> bool:
    """Return True if `given` are actions or random bits of the right shape, or the number for such bits."""
    return given.shape == (*fields[3].shape, components) or (random and given.shape == (1,))


def play(
    function: Callable[..., object],
    rules: tuple[Sequence[int], float, bool],
    fields: Sequence[Tensor],
    given: Tensor,
    played: Played,
    *more: object,
) -> None:
    """Play a step in native code.

    Args:
        function: function of the library.
        rules: the numbers of the rules, the value of a garnet, and whether new matches begin where one ends.
        fields: fields of the base game, overwritten.
        given: actions or random bits that `takes` has checked.
        played: overwritten, from `results`.
        more: the last arguments of the function.
    """
    actions, rewards, terminated, truncated = played
    inner = [innermost(field) for field in fields]
    rows = given.long().flatten(1) if given.ndim > 1 else given
    function(
        *call(*rules[:2], len(rewards)),
        rules[2],
        addresses(inner),
        rows.data_ptr(),
        *(rows.stride() if given.ndim > 1 else (0, 0)),
        pointer(actions.movedim(0, -1), torch.int64) if len(actions) else None,
        pointer(rewards.t(), torch.float32),
        pointer(terminated, torch.bool),
        pointer(truncated, torch.bool),
        *more,
    )
    for field, written in zip(fields, inner, strict=True):
        if field.data_ptr() != written.data_ptr():
            field.copy_(written.movedim(-1, 0))


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
    game, components = _game(rules, garnet_value), len(COMPONENTS)
    if not known(game, fields) or not takes(given, fields, components, random):
        return NotImplemented  # type: ignore[no-any-return]
    played = results(fields, components, random)
    play(native.cellgames_grid_adaptation_step, (rules, garnet_value, renew), fields, given, played)
    return played


@_mask.native
def _native_mask(
    native: Library, out: Tensor, fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float
) -> None:
    """Write `_mask`."""
    game = _game(rules, garnet_value)
    expected = (len(fields[0]), game.players, game.info.num_actions)
    if not known(game, fields) or out.shape != expected or not out.is_contiguous():
        return NotImplemented  # type: ignore[no-any-return]
    inner = [innermost(field) for field in fields]
    arguments = call(rules, garnet_value, len(out))
    native.cellgames_grid_adaptation_legal(*arguments, addresses(inner), pointer(out, torch.bool), None)
    return None


@_free_spaces.native
def _native_free_spaces(native: Library, fields: Sequence[Tensor], rules: Sequence[int], garnet_value: float) -> Tensor:
    """Return `_free_spaces`."""
    if not known(_game(rules, garnet_value), fields):
        return NotImplemented  # type: ignore[no-any-return]
    inner = [innermost(field) for field in fields]
    free = torch.empty((len(fields[0]), rules[0] ** 2), dtype=torch.bool)
    arguments = (addresses(inner), None, pointer(free, torch.bool))
    native.cellgames_grid_adaptation_legal(*call(rules, garnet_value, len(free)), *arguments)
    return free


def _copied(field: Tensor) -> Tensor:
    """Return a copy whose matches lie next to each other in memory."""
    inner = field.movedim(0, -1)
    return inner.clone(memory_format=torch.contiguous_format).movedim(-1, 0)


@lru_cache
def numbers(game: GridAdaptation) -> tuple[tuple[int, ...], float]:
    """Return the rules as operators take them."""
    flips = sorted({number for number in game.flip_rounds if number <= game.rounds})
    scheme = ("score", "outcome", "public").index(game.reward_scheme)
    kinds = (game.size, game.players, game.rounds, game.first_tiles, game.starting_garnets, game.reserves, scheme)
    found = (*kinds, *flips), game.garnet_value
    _GAMES[found] = game
    return found


def _game(rules: Sequence[int], garnet_value: float) -> GridAdaptation:
    """Return the game of `numbers`."""
    return _GAMES[tuple(rules), garnet_value]


def call(rules: Sequence[int], garnet_value: float, batch: int) -> tuple[object, int, int, int]:
    """Return the first arguments of native functions: the rules, how many numbers they are, matches and threads."""
    given = _for_native(tuple(rules), garnet_value)
    return given, len(given), batch, min(torch.get_num_threads(), 1 + batch // _MATCHES_A_THREAD)


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


def known(game: GridAdaptation, fields: Sequence[Tensor]) -> bool:
    """Return True if the fields are those of such a game; else the torch code says what is wrong."""
    batch = len(fields[0])
    return all(
        field.shape == (batch, *shape) and field.dtype == dtype
        for field, (shape, dtype) in zip(fields, _kinds(game), strict=True)
    )


def addresses(inner: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the addresses of fields whose matches lie next to each other, on the CPU."""
    return (ctypes.c_void_p * len(inner))(*(field.data_ptr() for field in inner))
