"""Stores from somebody else: each is read rightly or refused by our own error, soon and in a short line."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from slow import slow_except
from store_games import game
from store_mutations import ATTACKS, mutated

from cellgames.arena.records.record_lines import RecordError
from cellgames.arena.records.store.store import Store, StoreError
from cellgames.cli.main import main
from cellgames.utils.foreign_text import MOST_LINE

SECONDS = 5.0
"""Most of this process's own time for one file."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 300 games of three agents, on some 60 pages."""
    path = tmp_path_factory.mktemp("sound") / "store.sqlite"
    names = [("first", "second"), ("second", "third"), ("third", "first")]
    with Store(path) as store:
        for size in (3, 5):
            games = [
                game(number, names[number % 3], size=size, moves=[*"abcdefgh", str(number)]) for number in range(150)
            ]
            store.add(games, source=("file", f"games of size {size}"))
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=DELETE")
    return path


def read(path: Path) -> str:
    """Read all of a store in all ways, and return the message of the error, "" for none."""
    began = time.process_time()
    try:
        with Store(path, create=False) as store:
            assert isinstance(store.settings(), list)
            store.sources()
            for record, identities in store.results():
                record.check()
                assert len(identities) == len(record.agents)
            store.entries(limit=5)
            for record in store.games():
                record.check()
            store.export(path.with_suffix(".csv"))
            store.add([game(10_000)], source=("file", "more"))
            assert len(store) <= 4000
    except StoreError as error:
        message = str(error)
        assert len(message.removeprefix(str(path))) <= MOST_LINE, message
        assert message.isprintable(), message
    else:
        message = ""
    assert time.process_time() - began < SECONDS
    return message


def shown(path: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Ask for the leaderboard, and return the exit code; it says what is wrong in one line."""
    began = time.process_time()
    code = main(["leaderboard", "--store", str(path)])
    error = capsys.readouterr().err
    assert code in (0, 2), error
    assert (code == 2) == bool(error)
    assert error.count("\n") <= 1
    assert error.strip().isprintable()
    assert time.process_time() - began < SECONDS
    return code


def test_a_sound_store_is_read(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(shutil.copy(sound, tmp_path / "store.sqlite"))
    assert shown(path, capsys) == 0
    assert read(path) == ""
    with Store(path) as store:
        assert store.check() == "ok"
        assert len(store) == 301


HARMLESS = {
    "a view of a user",
    "thousands of agents",
    "our view without an end",
    "settings that are gone",
    "lineups that are gone",
    "games of the last number",
    "a game with a large board",
    "another game",
    "a game with long parameters",
}
"""Attacks that leave a store which can be read, or which has no games of known settings."""


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_ends_soon_and_in_our_own_error(
    name: str, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copy(sound, tmp_path / "store.sqlite"))
    ATTACKS[name](path)
    shown(path, capsys)
    message = read(path)
    assert message or name in HARMLESS


@pytest.mark.parametrize("first", slow_except([0], range(0, 160, 40)))
def test_a_damaged_file_is_read_or_refused(
    first: int, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, path, refused = sound.read_bytes(), tmp_path / "store.sqlite", 0
    for seed in range(first, first + 40):
        for leftover in tmp_path.iterdir():
            leftover.unlink()
        path.write_bytes(mutated(content, seed))
        refused += bool(read(path))
        if seed % 4 == 0:
            shown(path, capsys)
    assert 5 < refused < 40  # neither all nor none


def test_the_views_are_renewed(sound: Path, tmp_path: Path) -> None:
    """Those of another version, and those of a store that had none."""
    path = Path(shutil.copy(sound, tmp_path / "store.sqlite"))
    for change in ("DROP VIEW results", "DROP VIEW played_games", "CREATE VIEW results AS SELECT 1 AS old"):
        with sqlite3.connect(path) as database:
            database.execute(change)
    database.close()
    Store(path).close()
    database = sqlite3.connect(path)
    assert database.execute("SELECT count(*), sum(result) FROM results").fetchone() == (600, 300)
    database.close()


def test_a_record_of_too_many_seats_is_refused(tmp_path: Path) -> None:
    many = game(1, [f"agent {seat}" for seat in range(300)], ("draw",) * 300)
    with Store(tmp_path / "store.sqlite") as store, pytest.raises(ValueError, match="at most 256 seats, got 300"):
        store.add([many], source=("file", "many"))
    with pytest.raises(ValueError, match="of at most 1000 characters"):
        game(1, ["a" * 1001, "b"]).check()
    assert issubclass(RecordError, ValueError)
