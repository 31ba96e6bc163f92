"""The store: an index over the games of all runs, one SQLite file that grows over time.

    with Store("results/store.sqlite") as store:
        store.import_run("results/torus5")
        for line in store.settings():
            print(line.game, line.parameters, line.games)

A game counts once, however often it is added: it is known by the text of its record and by the identities of its
agents (`agents.loading`). All that the store holds is also in files: those of runs, and `played/games.jsonl` beside
the store for games that no run has a file of. So it can be deleted and made anew (`cellgames leaderboard --add
results`), and the integrity of games is that of the files (`record_lines`).

Several processes may read and write at once. The journal is a write-ahead log (WAL): readers never wait, writers wait
for each other, and what `add` got is there as a whole or not at all, also after `kill -9`. WAL needs the file on a
local disk. Reading and writing need no torch.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from typing_extensions import override

from cellgames.agents.loading import is_program
from cellgames.arena.records.record_lines import (
    KINDS,
    RECORDS,
    Record,
    Result,
    append,
    forfeit_of,
    read_lines,
    settings_of,
    to_line,
)
from cellgames.arena.records.variations import merged
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.files import PathLike
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.version import __version__

APPLICATION = 0x43474D53
"""`PRAGMA application_id` of a store: "CGMS" in ASCII."""

SCHEMA_VERSION = 3
"""`PRAGMA user_version`; raised whenever an older program could not read the tables."""

# An index on what tables count, so that they read narrow rows and not the moves.
SCHEMA = (
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, kind TEXT, place TEXT, added TEXT, UNIQUE (kind, place))",
    """CREATE TABLE ends (id INTEGER PRIMARY KEY, game TEXT, parameters TEXT, agents TEXT, identities TEXT,
        outcome TEXT, scores TEXT, forfeit TEXT, version TEXT)""",
    """CREATE TABLE games (
        id INTEGER PRIMARY KEY,
        hash INTEGER NOT NULL,
        end INTEGER NOT NULL REFERENCES ends,
        start INTEGER NOT NULL,
        course INTEGER NOT NULL,
        seed INTEGER NOT NULL,
        opening INTEGER NOT NULL,
        turns INTEGER NOT NULL,
        truncated INTEGER NOT NULL,
        source INTEGER NOT NULL REFERENCES sources,
        added TEXT NOT NULL,
        record BLOB NOT NULL)""",
    "CREATE INDEX games_by_hash ON games (hash)",
    "CREATE INDEX games_by_end ON games (end, start, course)",
    "CREATE INDEX games_by_source ON games (source)",
    """CREATE VIEW played_games AS SELECT
        games.id AS number, game, parameters, seed, opening, agents, identities, outcome, scores, turns, truncated,
        nullif(forfeit, '') AS forfeit, version, kind, place AS source, games.added AS added
        FROM games JOIN ends ON ends.id = games.end JOIN sources ON sources.id = games.source""",
    """CREATE VIEW results AS SELECT
        number, game, parameters, seats.key AS seat, seats.value AS agent,
        json_extract(identities, '$[' || seats.key || ']') AS identity,
        json_extract(outcome, '$[' || seats.key || ']') AS outcome,
        CASE json_extract(outcome, '$[' || seats.key || ']') WHEN 'win' THEN 1.0 WHEN 'draw' THEN 0.5 ELSE 0.0 END
            AS result,
        json_extract(scores, '$[' || seats.key || ']') AS score, turns, truncated, forfeit IS NOT NULL AS forfeited,
        version, kind, added
        FROM played_games, json_each(agents) AS seats""",
    f"PRAGMA application_id={APPLICATION}",
    f"PRAGMA user_version={SCHEMA_VERSION}",
)
"""Statements that make the tables, and two views for people: a row per game, and a row per game and seat.

`ends` holds all that tables count, once for games that are alike in it; the id of a row is the hash of its texts.
"""


class StoreError(InputError):
    """A file that is no store or cannot be used; `parameter` is its path."""


DEFAULT_STORE = Path("results") / "store.sqlite"
"""The command line's store, unless the environment variable `CELLGAMES_STORE` names another file."""

PLAYED = Path("played") / RECORDS
"""File beside the store with the games that no run has a file of."""

_PART = 1000  # games added in one transaction at most, so that others need not wait long


def default_store() -> Path:
    """Return the path in `CELLGAMES_STORE`, or `DEFAULT_STORE`."""
    return Path(os.environ.get("CELLGAMES_STORE") or DEFAULT_STORE)


@dataclass(frozen=True)
class Setting:
    """A game with all its parameters, and a count of what the store holds of it.

    Attributes:
        agents: (name, identity), sorted; one name may have had several identities, and "" is an unknown one.
        versions: Versions of the package that played the games.
    """

    game: str
    parameters: Mapping[str, Any]
    games: int
    agents: tuple[tuple[str, str], ...]
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """The origin of some games.

    Attributes:
        kind: "round robin", "free-for-all", "evaluation", "season", "file", or another word.
        place: The folder or file.
        added: When it was first seen, in UTC as ISO 8601 has it.
        games: Number of games that came from there first.
    """

    kind: str
    place: str
    added: str
    games: int


class Entry(NamedTuple):
    """A game with its number in the store, and when it was added, in UTC as ISO 8601 has it."""

    number: int
    record: Record
    added: str


class Store(AbstractContextManager["Store"]):
    """An open store; a context manager. One process or thread has its own.

    Args:
        path: Path of the file; a missing file is made, with its folder.
        create: False refuses a missing file, and opens one that cannot be written for reading.
        wait_s: How long to wait for other processes that write, in seconds.

    Raises:
        StoreError: The file is not a store, is of another version, is missing, or cannot be made there.
    """

    def __init__(self, path: PathLike, *, create: bool = True, wait_s: float = 60.0) -> None:
        self.path = Path(path)
        if not create and not self.path.is_file():
            raise StoreError(self.path, "a store of games", "none", "`cellgames leaderboard --add` makes one")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            reading, place = not (create or _writable(self.path, self.path.parent)), os.fspath(self.path)
            if reading:  # without a log no program writes it, and to make a log would need the folder
                log = self.path.with_name(f"{self.path.name}-wal").exists()
                place = f"{self.path.absolute().as_uri()}?{'mode=ro' if log else 'immutable=1'}"
            self._db = sqlite3.connect(place, timeout=wait_s, isolation_level=None, uri=reading)
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise StoreError(self.path, "a store of games or room for one", reason) from None
        try:
            self._check(reading)
            if not reading:
                self._choose_journal(time.monotonic() + wait_s)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._db.close()
            in_use = isinstance(error, sqlite3.OperationalError)
            expected = "a store of games" + ", neither read-only nor in use" * in_use
            raise StoreError(self.path, expected, clipped(str(error), 300)) from None
        except BaseException:
            self._db.close()
            raise

    def _check(self, reading: bool) -> None:
        """Make the tables of a new store; raise a `StoreError` for another file, or a store of another version."""
        with self._db:
            self._db.execute("BEGIN" if reading else "BEGIN IMMEDIATE")  # so that all answers are from one moment
            questions = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
            application, version, tables = (self._db.execute(question).fetchone()[0] for question in questions)
            empty = application == version == tables == 0
            if empty and not reading:
                for statement in SCHEMA:
                    self._db.execute(statement)
            elif application != APPLICATION:
                got = "an empty file that cannot be written" if empty else "another program's SQLite file"
                raise StoreError(self.path, "a store of games", got)
            elif version != SCHEMA_VERSION:
                cause = "move it away, and `cellgames leaderboard --add` makes a new one of the files of games"
                raise StoreError(self.path, f"a store of version {SCHEMA_VERSION}", f"version {version}", cause)

    def _choose_journal(self, deadline: float) -> None:
        """Choose the write-ahead log, at the latest before the deadline."""
        while True:  # SQLite does not wait when the journal changes
            try:
                self._db.execute("PRAGMA journal_mode=WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        self._db.execute("PRAGMA synchronous=NORMAL")

    @contextmanager
    def _naming(self, place: str = "") -> Iterator[None]:
        """Turn the errors of a damaged file into a `StoreError`."""
        try:
            yield
        except StoreError:
            raise
        except (sqlite3.Error, ValueError, TypeError, LookupError, OverflowError, zlib.error, RecursionError) as error:
            cause = "is it damaged? Delete it, and `cellgames leaderboard --add` with the folders of runs makes it anew"
            got = f"{place}{clipped(str(error), 300)}"
            raise StoreError(self.path, "a store that can be read", got, cause) from None

    @override
    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; no write is pending."""
        self._db.close()

    # ------------------------------------------------------------ writing

    def add(
        self, records: Iterable[Record], *, source: tuple[str, PathLike], identities: Mapping[str, str] | None = None
    ) -> int:
        """Add games; those that are there already count once.

        Up to a thousand games are there as a whole or not at all; more are added a thousand at a time.

        Args:
            records: In any order.
            source: Kind and place, see `Source`.
            identities: Identities of agents by name (`agents.loading.identities`). Of those left out, the package's
                own programs have the version that the record names, others are not known. A game that is there without
                identities gets those that become known.

        Returns:
            The number of new games.

        Raises:
            StoreError: The file cannot be written, as on a full disk.
        """
        rows, new = (_row(record, identities or {}) for record in records), 0
        origin = source[0], os.fspath(source[1])
        while part := list(islice(rows, _PART)):
            try:
                with self._db:
                    self._db.execute("BEGIN IMMEDIATE")
                    now = datetime.now(UTC).isoformat(timespec="seconds")
                    self._db.execute("INSERT OR IGNORE INTO sources VALUES (NULL, ?, ?, ?)", (*origin, now))
                    ((id,),) = self._db.execute("SELECT id FROM sources WHERE kind = ? AND place = ?", origin)
                    new += sum(self._add_row(*row, id, now) for row in part)
            except sqlite3.Error as error:
                raise StoreError(self.path, cause=f"games cannot be added: {error}") from None
        return new

    def add_played(self, records: Sequence[Record], kind: str, identities: Mapping[str, str]) -> int:
        """Add games that no run has a file of, and write them to `PLAYED` if any of them is new; else as `add`."""
        file = self.path.parent / PLAYED
        new = self.add(records, source=(kind, file.parent), identities=identities)
        try:
            if new:
                file.parent.mkdir(exist_ok=True)
                append(file, [Played(record, identities) for record in records])
        except OSError as error:
            raise StoreError(file, cause=f"games cannot be written: {error.strerror or error}") from None
        return new

    def _add_row(self, record: Record, own: tuple[str, ...], hash: int, data: bytes, *values: Any) -> bool:
        """Add a game unless the store has it; return True if it is new.

        A game that is there gets the identities and variations that it lacks.
        """
        question = "SELECT games.id, identities FROM games JOIN ends ON ends.id = end WHERE hash = ?"
        for number, text in self._db.execute(question, (hash,)).fetchall():
            before = _texts(text)
            if not all(a == b or not a or not b for a, b in zip(own, before, strict=True)):
                continue
            if (both := tuple(a or b for a, b in zip(own, before, strict=True))) != before:
                self._db.execute("UPDATE games SET end = ? WHERE id = ?", (self._end(record, both), number))
            if record.variations:
                there = self.record(number)
                more = _packed(replace(there, variations=merged(there.variations, record.variations)).to_json())
                self._db.execute("UPDATE games SET record = ? WHERE id = ?", (more, number))
            return False
        self._db.execute(
            "INSERT INTO games (hash, end, record, start, course, seed, opening, turns, truncated, source, added) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (hash, self._end(record, own), data, *values),
        )
        return True

    def _end(self, record: Record, identities: tuple[str, ...]) -> int:
        """Return the id of the row of `ends` for a game; a missing row is added."""
        result, forfeit = record.result, record.result.forfeit
        lists = map(_words, (record.agents, identities, result.outcome, result.scores))
        failed = "" if forfeit is None else canonical(forfeit.to_data())
        texts = (record.game, canonical(record.parameters), *lists, failed, record.version)
        id = _hash("\n".join(texts))
        self._db.execute("INSERT OR IGNORE INTO ends VALUES (?,?,?,?,?,?,?,?,?)", (id, *texts))
        return id

    def import_run(
        self, path: PathLike, *, warn: Callable[[str], None] = lambda message: None, progress: bool = False
    ) -> int:
        """Add the games of a run's folder, or of a file of records: all of them, or none if one does not replay.

        Args:
            path: The folder of a round robin, of free-for-all games, an evaluation, a season or series, or any file of
                records.
            warn: Gets a line for what is dropped, such as a torn line.
            progress: True to report on standard error if it takes more than two seconds.

        Returns:
            The number of new games.

        Raises:
            StoreError: The folder holds no games, or games of teams without agents, which cannot be rated, or a game
                that does not replay: an illegal or missing move, another result.
            RecordError: A line that is no record and that no crash can explain.
        """
        from cellgames.arena.records.replays import verify  # needs torch

        path = Path(path)
        file = path / RECORDS if path.is_dir() else path
        if not file.is_file():
            raise StoreError(path, f"the folder of a run with {RECORDS}, or a file of records", "none")
        name, settings = settings_of(file.parent) if file.name == RECORDS else ("", {})
        kind = KINDS.get(name, "file") if name != "run.json" or "games_per_pair" in settings else "free-for-all"
        if kind == "season" and "patterns" in settings:
            raise StoreError(path, "games of agents, such as a season with --agents", "a season of random arrangements")
        games, torn = read_lines(file, Played.from_json)
        if torn:
            warn(torn)
        records = [game.record for game in games]
        with show_progress(len(games), label=f"replay {file}", shown=progress, after_s=_PATIENCE_S) as finished:
            for number, error in verify(records, finished=finished):
                version = records[number].version
                other = "" if version == __version__ else f"; it was played by version {version}, this is {__version__}"
                place, got = f"{file}, game {number + 1}", f"{error}{other}"
                raise StoreError(place, "a game that replays", got, "no game was added") from None
        known = _names(settings.get("identities"))
        return sum(
            self.add((game.record for game in group), source=(kind, str(path)), identities={**known, **own})
            for own, group in groupby(games, key=lambda game: game.identities)
        )

    # ------------------------------------------------------------ reading

    def _asked(self, question: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that answer a question; raise a `StoreError` for a damaged file."""
        with self._naming():
            yield from self._db.execute(question, values)

    def __len__(self) -> int:
        """Return the number of games."""
        return int(next(self._asked("SELECT count(*) FROM games"))[0])

    @property
    def last(self) -> int:
        """The number of the newest game, 0 for none; while it is the same, tables of the store are up to date."""
        return int(next(self._asked("SELECT coalesce(max(id), 0) FROM games"))[0])

    def settings(self) -> list[Setting]:
        """Return the games and parameters that were played."""
        lines = self._asked(
            "SELECT game, parameters, agents, identities, version, games FROM ends "
            "JOIN (SELECT end, count(*) AS games FROM games GROUP BY end) ON ends.id = end"
        )
        found: dict[tuple[str, str], tuple[list[int], set[tuple[str, str]], set[str]]] = {}
        with self._naming():
            for game, parameters, agents, identities, version, number in lines:
                count, names, versions = found.setdefault((game, parameters), ([], set(), set()))
                count.append(number)
                names.update(zip(_texts(agents), _texts(identities), strict=True))
                versions.add(version)
            return [
                Setting(game, dict(json.loads(text)), sum(count), tuple(sorted(names)), tuple(sorted(versions)))
                for (game, text), (count, names, versions) in sorted(found.items(), key=lambda one: one[0])
            ]

    def sources(self) -> list[Source]:
        """Return the origins of games, the first ones first."""
        lines = self._asked(
            "SELECT kind, place, sources.added, count(games.id) FROM sources LEFT JOIN games ON source = sources.id "
            "GROUP BY sources.id ORDER BY sources.id"
        )
        return [Source(*line) for line in lines]

    def numbers(
        self, game: str, parameters: Mapping[str, Any]
    ) -> tuple[list[tuple[int, int, int]], dict[int, tuple[Record, tuple[str, ...]]]]:
        """Return start, course and end of each game of a setting, as `tables.alike` takes them.

        The second value is, by end, a record of such a game and the identities of its agents.
        """
        setting = game, canonical(parameters)
        with self._naming():
            ends = self._asked(
                "SELECT id, agents, identities, outcome, scores, forfeit, version FROM ends "
                "WHERE game = ? AND parameters = ? AND EXISTS (SELECT 1 FROM games WHERE end = ends.id)",
                setting,
            )
            lights = {}
            for id, agents, identities, outcome, scores, forfeit, version in ends:
                failed = forfeit_of(json.loads(forfeit)) if forfeit else None
                result = Result(_texts(outcome), _texts(scores), 0, False, failed)
                record = Record(game, version, parameters, 0, _texts(agents), opening=0, moves=(), result=result)
                lights[id] = record, _texts(identities)
            question = (
                "SELECT start, course, end FROM ends JOIN games ON end = ends.id WHERE game = ? AND parameters = ?"
            )
            return list(self._asked(question, setting)), lights

    def entries(
        self, game: str | None = None, parameters: Mapping[str, Any] | None = None, *, offset: int = 0, limit: int = 100
    ) -> list[Entry]:
        """Return a page of the list of games, the newest first; `game` and `parameters` as in `games`.

        Raises:
            ValueError: An offset or a limit that is negative or larger than SQLite's numbers.
        """
        for name, value in (("offset", offset), ("limit", limit)):
            if not 0 <= value < 1 << 63:
                raise InputError(name, "a whole number from 0 to 2^63 - 1", shown(value))
        return list(self._listed(game, parameters, f"DESC LIMIT {int(limit)} OFFSET {int(offset)}"))

    def games(self, game: str | None = None, parameters: Mapping[str, Any] | None = None) -> Iterator[Record]:
        """Yield records in the order in which they were added.

        Args:
            game: Id; None for any.
            parameters: All of them; None for any.
        """
        return (entry.record for entry in self._listed(game, parameters))

    def _listed(self, game: str | None, parameters: Mapping[str, Any] | None, tail: str = "") -> Iterator[Entry]:
        """Yield the entries of games; `tail` ends the question."""
        lines = self._asked(
            "SELECT games.id, added, record FROM games JOIN ends ON ends.id = end "
            f"WHERE game = coalesce(?, game) AND parameters = coalesce(?, parameters) ORDER BY games.id {tail}",
            (game, None if parameters is None else canonical(parameters)),
        )
        for number, added, data in lines:
            with self._naming(f"game {number}: "):
                entry = Entry(number, Record.from_json(zlib.decompress(data)), added)
            yield entry

    def record(self, number: int) -> Record:
        """Return the game of a number (`Entry.number`).

        Raises:
            StoreError: The store has no game of this number.
        """
        with self._naming(f"game {number}: "):
            return Record.from_json(self.text(number))

    def text(self, number: int) -> str:
        """Return the text of a record, word for word as it was added, with all its variations.

        Raises:
            StoreError: The store has no game of this number.
        """
        found = next(self._asked("SELECT record FROM games WHERE id = ?", (number,)), None)
        if found is None:
            raise StoreError(self.path, "the number of a game", number)
        with self._naming(f"game {number}: "):
            return zlib.decompress(found[0]).decode()


def _row(record: Record, identities: Mapping[str, str]) -> tuple[Any, ...]:
    """Return a record, identities by seat, hash, packed text, and start, course, seed, opening, turns, truncated.

    The start is a hash of what the game started from: seed, position and forced moves. Games with one start are no
    independent ones, in whatever run and however numbered there. The course tells different games apart.

    Raises:
        ValueError: `Record.check` refuses the record; no table could be made from the game.
    """
    record.check()
    text, result = record.to_json(), record.result
    same = replace(record, variations=()).to_json() if record.variations else text  # they make no other game of it
    own = (identities.get(agent) or (record.version if _is_program(agent) else "") for agent in record.agents)
    start = "\n".join((str(record.seed), record.position, *record.moves[: record.opening]))
    course = "\n".join((record.position, *record.moves))
    values = record.seed, record.opening, result.turns, result.truncated
    return record, tuple(own), _hash(same), _packed(text), _hash(start), _hash(course), *values


def canonical(values: Mapping[str, Any]) -> str:
    """Return JSON text that is the same for equal values, whatever their order."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@lru_cache(maxsize=4096)
def _texts(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _words(words: Sequence[Any]) -> str:
    return json.dumps(words, ensure_ascii=False)


_is_program = lru_cache(maxsize=4096)(is_program)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), 1)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _writable(*paths: Path) -> bool:
    return all(os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids) for path in paths)


AnyStore: TypeAlias = PathLike | Store | None
"""The store that gets games: a file, an open store, or None."""


@contextmanager
def feeding(
    store: AnyStore,
    kind: str,
    place: PathLike,
    identities: Mapping[str, str],
    warn: Callable[[str], None] = lambda message: None,
) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Yield a function that adds games to a store, for as long as a run lasts.

    The store must be fit for use at the beginning. If it fails later, as on a full disk, one line says so and the run
    goes on: its games are in its folder, from which `cellgames leaderboard --add` and the continued run add them.

    Args:
        store: None for a function that does nothing.
        kind: Kind of the run, as in `store.Source`.
        place: Folder of the run; "" for a run without one, whose games `Store.add_played` writes.
        identities: Identities of its agents.
        warn: Gets that line.

    Raises:
        StoreError: The file is no store, or cannot be made.
    """
    if store is None:
        yield lambda records: None
        return
    with nullcontext(store) if isinstance(store, Store) else Store(store) as open_store:
        failed = list[StoreError]()

        def keep(records: Sequence[Record]) -> None:
            try:
                if place and not failed:
                    open_store.add(records, source=(kind, place), identities=identities)
                elif not failed:
                    open_store.add_played(records, kind, identities)
            except StoreError as error:
                failed.append(error)
                later = f", and `cellgames leaderboard --add {place}` adds its games later" if place else ""
                warn(f"{error}; the run goes on{later}")

        yield keep


_PATIENCE_S = 2.0


class Played(NamedTuple):
    """A game with the identities of its agents, as a line of a file that has no settings beside it."""

    record: Record
    identities: Mapping[str, str]

    def to_json(self) -> str:
        """Return the record as one line with one field more."""
        own = {name: self.identities[name] for name in sorted({*self.record.agents} & self.identities.keys())}
        return to_line({**self.record.to_data(), "identities": own})

    @classmethod
    def from_json(cls, line: bytes) -> Played:
        """Return the game of a line; other lines have no identities."""
        known = json.loads(line).get("identities", {}) if b'"identities":' in line else {}
        return cls(Record.from_json(line), _names(known))


def places_of(path: PathLike) -> list[Path]:
    """Return the path of a file or of a run's folder; for another folder, all folders with games below it."""
    path = Path(path)
    if not path.is_dir() or (path / RECORDS).is_file():
        return [path]
    return sorted(file.parent for file in path.rglob(RECORDS)) or [path]


def _names(identities: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in identities.items()} if isinstance(identities, dict) else {}
