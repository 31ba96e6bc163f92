"""Matrix games, and tree search where all act at once: against linear programming and the exact values of Goofspiel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
import pytest
import torch
from every_game import generator
from scipy.optimize import linprog
from torch import Tensor
from typing_extensions import override

import cellgames
from cellgames.agents import acting, load, play
from cellgames.agents.simultaneous import JointSearchAgent, RegretMatching, solve_matrix
from cellgames.agents.simultaneous.joint_agent import JointImprover, improver_of
from cellgames.envs import registry, seeds
from cellgames.envs.core import DRAW, LOSS, WIN, Game, GameInfo, Space, State
from cellgames.plugins import GamePlugin

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
    if low == high:
        return float(low)
    if left == 3:  # two bids each: both mix so that the other's make no difference; a linear program takes longer
        (a, b), (c, d) = payoff.tolist()
        return float((a * d - b * c) / (a + d - b - c))
    return equilibrium(payoff)[1]


GOOFSPIEL = Goofspiel()


@pytest.fixture
def goofspiel() -> Iterator[Game]:
    cellgames.register(GamePlugin(game=Goofspiel, simultaneous=True, search={"determinize": determinize}))
    yield GOOFSPIEL
    registry.REGISTRY.pop(Goofspiel.id)


@pytest.mark.parametrize(
    ("rock", "mixture"), [(1.0, [1 / 3, 1 / 3, 1 / 3]), (2.0, [1 / 4, 1 / 2, 1 / 4])], ids=["plain", "rock is dear"]
)
def test_rock_paper_scissors_has_its_mixture_and_is_fair(rock: float, mixture: list[float]) -> None:
    payoff = torch.tensor([[[0, -1, rock], [1, 0, -1], [-rock, 1, 0]]])  # rock beats scissors by more
    for strategy in solve_matrix(payoff, 2000):
        assert torch.allclose(strategy[0], torch.tensor(mixture), atol=0.01)


def test_random_games_have_the_values_of_linear_programming() -> None:
    """Neither player gets less by its strategy, whatever the other one plays."""
    payoff = torch.rand((12, 7, 9), generator=generator()) * 2 - 1
    row, column = solve_matrix(payoff, 1000)
    exact = torch.tensor([equilibrium(game.double().numpy())[1] for game in payoff], dtype=torch.float32)
    assert torch.allclose((row[:, None] @ payoff).amin((1, 2)), exact, atol=0.01)
    assert torch.allclose((payoff @ column[:, :, None]).amax((1, 2)), exact, atol=0.01)
    assert torch.allclose(row.sum(1), torch.ones(12))
    assert torch.allclose(column.sum(1), torch.ones(12))


def after_first_bids() -> tuple[GoofspielState, list[tuple[tuple[int, ...], tuple[int, ...], int]]]:
    """Return games after first bids that leave the first player behind or level, and the same as tuples."""
    pairs = [(bid, reply) for bid in range(5) for reply in range(bid, 5)]
    state = GOOFSPIEL.step(GOOFSPIEL.init(seeds(0, len(pairs))), torch.tensor(pairs))
    left = [tuple(card for card in range(5) if card != bid) for bid in range(5)]
    return state, [(left[bid], left[reply], -5 * (bid < reply)) for bid, reply in pairs]


def worst_case(policy: Tensor, payoff: np.ndarray) -> float:
    return float((policy.double().numpy() @ payoff).min())


def test_regret_matching_finds_the_exact_values_of_goofspiel_and_guarantees_them() -> None:
    state, positions = after_first_bids()
    exact = torch.tensor([exact_value(*position) for position in positions])
    assert int(((exact > -0.99) & (exact < -0.01)).sum()) >= 3, "some are neither lost nor fair"
    found = RegretMatching(GOOFSPIEL, 250).run(state, generator())
    policy = found.dense(found.policy, 5)
    short, uniform = [], []
    for row, (own, other, lead) in enumerate(positions):
        payoff = exact_matrix(own, other, lead)
        assert set(policy[row, 0].nonzero().flatten().tolist()) <= set(own)
        for chances, matrix, value in (
            (policy[row, 0, list(own)], payoff, exact[row]),
            (policy[row, 1, list(other)], -payoff.T, -exact[row]),
        ):
            short.append(float(value) - worst_case(chances, matrix))
            uniform.append(float(value) - worst_case(torch.full_like(chances, 1 / len(chances)), matrix))
    assert min(short) > -1e-6, "nothing guarantees more than the value"
    assert np.mean(short) < 0.13 < 0.25 < np.mean(uniform)
    assert torch.allclose(found.value[:, 0], -found.value[:, 1], atol=1e-5)
    assert float((found.value[:, 0] - exact).abs().mean()) < 0.1


def test_a_dominant_bid_is_found() -> None:
    """With two cards left, 1 against 0 wins both prizes' worth: the last bids decide the game."""
    state = GOOFSPIEL.init(seeds(0, 1))
    hands = torch.zeros_like(state.hands)
    hands[0, 0, [1, 3]], hands[0, 1, [0, 2]] = True, True
    state = state.replace(hands=hands, turn=torch.full_like(state.turn, 3), scores=torch.tensor([[5.0, 5.0]]))
    found = RegretMatching(GOOFSPIEL, 150).run(state, generator())
    own = found.dense(found.policy, 5)[0, 0]
    assert float(own[3]) > 0.9, "the highest card takes the larger prize for certain"
    assert float(found.value[0, 0]) > 0.8
    assert int(found.visits[0].sum()) == 2 * 150
    assert found.dense(found.visits, 5)[0, 0].nonzero().flatten().tolist() == [1, 3]


@pytest.mark.slow
def test_mcts_mixes_in_goofspiel_and_beats_random(goofspiel: Game) -> None:
    agents = [load("mcts:40", goofspiel), load("random", goofspiel)]
    assert isinstance(acting(agents[0], goofspiel), JointSearchAgent)
    seats = torch.tensor([[0, 1], [1, 0]] * 30)
    runs = [play(goofspiel, agents, seats, seeds(0, 60), [generator(1), generator(2)]) for _ in range(2)]
    assert torch.equal(runs[0].actions, runs[1].actions)
    points = (goofspiel.outcome(runs[0].state).float() + 1) / 2
    assert float(points[seats == 0].mean()) > 0.6
    first = runs[0].actions[0][seats == 0]
    assert len(first.unique()) >= 2, "it does not always bid the same first"


@pytest.mark.parametrize("spec", ["mcts:16", "rollout:16"])
def test_where_nothing_is_hidden_the_position_is_searched_without_a_determinization(spec: str) -> None:
    class Open(Goofspiel):
        id = "open-goofspiel-v0"

    game = Open()
    agents = [load(spec, game), load("random", game)]
    seats = torch.tensor([[0, 1], [1, 0], [0, 0]] * 20)
    played = play(game, agents, seats, seeds(0, 60), [generator(1), generator(2)])
    points = (game.outcome(played.state).float() + 1) / 2
    assert float(points[(seats == 0) & (seats == 1).any(1, keepdim=True)].mean()) > 0.6
    assert improver_of(game) is JointImprover
