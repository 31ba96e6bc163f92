"""Files with a turned bit, a lost end or a block of zeros: refused in a line or written again, and never believed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_runs import block_plots
from damage import outcomes
from slow import slow_except
from store_games import chunk
from training_runs import block_extras, network_for, tiny

import cellgames
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.arena import RoundRobinOptions, Store, round_robin
from cellgames.arena.records.store.store import StoreError
from cellgames.training import train
from cellgames.training.runs import checkpoints
from cellgames.utils.run_folders import RunError, compared_files

GAME = cellgames.make("torus-v0", size=3)
CPU = torch.device("cpu")


def plain(value: Any) -> Any:
    """Return nested containers with the bytes of tensors in their place."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.detach().numpy().tobytes()
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else repr(value)


def test_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block_extras(partial(monkeypatch.setitem, sys.modules))
    arguments = tiny(total_steps=128, eval_every=100)
    train(arguments, tmp_path)

    def read() -> Any:
        saved = checkpoints.read(tmp_path, arguments, CPU)
        assert saved is not None
        return plain([vars(saved.at), saved.learner, saved.others])

    found = outcomes(tmp_path / checkpoints.CHECKPOINT, read, (RunError,), range(100))
    assert found["refused"]
    assert not found["believed"]


def test_weights(tmp_path: Path) -> None:
    path = tmp_path / "agent.safetensors"
    save_network(path, network_for(GAME), made={"steps": 12, "seed": 3})

    def read() -> Any:
        network, about = load_network(path)
        return plain([about, network.state_dict()])

    found = outcomes(path, read, (ValueError,), range(100))
    assert found["refused"]
    assert not found["believed"]


@pytest.mark.parametrize("games", slow_except([8], [8, 40]))
def test_games_of_a_continued_run(games: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends with the same files, without damage to any of them."""
    block_plots(monkeypatch)

    def read() -> Any:
        round_robin(GAME, ("random", "greedy"), RoundRobinOptions(games=8, chunk=2, gif=False), out=tmp_path)
        return {name: path.read_bytes() for name, path in compared_files(tmp_path).items()}

    read()
    found = outcomes(tmp_path / "games.jsonl", read, (ValueError,), range(games))
    assert (found["refused"], found["believed"]) == ([], [])


def test_stores(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        for number in range(2):
            store.add(chunk(number), source=("file", f"chunk {number}"), identities={"first": "abc"})

    def read() -> Any:
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        with closing(Store(path, create=False)) as store:
            return repr(
                [
                    [len(store), store.last, store.settings(), store.sources()],
                    [store.entries(), list(store.results()), list(store.games()), list(store.rows())],
                ]
            )

    found = outcomes(path, read, (StoreError,), range(100))
    assert found["refused"]
    assert not found["believed"]
