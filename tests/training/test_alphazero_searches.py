"""The searches that AlphaZero learns from where actions have several parts, or a turn is many actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from every_game import generator
from training_runs import SMALL
from twins import twin

import cellgames
from cellgames.agents.networks.networks import make_network
from cellgames.agents.search.improvement import Effort, Improved, Improver, Rows
from cellgames.agents.simultaneous.joint_agent import improver_of
from cellgames.envs.core import Game, seeds
from cellgames.training import AlphaZeroArguments, train
from cellgames.training.alphazero.alphazero import AlphaZeroLearner

GRID = cellgames.make("grid-adaptation-small-v0", size=6, rounds=3, flip_rounds=(2,))
CLOTH = cellgames.make("cloth-of-gold-small-v0", height=12, width=12, generations=4, max_units=4, max_rounds=3)
both = pytest.mark.parametrize("game", [GRID, CLOTH], ids=["grid", "cloth"])


def arguments(game: Game, **changes: Any) -> AlphaZeroArguments:
    settings: dict[str, Any] = {
        **{"total_steps": 30, "num_envs": 4, "num_steps": 14, "minibatch_size": 16, "buffer_size": 300},
        **{"channels": 4, "layers": 1, "num_simulations": 4, "max_num_considered_actions": 4, "random_plies": 0},
        **{"eval_games": 2, "eval_opponents": ("random",), "opponents": "self=0.6,greedy=0.4", "eval_every": 100},
        **{"threads": 1, "device": "cpu"},
    }
    return AlphaZeroArguments.fitted(game, **{**settings, **changes})


def learner_of(game: Game, folder: Path, **changes: Any) -> AlphaZeroLearner:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner = AlphaZeroLearner(game, arguments(game, **changes), folder, torch.device("cpu"))
    learner.snapshot(0)
    learner.restart(1)
    return learner


def improver(game: Game, simulations: int = 8) -> Improver:
    kind = improver_of(game)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = make_network(game, SMALL, kind.kind)
    return kind(game, network, Effort(simulations, 4))


def searched(game: Game, state: Any, found: Improver, shown: bool) -> Improved:
    """What a search finds for every seat, or for the one to move, of games that begin for it here."""
    players = game.info.num_players
    seats = torch.arange(players).repeat(len(state)) if game.info.simultaneous else state.current_player
    env_ids = torch.arange(len(state)).repeat_interleave(len(seats) // len(state))
    views = torch.stack([game.observe(state, seat) for seat in range(players)], 1)
    mask = game.legal_actions(state)
    mask = mask.flatten(0, 1) if game.info.simultaneous else mask
    found.start(seats, env_ids)
    rows = Rows(state if shown else None, views[env_ids, seats], mask, seats, env_ids)
    return found.improve(rows, generator(3))


@both
def test_policies_are_probabilities_of_legal_candidates(game: Game, tmp_path: Path) -> None:
    learner = learner_of(game, tmp_path)
    rollout = learner.lessons[0].play.collect(14)
    own = rollout.learner_mask
    assert 8 < int(own.sum()) < own.numel(), "some rows are the opponent's, or go on with a turn"
    assert torch.allclose(rollout.policy[own].sum(1), torch.ones(int(own.sum())), atol=1e-5)
    assert ((rollout.policy[own] > 0).sum(1) > 1).any(), "it compares"
    chosen = rollout.action.flatten(0, 1)
    legal = game.info.admits(rollout.mask.flatten(0, 1), chosen.view(len(chosen), -1)).all(1)
    assert legal[own.flatten()].all()
    if learner.lessons[0].improver.components:
        actions, policy = rollout.actions[own], rollout.policy[own]
        allowed = game.info.admits(rollout.mask[own][:, None].expand(-1, actions.shape[1], -1), actions).all(2)
        assert allowed[policy > 0].all()
        named = (actions == rollout.action[own][:, None]).all(2)
        assert (policy * named).amax(1).gt(0).all(), "what is played is one of them"


def test_searches_see_observations_alone_where_something_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = learner_of(GRID, tmp_path)
    found = learner.lessons[0].play.improver
    improve, states = found.improve, []

    def spied(rows: Rows, random: torch.Generator) -> Improved:
        states.append(rows.state)
        improved: Improved = improve(rows, random)
        return improved

    monkeypatch.setattr(found, "improve", spied)
    learner.iterate(0.0)
    assert len(states) == 14
    assert set(states) == {None}


def test_what_a_seat_does_not_see_changes_neither_its_policy_nor_its_action() -> None:
    """All but seat 1 have other sequences, tiles and points; seat 1 finds the same."""
    state = GRID.init(seeds(5, 6))
    random = generator(1)
    for _ in range(2):
        bits = torch.randint(1 << 31, (6, GRID.info.num_players, 7), generator=random)
        state = GRID.step(state, GRID.random_actions(state, bits))
    changed = twin(GRID, state, 1)
    one, other = (searched(GRID, games, improver(GRID), shown=False) for games in (state, changed))
    own = torch.arange(6) * GRID.info.num_players + 1
    assert one.actions is not None
    assert other.actions is not None
    for name in ("action", "policy", "value", "actions"):
        assert torch.equal(getattr(one, name)[own], getattr(other, name)[own])
    assert not torch.equal(one.actions, other.actions), "the others do see it"


def test_units_of_a_turn_are_no_steps_between_its_decisions(tmp_path: Path) -> None:
    """With `gae_lambda` 0 a value aims at the next decision of its seat, however many units lie between."""
    learner = learner_of(CLOTH, tmp_path, opponents="self", gae_lambda=0.0, num_steps=30)
    lesson = learner.lessons[0]
    rollout, estimates, _ = lesson.collect(learner.arguments, learner.generator)
    own, seats = rollout.learner_mask, rollout.player
    compared = 0
    for t, env in own.nonzero().tolist():
        later = [s for s in range(t + 1, 30) if own[s, env] and seats[s, env] == seats[t, env]]
        if later and not rollout.done[t : later[0], env].any():
            assert float(estimates.target[t, env]) == pytest.approx(float(rollout.value[later[0], env]), abs=1e-5)
            compared += 1
    assert compared > 5


@pytest.mark.slow
def test_it_learns_turns_that_beat_random_play(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"num_envs": 64, "num_steps": 24, "total_steps": 900, "eval_games": 40}
    finished = train(arguments(CLOTH, **settings, learning_rate=3e-3, opponents="self", channels=8), tmp_path)
    assert finished.history[-1]["random"] > 0.85
    assert finished.history[-1]["explained_variance"] > 0.1
