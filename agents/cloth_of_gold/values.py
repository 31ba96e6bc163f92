"""Cloth of Gold by evaluation: many turns are tried, and a network evaluates the positions after them.

Letters: `L` games to move in, `C` candidate turns, `K` the most units of a turn.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, draw_seeds
from cellgames.agents.networks.blocks import head
from cellgames.agents.networks.choices import Relation
from cellgames.agents.networks.networks import Network, Size
from cellgames.envs.boards.bitboards import count
from cellgames.envs.cloth_of_gold import observation as seen
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.simulation import simulate
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game

from .network import LEAD, NUMBERS, PLANES, ClothTrunk, numbers_of, planes_of
from .turns import TurnAgent, random_turns

__all__ = ["CANDIDATES", "ClothEvaluator", "ClothValues", "after_turns"]

CANDIDATES = 48
"""Turns that are tried."""

_WORLDS = 1 << 22  # cells looked at together, which bounds the memory
_KINDS = seen.BOARDS.index("killed") + 1  # planes of what lives or has been killed, as a round takes them
_LEAD = len(seen.BOARDS) + seen.NUMBERS.index("own score of the last round")


class ClothValues(Network[ClothOfGold]):
    """A network for the value of a position to a player whose turn has ended: its chance to win, less that to lose.

    Its only action is none: it plays by `ClothEvaluator`.
    """

    kind: ClassVar[str] = "turns"

    plays = ClothOfGold

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        self.trunk = ClothTrunk(size, PLANES + 2, NUMBERS + 3)
        self.value = head(3 * size.channels, 2 * size.channels, 1, 0.1)

    def worth(self, observation: Tensor) -> Tensor:
        """Return the value of observations [L, ...] to the player whose view it is: float [L], -1 to 1."""
        ahead, lead = self._ahead(observation)
        planes = torch.cat((planes_of(observation), planes_of(ahead)[:, :2]), 1)
        numbers = torch.cat((numbers_of(observation), lead), 1)
        value: Tensor = self.value(self.trunk(planes, numbers)[1]).squeeze(1).tanh()
        return value

    def _ahead(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Return what a round would make of the position if nothing were added to it.

        Units [L, 2, H, W], one's own first; both sides' units and by how much the lead would grow, float [L, 3].
        """
        game = self.game
        worlds = game.grid.pack(observation[:, :_KINDS])
        after = simulate(game.grid, worlds, game.generations, game.neutral_births)[:2]
        units = count(after).t().float()
        own, other = units.unbind(1)
        before = observation[:, _LEAD, 0, 0].float()
        leads = torch.stack((own, other, own - other - before), 1) * LEAD
        return game.grid.unpack(after), leads

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        value = self.worth(observation)
        return value.new_zeros((len(value), self.nvec[0])), value, None

    @override
    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        return ClothEvaluator(self, name=name)


def after_turns(game: ClothOfGold, state: ClothState, plans: Tensor) -> ClothState:
    """Return the positions after each of `C` turns of the movers, `L * C` games; plans int64 [L, C, K]."""
    rows = torch.arange(len(state), device=state.device).repeat_interleave(plans.shape[1])
    return game.play_turn(state[rows], plans.flatten(0, 1))


class ClothEvaluator(TurnAgent):
    """An agent that plays the turn that leads to the position of the highest value, or to the best end of the game.

    The player who places last so evaluates what the round has made of its turn, the other one what the opponent will
    find.

    Args:
        network: evaluates positions.
        candidates: turns of shapes, half of them at the edge of one's own territory, as `greedy` tries them.
        name: as in `Agent`.
    """

    def __init__(self, network: ClothValues, *, candidates: int = CANDIDATES, name: str = "values") -> None:
        super().__init__(name)
        if candidates < 1:
            raise ValueError(f"expected at least 1 candidate, got {candidates}")
        self.network, self.candidates = network, candidates

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        plans, worth, _ = self.evaluate(state, generator)
        return plans[torch.arange(len(state), device=state.device), worth.argmax(1)]

    @torch.no_grad()
    def evaluate(self, state: ClothState, generator: torch.Generator) -> tuple[Tensor, Tensor, ClothState]:
        """Return candidates, int64 [L, C, K], their values, float [L, C], and the positions after them, `L * C`."""
        game, rows = self.game, torch.arange(len(state), device=state.device)
        seeds = draw_seeds(len(state), generator, state.device)
        plans = random_turns(game, state, seeds, self.candidates, border=True)
        together = max(1, _WORLDS // (game.cells * self.candidates))
        found = [self._worth(game, state[some], plans[some]) for some in rows.split(together)]
        return plans, torch.cat([worth for worth, _ in found]), _joined([after for _, after in found])

    def _worth(self, game: ClothOfGold, state: ClothState, plans: Tensor) -> tuple[Tensor, ClothState]:
        after = after_turns(game, state, plans)
        mover = state.current_player.repeat_interleave(plans.shape[1])
        self.network.eval()
        device = next(self.network.parameters()).device
        value = self.network.worth(game.observe(after, mover).to(device)).to(state.device)
        ended = game.outcome(after).gather(1, mover[:, None]).squeeze(1).float()
        # A result is worth more than any hope of it.
        return torch.where(after.done, 2 * ended, value).view(plans.shape[:2]), after


def _joined(states: list[ClothState]) -> ClothState:
    return states[0] if len(states) == 1 else type(states[0]).cat(states)
