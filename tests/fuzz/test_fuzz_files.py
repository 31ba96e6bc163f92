"""Mutated stores, weights and checkpoints, and hostile ones: read as they are or refused, and never written half."""

from __future__ import annotations

import io
import json
import math
import pickle
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from fuzzing import Inputs, documented, fuzz
from hypothesis import strategies as st
from mutations import Change, Edit, applied, changed, changes, edits, large, mutated
from refusals import fails
from safetensors import safe_open
from safetensors.torch import load, save
from store_games import chunk
from training_runs import network_for, tiny

import cellgames
from cellgames import InputError
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.arena import Store, StoreError
from cellgames.runs.run_folder import RunError
from cellgames.training.runs import checkpoints

GAME = cellgames.make("torus-v0", size=2)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of this process."""
    return tmp_path_factory.mktemp("fuzz")


@cache
def store_bytes(folder: Path) -> bytes:
    """A store of some games."""
    path = folder / "whole.sqlite"
    with Store(path) as store:
        store.add(chunk(0), source=("file", "games.jsonl"))
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
    return path.read_bytes()


def read_all(path: Path) -> None:
    """All that commands read of a store."""
    with Store(path, create=False) as store:
        assert len(store) >= 0
        store.settings()
        store.sources()
        for entry in store.entries(limit=5):
            store.record(entry.number).to_json()
        for setting in store.settings():
            store.numbers(setting.game, setting.parameters)
        list(store.games())


@fuzz(Inputs(short=12, share=2), made=edits(6))
def test_bytes_of_stores(folder: Path, made: tuple[Edit, ...]) -> None:
    path, content = folder / "mutated.sqlite", store_bytes(folder)
    path.write_bytes(applied(content, made))
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    with documented(StoreError):
        read_all(path)


@cache
def weights_bytes(folder: Path) -> bytes:
    path = folder / "whole.safetensors"
    save_network(path, network_for(GAME))
    return path.read_bytes()


def weights(folder: Path) -> tuple[dict[str, torch.Tensor], Any]:
    """The tensors of the weights, and the words beside them."""
    tensors = load(weights_bytes(folder))
    with safe_open(folder / "whole.safetensors", "pt") as file:
        return tensors, json.loads(file.metadata()["about"])


def load_and_play(path: Path) -> tuple[Any, dict[str, bytes]]:
    """Load a network that can play; return what the file says of it, and its numbers."""
    network, about = load_network(path, GAME)
    agent = network.agent("mutated", sample=about["sample"])
    played = getattr(agent, "act_on_state", None) or agent.act  # type: ignore[union-attr]
    assert callable(played)
    for value in network.state_dict().values():
        assert not value.is_floating_point() or bool(value.isfinite().all()), "weights are finite numbers"
    return about, {name: value.numpy().tobytes() for name, value in network.state_dict().items()}


@fuzz(Inputs(short=20, share=3), made=edits(3))
def test_bytes_of_weights(folder: Path, made: tuple[Edit, ...]) -> None:
    path = folder / "mutated.safetensors"
    path.write_bytes(applied(weights_bytes(folder), made))
    with documented(ValueError):
        assert load_and_play(path) == load_and_play(folder / "whole.safetensors"), "damage is never believed"


@fuzz(Inputs(short=15, share=2), made=changes())
def test_words_beside_weights(folder: Path, made: tuple[Change, ...]) -> None:
    tensors, about = weights(folder)
    about = changed(about, made)
    if large(about, "size", 40):
        return
    path = folder / "words.safetensors"
    path.write_bytes(save(tensors, metadata={"about": json.dumps(about)}))
    with documented(ValueError):
        load_and_play(path)


@fuzz(
    Inputs(short=10, share=1),
    place=st.integers(0, 50),
    kind=st.sampled_from(["nan", "inf", "shape", "dtype", "missing", "more", "empty"]),
)
def test_tensors_of_weights(folder: Path, place: int, kind: str) -> None:
    tensors, about = weights(folder)
    name = list(tensors)[place % len(tensors)]
    value = tensors[name].clone()
    if kind in ("nan", "inf"):
        if not value.is_floating_point() or not value.numel():
            return
        value.view(-1)[0] = math.nan if kind == "nan" else math.inf
    elif kind == "shape":
        value = value[None].repeat(2, *(1 for _ in value.shape))
    elif kind == "dtype":
        value = value.to(torch.complex64)
    elif kind == "empty":
        value = value.reshape(-1)[:0]
    tensors[name] = value
    if kind == "missing":
        del tensors[name]
    elif kind == "more":
        tensors["another"] = torch.zeros(3)
    path = folder / "tensors.safetensors"
    path.write_bytes(save(tensors, metadata={"about": json.dumps(about)}))
    with pytest.raises(InputError) as refused:
        load_and_play(path)
    with documented(ValueError):
        raise refused.value


class Hostile:
    """A pickle that runs a command when it is read."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return Path.write_text, (self.target, "owned")  # type: ignore[return-value]  # as pickle calls it


@cache
def checkpoint_data() -> dict[str, Any]:
    """A checkpoint's content."""
    return {
        "format": checkpoints.FORMAT,
        "cellgames": "0.1.0",
        "arguments": tiny().to_data(),
        "at": vars(checkpoints.Checkpoint(planned=100, history=[{"steps": 1.0}])),
        "learner": {"network": {"weight": torch.zeros(2)}, "iteration": 1},
    }


def read_checkpoint(folder: Path, content: bytes) -> None:
    """Read it as a run that continues does; nothing in the folder changes."""
    run = folder / "run"
    run.mkdir(exist_ok=True)
    (run / checkpoints.CHECKPOINT).write_bytes(content)
    before = sorted(run.iterdir())
    with documented(RunError):
        saved = checkpoints.read(run, tiny(), CPU)
        assert saved is not None
        at, _, learner = saved
        assert isinstance(learner, dict)
        assert isinstance(at.iteration, int)
    assert sorted(run.iterdir()) == before
    assert (run / checkpoints.CHECKPOINT).read_bytes() == content


@fuzz(Inputs(short=15, share=3), made=edits(3))
def test_bytes_of_checkpoints(folder: Path, made: tuple[Edit, ...]) -> None:
    buffer = io.BytesIO()
    torch.save(checkpoint_data(), buffer)
    read_checkpoint(folder, applied(buffer.getvalue(), made))


@fuzz(Inputs(short=15, share=2), made=changes())
def test_values_of_checkpoints(folder: Path, made: tuple[Change, ...]) -> None:
    buffer = io.BytesIO()
    torch.save(changed(checkpoint_data(), made), buffer)
    read_checkpoint(folder, buffer.getvalue())


@fuzz(
    Inputs(short=10, share=1),
    place=st.sampled_from(["whole", "at", "learner", "format", "arguments"]),
    plain=st.booleans(),
    protocol=st.integers(0, 5),
)
def test_hostile_checkpoints_run_nothing(folder: Path, place: str, plain: bool, protocol: int) -> None:
    target = folder / "owned"
    hostile = Hostile(target)
    data: Any = hostile if place == "whole" else {**checkpoint_data(), place: hostile}
    buffer = io.BytesIO()
    if plain:
        pickle.dump(data, buffer, protocol)
    else:
        torch.save(data, buffer, pickle_protocol=max(2, protocol))
    read_checkpoint(folder, buffer.getvalue())
    assert not target.exists(), "reading a checkpoint ran its code"


@fuzz(Inputs(short=10, share=1), made=st.one_of(changes(), edits()))
def test_arguments_of_runs(folder: Path, made: tuple[Any, ...]) -> None:
    run = folder / "arguments"
    run.mkdir(exist_ok=True)
    for left in run.iterdir():
        left.unlink()
    content = mutated(json.dumps(tiny().to_data()).encode(), made)
    path = run / checkpoints.ARGUMENTS
    path.write_bytes(content)
    with documented(RunError):
        checkpoints.prepare(checkpoints.run_of(run, tiny()), tiny(), resume=True)
        return
    assert path.read_bytes() == content, "a refused run is left as it is"
    assert [entry.name for entry in run.iterdir()] == [path.name]


# Inputs that these properties have found, each of which once ended in a traceback or a bad message.


@pytest.mark.parametrize(
    "change", [{"size": {"\x1b[2J": 1}}, {"format": None, "cellgames": "\x1f" + "9" * 1000}], ids=["size", "format"]
)
def test_words_beside_weights_are_named_in_printable_characters(folder: Path, change: dict[str, Any]) -> None:
    tensors, about = weights(folder)
    path = folder / "found.safetensors"
    path.write_bytes(save(tensors, metadata={"about": json.dumps({**about, **change})}))
    with pytest.raises(InputError) as caught:
        load_network(path, GAME)
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
    path = tmp_path / checkpoints.CHECKPOINT
    torch.save(checkpoint_data(), path)
    assert checkpoints.read(tmp_path, tiny(), CPU) is not None
    torch.save({**checkpoint_data(), **changes}, path)
    with fails(RunError, parameter=str(path)):
        checkpoints.read(tmp_path, tiny(), CPU)


def test_arguments_that_are_no_arguments_are_refused(tmp_path: Path) -> None:
    path = tmp_path / checkpoints.ARGUMENTS
    for text in ("[" * 100_000, '{"algorithm": "ppo", "game": "torus-v0", "total_steps": null}'):
        path.write_text(text)
        with fails(RunError, parameter=str(path)):
            checkpoints.prepare(checkpoints.run_of(tmp_path, tiny()), tiny(), resume=True)
        assert path.read_text() == text
