"""Runs of training: what is learned, what is kept, and that a run that was killed ends like one that was not."""

from __future__ import annotations

import csv
import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from arena_runs import killed_at
from training_runs import MOMENTS, block_extras, content, equal, tiny

import cellgames
from cellgames.agents import load
from cellgames.agents.saved import load_network, read_about
from cellgames.training import Finished, PPOArguments, Progress, RunError, train
from cellgames.training.checkpoints import CHECKPOINT, FORMAT
from cellgames.training.learners import Purpose, derive
from cellgames.training.logs import RUN_METRICS, yardstick_metrics
from cellgames.training.ppo_learner import PPOLearner

SCRIPT = "import sys; from arena_runs import kill_each; from training_runs import train_until_killed as run\n"
SCRIPT += "kill_each(run, *sys.argv[1:])"


@pytest.fixture(autouse=True)
def _no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    block_extras(partial(monkeypatch.setitem, sys.modules))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A tiny run that nobody disturbs."""
    with pytest.MonkeyPatch.context() as patch:
        block_extras(partial(patch.setitem, sys.modules))
        return train(tiny(), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of tiny runs that were killed, by moment."""
    return killed_at(MOMENTS, SCRIPT, tmp_path_factory.mktemp("killed"))


# ---------------------------------------------------------------- learning


def test_a_short_run_learns_to_beat_random_play(tmp_path: Path) -> None:
    """By chance, as it learns: before the first iteration it plays at random itself."""
    game = cellgames.make("torus-v0", size=3)
    settings = {"lanes": 64, "horizon": 18, "epochs": 3, "minibatch": 256, "learning_rate": 3e-3, "channels": 16}
    arguments = PPOArguments.fitted(
        game,
        steps=11_000,
        layers=1,
        sample=True,
        threads=1,
        games=200,
        yardsticks=("random",),
        evaluate_every=100,
        **settings,
    )
    history = train(arguments, tmp_path).history
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
    assert equal(content(tmp_path), content(whole.out))


def test_another_seed_learns_something_else(whole: Finished, tmp_path: Path) -> None:
    train(tiny(seed=1, steps=1), tmp_path)
    one, other = (load_network(folder / "pool" / f"{0:012d}.safetensors").network for folder in (whole.out, tmp_path))
    assert not equal(one.state_dict(), other.state_dict())


def test_every_purpose_and_number_has_chance_of_its_own() -> None:
    drawn = [derive(seed, purpose, number) for seed in (0, 1) for purpose in Purpose for number in range(5)]
    assert len(set(drawn)) == len(drawn)
    assert min(drawn) >= 0
    assert derive(-(2**63), Purpose.GAMES) != derive(2**63 - 1, Purpose.GAMES)


# ---------------------------------------------------------------- what is kept


def test_a_line_of_the_table_for_every_evaluation(whole: Finished) -> None:
    lines = list(csv.DictReader((whole.out / "progress.csv").read_text().splitlines()))
    assert [int(line["iteration"]) for line in lines][:4] == [0, 2, 4, 6]
    assert list(lines[0]) == [*RUN_METRICS, *yardstick_metrics("random"), *PPOLearner.METRICS]
    for line, told in zip(lines, whole.history, strict=True):
        assert int(line["steps"]) == told["steps"]
        assert float(line["random"]) == pytest.approx(told["random"], abs=1e-5)
    assert int(lines[-1]["steps"]) == whole.steps >= 480
    steps, seconds = ([float(line[name]) for line in lines] for name in ("steps", "seconds"))
    assert sorted(steps) == steps
    assert sorted(seconds) == seconds
    for number in range(1, len(lines)):
        speed = (steps[number] - steps[number - 1]) / (seconds[number] - seconds[number - 1])
        assert float(lines[number]["steps_per_second"]) == pytest.approx(speed, rel=0.01)
        assert 4 <= float(lines[number]["turns_per_game"]) <= 8  # on 2 x 2 octagons and squares
        assert all(math.isfinite(float(lines[number][name])) for name in PPOLearner.METRICS)


def test_the_folder_says_what_was_asked_and_who_came_out(whole: Finished) -> None:
    assert json.loads((whole.out / "arguments.json").read_text()) == tiny().to_data()
    made = read_about(whole.agent)["made"]
    assert made["steps"] == whole.steps
    assert (made["algorithm"], made["seed"]) == ("ppo", 0)
    assert made["machine"]["torch"] == torch.__version__
    game = cellgames.make("torus-v0", size=2)
    weights = load_network(whole.agent).network.state_dict()
    assert equal(dict(weights), dict(torch.load(whole.out / CHECKPOINT, weights_only=True)["learner"]["network"]))
    assert load(str(whole.agent), game).name == str(whole.agent)


def test_past_selves_are_taken_at_the_start_and_on_the_way(whole: Finished) -> None:
    data = torch.load(whole.out / CHECKPOINT, weights_only=True)
    selves = [member["steps"] for member in data["learner"]["pool"]]
    measured = {line["iteration"]: line["steps"] for line in whole.history}  # every second iteration, as past selves
    assert selves == [measured[number] for number in range(0, data["at"]["iteration"] + 1, 2)]
    assert any(member["games"] > 0 for member in data["learner"]["pool"])


def test_what_packages_draw_and_log_is_there_if_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    warnings: list[str] = []
    train(tiny(steps=100), tmp_path, warn=warnings.append)
    assert warnings == []
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    (events,) = (tmp_path / "tensorboard").iterdir()
    written = events.read_bytes()
    for tag in ("learning/policy_loss", "against/random", "run/steps_per_second"):
        assert tag.encode() in written


def test_what_packages_are_missed_for_is_said_once(tmp_path: Path) -> None:
    warnings: list[str] = []
    train(tiny(steps=300, checkpoint_every=1), tmp_path, warn=warnings.append)
    assert sorted(line.split(" (")[0] for line in warnings if line.startswith("no ")) == [
        "no TensorBoard events",
        "no curve.png",
    ]
    assert not (tmp_path / "curve.png").exists()


def test_a_run_reports_every_iteration(tmp_path: Path) -> None:
    seen: list[Progress] = []
    train(tiny(steps=300), tmp_path, report=seen.append)
    assert [progress.steps for progress in seen] == sorted({progress.steps for progress in seen})
    assert seen[0].steps == 0
    assert math.isnan(seen[0].steps_per_second)
    assert seen[-1].steps >= seen[-1].total == 300
    assert all(list(progress.shares) == ["random"] for progress in seen)
    assert all(progress.steps_per_second > 0 for progress in seen[1:])


# ---------------------------------------------------------------- killed and continued


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_that_was_killed_ends_like_one_that_was_not(moment: str, killed: Path, whole: Finished) -> None:
    folder = killed / moment
    assert (folder / CHECKPOINT).exists() == (moment != MOMENTS[0])
    finished = train(tiny(), folder)
    assert finished.steps == whole.steps
    assert (finished.before > 0) == (moment != MOMENTS[0])
    one, other = content(folder), content(whole.out)
    assert one["learner"].keys() == other["learner"].keys() == {"network", "optimizer", "shuffles", "pool"}
    for part, value in other.items():
        assert equal(one[part], value), part
    assert (folder / "progress.csv").read_text().count("\n") == 1 + len(whole.history)


def test_games_of_several_who_act_at_once_are_continued_alike(tmp_path: Path) -> None:
    """With opponents that remember what they saw."""

    def stop(progress: Progress) -> None:
        if progress.steps >= 150:
            raise KeyboardInterrupt

    game = cellgames.make("grid-adaptation-small-v0", size=6, rounds=2, flip_rounds=())
    settings = {**tiny().to_data(), "steps": 250, "horizon": 4, "lanes": 8, "checkpoint_every": 2, "snapshot_every": 1}
    settings |= {"opponents": "self=0.2,pool=0.4,rollout:2=0.4", "yardsticks": ("random",), "evaluate_every": 9}
    for name in ("algorithm", "game", "parameters"):
        del settings[name]
    arguments = PPOArguments.fitted(game, **settings)
    train(arguments, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(arguments, tmp_path / "parts", report=stop)
    assert train(arguments, tmp_path / "parts").before > 0
    assert equal(content(tmp_path / "parts"), content(tmp_path / "whole"))


def test_a_run_that_is_done_does_nothing_more(whole: Finished) -> None:
    before = (whole.out / CHECKPOINT).read_bytes()
    again = train(tiny(), whole.out)
    assert again.steps == again.before == whole.steps
    assert (whole.out / CHECKPOINT).read_bytes() == before


def test_more_steps_go_on_from_where_it_was(tmp_path: Path) -> None:
    first = train(tiny(steps=300), tmp_path)
    warnings: list[str] = []
    more = train(tiny(steps=500), tmp_path, warn=warnings.append)
    assert more.before == first.steps
    assert more.steps >= 500
    assert list(map(repr, more.history[: len(first.history)])) == list(map(repr, first.history))
    assert any(line.startswith("steps grow from 300 to 500, and the learning rate") for line in warnings)
    assert json.loads((tmp_path / "arguments.json").read_text())["steps"] == 500


def test_fresh_begins_anew(tmp_path: Path) -> None:
    train(tiny(steps=300, seed=5), tmp_path)
    anew = train(tiny(steps=100), tmp_path, resume=False)
    assert anew.before == 0
    assert read_about(anew.agent)["made"]["seed"] == 0
    data = torch.load(tmp_path / CHECKPOINT, weights_only=True)
    assert sorted(path.name for path in (tmp_path / "pool").iterdir()) == [
        member["file"] for member in data["learner"]["pool"]
    ]


def test_a_run_may_begin_with_the_weights_of_another(whole: Finished, tmp_path: Path) -> None:
    arguments = tiny(steps=1, start_from=str(whole.agent))
    train(arguments, tmp_path / "run")
    first = load_network(tmp_path / "run" / "pool" / f"{0:012d}.safetensors").network
    assert equal(dict(first.state_dict()), dict(load_network(whole.agent).network.state_dict()))


# ---------------------------------------------------------------- refused


def changed(folder: Path, change: Any) -> None:
    data = torch.load(folder / CHECKPOINT, weights_only=True)
    change(data)
    torch.save(data, folder / CHECKPOINT)


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """The folder of a run of one iteration."""
    train(tiny(steps=1), tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0.01}, r"another run's\. learning_rate: expected 0.0007, got 0.01; choose another folder"),
        ({"seed": 3, "clip": 0.3}, r"seed: expected 0, got 3; clip: expected 0.2, got 0.3"),
        ({"checkpoint_every": 7}, "checkpoint_every: expected 3, got 7"),
        ({"yardsticks": ("random", "greedy")}, "yardsticks: expected random, got random, greedy"),
    ],
)
def test_a_run_with_other_arguments_is_refused(settings: dict[str, Any], message: str, begun: Path) -> None:
    before = content(begun)
    with pytest.raises(RunError, match=message):
        train(tiny(steps=1, **settings), begun)
    assert equal(content(begun), before)


def test_a_run_of_another_game_is_refused(begun: Path, tmp_path: Path) -> None:
    bigger = PPOArguments.fitted(cellgames.make("torus-v0", size=3), steps=1)
    with pytest.raises(RunError, match=r"parameters: expected \{'size': 2\}, got \{'size': 3\}"):
        train(bigger, begun)
    cup = PPOArguments.fitted(cellgames.make("toroidal-cup-small-v0", max_generations=10), steps=1)
    with pytest.raises(RunError, match="game: expected torus-v0, got toroidal-cup-v0"):
        train(cup, begun)


def test_a_checkpoint_from_elsewhere_is_refused(begun: Path) -> None:
    """Also where arguments.json would let it pass."""
    changed(begun, lambda data: data["arguments"].update(parameters={"size": 4}))
    with pytest.raises(RunError, match=r"checkpoint.pt is another run's\. parameters: expected \{'size': 4\}"):
        train(tiny(steps=1), begun)


def test_an_older_checkpoint_is_refused(begun: Path) -> None:
    changed(begun, lambda data: data.update(format=FORMAT - 1, cellgames="0.0.1"))
    with pytest.raises(
        RunError, match=rf"expected a checkpoint of format {FORMAT}, got {FORMAT - 1} of cellgames 0.0.1"
    ):
        train(tiny(steps=1), begun)


def test_a_shorter_run_is_refused(tmp_path: Path) -> None:
    train(tiny(steps=100), tmp_path)
    with pytest.raises(RunError, match="of a longer run: expected at least 100 steps, got 99"):
        train(tiny(steps=99), tmp_path)


@pytest.mark.parametrize("name", ["checkpoint.pt", "arguments.json"])
def test_a_file_that_cannot_be_read_is_refused(name: str, begun: Path) -> None:
    (begun / name).write_bytes(b"neither one nor the other")
    with pytest.raises(RunError, match=rf"{name} cannot be read .*; choose another folder"):
        train(tiny(steps=1), begun)


def test_code_in_a_checkpoint_is_not_run(begun: Path) -> None:
    torch.save({"format": FORMAT, "learner": np.random.default_rng}, begun / CHECKPOINT)
    with pytest.raises(RunError, match=r"checkpoint.pt cannot be read"):
        train(tiny(steps=1), begun)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    for resume in (True, False):
        with pytest.raises(RunError, match=r"is not empty and holds no arguments.json, but precious.txt"):
            train(tiny(steps=1), tmp_path, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponents": "self=0.5,nobody=0.5"}, "unknown agent 'nobody'"),
        ({"opponents": "self=1=2"}, "unknown agent 'self=1'"),
        ({"opponents": "self=much"}, "names and shares, such as self=0.8,pool=0.2"),
        ({"yardsticks": ("nobody",)}, "unknown agent 'nobody'"),
        ({"device": "tpu"}, "expected device auto, cpu, cuda or cuda:N, got 'tpu'"),
        ({"device": "cuda:99"}, r"device 'cuda:99': torch finds \d+ CUDA devices"),
        ({"start_from": "nowhere.safetensors"}, "nowhere.safetensors: expected a file of weights, found none"),
    ],
)
def test_what_cannot_be_trained_leaves_no_folder(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        train(tiny(**settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_games_that_cannot_end_between_checkpoints_are_warned_of(tmp_path: Path) -> None:
    warnings: list[str] = []
    train(tiny(steps=1, horizon=3, checkpoint_every=2), tmp_path, warn=warnings.append)
    assert any("= 6 steps, but one of torus-v0 may take 8" in line and "of 3 is enough" in line for line in warnings)
