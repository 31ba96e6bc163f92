"""`mcts:N` in Grid Adaptation, which AlphaZero learns from: joint moves in worlds that agree with what was seen.

The others adapt to each other, by regret matching over sampled joint moves of a round, as in Gray et al., "Human-level
performance in no-press Diplomacy via equilibrium search", 2021: every sequence has some candidate spaces, joint moves
are sampled from the strategies so far, and each player's candidates are compared against what the others do there. Some
tiles go anywhere, as in `KeenOthers`, since nobody is sure that all play an equilibrium.

Letters: `L` games or rows, `C` candidate plans, `G` or `J` joint moves, `P` players, `K` candidates, `N` spaces and `W`
words of a board.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import Network, gumbel
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows
from cellgames.agents.simultaneous.joint_search import matched
from cellgames.envs.core import Game, chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import BUY, COMPONENTS
from cellgames.utils.errors import check_at_least

from .beliefs import Remembered, likely_sequences
from .decoding import Seen, seen
from .greedy import Plans, RememberingPlayer
from .lookahead import KeenOthers, Others, tiles_on, tried, weighted

_WORLD, _PICK, _ANYWHERE, _RESERVE = range(chance.USER + 50, chance.USER + 54)
_SHARE = 1 << 20


@dataclass(frozen=True)
class MatchedOthers(KeenOthers):
    """A model of players whose spaces come from strategies that regret matching finds.

    In round 1 the others place random shapes, as those of `KeenOthers` do.

    Attributes:
        keen: share of the tiles that go to spaces of the strategies; the others go anywhere.
        choices: candidate spaces of each sequence.
        iterations: iterations of regret matching.
        joint_moves: `J`, sampled in each iteration.
    """

    keen: float = 0.6
    choices: int = 24
    iterations: int = 12
    joint_moves: int = 4

    @override
    def _later(self, seen: Seen, sequence: Tensor, lots: Tensor) -> Tensor:
        best, share = self.strategies(seen, sequence, lots[:, 0, 0, 0])
        flat = sequence.flatten(1)
        uniform = (lots[..., :2] & (_SHARE - 1)).flatten(1, 2)
        wished = _drawn(best, share, flat, uniform).view(*sequence.shape, 2)
        wanted = (lots[..., 2:] & 0xFFFF) < self.keen * 0x10000
        return torch.where(wanted, wished, chance.uniform_int(lots[..., :2] >> 20, self.game.spaces))

    def strategies(self, seen: Seen, sequence: Tensor, seeds: Tensor) -> tuple[Tensor, Tensor]:
        """Return the candidates of each sequence, int64 [L, 8, K], and their probabilities, float [L, 8, K].

        The round is a later one, `sequence`, int64 [L, G, P - 1], has guesses of the others' sequences, and a row
        depends on its own seed alone, int64 [L].
        """
        best = self.wishes(seen)
        count, guesses = best.shape[2], sequence.shape[1]
        candidates = tiles_on(self.game.grid, best[..., None])  # [W, L, 8, K]
        available = torch.ones_like(best, dtype=torch.bool)
        regret = torch.zeros_like(best, dtype=torch.float32)
        total = torch.zeros_like(regret)
        # Better spaces are likelier at first.
        prior = torch.arange(1, count + 1, device=best.device, dtype=torch.float32) ** -0.5
        share = (prior / prior.sum()).expand_as(regret)
        for iteration in range(1, self.iterations + 1):
            at = torch.arange(self.joint_moves, device=seeds.device) + iteration * self.joint_moves
            lots = chance.draw(seeds[:, None], _WORLD, at)
            drawn = chance.uniform_int(lots, guesses)[:, :, None].expand(-1, -1, self.game.players - 1)
            others = sequence.gather(1, drawn)
            own = seen.sequence[:, None, None].expand(-1, self.joint_moves, 1)
            holders = torch.cat((own, others), 2)  # [L, J, P], oneself first
            worth = self._compared(seen, holders, self._joint(best, share, holders, lots), candidates)
            places = holders.flatten(1)[:, :, None].expand(-1, -1, count)
            gain = worth - (worth * share.gather(1, places)).sum(2, keepdim=True)
            regret = regret.scatter_add(1, places, gain).clamp(min=0)
            total = total + iteration * share
            share = matched(regret, available)
        return best, total / total.sum(2, keepdim=True)

    def _joint(self, best: Tensor, share: Tensor, holders: Tensor, seeds: Tensor) -> Tensor:
        """Return joint moves, int64 [L, J, P, 2]: a space, and one for a reserve tile or `N`; seeds are [L, J]."""
        shape = (*holders.shape, 2)
        counter = torch.arange(2 * holders.shape[2], device=seeds.device).view(-1, 2)
        lots = chance.draw(seeds[:, :, None, None], _PICK, counter)
        wished = _drawn(best, share, holders.flatten(1), (lots & (_SHARE - 1)).flatten(1, 2)).view(shape)
        anywhere = chance.draw(seeds[:, :, None, None], _ANYWHERE, counter)
        wanted = (anywhere & 0xFFFF) < self.keen * 0x10000
        spaces = torch.where(wanted, wished, chance.uniform_int(anywhere >> 20, self.game.spaces))
        played = (chance.draw(seeds[:, :, None], _RESERVE, counter[:, 0]) & 0xFFFF) < self.reserve_chance * 0x10000
        spaces[..., 1] = spaces[..., 1].where(played, self.game.spaces)
        return spaces

    def _compared(self, seen: Seen, holders: Tensor, spaces: Tensor, candidates: Tensor) -> Tensor:
        """Return the worth of every player's candidates instead of its own in joint moves, float [L, J * P, K]."""
        game, (before, *digits) = self.game, seen.planes[:, :, :, None, None]
        named = tiles_on(game.grid, spaces) & ~before  # [W, L, J, P]
        bits = [-((holders & value) != 0).long() for value in rules.DIGITS]
        one = two = three = torch.zeros_like(named[..., 0])  # named by so many players or more
        for own in named.unbind(-1):
            one, two, three = one | own, two | (one & own), three | (two & own)
        one, two, three = (board[..., None] for board in (one, two, three))
        # Without each player's own tiles: spaces that exactly one of the others has named, and that several have.
        landed = (one & ~two & ~named) | (two & ~three & named)
        tiles, barred = before | landed, before | three | (two & ~named)
        matches = []
        for digit, bit in zip(digits, bits, strict=True):
            # Of two players on a space, all digits without a player's own are the other's.
            parity = functools.reduce(torch.bitwise_xor, (named & bit).unbind(-1))[..., None]
            matches.append(tiles & ~((digit | (landed & (parity ^ (named & bit)))) ^ bit))
        base = torch.stack((tiles, *matches, barred)).flatten(2)[..., None]  # [5, W, L * J * P, 1]
        places = holders.flatten(1)[None, :, :, None].expand(len(candidates), -1, -1, candidates.shape[3])
        own, rows = candidates.gather(2, places), holders[0].numel()
        left = (game.rounds + 1 - seen.round).repeat_interleave(rows)
        found = tried(base, own.flatten(1, 2), game.size, len(self.weights))
        return weighted(found, self.weights, left).float().view(len(seen), rows, -1)


def _drawn(best: Tensor, share: Tensor, sequence: Tensor, uniform: Tensor) -> Tensor:
    """Return spaces drawn from the strategies of sequences, int64 [L, X, 2], by such numbers below `_SHARE`."""
    places = sequence[:, :, None].expand(-1, -1, best.shape[2])
    upto = share.cumsum(2).gather(1, places).contiguous()
    place = torch.searchsorted(upto, (uniform.float() / _SHARE).contiguous(), right=True)
    return best.gather(1, places).gather(2, place.clamp(max=best.shape[2] - 1))


_JOINT_MOVES = 4  # of an iteration of regret matching
_SHAPES = 256
_ROWS = 64  # games whose sequences are drawn at once, at most, which bounds the memory
_WORLDS = chance.USER + 62


class GridSearch(RememberingPlayer):
    """An agent that plays the plan that is worth most against sampled joint moves of the others.

    The others' sequences are drawn as `beliefs` has them. With three quarters of the `N` joint moves, regret matching
    finds the strategies of all sequences in this round (`MatchedOthers`). All plans then meet the last quarter, which
    is drawn from those strategies.

    Args:
        joint_moves: `N`.
        keen: see `MatchedOthers`.
    """

    def __init__(self, joint_moves: int, *, keen: float = MatchedOthers.keen) -> None:
        check_at_least(1, joint_moves=joint_moves)
        guesses = -(-joint_moves // 4)
        super().__init__(f"mcts:{joint_moves}", guesses, _SHAPES)
        self.joint_moves, self.keen = joint_moves, keen

    @override
    def others(self, game: GridAdaptation) -> Others:
        iterations = max(1, (self.joint_moves - self._guesses) // _JOINT_MOVES)
        return MatchedOthers(game, keen=self.keen, iterations=iterations, joint_moves=_JOINT_MOVES)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        plans = self.plans(self.history.look(view, players, env_ids), players, seeds)
        return plans.actions[torch.arange(len(view), device=seeds.device), plans.worth.argmax(1)]

    def plans(self, view: Remembered, players: Tensor, seeds: Tensor, more: Tensor | None = None) -> Plans:
        """Return the plans with their worth; the arguments are those of `choose`, and `more` of `Planner.plans`."""
        worlds = chance.draw(seeds[:, None], _WORLDS, torch.arange(self._guesses, device=seeds.device))
        rows, game = torch.arange(len(view), device=seeds.device).split(_ROWS), self.planner.game
        others = [likely_sequences(game, view[some], players[some], worlds[some]) for some in rows]
        return self.planner.plans(view, seeds, torch.cat(others), more)


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
        for some in view.rounds():
            seats, mine = rows.seats[some], own[some, :, playing]
            remembered = self._search.history.look(view[some], seats, rows.env_ids[some])
            plans = self._search.plans(remembered, seats, seeds[some], mine)
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
        return self._search.history.state_dict()

    @override
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self._search.history.load_state_dict(state)


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
