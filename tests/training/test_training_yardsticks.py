"""How strength is measured in training: who sits where, and what counts how much."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from every_game import generator
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.envs.core import Game, seeds
from cellgames.training import compare
from cellgames.training.selfplay.eval_opponents import _comparison, seatings

TORUS = cellgames.make("torus-v0", size=3)


class Watched(BaseAgent):
    """Plays the first legal action, and remembers its seats and how many stones it saw first."""

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.seats = {(int(env_id), int(player)) for env_id, player in zip(env_ids, players, strict=True)}
        self.first: dict[int, Tensor] = {}

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        for env_id, seen in zip(env_ids.tolist(), observation, strict=True):
            self.first.setdefault(env_id, seen.clone())
        return action_mask.int().argmax(1)


def test_the_better_agent_is_ahead_from_either_side() -> None:
    greedy, random = load("greedy", TORUS), load("random", TORUS)
    good, bad = compare(TORUS, greedy, random, 40, 1), compare(TORUS, random, greedy, 40, 1)
    assert good.ahead > 0.9
    assert bad.ahead < 0.1
    assert good.decided == bad.decided == 1.0
    assert (good.score, good.other_score) == (good.ahead, 1 - good.ahead)  # Torus counts 1 for the winner


def test_every_opening_is_played_in_both_seats() -> None:
    learner, other = Watched("learner"), Watched("other")
    compare(TORUS, learner, other, 20, 3)
    assert len(learner.seats) == len(other.seats) == 20
    for pair in range(0, 20, 2):
        assert {seat for env_id, seat in learner.seats if env_id in (pair, pair + 1)} == {0, 1}
        black = [(learner if (env_id, 0) in learner.seats else other).first[env_id] for env_id in (pair, pair + 1)]
        assert torch.equal(*black)
        assert int(black[0][:4].sum()) == 2  # stones of the opening
    assert len({tuple(seen.flatten().tolist()) for seen in learner.first.values()}) > 5


@pytest.mark.parametrize(("players", "mine"), [(2, {1}), (3, {1, 2}), (4, {2}), (8, {4})])
def test_seats_are_drawn_and_then_exchanged(players: int, mine: set[int]) -> None:
    seats = seatings(400, players, generator())
    assert seats.dtype == torch.int64
    assert torch.equal(seats[0::2], 1 - seats[1::2])
    assert set((seats == 0).sum(1).tolist()) == mine
    assert torch.equal((seats == 0).sum(0), torch.full((players,), 200))
    assert len({tuple(row) for row in seats.tolist()}) > 1


def test_of_larger_games_pairs_of_seats_count() -> None:
    """Two seats each: 3 and 1 against 2 and 1 are ahead twice, behind once and level once."""
    scores = torch.tensor([[3.0, 2.0, 1.0, 1.0]], dtype=torch.float64)
    found = _comparison(scores, scores, torch.tensor([[True, False, True, False]]))
    assert dataclasses.astuple(found) == (0.625, 0.75, 2.0, 1.5)


def test_level_games_and_those_that_both_lose_count_half() -> None:
    outcome = torch.tensor([[1.0, -1.0], [0.0, 0.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    found = _comparison(outcome, outcome, torch.tensor([[True, False]] * 5))
    assert found.ahead == pytest.approx(0.6)
    assert found.decided == pytest.approx(0.6)


def test_where_turns_are_several_actions_no_opening_is_drawn() -> None:
    """A random unit would be no turn, only the beginning of one."""
    game = cellgames.make("cloth-of-gold-small-v0", height=12, width=12, generations=2, max_units=2, max_rounds=2)
    learner, other = Watched("learner"), Watched("other")
    compare(game, learner, other, 2, 3)
    start = game.observe(game.init(seeds(0, 1)), 0)[0]
    first = [(learner if (env_id, 0) in learner.seats else other).first[env_id] for env_id in (0, 1)]
    assert all(torch.equal(seen, start) for seen in first)


def test_an_opponent_that_fails_forfeits_its_games_and_the_learner_does_not() -> None:
    learner, bad = load("random", TORUS), load("arena_bots:Broken", TORUS, name="bad")
    with pytest.warns(RuntimeWarning, match=r"'bad' forfeited 8 of 8 games of an evaluation: ZeroDivisionError"):
        assert compare(TORUS, learner, bad, 8, 0).ahead == 1.0
    with pytest.raises(RuntimeError, match="the learner failed in its evaluation: ZeroDivisionError"):
        compare(TORUS, bad, learner, 8, 0)
