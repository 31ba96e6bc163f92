"""What a run is asked to do: fields, checks, presets, and the page of the docs that lists them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from example_games import ConnectFour, Treblecross, registered
from refusals import refused

import cellgames
from cellgames import agents
from cellgames.agents.loading import default_opponents
from cellgames.agents.networks.networks import BoardNetwork
from cellgames.agents.networks.saved import load_network
from cellgames.cli import main as cli
from cellgames.envs import registry
from cellgames.plugins import TrainingPreset
from cellgames.training import compare, train
from cellgames.training.arguments import ALGORITHMS, GROWS, PPOArguments, all_options, preset, presets

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
    rungs: tuple[str, ...] = ("random",)
    if game.id in ("torus-v0", "hex-v0", "y-v0") and name not in ("turn-values", "placement-values"):
        rungs = ("rollout:64", "mcts:100" if game.id == "torus-v0" else "mcts:30")
    assert arguments.eval_opponents == (*rungs, "greedy")
    assert default_opponents(game) == ["random", "greedy"]
    assert cellgames.make(arguments.game, **arguments.parameters) == game
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
    small = PPOArguments.fitted(cellgames.make("torus-small-v0"), num_steps=1)
    assert (small.num_envs, small.num_steps, small.num_epochs) == (6, 1, 5)
    assert small.clip_range == PPOArguments(game="torus-v0").clip_range
    large = PPOArguments.fitted(cellgames.make("torus-v0"))
    assert (large.num_envs, large.num_steps) == (3, 4)
    assert preset("ppo", "grid-adaptation-v0", {}) == {}


def test_presets_are_for_games_and_settings_that_there_are() -> None:
    ids = {cellgames.make(id).id for id in cellgames.games()}
    for game, entry in presets():
        assert game in ids
        known = {option.name for option in ALGORITHMS[entry.algorithm].arguments.options()}
        assert {*entry.values} <= known
        assert {*entry.parameters} <= cellgames.make(game).parameters.keys()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the example games known, and the environment as it was afterwards."""
    monkeypatch.setenv(registry.VARIABLE, "")
    with registered():
        yield


def test_a_game_without_a_greedy_agent_is_measured_against_one_that_is_no_pushover() -> None:
    assert default_opponents(Treblecross(7)) == ["random", "rollout:16"]


def test_help_states_the_default_of_each_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    for name, users in all_options().items():
        assert {*users} == {key for key in ALGORITHMS if name in {o.name for o in ALGORITHMS[key].arguments.options()}}
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["train", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "(default 32, alphazero 16, another for some games)" in told  # num_steps
    assert "discount factor of rewards (default" in told


@pytest.mark.usefixtures("known")
def test_the_command_line_takes_a_module_in_front_of_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From training to the commands that it names next."""
    typed, out = "examples.games.connect_four:connect-four-small-v0", tmp_path / "run"
    words = ["train", typed, "--param", "line=3", "--total-steps", "200", "--num-envs", "16", "--num-steps", "16"]
    words += ["--channels", "4", "--layers", "1", "--eval-games", "2", "--eval-opponents", "random", "--out", str(out)]
    assert cli.main([*words, "--quiet"]) == 0
    told = capsys.readouterr().out
    assert f"evaluate {typed} --agents {out}" in told
    assert f"play {typed} --param line=3 --agents {out}" in told
    assert isinstance(load_network(out / "agent.safetensors").network, BoardNetwork)
    again = ["evaluate", typed, "--param", "line=3", "--agents", str(out), "random", "--games", "4"]
    assert cli.main([*again, "--quiet", "--no-store"]) == 0
    assert "random" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["train", "examples.games.connect_four:connect-five-v0"])
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
