"""The networks for Cloth of Gold: one that places unit by unit, and one that evaluates positions after whole turns.

Letters: `L` games to move in, `H, W` world, `C` channels or candidate turns, `K` the most units of a turn.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import AnyAgent, draw_seeds
from cellgames.agents.networks.blocks import Trunk, head, pooled
from cellgames.agents.networks.networks import Network, Relation, Size
from cellgames.agents.playouts import at_once, best_arm, summed
from cellgames.envs.boards.bitboards import count
from cellgames.envs.cloth_of_gold import state as seen
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.simulation import simulate
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game
from cellgames.utils.errors import check_at_least

from .greedy import DRAWN, ClothGreedy, proposals

_PATCH = 4  # rows and columns of cells that are one of the trunk's
_FINE = 8  # channels at the size of the world

PLANES = len(seen.BOARDS) + 1
"""The number of planes that the networks see: boards, and where the world is."""
NUMBERS = len(seen.NUMBERS) + 2
"""The number of numbers that `scaled` returns."""
LEAD = 0.02
"""The value of a unit in the numbers."""
_WILD = 0.125  # of the numbers of wild options: one of weather, a level up to 96, points and bolts


class ClothTrunk(nn.Module):
    """Layers from the world and the numbers to float [L, C, H/4, W/4] and, of all of it, [L, 3 C].

    Sixteen cells are one to the trunk, which makes it sixteen times as quick, and lets it look four times as far.
    """

    def __init__(self, size: Size, planes: int, numbers: int) -> None:
        super().__init__()
        width = size.channels
        self.numbers = head(numbers, width, width, 1.0)
        self.patches = nn.Conv2d(planes, width, _PATCH, _PATCH)
        self.trunk = Trunk(width, size, wrap=False)

    def forward(self, planes: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Run on planes [L, p, H, W], and numbers [L, n]; see `padded` and `scaled`."""
        numbers = self.numbers(numbers)
        trunk = self.trunk(functional.relu(self.patches(planes)), numbers)
        return trunk, torch.cat((pooled(trunk), numbers), 1)


class ClothNetwork(Network[ClothOfGold]):
    """A network that places unit by unit: whether to end the turn, else where, each cell by what is around it.

    So the head is as small for a world of any size.
    """

    plays = ClothOfGold

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        width = size.channels
        boards, numbers = added(self.game)
        planes, kinds = PLANES + boards, self.game.end_turn // self.game.cells  # of places: units, and bolts
        self.trunk = ClothTrunk(size, planes, NUMBERS + numbers)
        self.up = nn.Conv2d(width, _FINE * _PATCH**2, 1)
        self.fine = nn.Conv2d(planes, _FINE, 3, padding=1)
        self.mix = nn.Conv2d(2 * _FINE, 2 * _FINE, 3, padding=1)
        self.cell = nn.Conv2d(2 * _FINE, kinds, 1)
        nn.init.orthogonal_(self.cell.weight, 0.01)
        self.rest = head(3 * width, 2 * width, 2, 0.01)
        # About five units in a turn at first, however many cells there are.
        self.begin = nn.Parameter(torch.tensor(math.log(self.game.cells / 5)))

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        height, width = observation.shape[2:]
        boards, numbers = parted(self.game, observation)
        planes = padded(torch.cat((boards, torch.ones_like(boards[:, :1])), 1))
        trunk, summary = self.trunk(planes, scaled(numbers, boards[:, :2].sum((2, 3))))
        up = functional.pixel_shuffle(self.up(trunk), _PATCH)
        both = functional.relu(torch.cat((up, self.fine(planes)), 1))
        cells = self.cell(functional.relu(self.mix(both)))[..., :height, :width].flatten(1)
        end, value = self.rest(summary).unbind(1)
        return torch.cat((cells, end[:, None] + self.begin), 1), value, None


def added(game: ClothOfGold) -> tuple[int, int]:
    """Return the numbers of boards and of values that an extension of the game adds to an observation."""
    return len(game.boards) - len(seen.BOARDS), len(game.numbers) - len(seen.NUMBERS)


def parted(game: ClothOfGold, observation: Tensor) -> tuple[Tensor, Tensor]:
    """Return the boards of an observation, float [L, p, H, W], and its numbers, [L, q], those of wild options last."""
    k, end = len(seen.BOARDS), seen.PLANES
    more = end + added(game)[0]
    boards, numbers = [observation[:, :k], observation[:, end:more]], [observation[:, k:end], observation[:, more:]]
    return torch.cat(boards, 1).float(), torch.cat(numbers, 1)[:, :, 0, 0]


def padded(planes: Tensor) -> Tensor:
    """Return planes with empty cells beyond the edges, so that `_PATCH` divides rows and columns."""
    height, width = planes.shape[2:]
    return functional.pad(planes, (0, -width % _PATCH, 0, -height % _PATCH))


def scaled(numbers: Tensor, units: Tensor) -> Tensor:
    """Return the numbers of an observation, [L, 4 + q], and both sides' units, [L, 2], with none large: [L, 6 + q].

    These are units to place, the round, the lead, the seat, numbers of wild options, and units, one's own first.
    """
    scales = torch.full(numbers.shape[1:], _WILD, dtype=torch.float32, device=units.device)
    scales[:4] = torch.tensor([0.1, 0.1, LEAD, 1.0], device=units.device)
    return torch.cat((numbers.float() * scales, units * LEAD), 1)


CANDIDATES = 512
"""Turns that are drawn."""

CONSIDERED = 128
"""The best of them, which the network evaluates."""

_ANSWERED, _ANSWERS = 24, 128  # the best turns that meet answers, and answers in all
_WORLDS = 1 << 17  # cells looked at together: more would leave the cache
_KINDS = seen.BOARDS.index("killed") + 1  # planes of what lives or has been killed, as a round takes them
_LEAD = seen.NUMBERS.index("own score of the last round")


class ClothValues(Network[ClothOfGold]):
    """A network for the value of a position to a player whose turn has ended: its chance to win, less that to lose.

    It has no actions of its own: it plays by `ClothEvaluator`.
    """

    kind: ClassVar[str] = "turns"

    plays = ClothOfGold

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        boards, numbers = added(self.game)
        self.trunk = ClothTrunk(size, PLANES + 2 + boards, NUMBERS + 3 + numbers)
        self.value = head(3 * size.channels, 2 * size.channels, 1, 0.1)

    def worth(self, boards: Tensor, numbers: Tensor) -> Tensor:
        """Return the value of positions, -1 to 1, to players whose view `packed_observation` has given: float [L]."""
        grid, worlds = self.game.grid, boards.movedim(0, -1)
        # A round without placements: the units after it, int64 [2, S, N, L], and the leads, float [L, 3].
        ahead = simulate(grid, worlds[:_KINDS], self.game.generations, self.game.neutral_rules)[:2]
        units = count(ahead).t().float()
        growth = units[:, :1] - units[:, 1:] - numbers[:, _LEAD, None]
        leads = torch.cat((units, growth), 1) * LEAD
        given = len(worlds)  # then where the world is, and what a round would make of it
        planes = torch.ones((len(boards), given + 3, grid.rows, grid.cols), device=boards.device, dtype=torch.float32)
        planes[:, :given] = grid.unpack(worlds)
        planes[:, given + 1 :] = grid.unpack(ahead)
        known = torch.cat((scaled(numbers, count(worlds[:2]).t().float()), leads), 1)
        value: Tensor = self.value(self.trunk(padded(planes), known)[1]).squeeze(1).tanh()
        return value

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        boards, numbers = parted(self.game, observation)
        value = self.worth(self.game.grid.pack(boards).movedim(-1, 0), numbers)
        return value.new_zeros((len(value), self.nvec[0])), value, None

    @torch.no_grad()
    def value_of(self, game: ClothOfGold, state: ClothState, player: Tensor) -> Tensor:
        """Return the value of positions to players, int64 [L], on the device of the positions: float [L]."""
        if self.training:
            self.eval()
        device, found = next(self.parameters()).device, []
        for some in torch.arange(len(state), device=state.device).split(max(1, _WORLDS // game.cells)):
            boards, numbers = game.packed_observation(state[some], player[some])
            found.append(self.worth(boards.to(device), numbers.to(device)))
        return torch.cat(found).to(state.device)

    @override
    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        return ClothEvaluator(self, name=name)


class ClothEvaluator(ClothGreedy):
    """An agent that plays the turn that leads to the position of the highest value, or to the best end of the game.

    The player who places last so evaluates what the round has made of its turn, the other one what the opponent will
    find. Of the candidates, turns as `greedy` tries them, the network evaluates those `considered` that `greedy` would
    like best.
    """

    def __init__(
        self, network: ClothValues, *, candidates: int = CANDIDATES, considered: int = CONSIDERED, name: str = "values"
    ) -> None:
        super().__init__(name, candidates=candidates)
        check_at_least(1, considered=considered)
        self.network, self.considered = network, min(candidates, considered)

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        plans, worth, after = self.evaluate(state, generator)
        best = self._best(state, worth, after, generator)
        return plans[torch.arange(len(state), device=state.device), best]

    def _best(self, state: ClothState, worth: Tensor, after: ClothState, generator: torch.Generator) -> Tensor:
        """Return the turns to play, int64 [L], of the results of `evaluate`."""
        return worth.argmax(1)

    def _worth(self, after: ClothState, player: Tensor) -> Tensor:
        """Return the value of positions to players, int64 [L]: float [L], 2 or -2 where the game is won or lost."""
        ended = self.game.outcome(after).gather(1, player[:, None]).squeeze(1).float()
        return torch.where(after.done, 2 * ended, self.network.value_of(self.game, after, player))

    def evaluate(self, state: ClothState, generator: torch.Generator) -> tuple[Tensor, Tensor, ClothState]:
        """Return turns, int64 [L, C, K], their values, float [L, C], and the positions after them, `L * C`.

        With wild options the positions are those of dice of the agent's own.
        """
        game = self.game
        seeds = draw_seeds(len(state), generator, state.device)
        plans, _ = proposals(game, state, seeds, self.candidates, self.considered)
        if game.random_rounds:
            state = state.replace(seed=seeds)  # dice of one's own
        before = state[torch.arange(len(state), device=state.device).repeat_interleave(plans.shape[1])]
        after = game.play_turn(before, plans.flatten(0, 1))
        return plans, self._worth(after, before.current_player).view(plans.shape[:2]), after


class ClothForesight(ClothEvaluator):
    """`trained`: where it places first, its 24 best turns meet answers of `greedy`, by sequential halving.

    It plays the one after which the positions are worth most. Where it places last, it plays as `ClothEvaluator`.
    """

    def __init__(self, agent: ClothEvaluator) -> None:
        super().__init__(agent.network, candidates=agent.candidates, considered=agent.considered, name=agent.name)

    @override
    def _best(self, state: ClothState, worth: Tensor, after: ClothState, generator: torch.Generator) -> Tensor:
        game, best, first = self.game, worth.argmax(1), (state.current_player == state.first).nonzero().squeeze(1)
        if len(first) == 0:
            return best
        turns = worth[first].topk(min(_ANSWERED, worth.shape[1]), 1).indices

        def trial(rows: Tensor, arms: Tensor) -> Tensor:
            met = after[first[rows] * worth.shape[1] + turns[rows, arms]]
            player, seeds = 1 - met.current_player, draw_seeds(len(met), generator, met.device)
            if game.random_rounds:
                met = met.replace(seed=seeds)
            answers, _ = proposals(game, met, seeds, DRAWN, 1)
            return (self._worth(game.play_turn(met, answers.squeeze(1)), player).clamp(-1, 1) + 1) / 2

        count, attempt = torch.full_like(first, turns.shape[1]), summed(at_once(game), trial)
        arm = best_arm(count, turns.shape[1], _ANSWERS, attempt, generator)
        best[first] = turns.gather(1, arm[:, None]).squeeze(1)
        return best
