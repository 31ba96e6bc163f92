"""Cloth of Gold by whole turns: the same game, whose actions are a few turns that are drawn and ranked.

A tree search so has few actions in each position (sampled actions: Hubert et al., "Learning and planning in complex
action spaces", ICML 2021).

Letters: `B` games, `C` turns to choose from, `K` the most units of a turn.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.cloth_of_gold_wild.state import WildState
from cellgames.envs.core import Game, chance
from cellgames.envs.core.info import GameInfo

from .greedy import proposals

CHOICES = 32
"""Turns that a position has room for."""

_DRAWN, _KEPT = 32, 8  # turns drawn in a position, and the best of them, which may be played
_NONE = -1e9  # the logit of no turn
_STEP = 0.1  # of the logits, from one turn to the next


@dataclass(frozen=True, eq=False)
class TurnState(ClothState):
    """The state of games of Cloth of Gold, with turns to choose from.

    Attributes:
        plans: int64 [B, C, K], the turns, as `random_turns` returns them.
        logits: float32 [B, C], of a prior over them.
    """

    plans: Tensor
    logits: Tensor


@dataclass(frozen=True, eq=False)
class WildTurnState(WildState):
    """The same for games with wild options.

    Attributes:
        plans: int64 [B, C, K].
        logits: float32 [B, C].
    """

    plans: Tensor
    logits: Tensor


AnyTurnState: TypeAlias = TurnState | WildTurnState
"""States with turns to choose from."""


@dataclass(frozen=True)
class TurnGame(ClothOfGold):
    """Cloth of Gold for tree searches: an action is the number of one of the turns of the state."""

    @cached_property
    @override
    def info(self) -> GameInfo:
        turns = 2 * (self.max_rounds + self.initial_placement)
        return dataclasses.replace(super().info, action_nvec=(CHOICES,), max_turns=turns)

    def offering(self, state: ClothState, plans: Tensor, logits: Tensor) -> AnyTurnState:
        """Return games with turns to choose from, of which there may be fewer than `CHOICES`; see `TurnState`."""
        room = CHOICES - plans.shape[1]
        plans = torch.nn.functional.pad(plans, (0, 0, 0, room), value=-1)
        logits = torch.nn.functional.pad(logits.float(), (0, room), value=_NONE)
        wild = isinstance(self, ClothOfGoldWild)
        kind, made = (WildState, WildTurnState) if wild else (ClothState, TurnState)
        fields = {field.name: getattr(state, field.name) for field in dataclasses.fields(kind)}
        return made(**fields, plans=plans, logits=logits)

    def proposing(self, state: ClothState, drawn: int = _DRAWN, kept: int = _KEPT) -> AnyTurnState:
        """Return games with those turns to choose from that would be worth most if the round ran now.

        Args:
            state: the games; the turns are a function of their seeds.
            drawn: turns that are drawn for each game.
            kept: the best of them, `CHOICES` at most.
        """
        plans = torch.full((len(state), kept, self.most_units), -1, dtype=torch.int64, device=state.device)
        going = (~state.done).nonzero().squeeze(1)
        if len(going):
            plans[going] = proposals(self, state[going], state.seed[going], drawn, kept)[0]
        ranks = torch.arange(kept, device=state.device).expand(len(state), -1)
        return self.offering(state, plans, -_STEP * ranks)

    @override
    def _step(self, state: ClothState, actions: Tensor) -> AnyTurnState:
        assert isinstance(state, AnyTurnState)
        after = self.play_turn(state, state.plans[torch.arange(len(state), device=state.device), actions])
        return self.proposing(after.replace(seed=chance.next_seed(state.seed)))

    @override
    def _legal(self, state: ClothState) -> Tensor:
        assert isinstance(state, AnyTurnState)
        return state.logits > _NONE


@dataclass(frozen=True)
class WildTurnGame(TurnGame, ClothOfGoldWild):
    """The same for games with wild options."""


def turn_game(game: Game) -> TurnGame:
    """Return a game for tree searches."""
    return (WildTurnGame if isinstance(game, ClothOfGoldWild) else TurnGame)(**game.parameters)
