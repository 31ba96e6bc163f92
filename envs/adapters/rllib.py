"""The games as environments of RLlib, and RL modules that keep to the masks.

For RLlib's current API (env runners, RL modules, connectors). Letters: `A` actions (the sum over the action's
components), `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from cellgames.envs.core.game import Game
from cellgames.envs.core.state import State
from cellgames.envs.registry import REGISTRY, GameSpec, follow, make
from cellgames.utils.foreign_text import listed, shown

from .pettingzoo_aec import AECGame
from .pettingzoo_common import Observation
from .pettingzoo_parallel import ParallelGame
from .registration import NAMESPACE

try:
    from ray.rllib.algorithms.appo.torch.default_appo_torch_rl_module import DefaultAPPOTorchRLModule
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.env_context import EnvContext
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.tune.registry import register_env
except ImportError as error:
    raise ImportError('environments for RLlib need RLlib: pip install "cellgames[rllib]"') from error

__all__ = ["MaskedAPPOModule", "MaskedPPOModule", "RLlibGame", "register"]

Returns = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class RLlibGame(MultiAgentEnv):  # type: ignore[misc]  # ray is untyped here
    """One game with an agent for each seat, for RLlib's runners: in turns, or all at once.

    Observations are {"observation": what the player may know, "action_mask": int8 [A], 1 is legal, the components of
    an action one after the other}. In games in turns only the player to act observes, and at the end all do; every
    seat gets its reward in every step, and RLlib credits them to its last action. `infos` are PettingZoo's, of
    those who observe.

    An illegal action ends a game in turns: its player gets the game's lowest reward, the others 0. Where all act at
    once another choice is played. "illegal_action" in the player's `infos` says which and why. What is outside the
    action space raises `ValueError`.

        >>> PPOConfig().environment(RLlibGame, env_config={"game": "torus-v0", "size": 5})

    Args:
        config: "game", its id or the rules; "render_mode", "rgb_array" or "ansi" for `render`, if wanted; all else
            are the game's parameters. RLlib passes its `env_config`.

    Attributes:
        game: the rules.

    Raises:
        ValueError: no game, an unknown one, or unknown parameters.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        parameters = dict(config)
        given, mode = parameters.pop("game", None), parameters.pop("render_mode", None)
        if isinstance(given, Game) and parameters:
            raise ValueError(f"{given.id}: the rules have their parameters, got {', '.join(parameters)} beside them")
        if not isinstance(given, Game | str):
            raise ValueError(f'expected the config to have "game", an id or the rules, got {shown(given)}')
        self.game: Game = given if isinstance(given, Game) else make(given, **parameters)
        simultaneous = self.game.info.simultaneous
        self._env = ParallelGame(self.game, mode) if simultaneous else AECGame(self.game, mode)
        self.render_mode = mode
        self.possible_agents = list(self.game.info.players)
        self.agents = self.possible_agents[:]
        self.observation_spaces = {agent: self._space(agent) for agent in self.possible_agents}
        self.action_spaces = dict(self._env.action_spaces)
        self.observation_space = spaces.Dict(dict[str, spaces.Space[Any]](self.observation_spaces))
        self.action_space = spaces.Dict(self.action_spaces)
        self._worker = int(getattr(config, "worker_index", 0) or 0)
        super().__init__()

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Start a new game.

        Args:
            seed: of the game, 0 to 2**31 - 1; None takes the one that follows the last game's. The runner's number
                is counted in: RLlib gives game i of runner w the seed + w + i, by which neighbours would play the
                same dice.
            options: {"position": a line as `game.state_to_string` writes it} starts from there.
        """
        start = None if seed is None else seed + (self._worker << 32)
        env = self._env
        if isinstance(env, ParallelGame):
            observations, infos = env.reset(start, options)
            return {agent: self._flat(seen) for agent, seen in observations.items()}, infos
        env.reset(start, options)
        mover = env.agent_selection
        return {mover: self._flat(env.observe(mover))}, {mover: env.infos[mover]}

    def step(self, action_dict: Mapping[str, Any]) -> Returns:
        """Let those who observed act; "__all__" in the ends says whether the game is over."""
        if not isinstance(action_dict, Mapping):
            raise ValueError(f"{self.game.id}: expected actions by agent, got {shown(action_dict)}")
        for agent, action in action_dict.items():
            if agent not in self.action_spaces or not _contains(self.action_spaces[agent], action):
                what = f"{shown(action)} of {shown(agent)}"
                raise ValueError(f"{self.game.id}: {what} is no action of {self.action_space}")
        env = self._env
        if isinstance(env, ParallelGame):
            observations, rewards, terminated, truncated, infos = env.step(action_dict)
            seen = {agent: self._flat(view) for agent, view in observations.items()}
        else:
            mover = env.agent_selection
            if list(action_dict) != [mover]:
                raise ValueError(
                    f"{self.game.id}: expected an action of {shown(mover)}, got those of {listed(list(action_dict))}"
                )
            rewards, terminated, truncated, infos = self._turn(env, mover, action_dict[mover])
            done = terminated[mover] or truncated[mover]
            observers = self.possible_agents if done else [env.agent_selection]
            seen = {agent: self._flat(env.observe(agent)) for agent in observers}
            infos = {agent: infos[agent] for agent in observers}
        terminated["__all__"] = all(terminated.values())
        truncated["__all__"] = all(truncated.values())
        return seen, rewards, terminated, truncated, infos

    def core_state(self) -> State:
        """Return the game as the core's batch of one: for scores, outcomes, records."""
        return self._env.core_state()

    def render(self) -> Any:
        """Return what "render_mode" says; see `PettingZooGame`."""
        return self._env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._env.close()

    def _repr_html_(self) -> str | None:
        """Return the position as SVG, for notebooks; None before `reset`."""
        return self._env._repr_html_()

    def __repr__(self) -> str:
        return repr(self._env).replace(type(self._env).__name__, type(self).__name__, 1)

    def _turn(
        self, env: AECGame, mover: str, action: Any
    ) -> tuple[dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one player's action; return rewards, ends and infos of all seats."""
        players = self.possible_agents
        try:
            env.step(action)
        except ValueError as error:  # illegal; the game has not changed
            rewards = dict.fromkeys(players, 0.0) | {mover: self.game.info.reward_range[0]}
            infos = env.infos | {mover: {**env.infos[mover], "illegal_action": f"{error}; the game is lost"}}
            return rewards, dict.fromkeys(players, True), dict.fromkeys(players, False), infos
        return dict(env.rewards), dict(env.terminations), dict(env.truncations), env.infos

    def _space(self, agent: str) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self.game.info.num_actions,), np.int8)
        observation = self._env.observation_spaces[agent]
        assert isinstance(observation, spaces.Dict)
        return spaces.Dict({"observation": observation["observation"], "action_mask": mask})

    def _flat(self, seen: Observation) -> Observation:
        """Return an observation with the masks of an action's components as one."""
        mask = seen["action_mask"]
        return {**seen, "action_mask": np.concatenate(mask) if isinstance(mask, tuple) else mask}


def _contains(space: spaces.Space[Any], action: Any) -> bool:
    """Return True if the action is one of the space; False for what cannot even be compared, such as meta tensors."""
    try:
        return space.contains(action)
    except Exception:  # whatever an object or a tensor raises
        return False


def register() -> list[str]:
    """Make the games known to RLlib under their names in PettingZoo's registry; call it where Ray is started.

        >>> PPOConfig().environment("cellgames/torus-v0", env_config={"size": 5})

    Returns:
        The names. Games that are registered later follow.
    """
    follow(_register)
    return [f"{NAMESPACE}/{id}" for id in REGISTRY]


def _register(entry: GameSpec) -> None:
    register_env(f"{NAMESPACE}/{entry.id}", partial(_created, id=entry.id))


def _created(config: Mapping[str, Any], id: str) -> RLlibGame:
    """Make the environment for RLlib's `env_config`, which keeps the runner's number."""
    named = {**config, "game": id}
    return RLlibGame(config.copy_with_overrides(named) if isinstance(config, EnvContext) else named)


class _Masked:
    """The part of RL modules of the PPO family that reads observations of an `RLlibGame`.

    The planes go into RLlib's own networks as `model_config` asks: as one vector into dense layers
    ("fcnet_hiddens"), or, with "conv_filters", as an image [H, W, C] into convolutions. Logits of illegal actions
    become the lowest number there is, in each component: probability 0, in exploration, inference, evaluation and in
    the loss. Values do not depend on masks. Where nothing is legal, after the end, all are equal.
    """

    def __init__(self, *, observation_space: Any = None, **kwargs: Any) -> None:
        parts = getattr(observation_space, "spaces", {})
        if not {"observation", "action_mask"} <= set(parts):
            raise ValueError(
                f"{type(self).__name__}: expected a Dict space with observation and action_mask, "
                f"got {observation_space}; is a connector flattening observations, or is this no RLlibGame?"
            )
        self._whole, self._planes = observation_space, parts["observation"]
        config = kwargs.get("model_config") or {}
        filters = config.get("conv_filters") if isinstance(config, dict) else getattr(config, "conv_filters", None)
        self._image = bool(filters) and len(self._planes.shape) == 3
        shape = self._planes.shape
        shape = (*shape[1:], shape[0]) if self._image else (int(np.prod(shape)),)
        inside = spaces.Box(float(self._planes.low.min()), float(self._planes.high.max()), shape, np.float32)
        # RLlib's catalog builds networks for the inner space.
        super().__init__(observation_space=inside, **kwargs)  # type: ignore[call-arg]  # of RLlib's module

    def setup(self) -> None:
        """Build the networks; what comes in is the whole observation again."""
        super().setup()  # type: ignore[misc]  # of RLlib's module
        self.observation_space = self._whole

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._mask(super()._forward(self._inside(batch), **kwargs), batch)  # type: ignore[misc]  # same

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._mask(super()._forward_train(self._inside(batch), **kwargs), batch)  # type: ignore[misc]  # same

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Return the values, float [B] or [B, T]: RLlib's `ValueFunctionAPI`."""
        values: Tensor = super().compute_values(self._inside(batch), embeddings)  # type: ignore[misc]  # same
        return values

    def _inside(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return the batch with observations as the networks take them; the caller's is left alone."""
        planes = batch[Columns.OBS]["observation"].float()
        start = planes.ndim - len(self._planes.shape)  # after the batch, and the time of recurrent networks
        planes = planes.movedim(start, -1) if self._image else planes.flatten(start)
        return {**batch, Columns.OBS: planes}

    def _mask(self, outputs: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        logits = outputs[Columns.ACTION_DIST_INPUTS]
        illegal = batch[Columns.OBS]["action_mask"] == 0
        return {**outputs, Columns.ACTION_DIST_INPUTS: logits.masked_fill(illegal, torch.finfo(logits.dtype).min)}


class MaskedPPOModule(_Masked, DefaultPPOTorchRLModule):  # type: ignore[misc]  # ray is untyped here
    """RLlib's module of PPO and IMPALA, with masks; see `_Masked` for `model_config`.

    >>> RLModuleSpec(module_class=MaskedPPOModule, model_config={"fcnet_hiddens": [256, 256]})
    """


class MaskedAPPOModule(_Masked, DefaultAPPOTorchRLModule):  # type: ignore[misc]  # ray is untyped here
    """RLlib's module of APPO, with masks, as `MaskedPPOModule`."""
