"""Files of runs: equal commands write equal files, and the page on data names every file and field."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import re
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from paths import ROOT
from refusals import fails
from run_suite import NOT_COMPARED, different_files, files
from store_games import chunk

from cellgames.agents.networks.saved import read_about
from cellgames.arena.records.record_lines import Forfeit, Pairing, Record, Result, append
from cellgames.arena.records.store import Store
from cellgames.cli.main import main
from cellgames.training.runs.checkpoints import write_state
from cellgames.training.runs.logs import TIMING_METRICS
from cellgames.utils.files import write_atomic

PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")

_TINY = "--total-steps 100 --num-envs 8 --num-steps 8 --minibatch-size 32 --channels 4 --layers 1 --eval-games 4"
_TRAIN = f"train torus-v0 --size 2 {_TINY} --eval-opponents random --device cpu --threads 1 --checkpoint-every 2"

COMMANDS = {
    "ppo": f"{_TRAIN} --quiet",
    "maskable": f"{_TRAIN} --quiet --algo maskable-ppo",
    "alphazero": f"{_TRAIN} --quiet --algo alphazero --num-simulations 4",
    "turns": "train cloth-of-gold-small-v0 --algo turn-values --total-steps 20 --channels 4 --layers 1 --eval-games 2 "
    "--eval-opponents random --device cpu --threads 1 --num-envs 4 --quiet",
    "evaluate": "evaluate torus-v0 --size 3 --agents random greedy rollout:4 --games 8 --store STORE --quiet",
    "many": "evaluate grid-adaptation-small-v0 --agents random greedy --games 4 --store STORE --quiet",
    "robin": "round-robin torus-v0 --size 3 --agents random greedy --games 8 --store STORE --quiet",
    "free": "free-for-all grid-adaptation-small-v0 --agents random greedy --games 4 --store STORE --quiet",
    "season": "season torus-v0 --size 2 --teams 8 --days 1 --agents random greedy --no-store --quiet",
    "leaderboard": "leaderboard --store STORE",
    "analyse": "analyse torus-v0 --store STORE",
}
"""Commands and the names of their folders; those that take a store take one that both runs share."""

COMPARED = ("maskable", "alphazero", "turns", "many", "leaderboard", "analyse")
"""Commands that are run twice; `run_suite` compares runs of the other kinds."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two folders with the folders of commands, run under other names; the first one has all."""
    root = tmp_path_factory.mktemp("runs")
    folders = root / "one", root / "the other"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for name, words in COMMANDS.items():
            for folder in folders[: 1 + (name in COMPARED)]:
                store = f"{folder if '--quiet' in words else folders[0]}.sqlite"
                given = [store if word == "STORE" else word for word in words.split()]
                assert main([*given, "--out", str(folder / name)]) == 0, given
        yield folders


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_equal_commands_write_equal_files(name: str, runs: tuple[Path, Path]) -> None:
    assert files(runs[0] / name)
    assert different_files(runs[0] / name, runs[1] / name) == []


@pytest.mark.skipif(os.name != "posix", reason="it needs limits of processes")
def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    import resource

    records = chunk(0)
    writes: list[Callable[[Path], None]] = [
        lambda path: write_atomic(path, "x" * 100),
        lambda path: write_state(path, {"weights": torch.zeros(1000)}),
        lambda path: append(path, records),
    ]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        for write in writes:
            with fails(OSError, filename=str(tmp_path / "file")):
                write(tmp_path / "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def named(word: str) -> bool:
    """Return True if the page has the word as code."""
    return f"`{word}`" in PAGE


BY_NAME = ("parameters", "identities", "forfeits", "fairness", "seeds")
"""Objects whose fields are names of parameters, agents or leagues."""

INSIDE = ("data", "pairs", "cycles", "components", "notes", "agents")
"""Parts whose fields are those of tables."""


def fields(data: Any) -> Iterator[str]:
    """Yield the names of all fields of JSON, but for names that are data themselves."""
    if isinstance(data, list):
        for item in data:
            yield from fields(item)
    elif isinstance(data, dict):
        for name, value in data.items():
            if not name.startswith("as "):  # followed by the name of a seat
                yield name
            if name not in (*BY_NAME, *INSIDE) and not (name == "seats" and isinstance(value, dict)):
                yield from fields(value)


def test_the_page_names_what_comparisons_leave_out() -> None:
    assert all(named(name) for name in NOT_COMPARED)
    (command,) = re.findall(r"^diff -r .*$", PAGE, re.MULTILINE)
    assert command.startswith("diff -r " + " ".join(f"-x {name}" for name in NOT_COMPARED) + " ")


@pytest.mark.parametrize(
    ("prefix", "kind"), [("", Record), ("result.", Result), ("result.forfeit.", Forfeit), ("pairing.", Pairing)]
)
def test_the_page_has_every_field_of_a_record(prefix: str, kind: Any) -> None:
    written = [f.name for f in dataclasses.fields(kind) if f.compare]  # others are of the process that played the game
    assert [name for name in written if not re.search(rf"^\| `{prefix}{name}` \|", PAGE, re.M)] == []


def test_the_page_has_every_column_of_the_views_of_the_store(tmp_path: Path) -> None:
    Store(tmp_path / "store.sqlite").close()
    database = sqlite3.connect(tmp_path / "store.sqlite")
    views = [line[0] for line in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    columns = {view: [line[1] for line in database.execute(f"PRAGMA table_info({view})")] for view in views}
    database.close()
    assert sorted(columns) == ["played_games", "results"]
    for view, names in columns.items():
        _, after = PAGE.split(f"| column of `{view}` |")
        rows = after.split("\n\n")[0]
        assert [name for name in names if f"`{name}`" not in rows] == []


@pytest.mark.slow
def test_the_page_has_every_file_and_column_that_runs_write(runs: tuple[Path, Path]) -> None:
    missing = set()
    for run in ("robin", "free", "evaluate", "many", "leaderboard", "season", "analyse"):
        for path in (runs[0] / run / name for name in files(runs[0] / run)):
            found: set[str] = set()
            if path.suffix == ".csv":
                with path.open(encoding="utf-8", newline="") as file:
                    found = {path.name, *next(csv.reader(file))} - {"random", "greedy", "rollout:4"}
            elif path.suffix == ".json" and path.name not in ("ratings.json", "run.json"):
                found = {path.name, *fields(json.loads(path.read_text(encoding="utf-8")))}
            missing |= {(path.name, name) for name in found if not named(name)}
    assert not missing
    about = read_about(runs[0] / "ppo" / "agent.safetensors")
    assert [name for name in (*about, *about["made"], *TIMING_METRICS) if not named(name)] == []
