"""What a run is asked to do: fields, checks, presets, and the page of the docs that lists them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from refusals import refused

import cellgames
from cellgames.agents.loading import default_opponents
from cellgames.plugins import TrainingPreset
from cellgames.training.arguments import ALGORITHMS, GROWS, PPOArguments, preset, presets

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
