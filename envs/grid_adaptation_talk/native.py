"""Steps of matches with talk in native code, by `envs/native/sources/grid_adaptation.cpp`.

The base game's part of a step is that of `grid_adaptation.native`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core.vector import Transition
from cellgames.envs.grid_adaptation import native as rounds
from cellgames.envs.native import library, pointer

from . import words
from .state import BASE, TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk


def step_in_place(
    game: GridAdaptationTalk, state: TalkState, mask: Tensor | None, given: Tensor, random: bool
) -> Transition:
    """Play a step in every match, and begin new ones where one ends: see `rounds.step_in_place`."""
    native = library(state.device)
    assert native is not None
    spoken = game.talking(state).nonzero().squeeze(1) if state.heard.shape[1] else None
    number, seeds = (state.talks.clone(), state.seed.clone()) if spoken is not None else (state.talks, state.seed)
    said, talks = state.said.contiguous(), state.talks.contiguous()
    options = (ctypes.c_int64 * 4)(game.places, game.words, game.talk_steps, game.talks)
    more = options, pointer(talks, torch.int64), pointer(said, torch.int8)
    allies = game.allies(state) if game.reward_sharing else None
    function, components = native.cellgames_grid_adaptation_talk_step, BASE + game.places
    played = rounds.play(function, game.base, state.base, given, random, True, components, more)
    if allies is not None:
        for rewards in (state.rewards, played.rewards):
            rewards.copy_(game.shared(rewards, allies))
    for field, written in ((state.talks, talks), (state.said, said)):
        if field.data_ptr() != written.data_ptr():
            field.copy_(written)
    if spoken is not None:
        step = number[spoken]
        state.heard[spoken, step] = words.delivered(game, seeds[spoken], step, state.said[spoken, step])
        state.heard[played.terminated] = words.TO_COME
    return played
