"""PettingZoo's AEC interface to games in turns: one agent acts at a time."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, getdoc
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Discrete
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from cellgames.envs.core.game import Game
from cellgames.envs.kernels.actions import ActionsError, from_numbers
from cellgames.envs.registry import make
from cellgames.utils.errors import InputError

from .pettingzoo_common import Observation, PettingZooGame
from .pettingzoo_parallel import ParallelGame, make_parallel


class AECGame(PettingZooGame, AECEnv[str, Observation, Any]):
    """Any game in turns as a raw AEC environment: an illegal action raises `ValueError` and changes nothing.

    Observations are {"observation": the player's observation, "action_mask": int8, 1 is legal}; the mask of a
    player who is not to move is all zeros. `infos[agent]` are the game's infos (`Solo.infos`): "score", its own
    measure for that player, and the game's further entries.
    """

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        if game.info.simultaneous:
            raise InputError("game", "one in turns", cause="use ParallelGame, or make_aec", where=game.id)
        super().__init__(game, render_mode)
        self._legal: npt.NDArray[np.bool_] | None = None  # the mover's, once asked for

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a new game.

        Args:
            seed: seed of the game, 0 to 2**63 - 1; None takes the one that follows the last game's, and the first
                time a random one.
            options: {"position": a line as `game.state_to_string` writes it} starts from there.

        Raises:
            ValueError: an invalid seed or position, or a position where the game is over.
        """
        self._start(seed, options)
        solo, players = self._solo, self.possible_agents
        self.agents = players[:]
        self.rewards = dict.fromkeys(players, 0.0)
        self._cumulative_rewards = dict.fromkeys(players, 0.0)
        self.terminations = dict.fromkeys(players, False)
        self.truncations = dict.fromkeys(players, False)
        self.infos = {name: solo.infos(seat) for name, seat in self._seats.items()}
        self.agent_selection = players[solo.current_player]
        self._legal = None
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return the observation of the agent."""
        seat = self._seats[agent]
        if agent != self.agent_selection or self.terminations.get(agent, True) or self.truncations[agent]:
            mask = self._as_mask(self._nothing_legal)
        else:
            if self._legal is None:
                self._legal = self._solo.legal_actions()
            mask = self._as_mask(self._legal)
        return {"observation": self._solo.observe(seat), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Let the selected agent act; an agent that is terminated or truncated may only pass None.

        Raises:
            ValueError: the action is illegal; the message names game, player, action and reason.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        solo = self._solo
        if self._legal is None:
            self._legal = solo.legal_actions()
        played = self._checked(action)
        self._legal = None
        solo.step(played)
        rewards, cumulative, infos = self.rewards, self._cumulative_rewards, self.infos
        cumulative[agent] = 0.0  # the agent has seen it in last()
        for seat, (name, reward) in enumerate(zip(self.possible_agents, solo.rewards, strict=True)):
            rewards[name] = reward
            cumulative[name] += reward
            infos[name] = solo.infos(seat)
        if solo.terminated or solo.truncated:
            self.terminations = dict.fromkeys(self.agents, solo.terminated)
            self.truncations = dict.fromkeys(self.agents, solo.truncated)
        self.agent_selection = self.possible_agents[solo.current_player]
        if self._window is not None:
            self._draw()

    def _checked(self, action: Any) -> Any:
        """Return the action as the core takes it, if it is legal now."""
        legal = self._legal
        assert legal is not None  # step has asked
        if len(self._components) == 1:
            try:
                choice = operator.index(action)
            except Exception:  # whatever an object or a tensor raises
                choice = -1
            if 0 <= choice < len(legal) and legal[choice]:
                return choice
        numbers = self._whole_numbers(self.agent_selection, action)
        played = numbers if len(numbers) > 1 else numbers[0]
        self.game.check(self._solo.state(), torch.tensor([played], device="cpu"))
        return played


class _Near(BaseWrapper[str, Observation, Any]):
    """A wrapper that finds the environment's attributes in one step.

    PettingZoo's wrappers ask the one below by `__getattr__`, which takes longer than a move of the game.
    """

    def __init__(self, env: AECEnv[str, Observation, Any], *arguments: Any, **named: Any) -> None:
        super().__init__(env, *arguments, **named)
        self._base = env.unwrapped

    def __str__(self) -> str:
        return str(self.env)

    def __repr__(self) -> str:
        return repr(self.env)


for _name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
    # Before reset this raises AttributeError, upon which Python asks PettingZoo's __getattr__, which says so.
    setattr(_Near, _name, property(operator.attrgetter(f"_base.{_name}")))


class _TerminateIllegal(_Near, TerminateIllegalWrapper[str, Observation, Any]):
    """PettingZoo's wrapper, also for actions of several components."""

    def observe(self, agent: str) -> Observation | None:
        observation = super().observe(agent)
        if self._prev_obs is observation and observation and isinstance(observation["action_mask"], tuple):
            self._prev_obs = {"action_mask": _Parts(observation["action_mask"])}
        return observation


class _Parts:
    """A mask of several components, indexed by an action."""

    def __init__(self, masks: tuple[npt.NDArray[np.int8], ...]) -> None:
        self._masks = masks

    def __getitem__(self, action: Any) -> bool:
        return all(mask[choice] for mask, choice in zip(self._masks, action, strict=True))


class _AssertOutOfBounds(_Near, AssertOutOfBoundsWrapper[str, Observation, Any]):
    """PettingZoo's wrapper, with a faster test of numbers in a Discrete space."""

    def __init__(self, env: AECEnv[str, Observation, Any]) -> None:
        super().__init__(env)
        space = self.action_space(env.possible_agents[0])
        self._choices = int(space.n) if isinstance(space, Discrete) else 0
        self._shape = tuple(space.shape or ())

    def step(self, action: Any) -> None:
        if type(action) is int and 0 <= action < self._choices:
            self.env.step(action)
            return
        if action is not None:  # Gymnasium's spaces make arrays of whatever they are asked about, however long
            try:
                from_numbers(action, self._shape)
            except ActionsError as error:
                raise AssertionError(f"action is not in action space: {error}") from None
        super().step(action)


class _OrderEnforcing(_Near, OrderEnforcingWrapper[str, Observation, Any]):
    """PettingZoo's wrapper, with a picture for notebooks."""

    def _repr_html_(self) -> str | None:
        html: str | None = self.env.unwrapped._repr_html_()  # type: ignore[attr-defined]  # an AECGame
        return html


def wrapped(env: AECGame) -> AECEnv[str, Observation, Any]:
    """Put the environment into the wrappers that PettingZoo's own classic games have.

    An illegal action ends the game: its player gets the game's lowest reward, the others 0.
    """
    worst = env.game.info.reward_range[0]
    return _OrderEnforcing(_AssertOutOfBounds(_TerminateIllegal(env, illegal_reward=worst)))


def make_aec(*, id: str, render_mode: str | None = None, **parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make the wrapped environment of the game called `id` (entry point of PettingZoo's registry).

    Where all players act at once this is PettingZoo's view of the parallel environment.
    """
    env = make_raw(id=id, render_mode=render_mode, **parameters)
    return wrapped(env) if isinstance(env, AECGame) else env


def make_raw(*, id: str, render_mode: str | None = None, **parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make `make_aec` without wrappers: an illegal action raises a `ValueError` and changes nothing."""
    game = make(id, **parameters)
    return parallel_to_aec(ParallelGame(game, render_mode)) if game.info.simultaneous else AECGame(game, render_mode)


def of_module(id: str) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Return `env`, `raw_env` and `parallel_env` of a module such as `torus_v0`, which take the game's parameters.

    In games in turns the third is the module's `__getattr__`, which says why there is no `parallel_env`.
    """
    game = make(id)
    known = {field.name: field.default for field in dataclasses.fields(game)} | {"render_mode": None}  # type: ignore[arg-type]  # games are dataclasses
    signature = Signature([Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in known.items()])

    def documented(function: Callable[..., Any]) -> Callable[..., Any]:
        def module_function(**parameters: Any) -> Any:
            return function(id=id, **parameters)

        parameters = f'{", ".join(game.parameters)}; and render_mode: "human", "rgb_array", "ansi" or None'
        module_function.__doc__ = (
            f"{getdoc(function)}\n\nThe game: {game.info.credit}.\n\nArgs:\n    parameters: {parameters}."
        )
        module_function.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` and editors read it
        return module_function

    def missing(name: str) -> Any:
        why = f"; players of {id} take turns, so use env()" if name == "parallel_env" else ""
        raise AttributeError(f"module of {id} has no attribute {name!r}{why}", name=name)

    third = documented(make_parallel) if game.info.simultaneous else missing
    return documented(make_aec), documented(make_raw), third
