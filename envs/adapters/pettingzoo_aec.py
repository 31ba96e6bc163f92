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
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper, TerminateIllegalWrapper
from typing_extensions import override

from cellgames.envs.registry import make

from .pettingzoo_common import Observation, PettingZooGame, masks_by_component
from .pettingzoo_parallel import ParallelGame, make_parallel


class AECGame(PettingZooGame, AECEnv[str, Observation, Any]):
    """Any game in turns as a raw AEC environment: an illegal action raises `ValueError` and changes nothing.

    Observations are {"observation": the player's observation, "action_mask": int8, 1 is legal}; the mask of a
    player who is not to move is all zeros. `infos[agent]` are the game's infos (`Solo.infos`): "score", its own
    measure for that player, and the game's further entries.
    """

    _GAMES = "one in turns", "use ParallelGame, or make_aec"

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
        players = self.possible_agents
        self.rewards = dict.fromkeys(players, 0.0)
        self._cumulative_rewards = dict.fromkeys(players, 0.0)
        self.terminations = dict.fromkeys(players, False)
        self.truncations = dict.fromkeys(players, False)
        self.infos = self._infos()
        self.agent_selection = players[self._solo.current_player]

    def observe(self, agent: str) -> Observation:
        """Return the observation of the agent."""
        acts = agent == self.agent_selection and not self.terminations.get(agent, True)
        mask = masks_by_component(self.game, self._legal if acts else np.zeros_like(self._legal))
        return {"observation": self._solo.observe(self._seats[agent]), "action_mask": mask}

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
        solo.step(self._checked(action))
        self._legal = solo.legal_actions()
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

    def check_space(self, action: Any) -> None:
        """Raise a `ValueError` unless the selected agent's action is in the action space."""
        agent, nvec = self.agent_selection, self.game.info.action_nvec
        for component, (choice, choices) in enumerate(zip(self._whole_numbers(agent, action), nvec, strict=True)):
            if not 0 <= choice < choices:
                raise self.game.illegal_action(self._solo.state(), 0, self._seats[agent], component, choice)

    def _checked(self, action: Any) -> Any:
        """Return the action as the core takes it, if it is legal now."""
        if len(self.game.info.action_nvec) == 1:
            try:
                choice = operator.index(action)
            except Exception:  # whatever an object or a tensor raises
                choice = -1
            if 0 <= choice < len(self._legal) and self._legal[choice]:
                return choice
        numbers = self._whole_numbers(self.agent_selection, action)
        played = numbers if len(numbers) > 1 else numbers[0]
        self.game.check(self._solo.state(), torch.tensor([played], device="cpu"))
        return played


class Wrapped(OrderEnforcingWrapper[str, Observation, Any], TerminateIllegalWrapper[str, Observation, Any]):
    """An environment in the wrappers that PettingZoo's own classic games have, with a picture for notebooks.

    An illegal action, also of several components, ends the game: its player gets the game's lowest reward, the others
    0. One outside the action space raises a `ValueError`. They are one wrapper, since each of PettingZoo's asks the one
    below for attributes by `__getattr__`, which takes longer than a move of the game.
    """

    def __init__(self, env: AECGame) -> None:
        TerminateIllegalWrapper.__init__(self, env, env.game.info.reward_range[0])
        self._has_reset = self._has_updated = False
        self._base, nvec = env, env.game.info.action_nvec
        self._choices = nvec[0] if len(nvec) == 1 else 0

    @override
    def step(self, action: Any) -> None:
        if action is not None and not (type(action) is int and 0 <= action < self._choices):
            self._base.check_space(action)
        super().step(action)

    @override
    def observe(self, agent: str) -> Observation | None:
        observation = super().observe(agent)
        if self._prev_obs is observation and observation and isinstance(observation["action_mask"], tuple):
            self._prev_obs = {"action_mask": _Parts(observation["action_mask"])}
        return observation

    def __str__(self) -> str:
        return str(self._base)

    def __repr__(self) -> str:
        return repr(self._base)

    def _repr_html_(self) -> str | None:
        return self._base._repr_html_()


for _name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
    # Before reset this raises AttributeError, upon which Python asks PettingZoo's __getattr__, which says so.
    setattr(Wrapped, _name, property(operator.attrgetter(f"_base.{_name}")))


class _Parts(tuple[npt.NDArray[np.int8], ...]):
    """A mask of several components, indexed by an action."""

    def __getitem__(self, action: Any) -> Any:
        return all(mask[choice] for mask, choice in zip(self, action, strict=True))


def make_aec(*, id: str, render_mode: str | None = None, **parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make the wrapped environment of the game called `id` (entry point of PettingZoo's registry).

    Where all players act at once this is PettingZoo's view of the parallel environment.
    """
    env = make_raw(id=id, render_mode=render_mode, **parameters)
    return Wrapped(env) if isinstance(env, AECGame) else env


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
