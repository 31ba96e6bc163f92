"""The search of Grid Adaptation that AlphaZero learns from: `mcts:N`, with the network as its blueprint.

Letters: `L` rows, `C` candidates, see `agents.search.improvement`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.choices import gumbel
from cellgames.agents.networks.networks import Network
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import BUY, COMPONENTS

from .decoding import seen
from .joint_moves import GridSearch

_OWN = 4  # candidates that are the network's own choices, at most
_SHARPNESS = 2.0  # of the softmax; worth is counted in digits that match more often than not, a generation
_LEAST = 0.01  # less probable candidates are not learned


class PlanImprover(Improver):
    """A search over plans against sampled joint moves, in worlds that agree with what a seat has seen.

    Candidates are the plans that are worth most to `mcts:N`, and some that the network chooses. Their probabilities
    are a softmax of what they are worth. The network learns the mean of it over what the search has drawn, and should
    be played by drawing actions: who always takes the best space shares it with others. Votes, purchases and words are
    the network's own; votes and words are not learned from.
    """

    def __init__(self, game: Game, network: Network, effort: Effort) -> None:
        super().__init__(game, network, effort)
        assert isinstance(game, GridAdaptation)  # whose plugin names this class
        self.candidates, self.components = effort.considered, len(game.info.action_nvec)
        self._search = GridSearch(effort.simulations)

    @override
    def start(self, seats: Tensor, env_ids: Tensor) -> None:
        self._search.start(self.game, seats, env_ids)

    @override
    @torch.no_grad()
    def improve(self, rows: Rows, generator: torch.Generator) -> Improved:
        self.network.eval()
        choices, value = self.network.policy_and_value(rows.observation, rows.mask)
        count, device = len(value), value.device
        own = torch.stack([choices.sample(generator) for _ in range(min(_OWN, self.candidates))], 1)
        view = seen(self._search.game, rows.observation)
        seeds = draw_seeds(count, generator, device)
        shape = count, self.candidates
        actions, worth = own.new_zeros((*shape, self.components)), value.new_zeros(shape)
        playing = slice(len(COMPONENTS))
        for number in view.round[view.playing].unique().tolist():
            some = (view.playing & (view.round == number)).nonzero().squeeze(1)
            seats, env_ids = rows.seats[some], rows.env_ids[some]
            plans = self._search.plans(view[some], seats, env_ids, seeds[some], own[some, :, playing])
            worth_of = plans.worth.double() / plans.scale
            found = _candidates(plans.actions, worth_of, own.shape[1], self.candidates)
            actions[some, :, playing], worth[some] = found
        actions[:, :, BUY] = own[:, :1, BUY]
        before = torch.ones(self.candidates, self.candidates, dtype=torch.bool, device=device).tril(-1)
        again = ((actions[:, :, None] == actions[:, None]).all(3) & before).any(2)
        logits = (_SHARPNESS * self.effort.scale * worth).masked_fill(again | (worth < -1e6), -1e9)
        policy = logits.softmax(1)
        policy = policy * (policy >= _LEAST)
        policy = policy / policy.sum(1, keepdim=True)
        played = actions[torch.arange(count, device=device), (policy.log() + gumbel(policy, generator)).argmax(1)]
        action = torch.where(view.playing[:, None], played, own[:, 0])
        return Improved(action, policy, value, actions, decides=view.playing)

    @override
    def log_probs_and_value(self, inputs: Tensor, mask: Tensor, actions: Tensor | None) -> tuple[Tensor, Tensor]:
        assert actions is not None  # as `improve` returned them
        choices, value = self.network.policy_and_value(inputs, mask)
        return choices.log_probs(actions), value

    @override
    def state_dict(self) -> dict[str, Any]:
        return self._search.state_dict()

    @override
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._search.load_state_dict(state)


def _candidates(actions: Tensor, worth: Tensor, own: int, count: int) -> tuple[Tensor, Tensor]:
    """Return the last `own` plans and the best others, `count` in all, and their worth over the best one's, [L, C]."""
    known = worth.shape[1] - own
    best = worth[:, :known].topk(min(count - own, known), 1).indices
    mine = torch.arange(known, worth.shape[1], device=worth.device).expand(len(worth), -1)
    places = torch.cat((best, mine), 1)
    places = torch.nn.functional.pad(places, (0, count - places.shape[1]), value=worth.shape[1] - 1)
    found = worth.gather(1, places)
    rows = torch.arange(len(worth), device=worth.device)[:, None]
    return actions[rows, places], (found - found.amax(1, keepdim=True)).float()
