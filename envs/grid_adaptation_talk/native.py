"""Steps of matches with talk in native code: an operator over `envs/native/sources/grid_adaptation.cpp`.

Its reference is the torch code of `game`. The base game's part of a step is that of `grid_adaptation.native`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core.vector import Transition
from cellgames.envs.grid_adaptation import native as rounds
from cellgames.envs.grid_adaptation.native import Played
from cellgames.envs.native import Library, operator, pointer

from . import words
from .state import BASE, TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk

_BASE_FIELDS = -3  # where the fields of words begin
_GAMES: dict[tuple[tuple[int, ...], float, tuple[int, ...]], GridAdaptationTalk] = {}  # by `_numbers`


def step_in_place(
    game: GridAdaptationTalk, state: TalkState, mask: Tensor | None, given: Tensor, random: bool
) -> Transition:
    """Play a step in every match, and begin new ones where one ends: see `rounds.step_in_place`."""
    numbers = _numbers(game)
    actions, rewards, terminated, truncated = _step(list(state.tensors()), given, *numbers, random)
    return Transition(actions if random else given, rewards, terminated, truncated)


@lru_cache
def _numbers(game: GridAdaptationTalk) -> tuple[tuple[int, ...], float, tuple[int, ...]]:
    """Return the rules as the operator takes them."""
    talk = (game.places, game.words, game.talk_steps, game.talks, game.talk == "private")
    numbers = *rounds.numbers(game.base), (*map(int, talk), int(game.scramble), int(game.mute))
    _GAMES[numbers] = game
    return numbers


def _fake_step(
    fields: Sequence[Tensor],
    given: Tensor,
    rules: Sequence[int],
    garnet_value: float,
    talk: Sequence[int],
    random: bool,
) -> Played:
    return rounds.results(fields, BASE + talk[0], random)


@operator(
    "grid_adaptation_talk_step_(Tensor(a!)[] fields, Tensor given, int[] rules, float garnet_value, int[] talk, "
    "bool random) -> (Tensor, Tensor, Tensor, Tensor)",
    fake=_fake_step,
)
def _step(
    fields: Sequence[Tensor],
    given: Tensor,
    rules: Sequence[int],
    garnet_value: float,
    talk: Sequence[int],
    random: bool,
) -> Played:
    """Play a step in place, and begin new matches where one ends. Return no actions if they are given."""
    game, state = _GAMES[tuple(rules), garnet_value, tuple(talk)], TalkState(*fields)
    bits = rounds.bits_of(given, fields, BASE + talk[0])
    actions = game._random_actions(state, bits) if random else given
    after = game._step(state, actions)
    results = after.rewards.clone(), after.terminated.clone(), after.truncated.clone()
    if after.done.any():
        after = game._restart(after.clone(), after.done)
    for field, value in zip(fields, after.tensors(), strict=True):
        field.copy_(value)
    return (actions if random else given.new_empty(0), *results)


@_step.native
def _native_step(
    native: Library,
    fields: Sequence[Tensor],
    given: Tensor,
    rules: Sequence[int],
    garnet_value: float,
    talk: Sequence[int],
    random: bool,
) -> Played:
    """Return `_step`."""
    game, state = _GAMES[tuple(rules), garnet_value, tuple(talk)], TalkState(*fields)
    base, components = fields[:_BASE_FIELDS], BASE + talk[0]
    known = rounds.known(game.base, base) and state.said.shape == (
        len(state),
        game.talks,
        game.players,
        talk[0],
    )
    if not known or not rounds.takes(given, base, components, random):
        return NotImplemented  # type: ignore[no-any-return]
    spoken = game.talking(state).nonzero().squeeze(1) if state.heard.shape[1] else None
    number, seeds = (state.talks.clone(), state.seed.clone()) if spoken is not None else (state.talks, state.seed)
    said, talks = state.said.contiguous(), state.talks.contiguous()
    played = rounds.results(base, components, random)
    rounds.play(
        native.cellgames_grid_adaptation_talk_step,
        (rules, garnet_value, True),
        base,
        given,
        played,
        (ctypes.c_int64 * 4)(*talk[:4]),
        pointer(talks, torch.int64),
        pointer(said, torch.int8),
    )
    for field, written in ((state.talks, talks), (state.said, said)):
        if field.data_ptr() != written.data_ptr():
            field.copy_(written)
    if spoken is not None:
        step = number[spoken]
        state.heard[spoken, step] = words.delivered(game, seeds[spoken], step, state.said[spoken, step])
        state.heard[played[2]] = words.TO_COME
    return played
