"""Games whose actions are numbers of proposals, and agents that choose so in the ordinary game."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from refusals import refused

import cellgames
from cellgames.agents import SB3Agent, load
from cellgames.agents.cloth_of_gold import TurnChoices, TurnChooser
from cellgames.agents.cloth_of_gold.turn_choices import OFFERED
from cellgames.agents.grid_adaptation import PlanChoices, PlanChooser
from cellgames.arena import MatchOptions, evaluate, play_evaluation
from cellgames.envs import check_game
from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation.state import FLIP, VOTE, GridState

TURNS: Any = TurnChoices(height=12, width=12, generations=3, radius=3, max_rounds=4)
PLAIN: Any = cellgames.make("cloth-of-gold-v0", **TURNS.parameters)
GRID: Any = cellgames.make("grid-adaptation-small-v0")
TINY_TURNS = TurnChoices(height=8, width=8, generations=2, radius=3, max_rounds=2)
PLANS: Any = PlanChoices(**GRID.parameters)


@pytest.mark.parametrize("game", [TINY_TURNS, PlanChoices(size=5, players=3, rounds=3, flip_rounds=(2,))])
def test_choices_are_a_game_and_its_positions_have_their_proposals(game: Any) -> None:
    check_game(game)
    state = game.init(seeds(3, 1))
    state = game.step(state, game.random_actions(state, torch.Generator().manual_seed(1)))
    line = game.state_to_string(state)
    assert game.string_to_state(line).plans.equal(state.plans)
    with refused("position"):
        game.string_to_state(line.partition(" ")[2])


def test_turns_are_those_of_the_ordinary_game_and_end_as_forecast() -> None:
    state, plain = TURNS.init(seeds(3, 6)), PLAIN.init(seeds(3, 6))
    for step in range(4):
        seen, rows = TURNS.observe(state, state.current_player), torch.arange(6)
        lead, verdict = seen[:, :OFFERED], seen[:, OFFERED : 2 * OFFERED]
        after = PLAIN.play_turn(plain, state.plans[:, step])
        if step == 3:  # the first round runs
            mover = state.current_player[:, None]
            assert torch.equal((32 * lead[:, step]).round(), after.scores.gather(1, mover)[:, 0].round())
            won = PLAIN.outcome(after).gather(1, mover)[:, 0] * after.done
            assert torch.equal(verdict[:, step] > 0, won > 0)
        assert not TURNS.observe(state, 1 - state.current_player)[:, : 2 * OFFERED].any()
        state, plain = TURNS.step(state, torch.full_like(rows, step)), after
        assert torch.equal(state.units, plain.units)
    chooser: Any = load("random", TURNS)
    with refused("game"):
        TurnChooser(chooser).check_game(cellgames.make("cloth-of-gold-wild-small-v0"))


def test_rounds_by_plans_are_those_of_the_ordinary_game_and_lots_vote() -> None:
    state, seats = PLANS.init(seeds(3, 6)), torch.arange(GRID.players)
    fields = [field.name for field in dataclasses.fields(GridState)]
    for step in range(GRID.rounds):
        actions = PLANS.random_actions(state, torch.Generator().manual_seed(step))
        plans = state.plans[torch.arange(6)[:, None], seats, actions[..., 0]]
        plans[..., FLIP], plans[..., VOTE] = actions[..., 1], GRID.players
        plain = GridState(**{name: getattr(state, name) for name in fields})
        expected, state = GRID.step(plain, plans), PLANS.step(state, actions)
        assert all(torch.equal(getattr(state, name), getattr(expected, name)) for name in fields)
    assert PLANS.step(state, torch.zeros_like(actions)).done.all()


def score(game: Any, agent: Any, other: str = "random") -> float:
    players = {"mine": agent, other: load(other, game)}
    return float(evaluate(game, play_evaluation(game, players, MatchOptions(games=60, seed=1)), "mine")["score"])


def test_who_takes_the_best_plan_and_flip_plays_as_greedy_does() -> None:
    class Best:
        name = "best"

        def start(self, *about: object) -> None: ...

        def act(self, seen: torch.Tensor, mask: torch.Tensor, *more: object) -> torch.Tensor:
            flips = seen[:, 32:36].where(mask[:, 16:], -torch.inf)
            return torch.stack((seen[:, :16].argmax(1), flips.argmax(1)), 1)

    best: Any = Best()
    assert score(GRID, PlanChooser(best)) > 0.88
    assert 0.4 < score(GRID, PlanChooser(best), "greedy") < 0.58


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "choices", "chooser"),
    [("cloth-of-gold-small-v0", TurnChoices, TurnChooser), ("grid-adaptation-small-v0", PlanChoices, PlanChooser)],
)
def test_maskable_ppo_learns_by_choices_and_its_file_plays_the_ordinary_game(
    id: str, choices: Any, chooser: Any, tmp_path: Path
) -> None:
    from sb3_contrib import MaskablePPO

    from cellgames.envs.adapters import SeatVecEnv

    game = cellgames.make(id)
    model = MaskablePPO("MlpPolicy", SeatVecEnv(choices(**game.parameters), 8, "random", seed=1), n_steps=256, seed=1)
    untrained = score(game, chooser(SB3Agent(model, "mine")))
    model.learn(8192)
    model.save(tmp_path / "model.zip")
    learned = score(game, chooser(SB3Agent(model, "mine")))
    assert learned == score(game, load(str(tmp_path / "model.zip"), game))
    assert untrained < 0.7 < 0.76 <= learned
