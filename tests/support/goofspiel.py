"""Goofspiel with open prizes on the contract, for tests of searches where all act at once, and its exact solution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
import torch
from scipy.optimize import linprog
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import DRAW, LOSS, WIN, Game, GameInfo, Space, State

Hand = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GoofspielState(State):
    """hands: [B, 2, C] bool, the cards that are left."""

    hands: Tensor


@dataclass(frozen=True)
class Goofspiel(Game[GoofspielState]):
    """Both bid a card for the prizes C, C - 1, ..., 1; the higher one gets it, equal ones nothing. Most points win."""

    cards: int = 5

    id: ClassVar[str] = "toy-goofspiel-v0"

    @cached_property
    @override
    def info(self) -> GameInfo:
        most = self.cards * (self.cards + 1) // 2
        return GameInfo(
            id=self.id,
            title="Goofspiel",
            credit="made for tests",
            players=("player_0", "player_1"),
            simultaneous=True,
            perfect_information=True,
            stochastic=False,
            zero_sum=True,
            max_turns=self.cards,
            reward_range=(-1.0, 1.0),
            action_nvec=(self.cards,),
            observation=Space((2 * self.cards + 2,), torch.int8, 0, most),
            board=Space((2, self.cards), torch.int8, 0, 1),
        )

    @override
    def _init(self, seeds: Tensor) -> GoofspielState:
        return GoofspielState.new(seeds, 2, hands=seeds.new_ones((len(seeds), 2, self.cards), dtype=torch.bool))

    @override
    def _step(self, state: GoofspielState, actions: Tensor) -> GoofspielState:
        bids = torch.nn.functional.one_hot(actions.long(), self.cards).bool()
        prize = self.cards - state.turn
        won = torch.stack((actions[:, 0] > actions[:, 1], actions[:, 1] > actions[:, 0]), 1)
        scores = state.scores + won * prize[:, None]
        turn = state.turn + 1
        ended = turn >= self.cards
        rewards = torch.where(ended[:, None], _results(scores), 0).float()
        return state.replace(turn=turn, scores=scores, rewards=rewards, terminated=ended, hands=state.hands & ~bids)

    @override
    def _legal(self, state: GoofspielState) -> Tensor:
        return state.hands.clone()

    @override
    def observe(self, state: GoofspielState, player: Tensor | int) -> Tensor:
        seat = torch.as_tensor(player, device=state.device).expand(len(state))
        order = torch.stack((seat, 1 - seat), 1)
        hands = state.hands.gather(1, order[:, :, None].expand_as(state.hands))
        return torch.cat((hands.flatten(1), state.scores.gather(1, order)), 1).to(torch.int8)

    @override
    def board(self, state: GoofspielState) -> Tensor:
        return state.hands.to(torch.int8)

    @override
    def outcome(self, state: GoofspielState) -> Tensor:
        return torch.where(state.done[:, None], _results(state.scores), 0).to(torch.int8)


def _results(scores: Tensor) -> Tensor:
    lead = scores - scores.flip(1)
    return torch.where(lead > 0, WIN, torch.where(lead < 0, LOSS, DRAW))


def determinize(game: Goofspiel, observation: Tensor, seats: Tensor) -> GoofspielState:
    """Return the games that seats see; nothing is hidden but the bids of this step."""
    state = game.init(torch.zeros_like(seats))
    order = torch.stack((seats, 1 - seats), 1)
    hands = observation[:, : 2 * game.cards].bool().unflatten(1, (2, game.cards))
    return state.replace(
        turn=(game.cards - hands[:, 0].sum(1)).to(state.turn.dtype),
        scores=observation[:, 2 * game.cards :].float().gather(1, order),
        hands=hands.gather(1, order[:, :, None].expand_as(hands)),
    )


def equilibrium(payoff: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the row player's optimal mixture and the value of a zero-sum matrix game, by linear programming."""
    rows, columns = payoff.shape
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-payoff.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return found.x[:rows], float(found.x[rows])


def exact_matrix(own: Hand, other: Hand, lead: int) -> np.ndarray:
    """Return the first player's exact value of each pair of bids out of both hands, by backward induction."""
    prize = len(own)
    rows = [
        [
            exact_value(
                tuple(card for card in own if card != bid),
                tuple(card for card in other if card != reply),
                lead + prize * ((bid > reply) - (bid < reply)),
            )
            for reply in other
        ]
        for bid in own
    ]
    return np.array(rows, dtype=float)


@cache
def exact_value(own: Hand, other: Hand, lead: int) -> float:
    """Return the first player's exact value of a position; see `exact_matrix`."""
    left = len(own) * (len(own) + 1) // 2
    if abs(lead) > left or not own:
        return float(np.sign(lead))
    if (lead, own, other) < (-lead, other, own):
        return -exact_value(other, own, -lead)
    payoff = exact_matrix(own, other, lead)
    low, high = payoff.min(1).max(), payoff.max(0).min()
    return float(low) if low == high else equilibrium(payoff)[1]
