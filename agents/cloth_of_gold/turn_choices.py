"""Cloth of Gold for learners: a step is a whole turn, one of some that are proposed, and the forecast of each is seen.

Unit by unit, the first attempts of a learner die. As choices among turns of random shapes, the game can be learned by
any library that plays `SeatVecEnv`, and `TurnChooser` plays the learned policy in the ordinary game.

Letters: `B` games, `L` games to move in, `C` turns to choose from, `K` the most units of a turn.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AskingAgent, draw_seeds
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.core import Game
from cellgames.envs.core.info import GameInfo, Space
from cellgames.utils.errors import InputError

from .greedy import forecast, judged
from .turn_search import TurnGame, TurnState
from .turns import TurnAgent, random_turns

OFFERED = 16
"""Turns to choose from, `C`."""

_LEAD = 32.0  # units in the lead that are seen as 1


@dataclass(frozen=True)
class TurnChoices(TurnGame):
    """Cloth of Gold with one action a turn: the number of one of 16 turns of random shapes, `TurnState.plans`.

    The turns follow from the games' seeds. The mover sees of each turn its lead in units if the round ran now, over 32,
    and whether that would win or lose the game (1, -1 or 0); then its lead after the last round, whether it places
    first, and the number of the round over the most rounds: float32 [35]. The other player sees zeros in place of the
    turns. It takes the parameters of `ClothOfGold`.
    """

    id: ClassVar[str] = "cloth-of-gold-turns-v0"

    @cached_property
    @override
    def info(self) -> GameInfo:
        seen = Space((2 * OFFERED + 3,), torch.float32, -float("inf"), float("inf"))
        return dataclasses.replace(super().info, action_nvec=(OFFERED,), observation=seen, stochastic=True)

    @override
    def proposing(self, state: ClothState, drawn: int = OFFERED, kept: int = OFFERED) -> TurnState:
        """Return games with turns to choose from, which follow from their seeds and turns."""
        plans = random_turns(self, state, state.seed, kept, border=True)
        return self.offering(state, plans, torch.zeros_like(plans[:, :, 0]))

    @override
    def _step(self, state: ClothState, actions: Tensor) -> TurnState:
        return super()._step(state, actions).replace(turn=state.turn + 1)

    @override
    def _legal(self, state: ClothState) -> Tensor:
        return super()._legal(state)[:, :OFFERED]

    @override
    def observe(self, state: ClothState, player: Tensor | int) -> Tensor:
        """Return float32 [B, 2 C + 3], see above."""
        assert isinstance(state, TurnState)
        seat = torch.as_tensor(player, device=state.device).expand(len(state))
        lead, result, _ = judged(self, state, forecast(self, state, state.plans[:, :OFFERED]))
        turns = torch.cat((lead / _LEAD, result), 1) * ((seat == state.current_player) & ~state.done)[:, None]
        before, first = state.scores.gather(1, seat[:, None]) / _LEAD, (seat == state.first)[:, None]
        return torch.cat((turns, before, first, state.round[:, None] / self.max_rounds), 1).float()


class TurnChooser(AskingAgent[ClothOfGold], TurnAgent):
    """An agent of the ordinary game that chooses its turns by an agent of `TurnChoices`, such as a model of SB3.

    Args:
        agent: what chooses; its name is that of both.

    Attributes:
        offered: turns that it chooses from.
    """

    offered = (OFFERED,)

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        if isinstance(game, ClothOfGoldWild):
            raise InputError("game", "Cloth of Gold without wild options", f"{game.id} with some")

    @override
    def asked_game(self) -> Game:
        self._choices = TurnChoices(**self.game.parameters)
        return self._choices

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        offered = self._choices.proposing(state.replace(seed=draw_seeds(len(state), generator, state.device)))
        seen, rows = self._choices.observe(offered, state.current_player), torch.arange(len(state), device=state.device)
        action = self._agent.act(seen, self._choices.legal_actions(offered), rows, generator)
        return offered.plans[rows, action]
