"""Anything as actions, through the core and every adapter: played or refused, and a refusal changes nothing."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
import torch
from adapter_doors import ADAPTERS, core_state, legal
from every_game import generator, play
from fuzzing import GAMES as SMALL
from fuzzing import Inputs, documented, fuzz
from hostile_actions import Recipe, recipes
from hypothesis import strategies as st
from learner_play import nth_legal, same
from toy_games import TOYS, random_actions

from cellgames.envs.adapters import SeatVector
from cellgames.envs.core import Game, Vector, seeds

GAMES: dict[str, Game] = {**SMALL, **{toy.id: toy for toy in TOYS}}
SIMULTANEOUS = [name for name, game in GAMES.items() if game.info.simultaneous]
B = 2

any_game = st.sampled_from(list(GAMES))


@fuzz(Inputs(short=30, share=10), name=any_game, recipe=recipes())
def test_actions_of_the_core(name: str, recipe: Recipe) -> None:
    game = GAMES[name]
    state = play(game, game.init(seeds(recipe.seed, B)), recipe.played, recipe.seed)
    given, before = recipe.build(random_actions(game, state, generator(recipe.seed + 1)).numpy()), state.clone()
    with documented(ValueError):
        after = game.step(state, given)
        assert isinstance(given, torch.Tensor), "only tensors are actions of a batch"
        with torch._C.DisableTorchFunctionSubclass():
            meant = torch.tensor(given.detach().tolist()).reshape(B, *game.info.action_shape)
        assert game.step(before, meant).equal(after), "what is accepted is played as it says"
    assert state.equal(before)


@fuzz(Inputs(short=20, share=6), name=any_game, recipe=recipes())
def test_actions_of_vectors(name: str, recipe: Recipe) -> None:
    game = GAMES[name]
    vector = Vector(game, B, seed=recipe.seed)
    random = generator(recipe.seed)
    for _ in range(recipe.played):
        vector.step_random(random)
    before, legal = vector.state.clone(), random_actions(game, vector.state, random)
    with documented(ValueError):
        vector.step(recipe.build(legal.numpy()))
        return
    assert vector.state.equal(before)
    vector.step(legal)


@cache
def seat_vector(name: str, illegal: Any) -> SeatVector:
    return SeatVector(GAMES[name], B, illegal=illegal)


@fuzz(Inputs(short=20, share=6), name=any_game, illegal=st.sampled_from(["raise", "forfeit"]), recipe=recipes())
def test_actions_of_a_learners_seat(name: str, illegal: str, recipe: Recipe) -> None:
    vector = seat_vector(name, illegal)
    vector.reset(recipe.seed)
    legal = first_legal(vector)
    for _ in range(recipe.played):
        vector.step(legal)
        legal = first_legal(vector)
    given, before = recipe.build(legal.numpy()), vector.state_dict()
    with documented(ValueError):
        moved = vector.step(given)
        assert illegal == "forfeit" or not moved.faults
        return
    assert same(vector.state_dict(), before)
    vector.step(legal)


def first_legal(vector: SeatVector) -> torch.Tensor:
    return torch.stack([nth_legal(vector.game, mask, 0) for mask in vector.action_mask])


@cache
def env_of(door: str, name: str) -> Any:
    return ADAPTERS[door].make(GAMES[name])


def hostile(door: str, env: Any, legal: torch.Tensor, who: str, recipe: Recipe) -> Any:
    """Return what the environment's own `step` is given: for one agent, for all of them, or in place of a mapping."""
    one = recipe.build(legal[(0,) * (2 if door == "parallel" else 1)].numpy())
    if door == "parallel" and who != "whole":
        actions = dict(zip(env.agents, legal[0].numpy(), strict=True))
        return {**actions, **dict.fromkeys(list(actions)[: 1 if who == "one" else None], one)}
    if door == "torchrl":
        from tensordict import TensorDict  # takes seconds to import

        return TensorDict({env.action_key: recipe.build(legal.numpy())}, env.batch_size)
    return one if ADAPTERS[door].num_envs == 1 else recipe.build(legal.numpy())


def check_door(door: str, name: str, who: str, recipe: Recipe) -> None:
    """Play some steps, then what is hostile; a refusal changes nothing, and legal actions are played after it."""
    adapter = ADAPTERS[door]
    if not adapter.serves(GAMES[name]) or (door == "wrapped" and name in SIMULTANEOUS):
        return
    env = env_of(door, name)
    look = env.unwrapped.vector.state_dict if adapter.learner and door != "sb3" else lambda: core_state(env)
    adapter.reset(env, seed=recipe.seed)
    for number in range(recipe.played):
        if not core_state(env).done.any():
            adapter.step(env, legal(env, number))
    if core_state(env).done.any():
        return
    good, before = legal(env, recipe.seed), copy.deepcopy(look())
    try:
        given = hostile(door, env, good, who, recipe)
    except Exception:
        assert door == "torchrl"  # TensorDict itself refuses what does not fit
        return
    with documented(ValueError):
        env.step(given)
        return
    assert same(look(), before)
    adapter.step(env, good)


@fuzz(
    Inputs(short=100, share=26),
    door=st.sampled_from(list(ADAPTERS)),
    name=any_game,
    who=st.sampled_from(["one", "all", "whole"]),
    recipe=recipes(),
)
def test_actions_of_adapters(door: str, name: str, who: str, recipe: Recipe) -> None:
    check_door(door, name, who, recipe)


@pytest.mark.parametrize("door", ADAPTERS)
@pytest.mark.parametrize("container", ["masked", "generator", "wordy", "list"])  # once taken, or badly refused
def test_things_that_are_no_numbers_in_every_adapter(door: str, container: str) -> None:
    for name in ("torus", "grid"):
        for who in ("all", "whole"):
            check_door(door, name, who, Recipe(container, played=1))
