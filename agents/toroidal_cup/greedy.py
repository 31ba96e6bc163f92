"""`greedy` and `mcts:N` in the Toroidal Cup: the best of some placements against guesses of the others', by Life.

Letters: `L` games, `C` or `K` candidates, `G` guesses, `P` teams, `A` actions, `N` cells.
"""

from __future__ import annotations

import dataclasses
import math
from functools import reduce
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds
from cellgames.agents.playouts import at_once
from cellgames.agents.simultaneous import solve_matrix
from cellgames.envs.core import Game, chance
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.state import CupState
from cellgames.utils.errors import check_at_least, check_share


def random_placements(legal: Tensor, seeds: Tensor, purpose: int, count: int) -> Tensor:
    """Return `count` random legal actions of all teams, int64 [L, count, P]; `legal` is bool [L, P, A], seeds [L]."""
    games, teams = legal.shape[:2]
    masks = legal[:, None].expand(-1, count, -1, -1).flatten(0, 2)
    bits = chance.draw(seeds[:, None], purpose, torch.arange(count * teams, device=seeds.device))
    return chance.random_legal(masks, bits.flatten() & 0x7FFFFFFF).view(games, count, teams)


def placed(game: ToroidalCup, stamp: Tensor, actions: Tensor, seats: Tensor) -> Tensor:
    """Return boards with one shape of a team, int8 [L, K, N]: 0 empty, else the team's number.

    The kinds of shapes and the teams that place them, `seats`, are int64 [L], the actions int64 [L, K].
    """
    row, col = placement.footprint(game.lattice, game.stamps, stamp[:, None].expand_as(actions), actions)
    flat = row * game.cols + ((seats * game.lattice.band)[:, None, None] + col) % game.cols
    empty = torch.zeros((*actions.shape, game.rows * game.cols), dtype=torch.int8, device=actions.device)
    return empty.scatter(2, flat, (seats + 1).to(torch.int8)[:, None, None].expand_as(flat))


def determinize(game: ToroidalCup, observation: Tensor, seats: Tensor) -> CupState:
    """Return states consistent with the observations of the teams in `seats`.

    The function guesses the hidden shapes: all shapes to come, one's own and the others', are like the one to place.
    This is true in every pattern but donutmethuselahs, whose shapes are at least much the same. Turn and pattern are
    those of a new game; the rest of the game does not depend on them.

    Args:
        game: the rules.
        observation: int8 [L, P + 2, rows, cols], of games that go on.
        seats: int64 [L].
    """
    teams = torch.arange(game.teams, device=observation.device)
    number = ((seats[:, None] + teams) % game.teams + 1).to(torch.int8)  # of the team on each plane, [L, P]
    rolled = (observation[:, : game.teams] * number[..., None, None]).sum(1, dtype=torch.int8)
    col = torch.arange(game.cols, device=observation.device) - seats[:, None] * game.lattice.band
    start = rolled.gather(2, (col % game.cols)[:, None].expand(-1, game.rows, -1))
    new = game.init(seats.new_zeros(len(seats)))
    left = observation[:, game.teams + 1, 0, 0, None, None]
    to_come = torch.arange(new.queue.shape[2], device=observation.device) < left  # [L, 1, S]
    queue = torch.where(to_come, game.stamp_seen(observation)[:, None, None], -1).to(torch.int8)
    live = start.flatten(1)[:, None] == (teams + 1)[:, None]
    return new.replace(
        queue=queue.expand_as(new.queue).contiguous(),
        start=start,
        board=start.clone(),
        scores=live.sum(2).to(new.scores.dtype),
    )


_CANDIDATE, _GUESS = range(chance.USER, chance.USER + 2)


class ToroidalCupGreedy(GameAgent[ToroidalCup]):
    """An agent that places each shape where its team would lead by the largest share if Life began right after it.

    Candidates are drawn at random from the legal placements. Each is tried against the same few guesses of what the
    others place in this step, at random as well, and the lead over the best other team is averaged over them. Life
    runs for four generations a column of a band: in longer runs chance drowns what a placement is worth, in shorter
    ones the teams hardly meet. Shapes that are still to come are left out: to add them at random plays no better.

    Chance comes from a seed of each row of `act`, so that a move does not depend on the games beside it.
    """

    plays = ToroidalCup
    memoryless = True

    bands: ClassVar[int] = 4
    """Generations for which Life is watched, for each column of a band."""

    def __init__(self, name: str = "greedy", *, candidates: int = 32, guesses: int = 4) -> None:
        super().__init__(name)
        check_at_least(1, candidates=candidates, guesses=guesses)
        self.candidates, self.guesses = candidates, guesses

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        watched = min(self.game.max_generations, self.bands * self.game.lattice.band)
        self._watched = dataclasses.replace(self.game, max_generations=watched)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose a placement for each row, int64 [L]."""
        seats, game = self.seats.of(env_ids), self._watched
        state = determinize(game, observation, seats)
        seeds = draw_seeds(len(env_ids), generator, state.device)
        together = max(1, at_once(game) // (self.candidates * self.guesses))
        rows = torch.arange(len(env_ids), device=state.device).split(together)
        found = [self._choose(game, state[some], seats[some], action_mask[some], seeds[some]) for some in rows]
        return torch.cat(found)

    def _choose(self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor) -> Tensor:
        """Return the best candidate, int64 [L]."""
        actions, lead = self._leads(game, state, seats, mask, seeds)
        worth = reduce(torch.add, lead.unbind(2))  # in this order, whatever the batch
        return actions.gather(1, worth.argmax(1, keepdim=True)).squeeze(1)

    def _leads(
        self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return candidates, int64 [L, C], and their leads by guess, as shares of all live cells, float64 [L, C, G]."""
        queue = torch.full_like(state.queue, -1)
        queue[:, :, 0] = state.queue[:, :, 0]
        state, actions = state.replace(queue=queue), self._candidates(mask, seeds)  # [L, C]
        others = random_placements(game.legal_actions(state), seeds, _GUESS, self.guesses)  # [L, G, P]
        tries = (*actions.shape, *others.shape[1:])
        own = actions[:, :, None, None].expand(*tries[:3], 1)
        joint = others[:, None].expand(tries).scatter(3, seats[:, None, None, None].expand_as(own), own)
        games = state[torch.arange(len(state), device=state.device).repeat_interleave(tries[1] * tries[2])]
        live = game.step(games, joint.flatten(0, 2), checked=False).scores.double().view(tries)
        mine = live.gather(3, seats[:, None, None, None].expand_as(own)).squeeze(3)
        rival = live.scatter(3, seats[:, None, None, None].expand_as(own), -1).amax(3)
        return actions, (mine - rival) / live.sum(3).clamp(min=1)

    def _candidates(self, mask: Tensor, seeds: Tensor) -> Tensor:
        """Return different legal actions, int64 [L, C]; one of them fills up where there are fewer."""
        lots = chance.draw(seeds[:, None], _CANDIDATE, torch.arange(mask.shape[1], device=mask.device))
        drawn, actions = lots.where(mask, -1).topk(min(self.candidates, mask.shape[1]), dim=1)
        return actions.where(drawn >= 0, actions[:, :1])


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
        answered: the share of the games, 0 to 1, in which the others answer the mixed strategy; with 0 it plays the
            candidate of the best mean payoff in the last step, too.
    """

    bands: ClassVar[int] = 8

    def __init__(self, simulations: int, *, answered: float = 0.2) -> None:
        check_at_least(1, simulations=simulations)
        check_share(answered=answered)
        guesses = max(1, round(math.sqrt(simulations) / 16))  # so that as many candidates are left as meet guesses
        candidates = max(1, simulations // ((_ROUNDS + 1) * guesses))
        super().__init__(f"mcts:{simulations}", candidates=candidates, guesses=guesses)
        self.answered = answered
        self._share = simulations // (_ROUNDS + 1)  # games of a round

    @override
    def _choose(self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor) -> Tensor:
        actions, payoff = self._survivors(game, state, seats, mask, seeds)
        best = payoff.mean(2).argmax(1)
        last = game.is_last_turn(state) & (self.answered > 0)
        if last.any():
            among = payoff[last]
            among = self.answered * among + (1 - self.answered) * among.mean(2, keepdim=True)
            best[last] = _draw(solve_matrix(among, _ITERATIONS)[0], seeds[last])
        return actions.gather(1, best[:, None]).squeeze(1)

    def _survivors(
        self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the placements that are left, int64 [L, C], and what they gain by guess, float64 [L, C, G]."""
        actions = self._candidates(mask, seeds)
        numbers = [-(-actions.shape[1] // 2**number) for number in range(_ROUNDS)]
        rounds = [(left, max(1, self._share // left)) for left in numbers]  # candidates, and new guesses
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
