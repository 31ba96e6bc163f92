"""Models of Stable-Baselines3 as agents, also from the archives that `model.save` writes.

Such an archive is a zip file with `data`, JSON in which whatever JSON cannot hold is pickled, and `policy.pth`, the
weights. Unpickling can run any code. So the agent reads the shapes as JSON, the policy's class and arguments with
`_Names`, which finds classes of Stable-Baselines3 and torch and calls nothing, and the weights with
`torch.load(weights_only=True)`. It reads nothing else of the archive.

Letters: `L` games that wait for an agent, `A` actions (mask width).
"""

from __future__ import annotations

import base64
import io
import json
import math
import pickle
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from typing_extensions import override

from cellgames.agents.base import AnyAgent, ByGame
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import InputError, clipped
from cellgames.utils.extras import install

from .agent_files import SAMPLE
from .networks import Choices, Network, NetworkAgent

_MODULES = re.compile(
    r"stable_baselines3\.(common|dqn)\.policies|stable_baselines3\.common\.(torch_layers|sb2_compat\.rmsprop_tf_like)"
    r"|sb3_contrib\.common\.maskable\.policies|torch\.nn\.modules\.activation|torch\.optim\.\w+"
)
"""Modules whose classes a policy may be made of."""


class SB3Agent(NetworkAgent):
    """An agent that plays by a model of Stable-Baselines3, on the device of the games.

    It takes models of PPO, A2C, TRPO and MaskablePPO, which have a distribution over actions, and of DQN, which has a
    value of each. Illegal actions are masked in either.

    Args:
        model: the model, or its policy.
        name: as in `Agent`; defaults to the model's class.
        sample: draw actions from the distribution, with the generator of the game loop; else take the likeliest. By
            default actions are drawn where all players act at once: what somebody surely does, others can foresee.

    Attributes:
        network: the policy.

    Raises:
        ValueError: a policy of another kind; one that cannot sample.
    """

    network: Any

    def __init__(self, model: Any, name: str | None = None, *, sample: bool | None = None) -> None:
        policy: Any = getattr(model, "policy", model)
        super().__init__(policy, sample=bool(sample), name=name if name is not None else type(model).__name__)
        self._has_values = isinstance(getattr(policy, "q_net", None), nn.Module)
        if not isinstance(policy, nn.Module) or not (self._has_values or hasattr(policy, "get_distribution")):
            expected = "a distribution over actions (PPO, A2C, MaskablePPO) or their values (DQN)"
            raise InputError("model", expected, type(model).__name__)
        if sample and self._has_values:
            raise InputError(SAMPLE, "a model with a distribution", "a DQN", "leave it out", f"agent {self.name!r}")
        self._sample = sample
        self._nvec: tuple[int, ...] = _nvec(policy.action_space)

    @override
    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the model learned observations (flat or not) and actions of the game's shapes."""
        shape, wanted, nvec = self.network.observation_space.shape, game.info.observation.shape, game.info.action_nvec
        if shape not in (tuple(wanted), (math.prod(wanted),)) or self._nvec != tuple(nvec):
            expected = f"{game.id}, observations {list(wanted)} and actions {list(nvec)}"
            cause = "did it learn another game, or another size?"
            raise InputError(f"agent {self.name!r}", expected, f"{list(shape)} and {list(self._nvec)}", cause)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)
        self.network.to(env_ids.device)
        draws = game.info.simultaneous and not self._has_values if self._sample is None else self._sample
        self.share = 0.0 if draws else 1.0

    @override
    def policy(self, observation: Tensor, action_mask: Tensor) -> Choices:
        own = getattr(self.network, "network", None)
        if isinstance(own, Network):  # of `training.BoardPolicy`, whose components depend on each other
            return own.policy_and_value(observation, action_mask).choices
        seen = observation.reshape(len(observation), *self.network.observation_space.shape).float()
        if self._has_values:
            logits = self.network.q_net(seen)
        else:
            found = self.network.get_distribution(seen)
            parts = getattr(found, "distributions", None) or found.distribution
            logits = torch.cat([part.logits for part in parts], 1) if isinstance(parts, list) else parts.logits
        return Choices(logits, action_mask, self._nvec)


def from_model_file(path: Path, *, sample: bool | None = None) -> ByGame:
    """Return the agent of an archive by `model.save`, whose policy is made when there is a game; or a `ValueError`."""
    model = _Archive.read(path)

    def make(game: Game) -> AnyAgent:
        chooser: Any = plugin_of(game).hook("chooser")
        agent = SB3Agent(model.policy(), str(path), sample=sample)
        return chooser(agent) if chooser is not None and model.nvec == chooser.offered else agent

    return ByGame(str(path), make)


def _nvec(space: Any) -> tuple[int, ...]:
    """Return the number of choices of each action component; () for spaces that no game has."""
    if isinstance(space, spaces.Discrete):
        return (int(space.n),)
    return tuple(space.nvec.tolist()) if isinstance(space, spaces.MultiDiscrete) else ()


# ---------------------------------------------------------------- archives


@dataclass(frozen=True)
class _Archive:
    """The path of an archive, and the parts that an agent needs."""

    path: Path
    data: Mapping[str, Any]
    shape: tuple[int, ...]  # of observations
    nvec: tuple[int, ...]  # choices of an action's components

    @classmethod
    def read(cls, path: Path) -> _Archive:
        """Read the JSON of an archive."""
        try:
            with zipfile.ZipFile(path) as archive:
                if missing := {"data", "policy.pth"} - set(archive.namelist()):
                    raise InputError(cause=f"it has no {' and no '.join(sorted(missing))}")
                data = json.loads(archive.read("data"))
        except FileNotFoundError:
            raise InputError(path, "a model that Stable-Baselines3 saved", "none") from None
        except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
            raise InputError(path, "a model that Stable-Baselines3 saved", f"something else: {error}") from None
        texts = data if isinstance(data, dict) else {}
        shape, action = _numbers(texts, "observation_space", "_shape"), _numbers(texts, "action_space", "nvec", "n")
        if not shape or not action:
            expected = "observations in one array and whole numbers as actions, as games of cellgames have them"
            raise InputError(path, expected, f"{_kind(texts, 'observation_space')} and {_kind(texts, 'action_space')}")
        return cls(path, texts, shape, action)

    def policy(self) -> nn.Module:
        """Return the policy with its weights, on the CPU."""
        try:
            from stable_baselines3.common.policies import BasePolicy

            kind, arguments = self._unpickled("policy_class"), self._unpickled("policy_kwargs")
        except ImportError as error:
            raise ImportError(f"{self.path} is a model of Stable-Baselines3: {install('train')} ({error})") from error
        given: dict[Any, Any] = arguments if isinstance(arguments, dict) else {}
        kind, *values = (one.found if isinstance(one, _Class) else one for one in (kind, *given.values()))
        given = {name: one for name, one in zip(given, values, strict=True) if not str(name).startswith("optimizer_")}
        if not (isinstance(kind, type) and issubclass(kind, BasePolicy)):
            raise InputError(self.path, "the class of a policy", f"{kind!r}")
        seen = spaces.Box(-np.inf, np.inf, self.shape, np.float32)
        actions = spaces.Discrete(self.nvec[0]) if len(self.nvec) == 1 else spaces.MultiDiscrete([*self.nvec])
        try:
            weights = self._weights()
            with torch.random.fork_rng(devices=[]):  # what it starts with is thrown away
                policy: Any = kind(seen, actions, lambda progress: 0.0, **given)
            policy.load_state_dict(weights)
        except Exception as error:  # whatever a damaged archive raises
            said = clipped(f"{type(error).__name__}: {error}")
            raise InputError("policy", "one that can be made", cause=said, where=self.path) from error
        policy.set_training_mode(False)
        return policy.to("cpu")  # type: ignore[no-any-return]  # a policy, which has no types here

    def _weights(self) -> dict[str, Tensor]:
        """Return the weights, which torch reads without running anything."""
        with zipfile.ZipFile(self.path) as archive:
            weights = torch.load(io.BytesIO(archive.read("policy.pth")), map_location="cpu", weights_only=True)
        if not isinstance(weights, dict) or not all(isinstance(value, Tensor) for value in weights.values()):
            raise InputError("weights", "tensors by name as weights", "something else")
        if wrong := [name for name, value in weights.items() if not value.isfinite().all()]:
            raise InputError("weights", "finite numbers as weights", f"others in {wrong[0]}")
        return weights

    def _unpickled(self, key: str) -> Any:
        """Return a value of the JSON, with classes where it is pickled."""
        value = self.data.get(key)
        if not isinstance(value, dict) or ":serialized:" not in value:
            return value
        try:
            return _Names(io.BytesIO(base64.b64decode(value[":serialized:"]))).load()
        except ImportError:
            raise
        except Exception as error:  # also whatever a damaged pickle raises
            expected = "classes of Stable-Baselines3 and torch that load by name"
            own = f"my_bots.py with `bot = SB3Agent(PPO.load({str(self.path)!r}))`, and name my_bots:bot"
            cause = f"others can run any code; if you trust the file, load it in a module of your own, such as {own}"
            raise InputError(key, expected, str(error), cause, self.path) from None


class _Class(NamedTuple):
    """A class that a pickle names. A pickle can call a class, and set its attributes, but nothing of a tuple."""

    found: type


class _Names(pickle.Unpickler):
    """An unpickler that looks up classes of policies, of their parts and of optimizers only."""

    @override
    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if _MODULES.fullmatch(module) and name.isidentifier() else None
        if not (isinstance(found, type) and issubclass(found, nn.Module | torch.optim.Optimizer)):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _Class(found)


def _numbers(data: Mapping[str, Any], space: str, *fields: Literal["_shape", "nvec", "n"]) -> tuple[int, ...]:
    """Return the numbers that JSON says of a space, in a list or as a text; () if it says none."""
    about: Any = data.get(space)
    for field in fields if isinstance(about, dict) else ():
        if field in about:
            numbers = tuple(int(number) for number in re.findall(r"\d+", str(about[field])))
            return numbers if all(0 < number < 1 << 31 for number in numbers) else ()
    return ()


def _kind(data: Mapping[str, Any], space: str) -> str:
    about = data.get(space)
    return str(about.get(":type:", "none"))[:100] if isinstance(about, dict) else "none"
