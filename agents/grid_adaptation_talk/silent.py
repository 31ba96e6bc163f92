"""An agent of Grid Adaptation with talk that plays as an agent of the base game does: it is silent and deaf."""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, GameAgent
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.observation import num_planes
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk


class SilentAgent(GameAgent[GridAdaptationTalk]):
    """An agent that plays as another one, which sees observations, does in the game without talk."""

    plays = GridAdaptationTalk

    def __init__(self, name: str, agent: AnyAgent) -> None:
        super().__init__(name)
        self._agent = agent

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self._agent.start(self.game.base, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]: in talk steps silence, else those of the other agent."""
        game, first = self.game, num_planes(self.game.players)
        nothing = [game.fallback(part, None) for part in range(len(game.info.action_nvec))]
        actions = torch.tensor(nothing, device=observation.device).repeat(len(observation), 1)
        if len(rows := (observation[:, first, 0, 0] == 0).nonzero().squeeze(1)):
            mask = action_mask[rows, : game.base.info.num_actions]
            chosen = self._agent.act(observation[rows, :first], mask, env_ids[rows], generator)  # type: ignore[union-attr]  # see above
            actions[rows, : chosen.shape[1]] = chosen
        return actions
