"""Grid Adaptation for learners: an action is one of some plans at random and a flip, and the forecast of each is seen.

Space by space, standard learners are slow: they have to find out by the boards what a flip is worth, and flips decide.
As choices among plans, the game can be learned by any library that plays `SeatVecEnv`, and `PlanChooser` plays the
learned policy in the ordinary game.

Letters: `B` matches, `P` players, `L` views of players, `C` plans to choose from.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AskingAgent
from cellgames.agents.choices import ChoiceGame, as_kind
from cellgames.envs.core import Game, chance
from cellgames.envs.core.info import GameInfo, Space
from cellgames.envs.grid_adaptation import legality
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import FLIP, RESERVE, VOTE, GridState

from .decoding import Seen, seen
from .greedy import GridPlayer, Planner
from .lookahead import ILLEGAL, Others

OFFERED = 16
"""Plans to choose from, `C`."""

_PLANS, _DRAWN, _BALLOT = range(chance.USER + 60, chance.USER + 63)
_NUMBERS = 8  # that are seen beside those of the plans
_TILES = 3  # digits of a tile
_WORST = -4.0  # the worth of a plan that is as good as none


@dataclass(frozen=True, eq=False)
class PlanState(GridState):
    """The state of matches, with plans to choose from.

    Attributes:
        plans: int64 [B, P, C, 7], actions.
        seen: float32 [B, P, 2 C + 8], see `PlanChoices`.
    """

    plans: Tensor
    seen: Tensor


@dataclass(frozen=True)
class PlanChoices(ChoiceGame, GridAdaptation):
    """Grid Adaptation whose actions are the number of one of 16 plans, `PlanState.plans`, and a flip.

    A plan names spaces for all tiles and maybe a reserve tile; plans are drawn from those of `Planner`, from the
    matches' seeds. Who chooses sees how much each is worth less than the best one, in digits that match more in every
    generation, and 1 if it spends a reserve tile; how many tiles match more after each flip; then the round over all
    rounds, its own reserve tiles and garnets over 4, and 1 if flips are allowed: float32 [40]. Votes are drawn.

    It takes the parameters of `GridAdaptation`.
    """

    id: ClassVar[str] = "grid-adaptation-plans-v0"

    @cached_property
    @override
    def info(self) -> GameInfo:
        space = Space((2 * OFFERED + _NUMBERS,), torch.float32, -float("inf"), float("inf"))
        return dataclasses.replace(super().info, action_nvec=(OFFERED, 4), observation=space)

    @cached_property
    def plain(self) -> GridAdaptation:
        """The ordinary game."""
        return GridAdaptation(**self.parameters)

    @override
    def proposing(self, state: GridState) -> PlanState:
        seats = torch.arange(self.players, device=state.device)
        observed = torch.stack([self.plain.observe(state, seat) for seat in range(self.players)], 1).flatten(0, 1)
        seeds = chance.draw(state.seed[:, None], _PLANS, state.turn[:, None] * self.players + seats).flatten()
        found = offers(Planner(Others(self.plain)), seen(self.plain, observed), seeds)
        plans, views = (part.unflatten(0, (-1, self.players)) for part in found)
        return as_kind(state, PlanState, plans=plans, seen=views)

    @override
    def _step(self, state: GridState, actions: Tensor) -> PlanState:
        assert isinstance(state, PlanState)
        plans = state.plans.gather(2, actions[..., :1, None].expand(-1, -1, 1, state.plans.shape[3])).squeeze(2)
        plans[..., FLIP] = actions[..., 1]
        plain = as_kind(state, GridState)
        ballots = legality.mask(self.plain, plain)[..., -self.players - 1 :].flatten(0, 1)
        seats = torch.arange(self.players, device=state.device).expand(len(state), -1)
        lots = chance.draw(state.seed[:, None], _BALLOT, seats) & 0x7FFFFFFF
        plans[..., VOTE] = chance.random_legal(ballots, lots.flatten()).view(lots.shape)
        return self.proposing(self.plain._step(plain, plans))

    @override
    def _legal(self, state: GridState) -> Tensor:
        places, flips = self.places_tiles(state)[:, None], self.flips_now(state.round)[:, None]
        nothing = torch.arange(OFFERED + 4, device=state.device) % OFFERED == 0
        allowed = torch.cat((places.expand(-1, OFFERED), flips.expand(-1, 4)), 1)
        return (allowed | nothing)[:, None].expand(-1, self.players, -1)

    @override
    def view_to_string(self, state: GridState, player: int) -> str:  # the seed tells what others were dealt
        return self.plain.view_to_string(as_kind(state, GridState), player)

    @override
    def observe(self, state: GridState, player: Tensor | int) -> Tensor:
        """Return float32 [B, 2 C + 8], see above."""
        assert isinstance(state, PlanState)
        return state.seen[torch.arange(len(state), device=state.device), player]


def offers(planner: Planner, view: Seen, seeds: Tensor) -> tuple[Tensor, Tensor]:
    """Return the plans of views in rounds, int64 [L, C, 7], and what is seen of them, float32 [L, 2 C + 8].

    A row depends on its view and on its seed, int64 [L], alone.
    """
    plans = view.sequence.new_zeros(len(view), OFFERED, len(planner.game.info.action_nvec))
    observed = torch.zeros(len(view), 2 * OFFERED + _NUMBERS, dtype=torch.float32, device=seeds.device)
    for begins in (True, False):
        rows = ((view.round == 1) == begins).nonzero().squeeze(1)
        if len(rows):
            plans[rows], observed[rows] = _offers(planner, view[rows], seeds[rows])
    return plans, observed


def _offers(planner: Planner, view: Seen, seeds: Tensor) -> tuple[Tensor, Tensor]:
    game, found = planner.game, planner.plans(view, seeds)
    lots = chance.draw(seeds[:, None], _DRAWN, torch.arange(found.worth.shape[1], device=seeds.device)) & 0x7FFFFFFF
    lots, drawn = lots.where(found.worth > ILLEGAL, -1).topk(OFFERED, 1)
    drawn = drawn.where(lots >= 0, drawn[:, :1])  # there may be fewer
    plans = found.actions.gather(1, drawn[:, :, None].expand(-1, -1, found.actions.shape[2]))
    worth = found.worth.gather(1, drawn)
    worth = ((worth - worth.amax(1, keepdim=True)) / found.scale).clamp(min=_WORST)
    numbers = torch.stack((view.round / game.rounds, view.reserves / 4, view.garnets / 4, view.flips), 1)
    return plans, torch.cat((worth, plans[..., RESERVE] < game.spaces, found.flips / _TILES, numbers), 1).float()


class PlanChooser(AskingAgent[GridAdaptation], GridPlayer):
    """An agent of the ordinary game that chooses its plans by an agent of `PlanChoices`, such as a model of SB3.

    Args:
        agent: what chooses; its name is that of both.

    Attributes:
        offered: plans and flips that it chooses from.
    """

    offered = (OFFERED, 4)

    @override
    def asked_game(self) -> Game:
        return PlanChoices(**self.game.base.parameters)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        plans, observed = offers(self.planner, view, seeds)
        flips = view.flips[:, None] | (torch.arange(4, device=seeds.device) == 0)
        mask = torch.cat((torch.ones_like(plans[..., 0], dtype=torch.bool), flips), 1)
        actions = self._agent.act(observed, mask, torch.arange(len(view), device=seeds.device), generator)
        chosen = plans[torch.arange(len(view), device=seeds.device), actions[:, 0]]
        chosen[:, FLIP] = actions[:, 1]
        return chosen
