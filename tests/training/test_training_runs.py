"""Runs of training: what is learned, what is kept, and that a run that was killed ends like one that was not."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from arena_runs import EXTRAS
from every_game import generator
from learner_play import same
from torch import Tensor
from training_runs import LEARNS, content, tiny

import cellgames
from cellgames.agents import BaseAgent, load, load_network, read_about
from cellgames.envs.core import Game, seeds
from cellgames.runs.run_folder import TIMING
from cellgames.training import Finished, PPOArguments, Progress, compare, train
from cellgames.training.ppo.ppo import PPOLearner
from cellgames.training.runs.checkpoints import CHECKPOINT, Checkpoint
from cellgames.training.runs.logs import RUN_METRICS, TIMING_METRICS, eval_metrics
from cellgames.training.selfplay.eval_opponents import _comparison, seatings


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return train(tiny(), tmp_path_factory.mktemp("whole"))


def test_a_short_run_learns_to_beat_random_play(tmp_path: Path) -> None:
    """By chance, as it learns: before the first iteration it plays at random itself."""
    game = cellgames.make("torus-v0", size=3)
    history = train(PPOArguments.fitted(game, **LEARNS), tmp_path).history
    assert [line["steps"] for line in history] == [0, history[-1]["steps"]]
    assert 0.35 < history[0]["random"] < 0.65
    assert history[-1]["random"] > 0.8
    assert history[-1]["entropy"] < 0.9 * math.log(18)  # of 18 cells


def test_the_network_does_not_depend_on_the_global_generators_and_leaves_them_alone(
    whole: Finished, tmp_path: Path
) -> None:
    torch.manual_seed(123)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train(tiny(), tmp_path)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    assert same(content(tmp_path), content(whole.out))


FAULTS = """
import resource
import torch
from cellgames.training.machine import memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(8):
        torch.empty(16 << 20).fill_(1.0)  # 64 MiB, 16,384 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with memory_kept():
    print(min(faults() for _ in range(5)))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts pages of memory that the system gives")
def test_memory_of_large_tensors_is_kept_for_the_next_ones() -> None:
    """In a process of its own: in one where an allocation has failed, as other tests want it, glibc keeps nothing.

    Python may put something between two tensors, so that one of them gets new memory: the best of five rounds counts.
    """
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2000


def test_a_line_of_the_table_for_every_evaluation(whole: Finished) -> None:
    lines = list(csv.DictReader((whole.out / "progress.csv").read_text().splitlines()))
    assert [int(line["iteration"]) for line in lines][:4] == [0, 2, 4, 6]
    assert list(lines[0]) == [*RUN_METRICS, *eval_metrics("random"), *PPOLearner.METRICS]
    for line, kept in zip(lines, whole.history, strict=True):
        assert int(line["steps"]) == kept["steps"]
        assert float(line["random"]) == pytest.approx(kept["random"], abs=1e-5)
    assert int(lines[-1]["steps"]) == whole.steps >= 480
    steps = [float(line["steps"]) for line in lines]
    assert sorted(steps) == steps
    for number in range(1, len(lines)):
        assert 4 <= float(lines[number]["turns_per_game"]) <= 8  # on 2 x 2 octagons and squares
        assert all(math.isfinite(float(lines[number][name])) for name in PPOLearner.METRICS)


def test_times_are_in_a_file_of_their_own(whole: Finished) -> None:
    lines = list(csv.DictReader((whole.out / TIMING).read_text().splitlines()))
    assert list(lines[0]) == ["iteration", "steps", *TIMING_METRICS]
    assert {line["steps"] for line in lines} >= {str(line["steps"]) for line in whole.history}
    steps, seconds = ([float(line[name]) for line in lines] for name in ("steps", "seconds"))
    assert sorted(steps) == steps
    assert sorted(seconds) == seconds
    assert seconds[-1] == pytest.approx(whole.seconds, abs=1e-3)
    for number in range(1, len(lines)):
        speed = (steps[number] - steps[number - 1]) / max(seconds[number] - seconds[number - 1], 1e-9)
        assert float(lines[number]["steps_per_second"]) == pytest.approx(speed, rel=0.2)  # of rounded seconds


def test_the_folder_says_what_was_asked_and_who_came_out(whole: Finished) -> None:
    assert json.loads((whole.out / "arguments.json").read_text()) == tiny().to_data()
    made = read_about(whole.agent)["made"]
    assert made["steps"] == whole.steps
    assert (made["algorithm"], made["seed"]) == ("ppo", 0)
    assert made["machine"]["torch"] == torch.__version__
    game = cellgames.make("torus-v0", size=2)
    weights = load_network(whole.agent).network.state_dict()
    assert same(dict(weights), dict(torch.load(whole.out / CHECKPOINT, weights_only=True)["learner"]["network"]))
    assert load(str(whole.agent), game).name == str(whole.agent)


def test_snapshots_are_taken_at_the_start_and_on_the_way(whole: Finished) -> None:
    data = torch.load(whole.out / CHECKPOINT, weights_only=True)
    selves = [member["steps"] for member in data["learner"]["pool"]]
    measured = {line["iteration"]: line["steps"] for line in whole.history}  # every second iteration, as snapshots
    assert selves == [measured[number] for number in range(0, data["at"]["iteration"] + 1, 2)]
    assert any(member["games"] > 0 for member in data["learner"]["pool"])


def test_what_packages_draw_and_log_is_there_if_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EXTRAS:
        monkeypatch.delitem(sys.modules, name)
    warnings: list[str] = []
    train(tiny(total_steps=100), tmp_path, warn=warnings.append)
    assert warnings == []
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    (events,) = (tmp_path / "tensorboard").iterdir()
    written = events.read_bytes()
    for tag in ("learning/policy_loss", "against/random", "run/steps_per_second"):
        assert tag.encode() in written


@pytest.mark.slow
def test_events_of_a_run_that_goes_on_are_neither_hidden_nor_told_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard")
    from tensorboard.backend.event_processing import (  # type: ignore[import-untyped]  # it is
        event_accumulator as events,
    )

    def stop(progress: Progress) -> None:
        if progress.steps > after:
            raise KeyboardInterrupt

    def is_written(progress: Progress) -> None:
        (path,) = (tmp_path / "tensorboard").iterdir()
        assert (b"learning/policy_loss" in path.read_bytes()) == (progress.steps > 0)

    first = train(tiny(total_steps=1, checkpoint_every=1), tmp_path, report=is_written)
    after = first.steps  # stopped after an iteration that no checkpoint knows
    more = tiny(total_steps=300, checkpoint_every=1)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            train(more, tmp_path, report=stop)
    whole = train(more, tmp_path)
    files = sorted((tmp_path / "tensorboard").iterdir())
    train(more, tmp_path)  # nothing to do
    assert sorted((tmp_path / "tensorboard").iterdir()) == files
    found = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload().Scalars("run/iteration")
    assert [event.value for event in found] == list(range(1, int(whole.history[-1]["iteration"]) + 1))
    assert first.steps in [event.step for event in found]


def test_a_run_may_begin_with_the_weights_of_another(whole: Finished, tmp_path: Path) -> None:
    arguments = tiny(total_steps=1, start_from=str(whole.agent))
    train(arguments, tmp_path / "run")
    first = load_network(tmp_path / "run" / "pool" / f"{0:012d}.safetensors").network
    assert same(dict(first.state_dict()), dict(load_network(whole.agent).network.state_dict()))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_run_on_cuda_that_was_stopped_ends_like_one_that_was_not(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.steps >= 300:
            raise KeyboardInterrupt

    arguments = tiny(device="cuda")
    history = train(arguments, tmp_path / "whole").history
    assert all(math.isfinite(history[-1][name]) for name in PPOLearner.METRICS)
    with pytest.raises(KeyboardInterrupt):
        train(arguments, tmp_path / "parts", report=stop)
    assert train(arguments, tmp_path / "parts").before > 0
    assert same(content(tmp_path / "parts"), content(tmp_path / "whole"))


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
    with pytest.raises(RuntimeError):
        compare(TORUS, bad, learner, 8, 0)
