"""The store: the games of all runs in one SQLite file that grows over time.

    with Store("results/store.sqlite") as store:
        store.import_run("results/torus5")
        for line in store.settings():
            print(line.game, line.parameters, line.games)

A game counts once, however often it is added: it is known by the text of its record and by the identities of its
agents (`agents.identity`). The text is kept word for word, so every table can be made again from the store alone.

Several processes may read and write at once. The journal is a write-ahead log (WAL): readers never wait, writers wait
for each other, and what `add` got is there as a whole or not at all, also after `kill -9`. `synchronous` is NORMAL: if
the machine itself stops, the last moments may be missing, never half there; runs keep their games in files of their
own first (`records.append`) and add them again when they continue. WAL needs the file on a local disk.

Reading and writing need no torch.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from typing_extensions import override

from cellgames.agents.identity import is_program
from cellgames.arena.records.record_lines import Record, to_line
from cellgames.arena.records.variations import merged, variations_data, variations_of
from cellgames.utils.foreign_text import clipped, shown
from cellgames.utils.run_folders import PathLike

from . import counts, export_table, import_runs
from .database import StoreError, StoreFile
from .rows import SEALED, Row, canonical, light, names_of, parsed, row, seal, setting_of, text_hash

__all__ = ["DEFAULT_STORE", "Entry", "Setting", "Source", "Store", "StoreError", "default_store"]

DEFAULT_STORE = Path("results") / "store.sqlite"
"""The command line's store, unless the environment variable `CELLGAMES_STORE` names another file."""

_MOST_RECORD = 1 << 26  # bytes of a record's text

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


@dataclass(frozen=True)
class Entry:
    """A game with its number in the store, for lists.

    Attributes:
        identities: Identities of the agents, by seat.
        record: As `Store.results` gives it.
        source: Kind and place.
    """

    number: int
    record: Record
    identities: tuple[str, ...]
    source: tuple[str, str]
    added: str


class Store(StoreFile):
    """An open store; a context manager. One process or thread has its own.

    Args:
        path: Path of the file; a missing file is made, with its folder.
        create: False refuses a missing file, and opens one that cannot be written for reading.
        wait_s: How long to wait for other processes that write, in seconds.

    Raises:
        StoreError: The file is not a store, is of a newer version, is missing, or cannot be made there.
    """

    # ------------------------------------------------------------ writing

    def add(
        self,
        records: Iterable[Record],
        *,
        source: tuple[str, PathLike],
        identities: Mapping[str, str] | None = None,
    ) -> int:
        """Add games; those that are there already count once.

        Up to a thousand games are there as a whole or not at all; more are added a thousand at a time.

        Args:
            records: In any order.
            source: Kind and place, see `Source`.
            identities: Identities of agents by name (`agents.identity.identities`). Of those left out, the package's
                own programs have the version that the record names, others are not known. A game that is there without
                identities gets those that become known.

        Returns:
            The number of new games.

        Raises:
            StoreError: The file cannot be written, as on a full disk.
        """
        known, new, part = identities or {}, 0, list[Row]()
        for record in records:
            part.append(row(record))
            if len(part) == _PART:
                new += self._add(part, source, known)
                part.clear()
        return new + self._add(part, source, known)

    def _add(self, rows: Sequence[Row], source: tuple[str, PathLike], identities: Mapping[str, str]) -> int:
        if not rows:
            return 0
        packed = [zlib.compress(one.text.encode(), 6) for one in rows]  # before others have to wait
        try:
            with self._writing():
                now = datetime.now(UTC).isoformat(timespec="seconds")
                self._known.clear()
                origin = self._id("sources", {"kind": source[0], "place": os.fspath(source[1])}, {"added": now})
                return sum(
                    self._add_row(one, data, origin, identities, now) for one, data in zip(rows, packed, strict=True)
                )
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: games cannot be added: {error}") from None

    def _add_row(self, one: Row, data: bytes, source: int, identities: Mapping[str, str], now: str) -> bool:
        """Add a game unless the store has it; return True if it is new."""
        version = one.columns[-1]
        versions = [identities.get(agent) or (version if is_program(agent) else "") for agent in one.agents]
        there = self._db.execute(
            "SELECT games.id, identities FROM games JOIN lineups ON lineup = lineups.id WHERE hash = ?", (one.hash,)
        ).fetchall()
        for number, text in there:
            with self._trusting_nothing(f"game {number}"):
                before = list(names_of(text, text)[1])
                if len(before) != len(versions):
                    raise ValueError(f"expected {len(versions)} identities, got {shown(before)}")
            if all(a == b or not a or not b for a, b in zip(versions, before, strict=True)):
                both = [a or b for a, b in zip(versions, before, strict=True)]
                if both != before:
                    self._db.execute("UPDATE games SET lineup = ? WHERE id = ?", (self._lineup(one, both), number))
                    counts.drop(self._db, number)
                    self._seal(number)
                self._add_variations(number, one.variations)
                return False
        game, parameters = one.setting
        setting = self._id("settings", {"game": game, "parameters": parameters})
        seed, opening, *result, _ = one.columns
        found = self._db.execute(
            "INSERT INTO games (hash, setting, lineup, source, seed, opening, start, course, outcome, scores, turns, "
            "truncated, forfeit, version, added) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                *(one.hash, setting, self._lineup(one, versions), source, seed, opening, one.start, one.course),
                *(*result, version, now),
            ),
        )
        self._db.execute("INSERT INTO records VALUES (?, ?)", (found.lastrowid, data))
        self._seal(found.lastrowid)
        self._add_variations(found.lastrowid, one.variations)
        counts.count(self._db, found.lastrowid, zip(one.agents, versions, strict=True))
        return True

    def _add_variations(self, number: int | None, text: str) -> None:
        """Add what people tried beside a game to the variations that the store has of it."""
        if not text:
            return
        there = self._db.execute("SELECT data, hash FROM variations WHERE game = ?", (number,)).fetchone()
        if there is not None:
            with self._trusting_nothing(f"the variations of game {number}"):
                both = merged(*(variations_of(parsed(one)) for one in (_unpacked(*there), text)))
            text = to_line(variations_data(both))
        values = (number, zlib.compress(text.encode(), 6), text_hash(text))
        self._db.execute("INSERT OR REPLACE INTO variations VALUES (?, ?, ?)", values)

    def _seal(self, number: int | None) -> None:
        values = self._db.execute(SEALED, (number,)).fetchone()
        self._db.execute("INSERT OR REPLACE INTO seals VALUES (?, ?)", (number, seal(values)))

    @override
    def _seal_older(self) -> None:
        for (number,) in self._db.execute("SELECT id FROM games").fetchall():
            values = self._db.execute(SEALED, (number,)).fetchone()
            with suppress(ValueError, TypeError):  # of a damaged game, which is refused when it is read
                self._check_by_record(values)
                self._seal(number)

    def _check_by_record(self, values: tuple[Any, ...]) -> None:
        """Raise a `StoreError` unless the values of a game (`SEALED`) follow from its record."""
        number, _, *setting, agents, identities, _, _, _, start, course, _ = values[:12]
        one = row(self.record(number))
        found = (tuple(setting), names_of(agents, identities)[0], start, course, values[12:])
        if found != (one.setting, one.agents, one.start, one.course, one.columns):
            raise self._damaged(f"game {number} is not what its record says")

    def _lineup(self, one: Row, identities: Sequence[str]) -> int:
        return self._id("lineups", {"agents": _words(one.agents), "identities": _words(identities)})

    def _id(self, table: str, key: Mapping[str, str], more: Mapping[str, str] | None = None) -> int:
        """Return the id of a row of one of the small tables; a missing row is added."""
        asked = (table, *key.values())
        if asked not in self._known:
            where = " AND ".join(f"{name} = ?" for name in key)
            found = self._db.execute(f"SELECT id FROM {table} WHERE {where}", (*key.values(),)).fetchone()
            if found is None:
                values = {**key, **(more or {})}
                marks = ", ".join("?" * len(values))
                insert = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"
                found = (self._db.execute(insert, (*values.values(),)).lastrowid,)
            self._known[asked] = int(found[0])
        return self._known[asked]

    def import_run(
        self, path: PathLike, *, warn: Callable[[str], None] = lambda message: None, progress: bool = False
    ) -> int:
        """Play the games of a run's folder, or of a file of records, again and add them; see `import_runs`."""
        return import_runs.import_run(self, path, warn=warn, progress=progress)

    # ------------------------------------------------------------ reading

    def __len__(self) -> int:
        """Return the number of games."""
        return self._count("SELECT count(*) FROM games")

    @property
    def last(self) -> int:
        """The number of the newest game, 0 for none; while it is the same, tables of the store are up to date."""
        return self._count("SELECT coalesce(max(id), 0) FROM games")

    def _count(self, question: str) -> int:
        ((found,),) = self._asked(question)
        return int(found)

    def settings(self, *, sound: bool = True) -> list[Setting]:
        """Return the games and parameters that were played.

        Args:
            sound: Whether to check the whole file first. Leaderboards need no such check, since the seals of the counts
                tell whether they fit the games.
        """
        if sound:
            self._require_sound()
        found: dict[tuple[str, str], tuple[list[int], set[tuple[str, str]], set[str]]] = {}
        lines = self._asked(
            "SELECT game, parameters, version, agents, identities, n FROM (SELECT setting, version, lineup, count(*) n "
            "FROM games GROUP BY setting, version, lineup) JOIN settings ON settings.id = setting "
            "JOIN lineups ON lineups.id = lineup ORDER BY game, parameters"
        )
        with self._trusting_nothing():
            for game, parameters, version, agents, identities, games in lines:
                count, names, versions = found.setdefault((game, parameters), ([], set(), set()))
                count.append(games)
                names.update(zip(*names_of(agents, identities), strict=True))
                versions.add(clipped(str(version)))
            return [
                Setting(*setting_of(*setting), sum(count), tuple(sorted(names)), tuple(sorted(versions)))
                for setting, (count, names, versions) in found.items()
            ]

    def sources(self) -> list[Source]:
        """Return the origins of games, the first ones first."""
        self._require_sound()
        lines = self._asked(
            "SELECT kind, place, sources.added, count(games.id) FROM sources LEFT JOIN games ON source = sources.id "
            "GROUP BY sources.id ORDER BY sources.id"
        )
        return [Source(str(kind), str(place), str(added), games) for kind, place, added, games in lines]

    def results(
        self,
        game: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        agents: Collection[str] | None = None,
        version: str | None = None,
    ) -> Iterator[tuple[Record, tuple[str, ...]]]:
        """Yield games as far as tables need them, in the order in which they were added, without moves and summaries.

        A record from here cannot be played again. Its `moves` hold one text that differs where moves differ; its
        `pairing` numbers what it started from (`rows.Row.start`), so that `stats.tables` resamples games
        from one start together, and not those that two runs have numbered alike.

        Args:
            game: Id; None for any.
            parameters: All of them; None for any.
            agents: Names; games in which others took part are left out. None for any.
            version: Version of the package; None for any.

        Yields:
            The record and the identities of its agents by seat.
        """
        self._require_sound()
        for _, record, identities, _, _ in self._entries(game, parameters, agents, version, "ORDER BY games.id"):
            yield record, identities

    def counted(self, game: str, parameters: Mapping[str, Any]) -> counts.Counted | None:
        """Return the counts of the games of two seats of a setting, None if it has others; see `counts`."""
        return counts.counted(self, game, parameters)

    def entries(
        self,
        game: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        offset: int = 0,
        limit: int = 100,
    ) -> list[Entry]:
        """Return a page of the list of games, the newest first; `game` and `parameters` as in `results`.

        Raises:
            ValueError: An offset or a limit that is negative or larger than SQLite's numbers.
        """
        for name, value in (("offset", offset), ("limit", limit)):
            if not 0 <= value < 1 << 63:
                raise ValueError(f"{name} must be a whole number from 0 to 2^63 - 1, got {shown(value)}")
        tail = f"ORDER BY games.id DESC LIMIT {int(limit)} OFFSET {int(offset)}"
        return [Entry(*found) for found in self._entries(game, parameters, None, None, tail)]

    def games(
        self,
        game: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        agents: Collection[str] | None = None,
        version: str | None = None,
    ) -> Iterator[Record]:
        """Yield whole records in the order in which they were added; the arguments are those of `results`."""
        self._require_sound()
        for number, *_ in self._entries(game, parameters, agents, version, "ORDER BY games.id"):
            yield self.record(number)

    def rows(self, game: str | None = None, parameters: Mapping[str, Any] | None = None) -> Iterator[list[Any]]:
        """Yield games as rows of a table (see `export_table.COLUMNS`); the arguments are those of `results`."""
        self._require_sound()
        for number, light_one, identities, source, added in self._entries(
            game, parameters, None, None, "ORDER BY games.id"
        ):
            text, result = self.text(number), light_one.result
            forfeit = light_one.to_data()["result"].get("forfeit")
            yield [
                *(number, light_one.game, canonical(light_one.parameters), light_one.seed, light_one.opening),
                *(list(light_one.agents), list(identities), list(result.outcome), list(result.scores)),
                *(result.turns, result.truncated, None if forfeit is None else canonical(forfeit)),
                *(light_one.version, *source, added, text),
            ]

    def record(self, number: int) -> Record:
        """Return the game of a number (`Entry.number`).

        Raises:
            StoreError: There is none.
        """
        text = self.text(number)
        try:
            return Record.from_json(text)
        except ValueError as error:
            raise self._damaged(f"game {number}: {error}") from None

    def text(self, number: int) -> str:
        """Return the text of a record, word for word as it was added, with all its variations.

        Raises:
            StoreError: There is none.
        """
        more = "variations.data, variations.hash" if self._variations else "NULL, NULL"
        joined = "LEFT JOIN variations ON variations.game = records.game" if self._variations else ""
        found = next(
            self._asked(
                f"SELECT records.data, games.hash, {more} FROM records LEFT JOIN games ON id = records.game {joined} "
                "WHERE records.game = ?",
                (number,),
            ),
            None,
        )
        if found is None:
            raise StoreError(f"{self.path}: expected the number of a game, got {number}")
        try:
            text = _unpacked(*found[:2])
            return text if found[2] is None else f'{text[:-1]},"variations":{_unpacked(*found[2:])}}}'
        except (zlib.error, TypeError, ValueError) as error:
            raise self._damaged(f"game {number}: {error}") from None

    def _entries(
        self,
        game: str | None,
        parameters: Mapping[str, Any] | None,
        agents: Collection[str] | None,
        version: str | None,
        tail: str,
    ) -> Iterator[tuple[int, Record, tuple[str, ...], tuple[str, str], str]]:
        """Yield number, light record, identities, source and time of each game."""
        text = None if parameters is None else canonical(parameters)
        wanted = {"settings.game": game, "parameters": text, "version": version}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = ?" for name in given) or "1"
        settings: dict[int, tuple[tuple[Any, ...], tuple[str, dict[str, Any]]]] = {}
        lineups: dict[int, tuple[tuple[Any, ...], tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        seals = ("seal", "LEFT JOIN seals ON seals.game = games.id") if self._seals else ("NULL", "")
        lines = self._asked(
            f"SELECT games.id, {seals[0]}, setting, lineup, hash, kind, place, sources.added, start, course, "
            "games.added, seed, opening, outcome, scores, turns, truncated, forfeit, version FROM games "
            "LEFT JOIN settings ON settings.id = setting LEFT JOIN sources ON sources.id = source "
            f"{seals[1]} WHERE {where} {tail}",
            (*given.values(),),
        )
        before = None
        for number, sealed, setting, lineup, hash, *values in lines:
            kind, place, _, start, course, added, *columns = values
            if before is not None and (number <= before) != ("DESC" in tail):  # a tree of pages that has a circle
                raise self._damaged(f"game {number} comes after game {before}")
            before = number
            try:
                if setting not in settings:  # looked up when met: others may add some meanwhile
                    texts = self._row("game, parameters", "settings", setting)
                    settings[setting] = texts, setting_of(*texts)
                if lineup not in lineups:
                    texts = self._row("agents, identities", "lineups", lineup)
                    lineups[lineup] = texts, names_of(*texts)
                names, identities = lineups[lineup][1]
                whole = (number, hash, *settings[setting][0], *lineups[lineup][0], *values)
                if sealed is None:  # of a program of the first versions
                    self._check_by_record(whole)
                elif sealed != seal(whole):
                    raise ValueError("it has changed since it was added")
                record = light(settings[setting][1], names, tuple(columns), start, course)
                if not type(kind) is type(place) is type(added) is str:
                    raise ValueError(f"expected texts for the origin, got {shown((kind, place, added))}")
            except StoreError:
                raise
            except (ValueError, OverflowError) as error:  # without a context manager, which takes longer
                raise self._damaged(f"game {number}: {error}") from None
            if agents is None or {*names} <= {*agents}:
                yield number, record, identities, (kind, place), added

    def _row(self, columns: str, table: str, number: Any) -> tuple[Any, ...]:
        """Return columns of the row of a small table."""
        found = next(self._asked(f"SELECT {columns} FROM {table} WHERE id = ?", (number,)), None)
        if found is None:
            raise ValueError(f"{table} has no row {shown(number)}")
        return found

    @contextmanager
    def _trusting_nothing(self, place: str = "") -> Iterator[None]:
        """Turn the error of a value that no store holds into a `StoreError`."""
        try:
            yield
        except StoreError:
            raise
        except (ValueError, OverflowError) as error:
            raise self._damaged(f"{place}: {error}" if place else error) from None

    def export(self, path: PathLike, **which: Any) -> int:
        """Write games to a file `.csv` or `.parquet`; see `export_table.export`."""
        return export_table.export(self, path, **which)


def _unpacked(data: Any, hash: Any) -> str:
    """Return a text of the store; raise a `ValueError`, `TypeError` or `zlib.error` for a damaged one."""
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(data, _MOST_RECORD)
    if not unpacker.eof:
        raise ValueError(f"expected a whole record of at most {_MOST_RECORD} bytes, got more or less")
    if text_hash(whole := text.decode()) != hash:
        raise ValueError("its record has changed since it was added")
    return whole


def _words(words: Sequence[str]) -> str:
    return json.dumps(list(words), ensure_ascii=False)
