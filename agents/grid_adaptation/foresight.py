"""`trained` in Grid Adaptation: the network foresees a round of all players and judges the positions after it.

Letters: `L` games, `C` candidate actions, `M` matches that agree with what was seen, `P` players, `K` components.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import NetworkAgent
from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation.state import BUY, FLIP, GridState

from .beliefs import Remembered, determinize
from .decoding import seen
from .joint_moves import GridSearch
from .lookahead import ILLEGAL

_JOINT_MOVES = 16  # of the search whose best plans are candidates
_PLANS, _OWN = 12, 4  # candidates: such plans, and draws from the network's policy
_MATCHES = 16
_FEW, _LEFT = 4, 6  # matches that all candidates meet; and how many of these meet the others, too
_ROWS = 8  # games to choose in at once, which bounds the memory
_MATCH = chance.USER + 70


class ForesightAgent(GridSearch):
    """An agent that plays the candidate after whose round it is best off, by points and the network's value.

    Candidates are the plans that are worth most to a small `mcts:N`, the best of them with each flip, and some draws
    from the network's policy. All meet the same matches (`determinize`), in which the others play by the network.
    Votes and purchases are the network's.
    """

    def __init__(self, agent: NetworkAgent) -> None:
        super().__init__(_JOINT_MOVES)
        self.name, self._network = agent.name, agent.network

    @override
    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]."""
        self._network.eval()
        choices, _ = self._network.policy_and_value(observation, action_mask)
        own = torch.stack([choices.sample(generator) for _ in range(_OWN)], 1)
        view, players = seen(self.planner.game, observation), self.seats.of(env_ids)
        seeds = draw_seeds(len(env_ids), generator, observation.device)
        actions = own[:, 0].clone()
        for rows in (some for alike in view.rounds() for some in alike.split(_ROWS)):
            remembered = self.history.look(view[rows], players[rows], env_ids[rows])
            actions[rows] = self._best(remembered, players[rows], seeds[rows], own[rows], generator)
        return actions

    def _best(
        self, view: Remembered, players: Tensor, seeds: Tensor, own: Tensor, generator: torch.Generator
    ) -> Tensor:
        """Return the best candidates, int64 [L, K]; `own`, [L, X, K], are some of them."""
        game, rows = self.planner.game, torch.arange(len(view), device=seeds.device)
        actions, legal = self._candidates(view, players, seeds, own)
        each = rows.repeat(_MATCHES)  # the first match of all games, then the second, ...
        lots = chance.draw(seeds, _MATCH, torch.arange(_MATCHES, device=seeds.device)[:, None]).flatten()
        state = determinize(game, view[each], players[each], lots)
        joint = self._joint(state, generator)
        few = _FEW * len(view)
        worth = self._worth(state[:few], joint[:few], players, actions).masked_fill(~legal, -torch.inf)
        best = worth.topk(min(_LEFT, worth.shape[1]), 1).indices
        more = self._worth(state[few:], joint[few:], players, actions[rows[:, None], best])
        return actions[rows, best[rows, (worth.gather(1, best) + more).argmax(1)]]

    def _candidates(self, view: Remembered, players: Tensor, seeds: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """Return candidates, int64 [L, C, K], and True for those that are legal, bool [L, C]."""
        plans = self.plans(view, players, seeds)
        best = plans.worth.topk(min(_PLANS, plans.worth.shape[1]), 1)
        actions = plans.actions.gather(1, best.indices[:, :, None].expand(-1, -1, own.shape[2]))
        actions[:, :, BUY] = own[:, :1, BUY]
        legal = torch.cat((best.values > ILLEGAL, torch.ones_like(own[:, :, 0], dtype=torch.bool)), 1)
        if not view.flips.any():
            return torch.cat((actions, own), 1), legal
        turned = actions[:, :1].repeat(1, 4, 1)
        turned[:, :, FLIP] = torch.arange(4, device=turned.device)
        return torch.cat((actions, own, turned), 1), torch.cat((legal, legal[:, :1].expand(-1, 4)), 1)

    def _joint(self, state: GridState, generator: torch.Generator) -> Tensor:
        """Return actions of all players by the network, int64 [X, P, K]."""
        game, legal = self.planner.game, self.planner.game.legal_actions(state)
        seen = [game.observe(state, seat) for seat in range(game.players)]
        choices = [self._network.policy_and_value(*known).choices for known in zip(seen, legal.unbind(1), strict=True)]
        return torch.stack([each.sample(generator) for each in choices], 1)

    def _worth(self, state: GridState, joint: Tensor, players: Tensor, actions: Tensor) -> Tensor:
        """Return the leads that candidates of players, int64 [L, C, K], gain in some matches each: their sums, [L, C].

        It is that of this round over the mean of the others, and the network's value of the position after it.
        """
        game, count, matches = self.planner.game, actions.shape[1], len(state) // len(players)
        each = torch.arange(len(state), device=players.device).repeat_interleave(count)
        before, seats, taken = state[each], players.repeat(matches).repeat_interleave(count), joint[each]
        taken[torch.arange(len(each), device=each.device), seats] = actions.repeat(matches, 1, 1).flatten(0, 1)
        after = game.step(before, taken, checked=False)
        gain: Tensor = (after.scores - before.scores).float()
        mine = gain.gather(1, seats[:, None]).squeeze(1)
        lead = mine - (gain.sum(1) - mine) / (game.players - 1)
        value = self._network.forward(game.observe(after, seats))[1] * self._network.unit
        return (lead + torch.where(after.done, 0.0, value)).view(matches, -1, count).sum(0)
