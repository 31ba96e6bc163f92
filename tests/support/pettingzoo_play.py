"""Environments of every registered game and of the toys, and how tests play them."""

from __future__ import annotations

from typing import Any

import numpy as np

import cellgames
from cellgames.envs.core import Game

REGISTERED: dict[str, Game] = {id: cellgames.make(id) for id in cellgames.games()}


def parts(mask: Any) -> tuple[Any, ...]:
    """The masks of an action's components."""
    return mask if isinstance(mask, tuple) else (mask,)


def choose(mask: Any, random: np.random.Generator) -> Any:
    """A random legal action of a mask as observations hold it."""
    chosen = [int(random.choice(np.flatnonzero(part))) for part in parts(mask)]
    return np.array(chosen) if isinstance(mask, tuple) else chosen[0]


def play_on(env: Any, seed: int = 0, moves: int = 10_000) -> list[Any]:
    """Random legal moves; all that `last` says on the way, and the rewards of every step."""
    random, steps = np.random.default_rng(seed), []
    while env.agents and moves > 0:
        observation, reward, terminated, truncated, info = env.last()
        steps.append((env.agent_selection, observation, reward, terminated, truncated, info, dict(env.rewards)))
        done = terminated or truncated
        env.step(None if done else choose(observation["action_mask"], random))
        moves -= 1
    return steps


def same(one: Any, two: Any) -> bool:
    """Nested dicts, tuples and arrays, by content and dtype."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == two.shape and same(list(one), list(two))
        return bool(one.dtype == two.dtype) and np.array_equal(one, two)
    return bool(one == two)
