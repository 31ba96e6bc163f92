"""Environments of every registered game and of the toys, and how tests play them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from every_game import QUICK, of_each
from pettingzoo.utils.conversions import parallel_to_aec
from toy_games import Race, Sealed, TwoPartRace

import cellgames
from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame
from cellgames.envs.core import Game

REGISTERED: dict[str, Game] = {id: cellgames.make(id) for id in cellgames.games()}
QUICKER = {id: cellgames.make(id, **QUICK[id]) if id in QUICK else game for id, game in REGISTERED.items()}
IN_TURNS = {id: game for id, game in QUICKER.items() if not game.info.simultaneous}
IN_TURNS |= {game.id: game for game in (Race(), TwoPartRace())}
AT_ONCE = {id: game for id, game in QUICKER.items() if game.info.simultaneous}
AT_ONCE |= {Sealed.id: Sealed()}

game_in_turns, game_at_once, any_game = of_each(IN_TURNS), of_each(AT_ONCE), of_each(IN_TURNS | AT_ONCE)

Dress = Callable[[AECGame], Any]
either = pytest.mark.parametrize("dress", [lambda env: env, wrapped], ids=["raw", "wrapped"])


def raw(game: Game, render_mode: str | None = None) -> Any:
    """The environment without wrappers; its window does not wait."""
    env = (ParallelGame if game.info.simultaneous else AECGame)(game, render_mode)
    env.metadata["render_fps"] = 100_000
    return env


def aec(game: Game, render_mode: str | None = None) -> Any:
    """The AEC environment as users get it, whatever the game's kind."""
    if game.info.simultaneous:
        return parallel_to_aec(raw(game, render_mode))
    return wrapped(raw(game, render_mode))


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


def one_step(game: Game) -> int:
    """How many agents act in one step of the game."""
    return game.info.num_players if game.info.simultaneous else 1


def same(one: Any, two: Any) -> bool:
    """Nested dicts, tuples and arrays, by content."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return bool(one == two)
