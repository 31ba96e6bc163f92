"""The adapters as one table: how each makes, resets and steps an environment, and what it does with illegal actions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from learner_play import GAMES, differs, nth_legal
from pettingzoo.test.api_test import api_test
from pettingzoo.test.parallel_test import parallel_api_test
from pettingzoo.test.render_test import render_test
from pettingzoo.test.seed_test import parallel_seed_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.conversions import parallel_to_aec
from slow import slow_except
from torch import Tensor

from cellgames.envs import adapters as doors  # TorchRL takes seconds to import
from cellgames.envs.adapters import AECGame, ParallelGame, SeatEnv, SeatVecEnv, SeatVectorEnv
from cellgames.envs.adapters.pettingzoo_aec import Wrapped
from cellgames.envs.core import Game, State, seeds

ANY_MODE = ("human", "rgb_array", "ansi")


@dataclass(frozen=True)
class Adapter:
    """An adapter as the suite asks it.

    Attributes:
        make: an environment of a game; a render mode, a seat or another option by name.
        serves: whether it takes a game.
        check: raises if the library's own tests of environments fail.
        step: plays actions as the core takes them, [B, ...]; of the learner's seats alone if there is one.
        illegal: what an illegal choice in a game in turns does, and where all act at once.
        modes: how it renders.
        num_envs: `B`.
    """

    make: Callable[..., Any]
    serves: Callable[[Game], bool]
    check: Callable[[Game], None]
    step: Callable[[Any, Tensor], Any]
    illegal: tuple[Literal["raise", "lose"], Literal["raise", "replace"]] = ("lose", "replace")
    modes: tuple[str, ...] = ()
    num_envs: int = 1
    learner: bool = False

    def reset(self, env: Any, seed: Any = None, options: Any = None) -> None:
        """Start new games."""
        if isinstance(env, SeatVecEnv):
            env.seed(seed) if seed is not None else None
            env.set_options(options)
            env.reset()
        elif self is ADAPTERS["torchrl"]:
            env.set_seed(seed) if seed is not None else None
            env.reset(options=options)
        else:
            env.reset(seed=seed, options=options)

    def seeds(self, seed: int) -> Tensor:
        """Return the games' seeds after a reset with a seed."""
        return seeds(seed, self.num_envs) if self is ADAPTERS["torchrl"] else seed + torch.arange(self.num_envs)


def core_state(env: Any) -> State:
    """Return the games as the core's batch; the one that is over, if the next one has not been asked for."""
    base = getattr(env, "unwrapped", env)
    state: State = base.core_state() if hasattr(base, "core_state") else base.vector.state
    return state


def game_of(env: Any) -> Game:
    """Return the rules of an environment, below its wrappers."""
    game: Game = getattr(env, "unwrapped", env).game
    return game


def legal(env: Any, number: int) -> Tensor:
    """Return legal actions as `Adapter.step` takes them; `number` picks them."""
    if hasattr(env, "vector"):
        return torch.stack([nth_legal(env.vector.game, mask, number) for mask in env.vector.action_mask])
    game = game_of(env)
    masks = game.legal_actions(core_state(env))
    rows = torch.stack([nth_legal(game, mask, number) for mask in masks.reshape(-1, game.info.num_actions)])
    return rows.view(len(masks), *game.info.action_shape)


def outcome_of(result: Any) -> tuple[Any, Any, Any]:
    """Return reward, end and `infos` of what a step of Gymnasium's and SB3's environments gives."""
    return (result[1], result[2], result[4]) if len(result) == 5 else result[1:]


def parts(mask: Any) -> tuple[Any, ...]:
    """The masks of an action's components."""
    return mask if isinstance(mask, tuple) else (mask,)


def choose(mask: Any, random: np.random.Generator) -> Any:
    """A random legal action of a mask as observations hold it."""
    chosen = [int(random.choice(np.flatnonzero(part))) for part in parts(mask)]
    return np.array(chosen) if isinstance(mask, tuple) else chosen[0]


def play_on(env: Any) -> list[Any]:
    """Random legal moves; all that `last` says on the way, and the rewards of every step."""
    random, steps = np.random.default_rng(0), []
    while env.agents:
        observation, reward, terminated, truncated, info = env.last()
        steps.append((env.agent_selection, observation, reward, terminated, truncated, info, dict(env.rewards)))
        done = terminated or truncated
        env.step(None if done else choose(observation["action_mask"], random))
    return steps


def _plain(action: Tensor) -> Any:
    return int(action) if action.ndim == 0 else action.numpy()


def _fast(env: Any) -> Any:
    env.metadata["render_fps"] = 100_000  # windows do not wait
    return env


def _raw(game: Game, render_mode: str | None = None, **_: Any) -> Any:
    return _fast((ParallelGame if game.info.simultaneous else AECGame)(game, render_mode))


def _aec(game: Game, render_mode: str | None = None, **_: Any) -> Any:
    return parallel_to_aec(_raw(game, render_mode)) if game.info.simultaneous else Wrapped(_raw(game, render_mode))


def _step_aec(env: Any, actions: Tensor) -> None:
    game = env.unwrapped.game
    for action in actions[0] if game.info.simultaneous else actions:
        env.step(_plain(action))


def _step_parallel(env: Any, actions: Tensor) -> Any:
    return env.step({agent: _plain(action) for agent, action in zip(env.agents, actions[0], strict=True)})


def _step_torchrl(env: Any, actions: Tensor) -> Any:
    from tensordict import TensorDict

    return env.step(TensorDict({env.action_key: actions}, env.batch_size))


def _quietly(check: Callable[[Game], None]) -> Callable[[Game], None]:
    """Raise for all warnings but those that PettingZoo's tests give to its own games too."""
    about = (
        "Observation space for each agent probably",
        "Action space for each agent probably",
        "We recommend agents to be named",
        "Observation is not a NumPy array",
        "Action mask is not a NumPy array",
        "State numpy array is all zeros",
        "Observation numpy array is all zeros",
        "Action mask numpy array is a",
        ".*unknown option 'options'",  # which api_test passes to see whether reset takes options
    )

    def quiet(game: Game) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for message in about:
                warnings.filterwarnings("ignore", message=message)
            check(game)

    return quiet


@_quietly
def _check_raw(game: Game) -> None:
    api_test(_raw(game), num_cycles=60)  # type: ignore[no-untyped-call]  # PettingZoo's


@_quietly
def _check_aec(game: Game) -> None:
    api_test(_aec(game), num_cycles=60)  # type: ignore[no-untyped-call]  # PettingZoo's
    seed_test(lambda: _aec(game), num_cycles=40)  # type: ignore[no-untyped-call]  # PettingZoo's
    check_state_space(_aec(game))  # type: ignore[no-untyped-call]  # PettingZoo's
    if not game.info.simultaneous:  # the test plays illegal moves, of which the wrapper warns in the log
        check_state(_aec(game), num_cycles=2)
    render_test(lambda render_mode: _aec(game, render_mode))  # type: ignore[misc,arg-type]  # its type names no argument


@_quietly
def _check_parallel(game: Game) -> None:
    parallel_api_test(_raw(game), num_cycles=40)
    parallel_seed_test(lambda: _raw(game), num_cycles=40)  # type: ignore[no-untyped-call]  # PettingZoo's


def _check_sb3(game: Game) -> None:
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # boards are no images, whatever their shape
        check_env(SeatEnv(game))


def _check_torchrl(game: Game) -> None:
    from torchrl.envs.utils import check_env_specs, check_marl_grouping

    torch.manual_seed(0)  # TorchRL draws random actions from the global generator
    for num_envs in (1, 3):
        env = doors.TorchRLGame(game, num_envs)
        check_env_specs(env, break_when_any_done="both", seed=0)
    assert bool(env.group_map) == game.info.simultaneous
    if env.group_map:
        check_marl_grouping(env.group_map, list(game.info.players))


ADAPTERS: dict[str, Adapter] = {
    "aec": Adapter(_raw, lambda game: not game.info.simultaneous, _check_raw, _step_aec, ("raise", "raise"), ANY_MODE),
    "wrapped": Adapter(_aec, lambda game: True, _check_aec, _step_aec, modes=ANY_MODE),
    "parallel": Adapter(_raw, lambda game: game.info.simultaneous, _check_parallel, _step_parallel, modes=ANY_MODE),
    "gymnasium": Adapter(
        lambda game, render_mode=None, **more: _fast(SeatEnv(game, render_mode=render_mode, **more)),
        *(lambda game: True, lambda game: check_env(SeatEnv(game)), lambda env, actions: env.step(_plain(actions[0]))),
        modes=ANY_MODE,
        learner=True,
    ),
    "gymnasium vector": Adapter(
        lambda game, render_mode=None, **more: SeatVectorEnv(game, 3, render_mode=render_mode, **more),
        *(lambda game: True, lambda game: None, lambda env, actions: env.step(actions.numpy())),
        modes=("rgb_array",),
        num_envs=3,
        learner=True,
    ),
    "sb3": Adapter(
        lambda game, render_mode=None, **more: SeatVecEnv(game, 3, render_mode=render_mode, **more),
        *(lambda game: True, _check_sb3, lambda env, actions: env.step(actions.numpy())),
        modes=("rgb_array",),
        num_envs=3,
        learner=True,
    ),
    "torchrl": Adapter(
        lambda game, **_: doors.TorchRLGame(game, 3),
        lambda game: True,
        _check_torchrl,
        _step_torchrl,
        ("raise", "raise"),
        num_envs=3,
    ),
}


def adapters(only: Callable[[Adapter], Any] = lambda adapter: True, *, games: Any = None) -> pytest.MarkDecorator:
    """Return the mark of a test of some adapters and every game that each serves; games like others are slow."""
    pairs = {
        f"{name}-{id}": (adapter, game)
        for name, adapter in ADAPTERS.items()
        for id, game in (GAMES if games is None else games).items()
        if only(adapter) and adapter.serves(game)
    }
    quick = [key for key in pairs if differs(key.partition("-")[2])]
    return pytest.mark.parametrize(("adapter", "game"), slow_except(quick, pairs.values(), pairs))
