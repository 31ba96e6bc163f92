"""What a run of training is asked to do: settings, presets, `cellgames train`, and `cellgames evaluate`."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from example_games import ConnectFour, Treblecross, registered
from refusals import refused

import cellgames
from cellgames import agents
from cellgames.agents.loading import default_opponents
from cellgames.agents.networks.networks import BoardNetwork
from cellgames.agents.networks.saved import load_network, read_about
from cellgames.arena import MatchOptions, Record, Result, evaluate, match, read_records
from cellgames.cli.commands import train_command
from cellgames.cli.commands.train_command import arguments_given
from cellgames.cli.main import main, parser
from cellgames.envs import registry
from cellgames.envs.registry import plugin_of
from cellgames.plugins import TrainingPreset
from cellgames.training import compare, train
from cellgames.training.arguments import ALGORITHMS, GROWS, PPOArguments, all_options, preset, presets
from cellgames.training.ppo.ppo import PPOLearner

_TINY = "train torus-v0 --size 2 --num-envs 16 --num-steps 8 --minibatch-size 64 --channels 4 --layers 1 --eval-games 4"
TINY = f"{_TINY} --eval-opponents random --checkpoint-every 2 --threads 1 --device cpu"
"""An iteration gives at most 128 steps, mostly about 80."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_setting_is_an_option_with_its_help_and_its_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    for name, algorithm in ALGORITHMS.items():
        assert name in shown
        for option in algorithm.arguments.options():
            assert re.search(rf"--{option.name.replace('_', '-')}\b", shown), option.name
            assert option.name == "seed" or option.help in shown
    assert "(default 32, alphazero 16, another for some games)" in shown  # num_steps
    assert "discount factor of rewards (default" in shown
    for name, users in all_options().items():
        assert {*users} == {key for key in ALGORITHMS if name in {o.name for o in ALGORITHMS[key].arguments.options()}}


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
    assert main(["evaluate", "--agents", str(folder), "random", "--games", "2", "--quiet", "--size", "3"]) == 0
    assert f"{folder} in torus-v0 with size=3, 2 games each" in capsys.readouterr().out
    assert main([*TINY.split(), "--total-steps", "200"]) == 0
    assert capsys.readouterr().out.startswith("Nothing to do: results/train/torus-v0-size=2-ppo-seed=0")


@pytest.mark.parametrize(
    ("signals", "code", "kept"),
    [
        (
            [signal.SIGTERM],
            143,
            r"(?s)stopping: the iteration .*Stopped\. All \d+ steps of .* kept in my run;",
        ),
        (
            [signal.SIGINT] * 2,
            130,
            r"Stopped\. The checkpoint in my run has \d+ steps of .*; later ones are lost;",
        ),
    ],
    ids=["after the iteration", "at once"],
)
def test_a_stopped_run_says_what_is_kept_and_how_to_go_on(
    signals: list[int], code: int, kept: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iterate, calls = PPOLearner.iterate, []

    def stop(self: PPOLearner, progress: float) -> Any:
        calls.append(progress)
        for number in signals if len(calls) == 4 else ():
            signal.raise_signal(number)
        return iterate(self, progress)

    words = [*TINY.split(), "--total-steps", "500", "--quiet", "--out", "my run"]
    with monkeypatch.context() as patch:
        patch.setattr(PPOLearner, "iterate", stop)
        assert main([*words, "--no-resume"]) == code
    err = capsys.readouterr().err
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


every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


@every_algorithm
def test_every_setting_has_a_kind_a_help_line_and_a_default_that_it_allows(name: str) -> None:
    kind = ALGORITHMS[name].arguments
    assert kind.algorithm == name
    found = kind.options()
    assert [option.name for option in found] == [
        field.name for field in dataclasses.fields(kind) if field.name not in ("game", "parameters")
    ]
    for option in found:
        assert option.help
        assert not option.help.endswith(".")
        option.check(option.default)
    assert {"threads", "device", GROWS} <= {option.name for option in found}


@every_algorithm
@pytest.mark.parametrize("id", cellgames.games())
def test_every_game_has_settings(id: str, name: str) -> None:
    game = cellgames.make(id)
    arguments = ALGORITHMS[name].arguments.fitted(game)
    assert (arguments.game, arguments.parameters) == (game.id, game.parameters)
    assert arguments.eval_opponents[-1] == "greedy"
    assert default_opponents(game) == ["random", "greedy"]
    assert cellgames.make(arguments.game, **arguments.parameters) == game
    assert all(entry.parameters.keys() <= game.parameters.keys() for other, entry in presets() if other == game.id)
    data = json.loads(json.dumps(arguments.to_data()))
    assert data == arguments.to_data()
    assert data["algorithm"] == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("total_steps", 0),
        ("num_envs", True),
        ("learning_rate", 0),
        ("learning_rate", float("nan")),
        ("sampling", "best"),
        ("eval_opponents", ["random"]),
        ("eval_games", 5),
        ("seed", 2**63),
        ("threads", 100_000_000),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, value: Any) -> None:
    with refused(name, repr(value)):
        PPOArguments.fitted(cellgames.make("torus-v0"), **{name: value})


def test_what_is_given_goes_before_a_preset_and_a_preset_before_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [
        ("torus-v0", TrainingPreset("ppo", {"num_envs": 3, "num_steps": 4, "num_epochs": 5})),
        ("torus-v0", TrainingPreset("ppo", {"num_envs": 6, "num_steps": 7}, parameters={"size": 5})),
        ("torus-v0", TrainingPreset("maskable-ppo", {"num_envs": 8})),
        ("toroidal-cup-v0", TrainingPreset("ppo", {"num_envs": 9})),
    ]
    monkeypatch.setattr("cellgames.training.arguments.presets", lambda: given)
    small = PPOArguments.fitted("torus-small-v0", num_steps=1)
    assert (small.num_envs, small.num_steps, small.num_epochs) == (6, 1, 5)
    assert small.clip_range == PPOArguments(game="torus-v0").clip_range
    large = PPOArguments.fitted(cellgames.make("torus-v0"))
    assert (large.num_envs, large.num_steps) == (3, 4)
    assert preset("ppo", "grid-adaptation-v0", {}) == {}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the example games known, and the environment as it was afterwards."""
    monkeypatch.setenv(registry.VARIABLE, "")
    with registered():
        yield


def test_a_game_without_a_greedy_agent_is_measured_against_one_that_is_no_pushover() -> None:
    assert default_opponents(Treblecross(7)) == ["random", "rollout:16"]


@pytest.mark.usefixtures("known")
def test_the_command_line_takes_a_module_in_front_of_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From training to the commands that it names next."""
    typed, out = "examples.games.connect_four:connect-four-small-v0", tmp_path / "run"
    words = f"train {typed} --param line=3 --total-steps 200 --num-envs 16 --num-steps 16 --channels 4 --layers 1 "
    assert main(f"{words} --eval-games 2 --eval-opponents random --out {out} --quiet".split()) == 0
    told = capsys.readouterr().out
    assert f"evaluate {typed} --param line=3 --agents {out}" in told
    assert f"play {typed} --param line=3 --agents {out}" in told
    assert isinstance(load_network(out / "agent.safetensors").network, BoardNetwork)
    again = f"evaluate {typed} --param line=3 --agents {out} random --games 4 --quiet --no-store"
    assert main(again.split()) == 0
    assert "random" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["train", "examples.games.connect_four:connect-five-v0"])
    assert "that examples.games.connect_four registers (connect-four-v0, connect" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("game", "share"), [(ConnectFour(rows=4, columns=4, line=3), 0.7), (Treblecross(9), 0.85)])
def test_defaults_teach_a_small_game_in_half_a_minute(
    game: ConnectFour | Treblecross, share: float, tmp_path: Path
) -> None:
    arguments = PPOArguments.fitted(game, total_steps=25_000, eval_opponents=("random",), eval_every=100)
    finished = train(arguments, tmp_path / "run")
    learned, random = agents.load(str(finished.agent), game), agents.load("random", game)
    assert compare(game, learned, random, games=400, seed=1).ahead > share
