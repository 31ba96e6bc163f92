"""Values of whole turns in Cloth of Gold: who learns them, and who plays by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from every_game import generator
from refusals import refused
from training_runs import network_for

import cellgames
from cellgames.agents import acting, load
from cellgames.agents.cloth_of_gold.network import ClothEvaluator, ClothForesight, ClothValues
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import seeds
from cellgames.training import Finished, TurnArguments, train
from cellgames.training.selfplay.updates import estimate
from cellgames.training.turn_values.turn_values import TurnLearner

GAME = ClothOfGold(height=12, width=12, generations=4, max_units=6, max_rounds=4)


def tiny(**changes: Any) -> TurnArguments:
    settings: dict[str, Any] = {
        **{"total_steps": 130, "num_envs": 8, "num_steps": 6, "minibatch_size": 16},
        **{"channels": 4, "layers": 1, "candidates": 4},
        **{"snapshot_every": 2, "eval_every": 4, "checkpoint_every": 2, "eval_games": 4, "eval_opponents": ("random",)},
        **{"opponents": "self=0.4,pool=0.3,greedy=0.3", "threads": 1, "device": "cpu"},
    }
    return TurnArguments.fitted(GAME, **{**settings, **changes})


def evaluator(candidates: int, game: ClothOfGold = GAME) -> ClothEvaluator:
    network = network_for(game, kind="turns")
    assert isinstance(network, ClothValues)
    player = ClothEvaluator(network, candidates=candidates)
    player.start(game, torch.tensor([0]), torch.tensor([0]))
    return player


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return train(tiny(total_steps=20), tmp_path_factory.mktemp("whole"))


def learner_of(folder: Path, **changes: Any) -> TurnLearner:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner = TurnLearner(GAME, tiny(**changes), folder, torch.device("cpu"))
    learner.snapshot(0)
    learner.restart(1)
    return learner


def test_positions_that_were_won_become_worth_more_than_lost_ones(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, opponents="self", learning_rate=5e-3, num_envs=16, num_steps=10)

    def gap() -> float:
        """By how much those who will win are rated better than those who will lose, in games not learned from."""
        learner.restart(99)
        turns = learner._collect(0.0)
        found = estimate(turns.value, turns.reward, turns.player, turns.done, gamma=1.0, gae_lambda=1.0)
        rows = found.known & ~turns.done
        values, results = turns.value[rows], found.target[rows]
        return float(values[results > 0].mean() - values[results < 0].mean())

    before = gap()
    learner.restart(1)
    for _ in range(6):
        learner.iterate(0.0)
    assert gap() > before + 0.3


def test_what_came_out_is_an_agent_by_its_file(whole: Finished) -> None:
    agent = load(str(whole.agent), GAME)
    assert type(agent.playing(GAME)).__name__ == "ClothEvaluator"  # type: ignore[union-attr]  # of a file
    with refused("game"):
        load(str(whole.agent), cellgames.make("torus-small-v0"))


def test_a_turn_that_wins_is_played_whatever_the_network_says() -> None:
    """player_b's last turn of a round: of its candidates some win at once, and one of those is chosen."""
    game = ClothOfGold(height=32, width=32, generations=24)
    player = evaluator(30, game)
    state = game.init(seeds(2, 40))
    pick = acting(load("greedy", game), game)
    env_ids = torch.arange(40)
    pick.start(game, torch.zeros(40, dtype=torch.int64), env_ids)
    for _ in range(5):  # until b ends round 2, the first that can decide
        state = game.play_turn(state, pick.turns(state, generator(1)))  # type: ignore[union-attr]  # a TurnAgent
    assert state.current_player.eq(1).all()
    assert not state.done.any()
    plans, worth, after = player.evaluate(state, generator(3))
    won = (game.outcome(after)[:, 1] > 0).view(worth.shape)
    assert won.any(1).sum() > 5
    assert torch.equal(worth > 1, won)
    again = player.turns(state, generator(3))
    best = plans[env_ids, worth.argmax(1)]
    assert torch.equal(again, best)
    ended = game.play_turn(state, again)
    assert (game.outcome(ended)[won.any(1), 1] > 0).all()


def test_positions_after_turns_are_those_of_the_turns_alone() -> None:
    player = evaluator(3)
    state = GAME.init(seeds(4, 3))
    plans, worth, after = player.evaluate(state, generator(1))
    for game in range(3):
        for candidate in range(3):
            alone = GAME.play_turn(state[game], plans[game, candidate][None])
            assert after[game * 3 + candidate].equal(alone)
            value = player.network(GAME.observe(alone, 0))[1]
            assert float(value.detach()) == pytest.approx(float(worth[game, candidate]), abs=1e-4)


def test_who_places_first_chooses_by_the_positions_after_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Initial placements, after which nothing dies: few units are worth more before an answer, many after it."""
    player = ClothForesight(evaluator(20))
    player.start(GAME, torch.tensor([0]), torch.tensor([0]))

    def value_of(game: ClothOfGold, state: ClothState, mover: torch.Tensor) -> torch.Tensor:
        units = game.grid.unpack(state.units.movedim(0, -1))[torch.arange(len(state)), mover].sum((1, 2)) / 10
        return torch.where(state.current_player == mover, units, -units)

    monkeypatch.setattr(player.network, "value_of", value_of)
    state = GAME.init(seeds(2, 5))
    plans, worth, _ = player.evaluate(state, generator(1))
    most = worth.amin(1) * -10
    assert ((player.turns(state, generator(1)) >= 0).sum(1) == most).all()
    assert ((plans >= 0).sum(2).amin(1) < most).all()
