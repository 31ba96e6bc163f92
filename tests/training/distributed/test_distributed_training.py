"""Several processes that learn as one: equal to one process with all their games, kept, killed, continued, refused."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_runs import killed_at
from distributed_runs import SCENES, WORDS, WORLD, learner, positions, searcher, searching, small
from paths import ROOT
from training_runs import block_extras, content, equal, tiny

import cellgames
from cellgames.cli.main import main
from cellgames.training import RunError, train
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.alphazero.alphazero import AlphaZeroLearner
from cellgames.training.alphazero.replay_buffer import Positions
from cellgames.training.distributed import joined_group, launched
from cellgames.training.machine import choose_device
from cellgames.training.ppo.ppo_learner import PPOLearner
from cellgames.training.runs.checkpoints import CHECKPOINT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of all runs, and the findings of both processes."""
    script = "import sys; from distributed_runs import play_all; play_all(sys.argv[1])"
    folder = tmp_path_factory.mktemp("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder / "killed ones leave something"))
        (folder / "killed ones leave something").mkdir()
        return killed_at([], script, folder)


@pytest.fixture(scope="module")
def found(root: Path) -> dict[str, list[Any]]:
    """By a scene's name what each process found; one that was killed found nothing."""
    paths = {name: [root / f"{rank} {name}.pt" for rank in range(WORLD)] for name in SCENES}
    return {name: [torch.load(path) for path in files if path.exists()] for name, files in paths.items()}


@pytest.fixture(autouse=True)
def _no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    block_extras(partial(monkeypatch.setitem, sys.modules))


# ---------------------------------------------------------------- equal to one process


def test_an_iteration_is_that_of_one_process_with_the_rows_of_all(found: dict[str, list[Any]], tmp_path: Path) -> None:
    """Each minibatch of one process is what both had in it, one after the other; numbers differ by rounding."""
    one, other = found["in group"]
    pairs = list(zip(one["batches"], other["batches"], strict=True))
    sizes = [(len(mine[0]), len(theirs[0])) for mine, theirs in pairs]
    assert len(pairs) == 2 * max(1, round((one["steps"] + other["steps"]) / 40)) > 2
    assert sum(mine for mine, _ in sizes) == 2 * one["steps"]
    assert all(theirs > mine > 0 for mine, theirs in sizes)  # 3 games and 5
    ppo = learner(1, tmp_path, 0)
    ppo.network.train()
    metrics = torch.stack([ppo._learn(*map(torch.cat, zip(*pair, strict=True))) for pair in pairs]).mean(0)
    for name, weight in ppo.network.state_dict().items():
        assert torch.allclose(weight, one["weights"][name], atol=2e-5), name
        assert not torch.equal(weight, learner(1, tmp_path, 0).network.state_dict()[name]), name
    losses = torch.tensor([list(part["losses"].values())[:6] for part in (one, other)])
    assert metrics.tolist() == pytest.approx(losses.mean(0).tolist(), rel=1e-3, abs=1e-5)


def test_who_has_no_row_takes_the_step_of_who_has(found: dict[str, list[Any]], tmp_path: Path) -> None:
    one, other = found["in group"]
    ppo = learner(1, tmp_path, 0)
    ppo.network.load_state_dict(one["weights"])
    assert len(other["lonely rows"][0]) == 0
    assert equal(one["lonely weights"], other["lonely weights"])
    before = one["weights"]
    assert all(not torch.equal(weight, before[name]) for name, weight in other["lonely weights"].items())
    ppo.network.train()
    metrics = ppo._learn(*one["lonely rows"])  # with Adam's memory of nothing, so weights go elsewhere, not the losses
    mean = (one["lonely metrics"] + other["lonely metrics"]) / 2
    assert metrics.tolist() == pytest.approx(mean.tolist(), rel=1e-3, abs=1e-5)


def test_a_minibatch_that_is_empty_everywhere_teaches_nothing(found: dict[str, list[Any]]) -> None:
    for part in found["in group"]:
        assert part["empty metrics"].tolist() == [0.0] * 6


def test_a_step_of_alphazero_is_that_of_one_process_with_the_positions_of_all(
    found: dict[str, list[Any]], tmp_path: Path
) -> None:
    one, other = found["in group"]
    alone = searcher(tmp_path)
    alone.network.train()
    parts = zip(positions(6, 0)[:4], positions(10, 1)[:4], strict=True)
    both = Positions(*map(torch.cat, parts))
    metrics = alone._learn(alone.lessons[0], both)
    assert metrics.tolist() == pytest.approx(
        ((one["searched metrics"] + other["searched metrics"]) / 2).tolist(), rel=1e-4
    )
    assert equal(one["searched weights"], other["searched weights"])
    for name, weight in alone.network.state_dict().items():
        assert torch.allclose(weight, one["searched weights"][name], atol=2e-5), name
    assert (one["part"], other["part"]) == (16, 0)  # of a minibatch of 32, as long as one replay is empty
    assert not other["half metrics"][:4].any()
    assert one["half metrics"][4] == other["half metrics"][4] > 0


@pytest.mark.parametrize("scene", ["continued", "searching", "searching on", "strong"])
def test_weights_and_tables_are_equal_in_every_process(scene: str, found: dict[str, list[Any]]) -> None:
    one, other = found[scene]
    assert one["weights"]
    assert equal(one["weights"], other["weights"])
    assert one["steps"] == other["steps"]
    tables = [
        [{name: repr(value) for name, value in line.items()} for line in part["history"]] for part in (one, other)
    ]
    assert tables[0] == tables[1]


def test_each_process_plays_games_of_its_own(found: dict[str, list[Any]], root: Path) -> None:
    one, other = (part["batches"][0][0] for part in found["in group"])
    assert not torch.equal(one[: min(len(one), len(other))], other[: min(len(one), len(other))])
    kept = torch.load(root / "searching" / CHECKPOINT, weights_only=True)
    (second,) = kept["others"]
    assert second.keys() == {"generator", "replay", "variants"}
    assert not equal(second["generator"], kept["learner"]["generator"])
    boards = [part["replay"]["observation"] for part in (kept["learner"], second)]
    assert [len(part) for part in boards] == [searching().buffer_size // WORLD] * 2
    assert not torch.equal(*boards)


def test_counts_are_of_all_processes(root: Path) -> None:
    """Environments times num_steps, less what opponents played and what is not known yet."""
    kept = torch.load(root / "whole" / CHECKPOINT, weights_only=True)
    arguments, at = small(), kept["at"]
    assert at["steps"] >= arguments.total_steps
    assert 0.5 < at["steps"] / (at["iteration"] * arguments.num_envs * arguments.num_steps) < 1
    assert sum(member["games"] for member in kept["learner"]["pool"]) > 0
    lines = at["history"]
    assert all(math.isfinite(lines[-1][name]) for name in PPOLearner.METRICS)


def test_two_processes_learn_to_beat_random_play(found: dict[str, list[Any]]) -> None:
    """As one does in `test_training_runs`."""
    history = found["strong"][0]["history"]
    assert 0.35 < history[0]["random"] < 0.65
    assert history[-1]["random"] > 0.8
    assert history[-1]["entropy"] < 0.9 * math.log(18)


# ---------------------------------------------------------------- killed and continued


def test_a_run_of_which_a_process_was_killed_ends_like_one_that_was_left_alone(
    found: dict[str, list[Any]], root: Path
) -> None:
    (said,) = found["killed"]
    assert said.startswith("lost touch with the other processes of the run; start all of them anew")
    assert "/" not in said  # of places in torch's source
    assert not [*(root / "killed ones leave something").glob("cellgames*")]
    assert all(0 < part["before"] < part["steps"] for part in found["continued"])
    assert equal(content(root / "killed"), content(root / "whole"))


def test_alphazero_goes_on_with_the_replay_of_each_process(found: dict[str, list[Any]], root: Path) -> None:
    assert found["stopped"] == ["stopped", "stopped"]
    assert all(0 < part["before"] < part["steps"] for part in found["searching on"])
    assert equal(content(root / "searching in parts"), content(root / "searching"))


def test_rank_0_alone_warns_and_keeps_the_folder(found: dict[str, list[Any]], root: Path) -> None:
    first, second = found["searching"]
    assert any("no TensorBoard events" in line for line in first["warned"])
    assert second["warned"] == []
    names = {path.name for path in (root / "searching").iterdir()}
    assert names == {"agent.safetensors", "arguments.json", CHECKPOINT, "pool", "progress.csv", "timing.csv"}


def test_weights_that_differ_are_noticed_by_all(found: dict[str, list[Any]]) -> None:
    for part in found["in group"]:
        assert part["difference"].startswith("weights or snapshots of process 1 differ from those of process 0")


# ---------------------------------------------------------------- refused


def test_what_fails_in_one_process_fails_in_all(found: dict[str, list[Any]]) -> None:
    said = [part["agreed"] for part in found["in group"]]
    assert said == ["ElsewhereError: process 1 of the run: not today", "ValueError: not today"]
    said = [part["agreed by all"] for part in found["in group"]]
    assert said == ["ValueError: never", "ElsewhereError: process 0 of the run: never"]


def test_runs_of_another_number_of_processes_are_refused(found: dict[str, list[Any]], root: Path) -> None:
    with pytest.raises(RunError, match="processes: expected 2, got 1"):
        train(small(), root / "whole")
    first, second = found["alone before"]
    assert "processes: expected 1, got 2" in first
    assert first.startswith("RunError")
    assert second == first.replace("RunError: ", "ElsewhereError: process 0 of the run: ")


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(ValueError, match="num_envs must be a multiple of the 3 processes that share them, got 16"):
        PPOLearner.share(tiny(), 3)
    with pytest.raises(ValueError, match="actors play for one learner, but 2 processes learn together"):
        PPOLearner.share(tiny(actors=2), 2)
    assert PPOLearner.share(tiny(), 2) == tiny(num_envs=8)
    shared = AlphaZeroLearner.share(searching(), 2)
    assert (shared.num_envs, shared.buffer_size) == (4, 40)  # type: ignore[attr-defined]  # AlphaZero's has one


@pytest.mark.parametrize(("name", "game"), [("maskable-ppo", "torus-v0"), ("turn-values", "cloth-of-gold-v0")])
def test_other_algorithms_learn_in_one_process(name: str, game: str) -> None:
    algorithm = ALGORITHMS[name]
    arguments = algorithm.arguments.fitted(cellgames.make(game))
    with pytest.raises(ValueError, match=f"{name} learns in one process, not in 2; start it without torchrun"):
        algorithm.learner.share(arguments, 2)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"WORLD_SIZE": "two"}, "expected a whole number in the environment variable WORLD_SIZE, got 'two'"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE=2 and RANK=None; expected a rank below it"),
        ({"WORLD_SIZE": "2", "RANK": "2"}, "WORLD_SIZE=2 and RANK=2; expected a rank below it"),
    ],
)
def test_an_environment_that_makes_no_sense_is_refused(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=message), joined_group("cpu"):
        pass


def test_one_process_of_torchrun_is_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "0")
    assert launched() == (0, 1)
    with joined_group("cpu") as (group, device):
        assert (group.world, device.type) == (1, "cpu")


def test_of_processes_without_a_device_the_first_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    metrics: list[str] = []
    for rank in range(3):
        for name in ("RANK", "LOCAL_RANK"):
            monkeypatch.setenv(name, str(rank))
        with (
            pytest.raises(ValueError, match="expected device auto, cpu or cuda") as caught,
            joined_group("cuda:1"),
        ):
            pass
        metrics.append(caught.typename)
    assert metrics == ["ValueError", "ElsewhereError", "ElsewhereError"]


@pytest.mark.parametrize(
    "words", ["train torus-v0 --num-envs many", "train torus-v0 --num-envs 0", "train torus-v0 --lag 1"]
)
def test_of_processes_that_were_asked_for_what_cannot_be_the_first_says_so(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    said: list[str] = []
    for rank in range(2):
        for name in ("RANK", "LOCAL_RANK"):
            monkeypatch.setenv(name, str(rank))
        with suppress(SystemExit):  # by argparse
            assert main(words.split()) == 2
        said.append("".join(capsys.readouterr()))
    assert "--num-envs" in said[0] or "num_envs must" in said[0] or "lag is" in said[0]
    assert said[1] == ""


def test_each_process_gets_a_device_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [str(choose_device(name, 1)) for name in ("auto", "cuda", "cpu")] == ["cuda:1", "cuda:1", "cpu"]
    with pytest.raises(ValueError, match="process 2 of this machine needs a CUDA device of its own, but torch finds 2"):
        choose_device("auto", 2)
    with pytest.raises(ValueError, match="expected device auto, cpu or cuda for several processes"):
        choose_device("cuda:1", 0)


# ---------------------------------------------------------------- the command


def test_the_command_learns_in_two_processes_and_speaks_once(root: Path) -> None:
    folder = root / "typed"
    assert torch.load(folder / "codes.pt") == {0: [130, 0], 1: [130, 0]}
    assert all((folder / f"killed {rank}.err").exists() for rank in range(WORLD))  # torchrun started both anew
    said = {path.name: path.read_text() for path in folder.iterdir() if path.suffix in (".out", ".err")}
    (out,) = (folder / "results" / "train").iterdir()
    assert out.name.endswith("processes=2")
    kept = rf"The checkpoint in results/train/{re.escape(out.name)} has (\d+) steps of learning; later ones are lost"
    assert (stopped := re.search(rf"\nStopped\. {kept}; to continue:\n", said["0 0.err"])), said["0 0.err"]
    assert f"\n  torchrun --nproc-per-node=2 -m cellgames {WORDS}\n" in said["0 0.err"]
    assert "100%" in said["1 0.err"]
    assert re.match(rf"Learned from \d+ steps, {stopped[1]} of them before", said["1 0.out"])
    assert [said[f"{number} 1.{kind}"] for number in (0, 1) for kind in ("out", "err")] == [""] * 4
    assert torch.load(out / CHECKPOINT, weights_only=True)["arguments"]["processes"] == 2


# ---------------------------------------------------------------- devices


def torchrun(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={WORLD}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*launch, "-m", "cellgames", *words.split()],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < WORLD, reason="needs two CUDA devices")
@pytest.mark.parametrize("algorithm", ["ppo", "alphazero"])
def test_two_devices_learn_as_one_and_go_on(algorithm: str, tmp_path: Path) -> None:
    words = (
        "train torus-v0 --size 2 --num-envs 16 --num-steps 8 --minibatch-size 64 --channels 4 --layers 1 --eval-games 4"
    )
    words += f" --algo {algorithm} --device cuda --eval-opponents random --checkpoint-every 3 --out run"
    for steps in (100, 300):
        done = torchrun(f"{words} --total-steps {steps}", tmp_path)
        assert done.returncode == 0, done.stderr
    assert "of them before" in done.stdout
