"""`rollout:N` in Grid Adaptation: playouts from matches that could be the one that is seen.

Letters: `L` games, `C` candidate plans (arms), `M` determinizations of each game, `X` playouts, `P` players.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.playouts import affordable, best_arm
from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import BUY, FLIP, RESERVE, GridState
from cellgames.utils.errors import check_at_least

from .beliefs import Remembered, better_flip, determinize
from .decoding import Seen
from .greedy import RememberingPlayer
from .lookahead import ILLEGAL, KeenOthers, Others

_MATCH, _OTHERS, _LATER = range(chance.USER + 40, chance.USER + 43)
_BATCH = 512  # playouts that run together
_MATCHES = 2048  # determinizations at once; with more playouts they come again
_ROWS = 32  # games to choose in at once, at most, which bounds the memory
_ROUNDS = 2  # of a playout, with the one to act in
_KEEPS = 0.7  # of the points of a round, in each round that is not played out
_SCALE = 15.0  # points of lead with which one is ahead in three matches of four, about
_TRUST = 0.05  # in the planner: the share of the others that is as good as a digit in every generation


class GridRollout(RememberingPlayer):
    """An agent that plays the plan after which most others are behind, in determinizations of what was seen so far.

    `playouts` in all are spent on each action, by sequential halving among the plans that are worth most to `Planner`.
    Their number is the largest that can be tried in every round of it, `candidates` at most. All of them meet the same
    matches: hidden sequences, points and reserve tiles (see `determinize`), and the others' actions in this round,
    which are those of `KeenOthers`. The rounds after that are random, but for flips.

    Each of the others counts by the share of matches in which it would be behind in the end, softened near equal
    points, if a sequence goes on to earn its points of the last round played, but less in each round. The planner's
    estimate of a plan counts as well: playouts are few, and their later rounds are left to chance.
    """

    def __init__(self, playouts: int, *, candidates: int = 12, guesses: int = 8) -> None:
        check_at_least(1, playouts=playouts, candidates=candidates)
        super().__init__(f"rollout:{playouts}", guesses)
        self.playouts, self.candidates = playouts, affordable(playouts, candidates)
        self._matches = min(playouts, _MATCHES)  # `M`

    @override
    def others(self, game: GridAdaptation) -> Others:
        return KeenOthers(game)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        view = self.history.look(view, players, env_ids)
        rows = torch.arange(len(env_ids), device=seeds.device).split(min(_ROWS, _MATCHES // self._matches))
        return torch.cat([self._search(view[some], players[some], seeds[some], generator) for some in rows])

    def _search(self, view: Remembered, players: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        """Return the action of the best plan, int64 [L, 7]."""
        rows = torch.arange(len(view), device=seeds.device)
        plans = self.planner.plans(view, seeds)
        best = plans.worth.topk(min(self.candidates, plans.worth.shape[1]), 1)
        actions = plans.actions[rows[:, None], best.indices]  # [L, C, 7]
        count = (best.values > ILLEGAL).sum(1)
        less = ((best.values - best.values[:, :1]).float() * (_TRUST / plans.scale)).clamp(min=-1)
        lots = chance.draw(seeds[:, None], _MATCH, torch.arange(self._matches, device=seeds.device))  # [L, M]
        each = rows.repeat_interleave(self._matches)
        state = determinize(self.planner.game, view[each], players[each], lots.flatten())
        joint = self._joint(view, state, seeds)
        tried = torch.zeros_like(best.indices)

        def attempt(arms: Tensor, pulls: Tensor) -> Tensor:
            """Try arms: each meets the matches of its row in their order, from where it was left."""
            place = torch.arange(arms.numel(), device=arms.device).repeat_interleave(pulls.flatten())  # [X]
            row, arm = place // arms.shape[1], arms.flatten()[place]
            first = (pulls.flatten().cumsum(0) - pulls.flatten())[place]
            number = torch.arange(len(place), device=arms.device) - first + tried[row, arm]
            tried.scatter_add_(1, arms, pulls)
            match = row * self._matches + number % self._matches
            ahead = self._played(state, joint, match, actions[row, arm], players[row], lots.flatten())
            value = (ahead + less[row, arm] + 1) / 2
            return value.new_zeros(arms.numel()).index_add_(0, place, value).view(arms.shape)

        return actions[rows, best_arm(count, actions.shape[1], self.playouts, attempt, generator)]

    def _joint(self, view: Seen, state: GridState, seeds: Tensor) -> Tensor:
        """Return the actions of all others in the determinizations of `L` games (`KeenOthers`): int64 [L * M, P, 7]."""
        game = self.planner.game
        counter = torch.arange(state.sequence[0].numel() * 7, device=seeds.device).view(-1, 7)
        bits = chance.draw(state.seed[:, None, None], _OTHERS, counter) & 0x7FFFFFFF
        actions = self._random(state, bits)
        sequence = rules.flipped(state.sequence, actions[:, :, FLIP])
        lots = chance.draw(seeds, _OTHERS, torch.zeros_like(seeds))
        spaces = self.planner.others.spaces(view, sequence.view(len(view), -1, game.players), lots)
        spaces = spaces.view(*sequence.shape, -1)
        spare = (state.reserves > 0) | (state.garnets >= rules.price(state.bought))
        free = torch.nn.functional.pad(~game.grid.unpack(state.planes[:, 0].movedim(0, -1)).flatten(1), (0, 1))
        legal = free.gather(1, spaces.flatten(1)).view_as(spaces)
        tiles = spaces.shape[2] - 1
        actions[:, :, :tiles] = spaces[:, :, :tiles].where(legal[:, :, :tiles], actions[:, :, :tiles])
        actions[:, :, RESERVE] = spaces[:, :, tiles].where(legal[:, :, tiles] & spare, game.spaces)
        return actions

    def _random(self, state: GridState, bits: Tensor) -> Tensor:
        """Return random actions, but with the flips that the last scores speak for, and without purchases."""
        game = self.planner.game
        actions = game.random_actions(state, bits)
        flips = better_flip(state.sequence, state.public)
        actions[:, :, FLIP] = flips.where(game.flips_now(state.round)[:, None], 0)
        actions[:, :, BUY] = 0
        return actions

    def _played(
        self, state: GridState, joint: Tensor, match: Tensor, own: Tensor, players: Tensor, lots: Tensor
    ) -> Tensor:
        """Return the value of actions, [X, 7], in some of the determinizations, [X]: float32 [X], from 0 to 1."""
        values = []
        for some in torch.arange(len(match), device=match.device).split(_BATCH):
            actions, seats = joint[match[some]], players[some]
            actions[torch.arange(len(some), device=match.device), seats] = own[some]
            values.append(self._value(self._end(state[match[some]], actions, lots[match[some]]), seats))
        return torch.cat(values)

    def _end(self, state: GridState, actions: Tensor, lots: Tensor) -> GridState:
        """Return the matches after the round in which actions are taken, and after those of the playout."""
        game, number = self.planner.game, int(state.round[0])
        counter = torch.arange(actions[0].numel(), device=lots.device).view(actions.shape[1:])
        last = min(number + _ROUNDS - 1, game.rounds)
        for played in range(number, last + 1):
            if played > number:
                bits = chance.draw(lots[:, None, None], _LATER + played, counter) & 0x7FFFFFFF
                actions = self._random(state, bits)
            state = game.step(state, actions, checked=False)
        return state

    def _value(self, state: GridState, players: Tensor) -> Tensor:
        """Return the share of the others who are behind the players [X], softened: float32 [X]."""
        left = self.planner.game.rounds - int(state.turn[0])
        kept = sum(_KEEPS**later for later in range(1, left + 1))
        points = state.scores + kept * state.public.gather(1, state.sequence).float()
        ahead = torch.sigmoid((points.gather(1, players[:, None]) - points) / _SCALE)
        return (ahead.sum(1) - 0.5) / (points.shape[1] - 1)  # without oneself
