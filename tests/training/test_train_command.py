"""`cellgames train` and `cellgames evaluate`: what people type, what they see, and what is written."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from training_runs import network_for

import cellgames
from cellgames.agents.networks.saved import read_about, save_network
from cellgames.arena import MatchOptions, Record, Result, evaluate, match, read_records
from cellgames.cli.commands import train_command
from cellgames.cli.commands.train_command import arguments_given
from cellgames.cli.main import main, parser
from cellgames.envs.registry import plugin_of
from cellgames.training.arguments import ALGORITHMS
from cellgames.training.ppo.ppo import PPOLearner

_TINY = "train torus-v0 --size 2 --num-envs 16 --num-steps 8 --minibatch-size 64 --channels 4 --layers 1 --eval-games 4"
TINY = f"{_TINY} --eval-opponents random --checkpoint-every 2 --threads 1 --device cpu"
"""An iteration gives at most 128 steps, mostly about 80."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_setting_is_an_option_with_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    for name, algorithm in ALGORITHMS.items():
        assert name in shown
        for option in algorithm.arguments.options():
            assert re.search(rf"--{option.name.replace('_', '-')}\b", shown), option.name
            assert option.name == "seed" or option.help in shown


def test_a_run_from_the_command_to_the_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TINY.split(), "--total-steps", "200", "--quiet"]) == 0
    out, err = capsys.readouterr()
    (folder,) = Path("results/train").iterdir()
    assert folder.name == (
        "torus-v0-size=2-ppo-seed=0-num_envs=16-num_steps=8-minibatch_size=64-channels=4-layers=1-eval_games=4-eval_opponents=random-"
        "checkpoint_every=2"
    )
    assert re.match(r"Learned from \d+ steps\.\n  ahead of random in [\d.]+% of 4 games \(100% of them decided\)", out)
    assert f"play torus-v0 --param size=2 --agents {folder}/agent.safetensors" in out
    assert all(line.startswith("cellgames: no ") for line in err.splitlines())  # packages that are blocked
    made = read_about(folder / "agent.safetensors")["made"]
    assert made["command"] == f"cellgames {TINY} --total-steps 200 --quiet"
    assert main(["evaluate", "--agents", str(folder), "random", "--games", "2", "--quiet"]) == 0
    assert f"{folder} in torus-v0 with size=2, 2 games each" in capsys.readouterr().out
    assert main([*TINY.split(), "--total-steps", "200"]) == 0
    assert capsys.readouterr().out.startswith("Nothing to do: results/train/torus-v0-size=2-ppo-seed=0")


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iterate, calls = PPOLearner.iterate, []

    def stop(self: PPOLearner, progress: float) -> Any:
        calls.append(progress)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return iterate(self, progress)

    words = [*TINY.split(), "--total-steps", "500", "--quiet", "--out", "my run"]
    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "iterate", stop)
        capsys.readouterr()
        assert main([*words, "--no-resume"]) == 130
    err = capsys.readouterr().err
    kept = r"Stopped\. The checkpoint in my run has \d+ steps of learning; later ones are lost; to continue:\n  "
    assert re.search(kept, err)
    assert err.rstrip().endswith("cellgames " + " ".join(words[:-1]) + " 'my run'")
    assert "Traceback" not in err
    assert main(words) == 0
    assert re.match(r"Learned from \d+ steps, \d+ of them before\.", capsys.readouterr().out)


def test_an_evaluation_is_a_match_against_each(capsys: pytest.CaptureFixture[str]) -> None:
    words = "evaluate torus-v0 --size 3 --agents greedy random rollout:4 --games 20 --seed 4 --out table --quiet"
    assert main(words.split()) == 0
    shown = capsys.readouterr().out
    data = json.loads(Path("table/evaluation.json").read_text())
    assert (data["agent"], data["game"], data["parameters"], data["games"]) == ("greedy", "torus-v0", {"size": 3}, 20)
    assert data["command"] == f"cellgames {words}".replace("--out table ", "")  # the same in any folder
    game = cellgames.make("torus-v0", size=3)
    for row, other in zip(data["rows"], ("random", "rollout:4"), strict=True):
        played = match(game, "greedy", other, MatchOptions(games=20, seed=4))
        assert (row["against"], row["score"], row["wins"], row["losses"]) == (
            *(other, played.score),
            *(played.tally.wins, played.tally.losses),
        )
        assert (row["low"], row["high"]) == pytest.approx(played.interval())
        assert row["as black"] + row["as white"] == pytest.approx(2 * row["score"])
        assert re.search(rf"^{other} +{100 * row['score']:.1f} ", shown, re.MULTILINE)
        assert f"| {other} | {100 * row['score']:.1f} |" in Path("table/evaluation.md").read_text()
    assert len(read_records("table/games.jsonl").records) == 40
    assert main(["replay", "table/games.jsonl"]) == 0


def test_larger_games_are_shared(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "evaluate grid-adaptation-small-v0 --agents greedy --param rounds=2 --param flip_rounds=[] --games 10 --quiet"
    )
    assert main([*words.split(), "--out", "table"]) == 0
    (row,) = json.loads(Path("table/evaluation.json").read_text())["rows"]  # random is the other default
    records = read_records("table/games.jsonl").records
    assert len(records) == 10
    ahead, points = [], []
    for record in records:
        assert sorted(record.agents) == ["greedy", "greedy", "random", "random"]
        own = [score for agent, score in zip(record.agents, record.result.scores, strict=True) if agent == "greedy"]
        others = [score for agent, score in zip(record.agents, record.result.scores, strict=True) if agent == "random"]
        ahead += [(mine > theirs) + (mine == theirs) / 2 for mine in own for theirs in others]
        points += own
    assert row["score"] == pytest.approx(sum(ahead) / len(ahead))
    assert row["points"] == pytest.approx(sum(points) / len(points))
    assert row["low"] <= row["score"] <= row["high"]
    assert row["points"] > row["their points"]


def test_a_game_is_learned_by_the_algorithm_that_its_plugin_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, algorithm in (
        (("cloth-of-gold-small-v0",), "turn-values"),
        (("cloth-of-gold-v0", "--algo", "ppo"), "ppo"),
        (("torus-v0", "--size", "2"), "ppo"),
    ):
        arguments = parser().parse_args(["train", *words])
        assert arguments_given(arguments).algorithm == arguments.algo == algorithm
    magic = replace(plugin_of(cellgames.make("torus-v0")), algorithm="magic")
    monkeypatch.setattr(train_command, "plugin_of", lambda game: magic)
    assert main(["train", "torus-v0"]) == 2
    assert "plugin of torus-v0: --algo: expected one of ppo, " in capsys.readouterr().err


def test_games_that_both_lose_are_neither_won_nor_decided() -> None:
    game = cellgames.make("cloth-of-gold-small-v0")
    outcomes: list[Any] = [("win", "loss"), ("loss", "loss"), ("loss", "win"), ("win", "loss"), ("draw", "draw")]
    records = [
        Record("g", "0", {}, 0, ("me", "you"), 0, (str(number),), Result(outcome, (0.0, 0.0), 1, False))
        for number, outcome in enumerate(outcomes)
    ]
    mine, yours = (evaluate(game, records, agent) for agent in ("me", "you"))
    assert (mine["wins"], mine["draws"], mine["losses"], mine["both lose"]) == (2, 1, 1, 1)
    assert mine["score"] == pytest.approx(0.5)
    assert mine["of decided"] == pytest.approx(2 / 3)
    assert yours["of decided"] == pytest.approx(1 / 3)
    assert math.isnan(evaluate(game, records[1:2], "me")["of decided"])


def test_a_file_knows_its_game_and_may_be_asked_for_another_size(capsys: pytest.CaptureFixture[str]) -> None:
    save_network(Path("mine.safetensors"), network_for(cellgames.make("torus-v0", size=2)))
    words = ["evaluate", "--agents", "mine.safetensors", "random", "--games", "2", "--quiet"]
    assert main(words) == 0
    assert "mine.safetensors in torus-v0 with size=2, 2 games each" in capsys.readouterr().out
    assert main([*words, "--size", "3"]) == 0
    assert "mine.safetensors in torus-v0 with size=3, 2 games each" in capsys.readouterr().out
