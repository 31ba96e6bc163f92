"""The store of games: each once, word for word, whole after a kill, and fed by all kinds of runs."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import store_games
import torch
from arena_bots import First
from command import Command
from paths import ROOT
from processes import KILL, KILLED, environment
from refusals import fails, refused
from season_coin import Coin, made_up
from store_games import CHUNK, chunk, game

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import digest, identities, identity
from cellgames.agents.playouts import RandomAgent
from cellgames.arena import BotUmpire, CupUmpire, SeasonOptions, StoreError, match, play_evaluation, play_season
from cellgames.arena.play.match_options import FreeForAllOptions, MatchOptions, RoundRobinOptions
from cellgames.arena.play.rated_runs import RoundRobin, free_for_all, round_robin
from cellgames.arena.records.record_lines import Record, append, read_records
from cellgames.arena.records.store import Store, feeding, places_of
from cellgames.arena.records.variations import Variation

TORUS = cellgames.make("torus-v0", size=3)
FILE = ("file", "somewhere")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games" / "store.sqlite"


def test_games_come_back_word_for_word(path: Path) -> None:
    odd = replace(game(1), position="x../.../...", summary={"units": [1, 2]}, pairing=None, seed=-(1 << 62))
    games = [game(0), odd, game(2, ["é", "ü"], ("draw", "draw"))]
    with Store(path) as store:
        assert store.add(games, source=FILE) == 3
        assert list(store.games()) == games
        assert [store.text(number) for number in (1, 2, 3)] == [record.to_json() for record in games]
        assert (len(store), store.last) == (3, 3)


def test_a_game_counts_once_however_often_it_is_added(path: Path) -> None:
    games = [game(number) for number in range(2500)]  # several transactions
    with Store(path) as store:
        assert store.add(games, source=FILE) == 2500
        assert store.add([*games, game(2500)], source=("round robin", "elsewhere")) == 1
        assert store.add([game(0), game(0)], source=FILE) == 0
        assert [(s.kind, s.games) for s in store.sources()] == [("file", 2500), ("round robin", 1)]
    with Store(path) as store:
        assert len(store) == 2501


def test_variations_are_kept_and_make_no_other_game(path: Path) -> None:
    plain, tried = game(0), (Variation(-1, "a1", "why not"), Variation(0, "b1"))
    with Store(path) as store:
        assert store.add([replace(plain, variations=tried)], source=FILE) == 1
        assert Record.from_json(store.text(1)).variations == store.record(1).variations == tried
        assert store.add([plain], source=FILE) == 0  # leaves them
        more = (Variation(-1, "a1"), Variation(0, "b2", "better"))
        assert store.add([replace(plain, variations=more)], source=FILE) == 0
        both = (*tried, Variation(0, "b2", "better"))
        assert [record.variations for record in store.games()] == [both]
        assert store.text(1) == replace(plain, variations=both).to_json()


def test_identities_that_become_known_are_filled_in(path: Path) -> None:
    with Store(path) as store:
        store.add([game(0)], source=FILE)
        assert store.settings()[0].agents == (("first", ""), ("second", ""))
        assert store.add([game(0)], source=FILE, identities={"first": "aa"}) == 0
        assert store.settings()[0].agents == (("first", "aa"), ("second", ""))
        assert store.add([game(0)], source=FILE) == 0  # nothing is forgotten
        assert store.settings()[0].agents == (("first", "aa"), ("second", ""))
        assert store.add([game(0)], source=FILE, identities={"first": "cc"}) == 1  # another agent of that name
        assert store.settings()[0].agents == (("first", "aa"), ("first", "cc"), ("second", ""))


def test_games_are_found_by_game_and_parameters(path: Path) -> None:
    games = [game(0), game(1, size=8), game(2, ["first", "third"], ("loss", "win")), game(3, version="0.2.0")]
    with Store(path) as store:
        store.add(games, source=FILE)
        assert list(store.games("torus-v0", {"size": 5})) == [games[0], games[2], games[3]]
        assert list(store.games("toroidal-cup-v0")) == []
        assert [(s.parameters, s.games, s.versions) for s in store.settings()] == [
            ({"size": 5}, 3, ("0.1.0", "0.2.0")),
            ({"size": 8}, 1, ("0.1.0",)),
        ]
        newest, before = store.entries(limit=2)
        assert (newest.number, before.number) == (4, 3)
        assert store.record(before.number) == before.record == games[2]
        assert [entry.number for entry in store.entries("torus-v0", {"size": 8})] == [2]
        with refused(str(path), "77"):
            store.record(77)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    text, foreign, missing, newer = (tmp_path / name for name in ("notes.txt", "foreign.sqlite", "missing", "newer"))
    text.write_text("These are not games. " * 400)
    Store(newer).close()
    for path, change in ((foreign, "CREATE TABLE birds (name TEXT)"), (newer, "PRAGMA user_version=4")):
        with sqlite3.connect(path) as database:
            database.execute(change)
        database.close()
    before = foreign.read_bytes()
    for path, create, fields in (
        (text, True, {"got": "file is not a database"}),
        (foreign, True, {"got": "another program's SQLite file"}),
        (missing, False, {"got": "none"}),
        (text / "store.sqlite", True, {"expected": "a store of games or room for one"}),
        (newer, True, {"expected": "a store of version 3", "got": "version 4"}),
    ):
        with fails(StoreError, **fields):
            Store(path, create=create)
    assert foreign.read_bytes() == before
    assert not missing.exists()


def _writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    words = [sys.executable, store_games.__file__, str(path), str(first), str(last)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment())


def _check_whole(path: Path, acknowledged: set[int]) -> None:
    """Nothing is broken, torn, lost or there twice."""
    with Store(path) as store:
        assert list(store._asked("PRAGMA integrity_check")) == [("ok",)]
        texts = [store.text(entry.number) for entry in store.entries(limit=1 << 30)]
    assert len(texts) == len(set(texts))
    found: dict[int, set[str]] = {}
    for text in texts:
        found.setdefault((Record.from_json(text).seed - 1000) // (CHUNK // 2), set()).add(text)
    for number, games in found.items():
        assert games == {record.to_json() for record in chunk(number)}
    assert acknowledged <= found.keys()


def test_two_writers_at_once_and_one_that_is_killed(path: Path) -> None:
    # The first two share half of their chunks; the third is killed among them.
    writers = [_writer(path, 0, 40), _writer(path, 20, 60), _writer(path, 60, 5000)]
    killed = writers[2]
    assert killed.stdout is not None
    for _ in range(4):
        killed.stdout.readline()
    os.kill(killed.pid, KILL)
    said = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, KILLED]
    assert [len(lines) for lines in said[:2]] == [41, 41]
    _check_whole(path, {*range(60), *map(int, said[2])})
    with Store(path) as store:  # who was killed adds all again
        before = len(store)
        again = [record for number in range(60, 64) for record in chunk(number)]
        there = sum(record.seed - 1000 < 64 * CHUNK // 2 for record in store.games()) - 60 * CHUNK
        assert store.add(again, source=FILE) == len(again) - there
        assert len(store) == before + len(again) - there


FORGED: tuple[dict[str, Any], ...] = ({"moves": ()}, {"game": "chess-v0"}, {"parameters": {"size": 10**6}})


@pytest.mark.parametrize("forged", FORGED, ids=lambda forged: next(iter(forged)))
def test_games_that_do_not_replay_are_refused(forged: dict[str, Any], path: Path, tmp_path: Path) -> None:
    good, bad = match(TORUS, "random", "greedy", MatchOptions(games=2)).records
    file = tmp_path / "games.jsonl"
    append(file, [good, replace(bad, **forged)])
    with Store(path) as store:
        with fails(StoreError, parameter=f"{file}, game 2"):
            store.import_run(file)
        assert len(store) == 0


def test_the_store_is_made_anew_from_the_files(tmp_path: Path) -> None:
    """Of runs below a folder, and of games without a run with their identities."""
    path, cup = tmp_path / "store.sqlite", cellgames.make("toroidal-cup-small-v0", teams=3, max_generations=10)
    round_robin(
        TORUS, ["random", "greedy"], RoundRobinOptions(games=4, gif=False), out=tmp_path / "a" / "two", store=path
    )
    free_for_all(cup, ["random", "greedy"], FreeForAllOptions(games=4), out=tmp_path / "many", store=path)
    bots: dict[str, AnyAgent] = {"first": First("first"), "random": RandomAgent()}
    with Store(path) as store, feeding(store, "evaluation", "", identities([*bots.values()])) as keep:
        play_evaluation(TORUS, bots, MatchOptions(games=6, chunk=2), keep=keep)
        expected = store.settings(), sorted(record.to_json() for record in store.games())
    places = places_of(tmp_path)
    assert places == [tmp_path / name for name in ("a/two", "many", "played")]
    for files in (places, [*places, *places]):
        with Store(tmp_path / "new" / f"{len(files)}.sqlite") as store:
            for file in files:
                store.import_run(file)
            assert (store.settings(), sorted(record.to_json() for record in store.games())) == expected


def test_a_run_killed_between_its_file_and_the_store_repairs_that(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls, agents = Store.add, list[int](), ["random", "arena_bots:First"]

    def killed(self: Store, *given: object, **named: object) -> int:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, *given, **named)  # type: ignore[arg-type]  # as given

    def run(games: int) -> RoundRobin:
        options = RoundRobinOptions(games=games, chunk=2, gif=False)
        return round_robin(TORUS, agents, options, out=tmp_path / "run", store=path)

    monkeypatch.setattr(Store, "add", killed)
    with pytest.raises(KeyboardInterrupt):
        run(8)
    with Store(path) as store:
        assert len(store) == 4
    assert len(read_records(tmp_path / "run" / "games.jsonl").records) == 8
    grown = run(12)
    assert grown.played == 4
    with Store(path) as store:
        assert list(store.games()) == list(grown.records)
        assert dict(store.settings()[0].agents) == identities(agents)
        assert store.import_run(tmp_path / "run") == 0


def test_a_store_that_fails_later_does_not_stop_the_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with feeding(path, "round robin", "results/mine", {}, said.append) as keep:
        keep(chunk(0))
        monkeypatch.setattr(Store, "add", lambda *given, **named: _fail())
        keep(chunk(1))
        keep(chunk(2))
    assert len(said) == 1
    assert "disk full" in said[0]
    assert "leaderboard --add results/mine" in said[0]


def _fail() -> int:
    raise StoreError("store.sqlite: games cannot be added: disk full")


def test_a_season_of_bots_feeds_the_store_and_one_without_does_not(path: Path, tmp_path: Path) -> None:
    teams, options = made_up(8, "random", "greedy"), SeasonOptions(days=1)
    season = play_season(teams, BotUmpire(TORUS, teams), options, out=tmp_path / "season", store=path)
    play_season(teams, BotUmpire(TORUS, teams), options, out=tmp_path / "season", store=path)
    play_season(made_up(8), Coin(), options, out=tmp_path / "coins", store=path)
    chance = tmp_path / "chance"
    chance.mkdir()
    (chance / "season.json").write_text(json.dumps(CupUmpire(["randys"]).settings))
    (chance / "games.jsonl").write_text("{}")
    with Store(path) as store:
        assert len(store) == season.games
        assert store.sources()[0].kind == "season"
        assert {name for name, _ in store.settings()[0].agents} == {"random", "greedy"}
        assert store.import_run(season.out) == 0
        with refused(str(chance), "a season of random arrangements"):
            store.import_run(chance)


def test_an_identity_changes_with_weights_and_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = tmp_path / "agent.safetensors"
    weights.write_bytes(b"one")
    one = identity(weights)
    assert one == identity(tmp_path) == identity(f"gumbel:8:{weights}") == digest(b"one")
    weights.write_bytes(b"two")
    assert identity(weights) != one
    assert identity(tmp_path / "missing.safetensors") == ""
    bot = tmp_path / "some_bot.py"
    bot.write_text("class Bot: ...\n")
    monkeypatch.chdir(tmp_path)  # where it is found before it is imported
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    assert identity("some_bot:Bot") == identity("some_bot:Bot:text") == digest(bot.read_bytes())
    assert identity("no_such_module:Bot") == identity("no.such_module:Bot") == ""


def test_an_identity_of_the_package_is_its_version_or_its_weights() -> None:
    for spec in ("random", "rollout:8", "mcts:16", "perfect"):
        assert identity(spec) == cellgames.__version__
    assert identity(RandomAgent()) == cellgames.__version__
    small, large = (identity("trained", cellgames.make(name)) for name in ("cloth-of-gold-small-v0", "torus-v0"))
    assert len(small) == len(large) == 16
    assert small != large
    searching = identity("gumbel:8", cellgames.make("torus-v0"))  # a smaller network
    assert len(searching) == 16
    assert searching != large
    assert identity("gumbel:8", cellgames.make("cloth-of-gold-small-v0")) == small  # the same weights
    assert identity(cellgames.agents.load("trained"), cellgames.make("torus-v0")) == large
    assert identity("trained") == ""


def test_an_agent_object_is_known_by_its_source_its_weights_or_by_what_it_says() -> None:
    assert identity(First()) == digest((ROOT / "tests" / "support" / "arena_bots.py").read_bytes())
    bot, network = RandomAgent(), torch.nn.Linear(2, 2)
    bot.network = network  # type: ignore[attr-defined]  # any object may have one
    before = identity(bot)
    with torch.no_grad():
        network.weight += 1
    assert before != identity(bot) != ""
    bot.identity = "my bot 7"  # type: ignore[attr-defined]  # and this
    assert identity(bot) == "mybot7"


def test_a_reader_is_not_disturbed_by_new_settings(path: Path) -> None:
    with Store(path) as store, Store(path) as other:
        store.add([game(0)], source=("file", "x"))
        found = store.entries()
        first = next(iter(found))
        other.add([game(1, size=7)], source=("file", "y"))
        assert first.record.parameters == {"size": 5}
        assert [entry.record.parameters["size"] for entry in store.entries()] == [7, 5]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A store in a folder that every user can reach, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Store(folder / "store.sqlite") as store:
            store.add(chunk(0), source=FILE)
        yield folder / "store.sqlite"
        folder.chmod(0o755)


@contextmanager
def as_reader(store: Path, places: str) -> Iterator[None]:
    """As a user who cannot write the file or its folder, whom root becomes meanwhile."""
    store.chmod(0o444 if "file" in places else 0o666)
    store.parent.chmod(0o555 if "folder" in places else 0o777)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
@pytest.mark.parametrize("places", ["file", "folder", "file and folder"])
def test_a_store_that_cannot_be_written_is_read(places: str, shared: Path, command: Command) -> None:
    printed = command(["leaderboard", "--store", shared])
    with as_reader(shared, places):
        assert command(["leaderboard", "--store", shared]) == printed
        with Store(shared, create=False) as store:
            assert [one.to_json() for one in store.games()] == [one.to_json() for one in chunk(0)]
            with fails(StoreError, cause="games cannot be added: attempt to write a readonly database"):
                store.add(chunk(1), source=FILE)
    assert [path.name for path in shared.parent.iterdir()] == ["store.sqlite"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs the permissions of POSIX")
def test_a_store_with_a_log_in_a_read_only_folder_says_what_to_do(shared: Path) -> None:
    """Its newest games are in the log, which SQLite cannot read there."""
    with Store(shared) as store:
        store.add(chunk(1), source=FILE)
        left = {name: shared.with_name(name).read_bytes() for name in ("store.sqlite", "store.sqlite-wal")}
    for name, content in left.items():
        shared.with_name(name).write_bytes(content)
    with as_reader(shared, "folder"), refused(str(shared), "unable to open database file"):
        Store(shared, create=False)
    with Store(shared, create=False) as store:
        assert len(store) == 2 * CHUNK


def test_a_store_that_is_made_meanwhile_is_not_taken_for_another_programs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer comes between two of the questions that the check asks."""
    path.parent.mkdir()
    connect, came = sqlite3.connect, list[str]()

    class Interrupted(sqlite3.Connection):
        def execute(self, question: str, values: Any = (), /) -> sqlite3.Cursor:
            if question == "PRAGMA user_version" and not came:
                came.append(question)
                with suppress(StoreError):  # it may have to wait
                    Store(path, wait_s=0.1).close()
            return super().execute(question, values)

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Interrupted))
    with Store(path) as store:
        assert len(store) == 0
    assert came
