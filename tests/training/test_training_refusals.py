"""Runs of training that are refused, or warned of: other runs' folders, damaged files, what cannot be trained."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from refusals import fails
from run_suite import different_files
from slow import slow_except
from training_runs import content, tiny

from cellgames.cli.main import main
from cellgames.training import RunError, train
from cellgames.training.runs.checkpoints import ARGUMENTS, CHECKPOINT


def changed(folder: Path, change: Any) -> None:
    data = torch.load(folder / CHECKPOINT, weights_only=True)
    change(data)
    torch.save(data, folder / CHECKPOINT)


@pytest.fixture
def started(tmp_path: Path) -> Path:
    train(tiny(total_steps=1), tmp_path / "run")
    return tmp_path / "run"


def test_a_checkpoint_from_elsewhere_is_refused(started: Path) -> None:
    """Also where arguments.json would let it pass."""
    changed(started, lambda data: data["arguments"].update(parameters={"size": 4}))
    with fails(RunError, parameter=str(started / CHECKPOINT), fields=("parameters.size",)):
        train(tiny(total_steps=1), started)


def test_a_run_that_is_older_than_a_setting_goes_on(started: Path) -> None:
    path = started / ARGUMENTS
    asked = json.loads(path.read_text())
    del asked["pool_limit"]
    asked |= {"actors": 2, "lag": 1, "ray": "local"}  # settings that are gone
    path.write_text(json.dumps(asked))
    changed(started, lambda data: data.update(arguments=asked))
    before = content(started)["at"]["steps"]
    train(tiny(total_steps=before + 1), started)
    assert content(started)["at"]["steps"] > before
    with fails(RunError, fields=("pool_limit",)):
        train(tiny(total_steps=before + 1, pool_limit=7), started)


@pytest.mark.parametrize(
    "damage",
    [
        dict.clear,
        lambda learner: learner["network"].popitem(),
        lambda learner: learner["network"].update(dict.fromkeys(learner["network"], torch.zeros(1).expand(1 << 40))),
        lambda learner: learner["optimizer"]["param_groups"][0].update(params=[0]),
        lambda learner: learner.update(generator=torch.zeros(3)),
        lambda learner: learner.update(pool=[{"file": "../agent.safetensors", "steps": 0}]),
    ],
)
def test_a_damaged_learner_is_refused_in_one_line(damage: Any, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    changed(folder, lambda data: damage(data["learner"]))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with fails(RunError, parameter=str(folder / CHECKPOINT)):
        train(tiny(total_steps=240), folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tiny(total_steps=240), tmp_path_factory.mktemp("whole") / "run").out


@pytest.mark.parametrize(
    "theirs", ['{"lr": 0.1}', '["ppo"]', '{"algorithm": "ppo"}', '{"algorithm": ["ppo"], "game": "chess"}', "lr: 0.1"]
)
def test_arguments_of_another_program_are_left_alone(theirs: str, tmp_path: Path) -> None:
    (tmp_path / "arguments.json").write_text(theirs)
    (tmp_path / "checkpoint.pt").write_text("mine")
    (tmp_path / "pool").mkdir()
    for resume in (True, False):
        with fails(RunError, parameter=str(tmp_path / ARGUMENTS)):
            train(tiny(total_steps=1), tmp_path, resume=resume)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arguments.json", "checkpoint.pt", "pool"]
    assert (tmp_path / "arguments.json").read_text() == theirs


@pytest.mark.parametrize("algorithm", slow_except(["ppo"], ["ppo", "alphazero", "maskable-ppo"]))
def test_an_opponent_that_fails_ends_the_run_in_one_line_and_the_run_continues(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if algorithm == "maskable-ppo":
        pytest.importorskip("sb3_contrib", reason="the extra 'train'")
    monkeypatch.chdir(tmp_path)
    words = (
        "train torus-small-v0 --size 2 --opponents arena_bots:Raising=0.5,self=0.5 --eval-opponents random "
        "--eval-games 4 --total-steps 300 --num-envs 8 --channels 4 --layers 1 --checkpoint-every 1 --threads 1 "
        f"--device cpu --quiet --algo {algorithm} "
        + ("--num-simulations 2" if algorithm == "alphazero" else "--num-steps 8")
    ).split()
    assert main([*words, "--out", "whole"]) == 0
    monkeypatch.setenv("RAISING", "20")
    capsys.readouterr()
    assert main([*words, "--out", "run"]) == 2
    error = capsys.readouterr().err
    log = Path("run/failure.log")
    assert "Traceback" not in error
    assert error.splitlines()[-1] == (
        "cellgames: opponent arena_bots:Raising: it failed: ArithmeticError: on purpose; "
        f"{log} has the line. Mend it, and the same command continues"
    )
    kept = log.read_text()
    assert kept.startswith("arena_bots:Raising\n")
    assert 'arena_bots.py", line' in kept
    assert content(Path("run"))["at"]["steps"] > 0
    assert main([*words, "--out", "run", "--debug"]) == 2
    assert 'arena_bots.py", line' in capsys.readouterr().err
    monkeypatch.delenv("RAISING")
    assert main([*words, "--out", "run"]) == 0
    assert not log.exists()
    assert set(different_files(Path("run"), Path("whole"))) <= {"agent.safetensors"}  # which has the command line


def test_without_the_package_for_weights_there_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r'weights need safetensors: pip install "cellgames\[trained\]"'):
        train(tiny(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_that_can_learn_nothing_says_so(tmp_path: Path) -> None:
    """No game of Torus ends within four steps, and what follows an action is known after two more."""
    with fails(RunError, parameter="checkpoint_every", got="2 and num_steps=2"):
        train(tiny(opponents="self", num_steps=2, checkpoint_every=2), tmp_path)


def test_games_that_cannot_end_between_checkpoints_are_warned_of(tmp_path: Path) -> None:
    warnings: list[str] = []
    train(tiny(total_steps=1, num_steps=3, checkpoint_every=2), tmp_path, warn=warnings.append)
    assert any("= 6 steps, but one of torus-v0 may take 8" in line and "of 3 is enough" in line for line in warnings)
