"""Inputs that the properties of this folder have found, each of which once ended in a traceback or a bad message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from refusals import fails, refused
from safetensors.torch import load_file, save_file
from training_runs import network_for, tiny

import cellgames
from cellgames import InputError
from cellgames.agents.networks.saved import load_network, read_about, save_network
from cellgames.arena.records.replays import result_differs
from cellgames.arena.season.games import Fixture
from cellgames.runs.run_folder import RunError, differences
from cellgames.training.runs import checkpoints

TORUS = cellgames.make("torus-v0", size=2)


@pytest.mark.parametrize(
    "change", [{"size": {"\x1b[2J": 1}}, {"format": None, "cellgames": "\x1f" + "9" * 1000}], ids=["size", "format"]
)
def test_words_beside_weights_are_named_in_printable_characters(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "bot.safetensors"
    save_network(path, network_for(TORUS))
    save_file(load_file(path), path, metadata={"about": json.dumps({**read_about(path), **change})})
    with pytest.raises(InputError) as caught:
        load_network(path, TORUS)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "changes",
    [
        {"arguments": None},
        {"arguments": {**tiny().to_data(), "total_steps": None}},
        {"at": None},
        {"at": {"planned": 1, "another": 2, "history": []}},
        {"at": {"planned": "1", "history": []}},
        {"learner": 3},
        {"format": torch.zeros(2)},
    ],
)
def test_damaged_checkpoints_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    data = {
        **{"format": checkpoints.FORMAT, "cellgames": "0.1.0", "arguments": tiny().to_data(), "learner": {}},
        "at": {"planned": 1, "history": []},
    }
    torch.save(data, tmp_path / checkpoints.CHECKPOINT)
    assert checkpoints.read(tmp_path, tiny(), torch.device("cpu")) is not None
    torch.save({**data, **changes}, tmp_path / checkpoints.CHECKPOINT)
    with fails(RunError, parameter=str(tmp_path / checkpoints.CHECKPOINT)):
        checkpoints.read(tmp_path, tiny(), torch.device("cpu"))


def test_arguments_that_are_no_arguments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / checkpoints.ARGUMENTS
    for text in ("[" * 100_000, '{"algorithm": "ppo", "game": "torus-v0", "total_steps": null}'):
        path.write_text(text)
        with fails(RunError, parameter=str(path)):
            checkpoints.prepare(checkpoints.run_of(tmp_path, tiny()), tiny(), resume=True)
        assert path.read_text() == text


def test_texts_of_others_are_told_in_printable_characters() -> None:
    with refused("position") as caught:
        TORUS.string_to_state("\0./.. ../.. b")
    differing = (
        differences({"eval\0\x1b[2J": 1}, {}),
        result_differs({"summary.\x1f": "\x1b[2J" * 500}, {"summary.\x1f": 1}),
    )
    assert all(text.isprintable() for text in (str(caught.value), *differing))


@pytest.mark.parametrize(
    "line", [b"\0" + b"9" * 5000, b'{"season": {"teams": ["a", "b"], "stage": "", "game": 1e999}}']
)
def test_lines_that_are_no_game_of_a_season_are_refused_briefly(line: bytes) -> None:
    with refused("", expected="a game of a season") as caught:
        Fixture.from_json(line)
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()
