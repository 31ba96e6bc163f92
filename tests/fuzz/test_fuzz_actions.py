"""Anything as actions, through the core and every adapter: played or refused, and a refusal changes nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from every_game import generator
from fuzzing import Inputs, documented, fuzz
from hostile_actions import Recipe, recipes
from hypothesis import strategies as st
from toy_games import TOYS, random_actions

import cellgames
from cellgames.envs.adapters import AECGame, ParallelGame, SeatEnv, SeatVector, SeatVectorEnv
from cellgames.envs.adapters.pettingzoo_aec import wrapped
from cellgames.envs.core import Game, State, Vector, seeds

GAMES: dict[str, Game] = {
    "torus": cellgames.make("torus-v0", size=2),
    "cloth": cellgames.make("cloth-of-gold-v0", height=8, width=9, generations=2, max_units=2, max_rounds=2, radius=3),
    "grid": cellgames.make("grid-adaptation-v0", size=5, players=3, rounds=3, flip_rounds=(2,)),
    **{toy.id: toy for toy in TOYS},
}
SIMULTANEOUS = [name for name, game in GAMES.items() if game.info.simultaneous]
IN_TURNS = [name for name in GAMES if name not in SIMULTANEOUS]
B = 2

any_game = st.sampled_from(list(GAMES))


def advanced(game: Game, recipe: Recipe) -> State:
    state: State = game.init(seeds(recipe.seed, B))
    random = generator(recipe.seed)
    for _ in range(recipe.played):
        state = game.step(state, random_actions(game, state, random))
    return state


def legal_ones(game: Game, state: State, recipe: Recipe) -> np.ndarray[Any, Any]:
    """Legal actions as `step` takes them."""
    found: np.ndarray[Any, Any] = random_actions(game, state, generator(recipe.seed + 1)).numpy()
    return found


def tensors_of(thing: Any) -> list[Any]:
    """Return the parts that must not change, as plain numbers."""
    if isinstance(thing, State):
        return [field.tolist() for field in thing.tensors()]
    if isinstance(thing, dict):
        return [tensors_of(value) for value in thing.values()]
    return [thing.tolist() if isinstance(thing, torch.Tensor) else thing]


def play_or_refuse(env: Any, given: Any, legal: Any, look: Callable[[], Any], *kinds: type[Exception]) -> None:
    """Step with what is given; a refusal changes nothing that `look` shows, and legal actions are played after it."""
    before = tensors_of(look())
    with documented(ValueError, *kinds):
        env.step(given)
        return
    assert tensors_of(look()) == before
    env.step(legal)


@fuzz(Inputs(short=60, share=10), name=any_game, recipe=recipes())
def test_actions_of_the_core(name: str, recipe: Recipe) -> None:
    game = GAMES[name]
    state = advanced(game, recipe)
    given, before = recipe.build(legal_ones(game, state, recipe)), state.clone()
    with documented(ValueError):
        after = game.step(state, given)
        assert isinstance(given, torch.Tensor), "only tensors are actions of a batch"
        with torch._C.DisableTorchFunctionSubclass():
            meant = torch.tensor(given.detach().tolist()).reshape(B, *game.info.action_shape)
        assert game.step(before, meant).equal(after), "what is accepted is played as it says"
    assert state.equal(before)


@fuzz(Inputs(short=40, share=6), name=any_game, recipe=recipes())
def test_actions_of_vectors(name: str, recipe: Recipe) -> None:
    game = GAMES[name]
    vector = Vector(game, B, seed=recipe.seed)
    random = generator(recipe.seed)
    for _ in range(recipe.played):
        vector.step_random(random)
    legal = legal_ones(game, vector.state, recipe)
    play_or_refuse(vector, recipe.build(legal), torch.from_numpy(legal), lambda: vector.state)
    assert len(vector.state) == B


@cache
def seat_vector(name: str, illegal: Any) -> SeatVector:
    return SeatVector(GAMES[name], B, illegal=illegal)


@fuzz(Inputs(short=40, share=6), name=any_game, illegal=st.sampled_from(["raise", "forfeit"]), recipe=recipes())
def test_actions_of_a_learners_seat(name: str, illegal: str, recipe: Recipe) -> None:
    vector = seat_vector(name, illegal)
    vector.reset(recipe.seed)
    legal = first_legal(vector)
    for _ in range(recipe.played):
        vector.step(legal)
        legal = first_legal(vector)
    given, before = recipe.build(legal.numpy()), tensors_of(vector.state_dict())
    with documented(ValueError):
        moved = vector.step(given)
        assert illegal == "forfeit" or not moved.faults
        return
    assert tensors_of(vector.state_dict()) == before
    vector.step(legal)


def first_legal(vector: SeatVector) -> torch.Tensor:
    """The first legal choice of each component, as `step` takes it."""
    nvec = vector.game.info.action_nvec
    parts = [part.int().argmax(-1) for part in vector.action_mask.split(list(nvec), -1)]
    return parts[0] if len(parts) == 1 else torch.stack(parts, -1)


# ---------------------------------------------------------------- PettingZoo


@cache
def aec(name: str) -> AECGame:
    return AECGame(GAMES[name])


@cache
def wrapped_aec(name: str) -> Any:
    return wrapped(aec(name))


@cache
def parallel(name: str) -> ParallelGame:
    return ParallelGame(GAMES[name])


def chosen(mask: Any, number: int) -> Any:
    """A legal action by PettingZoo's masks."""
    parts = mask if isinstance(mask, tuple) else (mask,)
    choices = [int(np.flatnonzero(part)[number % int(part.sum())]) for part in parts]
    return np.array(choices) if isinstance(mask, tuple) else choices[0]


@fuzz(Inputs(short=60, share=7), name=st.sampled_from(IN_TURNS), with_wrappers=st.booleans(), recipe=recipes())
def test_actions_of_pettingzoo_in_turns(name: str, with_wrappers: bool, recipe: Recipe) -> None:
    raw = aec(name)
    env: Any = wrapped_aec(name) if with_wrappers else raw
    env.reset(seed=recipe.seed)
    for number in range(recipe.played):
        last = env.last()
        env.step(None if last[2] or last[3] else chosen(last[0]["action_mask"], number))
    if not env.agents:
        return
    observation, _, terminated, truncated, _ = env.last()
    legal = None if terminated or truncated else chosen(observation["action_mask"], recipe.seed)
    asserted = [AssertionError] if with_wrappers else []  # PettingZoo's wrapper asserts that an action is in the space
    play_or_refuse(env, recipe.build(np.array(0 if legal is None else legal)), legal, raw.core_state, *asserted)


@fuzz(
    Inputs(short=40, share=6),
    name=st.sampled_from(SIMULTANEOUS),
    who=st.sampled_from(["one", "all", "whole"]),
    recipe=recipes(),
)
def test_actions_of_pettingzoo_in_parallel(name: str, who: str, recipe: Recipe) -> None:
    env = parallel(name)
    seen, _ = env.reset(seed=recipe.seed)
    for number in range(recipe.played):
        if env.agents:
            seen, *_ = env.step({agent: chosen(seen[agent]["action_mask"], number) for agent in env.agents})
    legal = {agent: chosen(seen[agent]["action_mask"], recipe.seed) for agent in env.agents}
    if not legal:
        return
    hostile = recipe.build(np.array(next(iter(legal.values()))))
    several = {**legal, **dict.fromkeys(list(legal)[: 1 if who == "one" else None], hostile)}
    play_or_refuse(env, hostile if who == "whole" else several, legal, env.core_state)


# ---------------------------------------------------------------- Gymnasium, Stable-Baselines3


@cache
def learner_env(kind: str, name: str) -> Any:
    if kind == "sb3":
        sb3 = pytest.importorskip("cellgames.envs.adapters.sb3")
        return sb3.SeatVecEnv(GAMES[name], B, seed=0)
    return SeatEnv(GAMES[name]) if kind == "one" else SeatVectorEnv(GAMES[name], B)


@fuzz(Inputs(short=60, share=9), kind=st.sampled_from(["one", "many", "sb3"]), name=any_game, recipe=recipes())
def test_actions_of_a_single_learners_environments(kind: str, name: str, recipe: Recipe) -> None:
    env = learner_env(kind, name)
    if kind == "sb3":
        env.seed(recipe.seed)
        env.reset()
    else:
        env.reset(seed=recipe.seed)
    for number in range(recipe.played + 1):
        if kind == "one" and env._final is not None:
            return
        legal = first_legal(env.vector)[0 if kind == "one" else slice(None)].numpy()
        if number < recipe.played:
            env.step(legal)
    play_or_refuse(env, recipe.build(legal), legal, env.vector.state_dict)


# ---------------------------------------------------------------- TorchRL


@cache
def torchrl_env(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("cellgames.envs.adapters.torchrl")
        return module.TorchRLGame(GAMES[name], B)


@fuzz(Inputs(short=20, share=4), name=any_game, recipe=recipes())
def test_actions_of_torchrl(name: str, recipe: Recipe) -> None:
    env, game = torchrl_env(name), GAMES[name]
    env.set_seed(recipe.seed)
    data = env.reset()
    for _ in range(recipe.played):
        data = env.step_mdp(env.step(env.rand_action(data)))
    state = env.core_state()
    given, before = recipe.build(legal_ones(game, state, recipe)), state.clone()
    try:
        data[env.action_key] = given
    except Exception:
        return  # TensorDict itself refuses what does not fit
    with documented(ValueError):
        env.step(data)
        return
    assert env.core_state() is state
    assert state.equal(before)
