"""`mcts:N` in the Toroidal Cup: sequential halving of placements, and a mixed strategy for the last one.

Letters: `L` games, `C` candidates, `G` guesses, `P` teams, `A` actions, `N` cells.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.simultaneous import solve_matrix
from cellgames.envs.core import chance
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.state import CupState
from cellgames.utils.errors import check_at_least, check_share

from .greedy import ToroidalCupGreedy, placed, random_placements

_ROUNDS = 4  # of halving; as many games as in one of them are played before, to choose guesses
_DRAWN_A_GUESS = 2  # placements of the others, of which the better one is met
_DRAWN, _OTHERS = range(chance.USER + 2, chance.USER + 4)  # after those of greedy
_ITERATIONS = 200  # of regret matching
_LOTS = 1 << 20  # equally likely numbers, one of which draws a placement
_PARTS = 512  # of a payoff, whole numbers of which add up in any order to the same


class CupSearch(ToroidalCupGreedy):
    """A search that lets Life run N times for each placement.

    Candidates are random legal placements. Each meets the same guesses of what the others place in this step, out of
    the better half of random ones. Then the worse half of the candidates goes, and the rest meet twice the number of
    new guesses, three times in all (sequential halving). A payoff is the mean of the result, +1 or -1, and the lead in
    shares of the live cells. Life runs for twice as long as `greedy` watches it, and shapes that are still to come are
    left out, as there. Before the last step it plays the candidate of the best mean payoff.

    The last placements are a matrix game of the candidates that are left and all guesses. The search draws its
    placement from a restricted Nash response (Johanson, Zinkevich, Bowling: "Computing robust counter-strategies",
    NIPS 2007), which regret matching finds: the others draw any guess, all alike, but in some of the games (`answered`)
    they know the mixed strategy, and answer it. So a bot that foresees last placements gains little.

    Args:
        simulations: games of Life for each placement, about.
        mixed: draw the last placement from the mixed strategy; else play the best mean payoff there, too.
        answered: the share of the games, 0 to 1, in which the others answer the mixed strategy.
    """

    bands: ClassVar[int] = 8

    def __init__(self, simulations: int, *, mixed: bool = True, answered: float = 0.2) -> None:
        check_at_least(1, simulations=simulations)
        check_share(answered=answered)
        guesses = max(1, round(math.sqrt(simulations) / 16))  # so that as many candidates are left as meet guesses
        candidates = max(1, simulations // ((_ROUNDS + 1) * guesses))
        super().__init__(f"mcts:{simulations}", candidates=candidates, guesses=guesses)
        self.mixed, self.answered = mixed, answered
        self._share = simulations // (_ROUNDS + 1)  # games of a round

    @override
    def _choose(self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor) -> Tensor:
        actions, payoff = self._survivors(game, state, seats, mask, seeds)
        best = payoff.mean(2).argmax(1)
        last = game.is_last_turn(state) & self.mixed
        if last.any():
            among = payoff[last]
            among = self.answered * among + (1 - self.answered) * among.mean(2, keepdim=True)
            best[last] = _draw(solve_matrix(among, _ITERATIONS).row, seeds[last])
        return actions.gather(1, best[:, None]).squeeze(1)

    def _survivors(
        self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the placements that are left, int64 [L, C], and what they gain by guess, float64 [L, C, G]."""
        actions = self._candidates(mask, seeds)
        rounds = self._rounds(actions.shape[1])
        own = state.queue[torch.arange(len(state), device=state.device), seats, 0]
        boards = placed(game, own.long(), actions, seats)
        guesses = self._met(game, state, seats, boards, seeds, sum(met for _, met in rounds))
        payoff = torch.zeros((*actions.shape, 0), dtype=torch.float64, device=actions.device)
        for left, met in rounds:
            if payoff.shape[2]:
                order = payoff.mean(2).topk(left, 1).indices
                actions, boards, payoff = actions.gather(1, order), _taken(boards, order), _taken(payoff, order)
            new, guesses = guesses.split((met, guesses.shape[1] - met), 1)
            payoff = torch.cat((payoff, self._payoffs(game, boards, new, seats)), 2)
        return actions, payoff

    def _met(
        self, game: ToroidalCup, state: CupState, seats: Tensor, boards: Tensor, seeds: Tensor, count: int
    ) -> Tensor:
        """Return the boards that the candidates meet, int8 [L, G, N], with one more shape of each other team."""
        others = random_placements(game.legal_actions(state), seeds, _OTHERS, _DRAWN_A_GUESS * count)
        guesses = state.start.flatten(1)[:, None]
        for team in range(game.teams):
            theirs = placed(game, state.queue[:, team, 0].long(), others[:, :, team], torch.full_like(seats, team))
            guesses = torch.maximum(guesses, theirs.masked_fill((seats == team)[:, None, None], 0))
        some = boards[:, : max(1, self._share // guesses.shape[1])]
        worst = self._payoffs(game, some, guesses, seats).mean(1).topk(count, 1, largest=False).indices
        return _taken(guesses, worst.sort(1).values)  # in the order in which they were drawn, as good as random

    def _rounds(self, candidates: int) -> list[tuple[int, int]]:
        """Return the candidates and the new guesses of each round."""
        left = [-(-candidates // 2**number) for number in range(_ROUNDS)]
        return [(some, max(1, self._share // some)) for some in left]

    def _payoffs(self, game: ToroidalCup, boards: Tensor, guesses: Tensor, seats: Tensor) -> Tensor:
        """Return the result of each candidate beside each guess, float64 [L, C, G], -1 to 1."""
        both = torch.maximum(boards[:, :, None], guesses[:, None])  # cells are of one team each, as bands are
        live = game.life(both.view(-1, game.rows, game.cols)).scores.double().view(*both.shape[:3], game.teams)
        own = seats[:, None, None, None].expand(*both.shape[:3], 1)
        mine, rival = live.gather(3, own).squeeze(3), live.scatter(3, own, -1).amax(3)
        lead = (mine - rival) / live.sum(3).clamp(min=1)
        return ((lead.sign() + lead) / 2 * _PARTS).round() / _PARTS


def _taken(part: Tensor, order: Tensor) -> Tensor:
    """Return rows of each game, [L, K, ...], of `part` [L, C, ...] by `order`, int64 [L, K]."""
    return part.gather(1, order[..., None].expand(-1, -1, part.shape[2]))


def _draw(probabilities: Tensor, seeds: Tensor) -> Tensor:
    """Return a draw from each row of `probabilities`, float [L, K]: int64 [L]."""
    lots = chance.uniform_int(chance.draw(seeds, _DRAWN, torch.zeros_like(seeds)), _LOTS)
    sums = probabilities.double().cumsum(1)
    return (sums / sums[:, -1:] <= lots[:, None] / _LOTS).sum(1)  # those that are passed by; never all
