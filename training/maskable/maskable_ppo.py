"""MaskablePPO of sb3-contrib with this project's networks, on `cellgames.envs.adapters.sb3`.

It needs Stable-Baselines3 and sb3-contrib: `pip install "cellgames[train]"`. `callbacks` adds self-play.

Letters: `L` rows (games that wait), `A` actions (mask width), `K` components of an action.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor
from typing_extensions import override

from cellgames.agents.networks.networks import Choices, Network, Relation, Size, make_network
from cellgames.envs.adapters.sb3 import SeatVecEnv, Stepped
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError

from .sb3_import import MaskableActorCriticPolicy, MaskableMultiCategoricalDistribution, Schedule

Masks = npt.NDArray[Any] | Tensor | None
"""Masks [L, A] of any dtype, not zero where an action is legal; None if every action is."""


class LearnerVecEnv(SeatVecEnv):
    """`SeatVecEnv` for networks: rewards in the network's unit, and limits of games as ends.

    Rewards are divided by `Network.unit`, because networks learn values near 1 best; "episode" in `infos` has them as
    the game pays them. Games that are cut off have a result, which is paid. So SB3 must not add the value of the last
    position, as it does where "TimeLimit.truncated" is true.

    Args:
        game: as for `SeatVecEnv`, like the other arguments. Opponents are random until `SelfPlayCallback` or
            `vector.set_opponents` sets others.
        num_envs: number of games.
        seat: the learner's.
        seed: seed of the games.
        device: device of the games.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        *,
        seat: int | str = "random",
        seed: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(game, num_envs, seat=seat, seed=seed, device=device)
        with torch.random.fork_rng(devices=[]):  # weights that are thrown away
            self.unit = make_network(self.game, Size(1, 1)).unit

    @override
    def step_wait(self) -> Stepped:
        observation, rewards, dones, infos = super().step_wait()
        for env_id in dones.nonzero()[0]:
            infos[env_id]["TimeLimit.truncated"] = False
        return observation, rewards / np.float32(self.unit), dones, infos


class BoardDistribution(MaskableMultiCategoricalDistribution):
    """A distribution of sb3-contrib made of `Choices`, also for components that depend on earlier ones.

    Draws consume torch's global generator of the CPU, which SB3 seeds.

    Attributes:
        choices: the distribution of the actions.
    """

    choices: Choices
    _logits: Tensor
    _relation: Relation | None

    def proba_distribution(self, action_logits: Tensor, relation: Relation | None = None) -> BoardDistribution:
        """Set the logits [L, A]; every action is legal."""
        self._logits, self._relation = action_logits, relation
        self.apply_masking(None)
        return self

    @override
    def apply_masking(self, masks: Masks) -> None:
        legal = torch.ones_like(self._logits) if masks is None else torch.as_tensor(masks, device=self._logits.device)
        self.choices = Choices(self._logits, legal.view(self._logits.shape) != 0, self.action_dims, self._relation)

    @override
    def log_prob(self, actions: Tensor) -> Tensor:
        return self.choices.evaluate_actions(actions.long())[0]

    def entropy(self) -> Tensor | None:  # type: ignore[override]  # as `Distribution` has it
        """Return the entropy, float [L]; None where components depend on others, as it has no closed form then."""
        return None if self._relation is not None else self.choices.evaluate_actions(self.mode())[1]

    @override
    def sample(self) -> Tensor:
        return self.choices.sample(torch.default_generator)

    @override
    def mode(self) -> Tensor:
        return self.choices.mode()


class BoardPolicy(MaskableActorCriticPolicy):
    """A policy of MaskablePPO with the network of a game (`make_network`).

    `MaskablePPO(BoardPolicy, env, policy_kwargs={"game": env.game, "size": Size(32, 3)})` makes a model for a
    `LearnerVecEnv`; `save_network(path, model.policy.network)` saves its network as an agent.

    Args:
        observation_space: observation space of `SeatVecEnv`.
        action_space: action space of `SeatVecEnv`.
        lr_schedule: learning rate by the part of the run that remains.
        game: the rules.
        size: size of the network.
        optimizer_class: as for SB3's policies.
        optimizer_kwargs: as for SB3's policies.

    Attributes:
        network: all of its weights.

    Raises:
        ValueError: the spaces are not those of the game.
    """

    network: Network

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        game: Game,
        size: Size | None = None,
        optimizer_class: type[torch.optim.Optimizer] = torch.optim.Adam,
        optimizer_kwargs: dict[str, Any] | None = None,
    ) -> None:
        _check_spaces(game, observation_space, action_space)
        self.game, self.size = game, size if size is not None else Size()
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            optimizer_class=optimizer_class,
            optimizer_kwargs=optimizer_kwargs,
            normalize_images=False,
        )

    @override
    def _build(self, lr_schedule: Schedule) -> None:
        self.network = make_network(self.game, self.size)
        rate = lr_schedule(1)
        self.optimizer = self.optimizer_class(self.parameters(), lr=rate, **self.optimizer_kwargs)  # type: ignore[call-arg]  # of a base class without arguments

    @override
    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        distribution, value = self._distribution_and_value(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, value[:, None], distribution.log_prob(actions)

    @override
    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        distribution, value = self._distribution_and_value(obs, action_masks)
        log_prob, entropy = distribution.choices.evaluate_actions(actions.long())
        return value[:, None], log_prob, entropy

    def get_distribution(self, obs: Tensor, action_masks: Masks = None) -> BoardDistribution:  # type: ignore[override]  # `Distribution` is wider
        """Return the distribution of the actions."""
        return self._distribution_and_value(obs, action_masks)[0]

    def predict_values(self, obs: Tensor) -> Tensor:  # type: ignore[override]  # no dictionaries
        """Return the values [L, 1] in units of the network."""
        return self._distribution_and_value(obs, None)[1][:, None]

    def _distribution_and_value(self, obs: Tensor, masks: Masks) -> tuple[BoardDistribution, Tensor]:
        logits, value, relation = self.network(obs)
        distribution = BoardDistribution(list(self.network.nvec)).proba_distribution(logits, relation)
        if masks is not None:
            distribution.apply_masking(masks)
        return distribution, value.float()

    @override
    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {
            "observation_space": self.observation_space,
            "action_space": self.action_space,
            "lr_schedule": self._dummy_schedule,
            "game": self.game,
            "size": self.size,
            "optimizer_class": self.optimizer_class,
            "optimizer_kwargs": self.optimizer_kwargs,
        }


def _check_spaces(game: Game, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> None:
    nvec = getattr(action_space, "nvec", None)
    found = observation_space.shape, tuple(nvec) if nvec is not None else (getattr(action_space, "n", None),)
    expected = tuple(game.info.observation.shape), tuple(game.info.action_nvec)
    if found != expected:
        raise InputError(
            "spaces",
            f"spaces of {game}, observations {expected[0]} and actions {expected[1]}",
            f"{found[0]} and {found[1]}",
            "are the environment and policy_kwargs of the same game?",
        )
