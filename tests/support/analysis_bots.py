"""An agent whose search says what tests want it to say."""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent
from cellgames.agents.search import SearchResult
from cellgames.envs.core import Game, State


class Planned(BaseAgent):
    """Gives the first legal actions 1, 4, 2 and 0 visits in their order, and plays the second.

    Values fall from 0.5 to -0.5, that of the mover is 0.25. The line is that move and twice the last legal one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[int] = []

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.game = game
        self.started = players.tolist()

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return self.search(state, env_ids, generator).chosen

    def search(self, state: State, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        legal = self.game.legal_actions(state)[0].nonzero().squeeze(1)[:4]
        actions = torch.cat([legal, torch.full((5 - len(legal),), -1)])[None]
        edges = torch.arange(5)[None]
        visits = torch.tensor([[1, 4, 2, 0, 0]]) * (actions >= 0)
        values = torch.where(visits > 0, 0.5 - edges / 2, torch.nan)
        policy = torch.tensor([[0.1, 0.6, 0.2, 0.1, 0.0]])
        value = torch.full((1, self.game.info.num_players), -0.25)
        value[0, state.current_player] = 0.25
        line = [int(legal[1])]
        for _ in range(2):
            state = self.game.step(state, torch.tensor(line[-1:]))
            line.append(int(self.game.legal_actions(state)[0].nonzero()[-1]))
        return SearchResult(actions, visits, values, policy, value, legal[1:2], [line])
