"""The agent that plays any legal action with equal chance."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent
from cellgames.envs.core import Game, sampling
from cellgames.envs.registry import plugin_of


def random_actions(mask: Tensor, nvec: Sequence[int], generator: torch.Generator) -> Tensor:
    """Return uniformly random actions out of a mask, each component for itself: int64 [L], or [L, K] for K > 1.

    The mask is bool [L, A] with A the sum of `nvec`; components stand one after the other.
    """
    bits = torch.stack([sampling.random_bits(len(mask), generator, mask.device) for _ in nvec], 1)
    parts = sampling.random_parts(mask, nvec, bits)
    return parts.squeeze(1) if len(nvec) == 1 else parts


def has_compound_turns(game: Game) -> bool:
    """Return True if a turn is several actions, so that uniformly random actions make no sensible turns."""
    return "random" in plugin_of(game).agents


class RandomAgent(BaseAgent):
    """An agent that plays uniformly at random over the mask, in every game."""

    name = "random"
    memoryless = True
    _nvec: tuple[int, ...] | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._nvec = game.info.action_nvec

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose random actions; without a `start` before, an action is taken to have one component."""
        return random_actions(action_mask, self._nvec or action_mask.shape[1:], generator)
