"""Values of placements in the Toroidal Cup: what is learned is how the very games would have ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from arena_bots import First

from cellgames.agents import load, read_about
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.training import Finished, PlacementArguments, train
from cellgames.training.placement_values.placement_values import PlacementLearner

SMALL = ToroidalCup(12, 24, pattern="randys", shapes=2, max_generations=30)
MIXED = ToroidalCup(24, 60, pattern="donutmethuselahs", shapes=6, max_generations=8)
THREE = ToroidalCup(12, 50, 3, "randys", shapes=2, survivors="keep", max_generations=20)


def tiny(game: Game = SMALL, **changes: Any) -> PlacementArguments:
    settings: dict[str, Any] = {
        **{"total_steps": 100, "num_envs": 8, "minibatch_size": 16, "placements": 6, "generations": 0},
        **{"channels": 4, "layers": 1, "eval_every": 9, "checkpoint_every": 2, "eval_games": 4},
        **{"eval_opponents": ("random",), "threads": 1, "device": "cpu"},
    }
    return PlacementArguments.fitted(game, **{**settings, **changes})


def learner_of(game: ToroidalCup, folder: Path, **changes: Any) -> PlacementLearner:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner = PlacementLearner(game, tiny(game, **changes), folder, torch.device("cpu"))
    learner.restart(1)
    return learner


@pytest.mark.parametrize("game", [SMALL, MIXED, THREE], ids=["small", "mixed", "three"])
def test_targets_are_the_ends_of_the_games_with_one_placement_replaced(game: ToroidalCup, tmp_path: Path) -> None:
    """Replayed by the rules alone, step by step; where the game refuses a later placement the weight is 0."""
    learner = learner_of(game, tmp_path, num_envs=4)
    steps = learner._play()
    band = torch.arange(game.teams)[:, None] * game.lattice.band
    counted = 0
    for number, seat in ((0, 0), (len(steps) - 1, game.teams - 1)):
        found = learner._replaced(steps, number, seat)
        rows = steps[number].live.nonzero().squeeze(1)
        assert torch.equal(found.observation, steps[number].observation[rows, seat])
        for row, env_id in enumerate(rows.tolist()):
            for action, target, weight in zip(
                found.actions[row].tolist(), found.target[row].tolist(), found.weight[row].tolist(), strict=True
            ):
                board = torch.zeros(game.rows * game.cols, dtype=torch.int8)
                own = torch.zeros_like(board, dtype=torch.bool)
                overlap = False
                for place, step in enumerate(steps):
                    for team in range(game.teams):
                        cells = step.cells[env_id, team]
                        if (place, team) == (number, seat):
                            stamp = step.stamp[env_id, team]
                            cells = learner._cells(stamp[None], torch.tensor([action]), band[team])[0]
                        if team == seat:
                            overlap |= bool((own & cells).any())
                            own |= cells
                        board[cells] = team + 1
                if overlap or not steps[number].mask[env_id, seat, action]:
                    assert weight == 0
                    continue
                assert weight == 1
                counted += 1
                live = game.life(board.view(1, game.rows, game.cols)).scores[0].tolist()
                rival = max(live[:seat] + live[seat + 1 :])
                assert target == pytest.approx(0.5 + 0.5 * (live[seat] - rival) / max(1, sum(live)))
    assert counted > 20


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return train(tiny(), tmp_path_factory.mktemp("whole"))


def test_a_run_makes_an_agent_that_draws_its_placements(whole: Finished) -> None:
    assert whole.history[-1]["steps"] >= 100
    assert read_about(whole.agent)["sample"]
    agent, rows = load(str(whole.agent), SMALL), torch.arange(40)
    agent.start(SMALL, torch.zeros_like(rows), rows)
    state = SMALL.init(torch.zeros_like(rows))
    act: Any = agent
    chosen = act.act(SMALL.observe(state, 0), SMALL.legal_actions(state)[:, 0], rows, torch.Generator().manual_seed(0))
    assert len(chosen.unique()) > 5


def test_it_learns_which_placements_are_good(tmp_path: Path) -> None:
    """A network that learned for seconds expects the leads of new games better than one that knows nothing."""
    learner = learner_of(SMALL, tmp_path, channels=16, num_envs=64, learning_rate=5e-3, placements=12)
    losses = [learner.iterate(0.0).metrics["value_loss"] for _ in range(8)]
    assert min(losses[-3:]) < losses[0] - 0.001


@pytest.mark.parametrize("game", [SMALL, THREE], ids=["small", "three"])
def test_a_best_response_learns_its_own_placements_only(game: ToroidalCup, tmp_path: Path) -> None:
    """In half of the games a frozen agent has one team of two, or two of three; it always takes its first placement."""
    learner = learner_of(game, tmp_path, num_envs=40, opponents="self,random")
    learner._opponents.agents[0] = First("first")
    steps = learner._play()
    met = ~steps[0].own.all(1)
    assert 0 < met.sum() < 40
    assert (steps[0].own[met].sum(1) == 1).all()
    assert set(steps[0].own[met].int().argmax(1).tolist()) == set(range(game.teams))
    for seat in range(game.teams):
        theirs = (~steps[0].own[:, seat]).nonzero().squeeze(1)
        first = steps[0].mask[theirs, seat].int().argmax(1)
        cells = learner._cells(steps[0].stamp[theirs, seat][:, None], first[:, None], seat * game.lattice.band)
        assert torch.equal(steps[0].cells[theirs, seat], cells[:, 0])
        assert torch.equal(
            learner._replaced(steps, 0, seat).observation, steps[0].observation[steps[0].own[:, seat], seat]
        )
