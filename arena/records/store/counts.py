"""Running counts of the games of two in a store, from which tables follow without a look at every game.

Tables need three things of a setting, and many games are alike in each: the results by lineup, the contents of the
clusters (a start and a pair of agents with the results of its games), and those of the courses (who played this
sequence of moves). The store counts how often it has each content; `counted` holds the content of each cluster and
course, so that one game more changes two of them. Adding keeps the counts; games that came or went otherwise are
noticed by their number and the sum of their ids, and then the counts are made from all games.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cellgames.arena.records.record_lines import Record
from cellgames.utils.foreign_text import shown

from .rows import canonical, light, names_of, parsed, seal, text_hash

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Counted", "Game", "count", "counted", "drop"]

Game: TypeAlias = tuple[Record, tuple[str, ...], int]
"""A light record, the identities of its agents, and how many games there are of it."""

_GAMES, _CLUSTERS, _COURSES, _IDS = range(4)
_LEVEL, _NO_SCORES = '["draw","draw"]', "[0.0,0.0]"


class Counted(NamedTuple):
    """Counts of the games of a setting.

    Attributes:
        games: Games with their results and scores.
        clusters: The games of a cluster, and the number of such clusters; a record tells its result alone.
        courses: Games with the same moves, and the number of such sequences; a record tells its agents alone.
    """

    games: list[Game]
    clusters: list[tuple[list[Game], int]]
    courses: list[tuple[list[Game], int]]


class _Counts:
    """Counts that grow, in memory or in the tables of the store."""

    def __init__(self) -> None:
        self.keys: dict[tuple[int, bytes], str] = {}
        self.numbers: Counter[tuple[int, str]] = Counter()

    def get(self, kind: int, key: bytes) -> str | None:
        return self.keys.get((kind, key))

    def put(self, kind: int, key: bytes, content: str) -> None:
        self.keys[kind, key] = content

    def bump(self, kind: int, content: str, more: int) -> None:
        self.numbers[kind, content] += more

    def add(self, number: int, lineup: int, agents: Iterable[tuple[str, str]], values: tuple[Any, ...]) -> None:
        """Count a game; the values are start, course, outcome, scores, forfeit and version."""
        start, course, outcome, scores, forfeit, version = values
        self.bump(_GAMES, json.dumps([version, lineup, outcome, scores, forfeit]), 1)
        self.bump(_IDS, json.dumps([version, lineup]), number)
        pair = text_hash(repr((start, sorted(agents))))
        for kind, key, item in ((_CLUSTERS, pair, [version, lineup, outcome]), (_COURSES, course, [version, lineup])):
            before = self.get(kind, key)
            items = Counter({tuple(one): n for *one, n in parsed(before or "[]")})
            # Who repeats a course ever again makes its content no longer.
            items[tuple(item)] = items[tuple(item)] + 1 if kind == _CLUSTERS else 1
            content = json.dumps(sorted([*one, n] for one, n in items.items()))
            if content != before:
                if before is not None:
                    self.bump(kind, before, -1)
                self.bump(kind, content, 1)
                self.put(kind, key, content)


class _Stored(_Counts):
    def __init__(self, database: sqlite3.Connection, setting: int) -> None:
        self._db, self._setting = database, setting

    def get(self, kind: int, key: bytes) -> str | None:
        question = "SELECT content FROM counted WHERE setting = ? AND kind = ? AND key = ?"
        found = self._db.execute(question, (self._setting, kind, key)).fetchone()
        return None if found is None else str(found[0])

    def put(self, kind: int, key: bytes, content: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO counted VALUES (?, ?, ?, ?)", (self._setting, kind, key, content))

    def bump(self, kind: int, content: str, more: int) -> None:
        key = self._setting, kind, content
        question = "SELECT number, seal FROM counts WHERE setting = ? AND kind = ? AND content = ?"
        number, there = self._db.execute(question, key).fetchone() or (0, None)
        if there not in (None, seal((*key, number))):
            raise ValueError("a count has changed since it was kept")
        row = *key, number + more
        self._db.execute("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?, ?)", (*row, seal(row)))


_VALUES = "start, course, outcome, scores, forfeit, version"


def count(database: sqlite3.Connection, number: int | None, agents: Iterable[tuple[str, str]]) -> None:
    """Count a game that was just added, in the same transaction."""
    pairs = list(agents)
    question = f"SELECT setting, lineup, {_VALUES} FROM games WHERE id = ?"
    setting, lineup, *values = database.execute(question, (number,)).fetchone()
    if len(pairs) == 2 and number is not None:
        with suppress(ValueError, TypeError):  # of counts that somebody else has made: they will not fit
            _Stored(database, setting).add(number, lineup, pairs, tuple(values))


def drop(database: sqlite3.Connection, number: int) -> None:
    """Drop the counts of the setting of a game."""
    for table in ("counts", "counted"):
        database.execute(f"DELETE FROM {table} WHERE setting = (SELECT setting FROM games WHERE id = ?)", (number,))


def counted(store: Store, game: str, parameters: Mapping[str, Any]) -> Counted | None:
    """Return the counts of a setting, made anew where they do not fit its games; None for games of other than two."""
    question = "SELECT id FROM settings WHERE game = ? AND parameters = ?"
    ((setting,),) = store._asked(question, (game, canonical(parameters)))
    there = _games(store, setting)
    with store._trusting_nothing():
        names = {n: names_of(*store._row("agents, identities", "lineups", n)) for n in {one[1] for one in there}}
    if any(len(agents) != 2 for agents, _ in names.values()):
        return None
    rows: list[Any]
    if store._counts:
        asked = "SELECT setting, kind, content, number, seal FROM counts WHERE setting = ? AND number != 0"
        sealed = list(store._asked(asked, (setting,)))
        rows = [row[1:] for *row, kept in sealed if kept == seal(tuple(row))]
        with suppress(ValueError, TypeError, KeyError):
            if len(rows) == len(sealed) and _sums(rows) == there:
                return _read(game, parameters, names, rows)
    store._require_sound()
    for _ in store._entries(game, parameters, None, None, "ORDER BY games.id"):
        pass  # each is checked against its seal
    made = _Counts()
    with store._trusting_nothing():
        for number, lineup, *values in store._asked(
            f"SELECT id, lineup, {_VALUES} FROM games WHERE setting = ?", (setting,)
        ):
            if lineup not in names:
                names[lineup] = names_of(*store._row("agents, identities", "lineups", lineup))
            made.add(number, lineup, zip(*names[lineup], strict=True), tuple(values))
        rows = [(*key, number) for key, number in made.numbers.items() if number]
        found = _read(game, parameters, names, rows)
    if store._counts and not store._reading:
        _keep(store, setting, made, rows)
    return found


def _keep(store: Store, setting: int, made: _Counts, rows: list[tuple[Any, ...]]) -> None:
    """Write counts into the store, unless games came meanwhile or the file cannot be written."""
    database = store._db
    with suppress(sqlite3.Error), store._writing():
        if _games(store, setting) == _sums(rows):
            for table in ("counts", "counted"):
                database.execute(f"DELETE FROM {table} WHERE setting = ?", (setting,))
            whole = [(setting, *row) for row in rows]
            keys = sorted((setting, *key, content) for key, content in made.keys.items())
            database.executemany("INSERT INTO counted VALUES (?, ?, ?, ?)", keys)
            database.executemany("INSERT INTO counts VALUES (?, ?, ?, ?, ?)", [(*row, seal(row)) for row in whole])


def _games(store: Store, setting: int) -> dict[tuple[Any, Any], tuple[int, int]]:
    """Return the number of games and the sum of their ids by version and lineup."""
    question = "SELECT version, lineup, count(*), sum(id) FROM games WHERE setting = ? GROUP BY version, lineup"
    return {(version, lineup): (n, ids) for version, lineup, n, ids in store._asked(question, (setting,))}


def _sums(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, Any], tuple[int, int]]:
    """Return what `_games` would if the games were those of the counts."""
    games, ids = Counter[tuple[Any, Any]](), Counter[tuple[Any, Any]]()
    for kind, content, number in rows:
        if kind in (_GAMES, _IDS):
            version, lineup, *_ = parsed(content)
            (games if kind == _GAMES else ids)[version, lineup] += number
    return {key: (number, ids[key]) for key, number in games.items()}


def _read(
    game: str,
    parameters: Mapping[str, Any],
    names: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]],
    rows: Iterable[tuple[Any, ...]],
) -> Counted:
    """Return the counts of rows of the table; raise an error of values for others."""
    found = Counted([], [], [])

    def one(version: str, lineup: int, number: int, start: int, result: tuple[str, str, str | None]) -> Game:
        outcome, scores, forfeit = result
        agents, identities = names[lineup]
        columns = (0, 0, outcome, scores, 0, 0, forfeit, version)
        return light((game, parameters), agents, columns, start, b""), identities, number

    for place, (kind, content, number) in enumerate(rows):
        values = parsed(content)
        if type(number) is not int or number < 1:
            raise ValueError(f"expected a number of games, got {shown(number)}")
        if kind == _GAMES:
            version, lineup, *result = values
            found.games.append(one(version, lineup, number, 0, tuple(result)))
        elif kind == _CLUSTERS:
            of = [one(version, lineup, n, place, (end, _NO_SCORES, None)) for version, lineup, end, n in values]
            found.clusters.append((of, number))
        elif kind == _COURSES:
            of = [one(version, lineup, n, 0, (_LEVEL, _NO_SCORES, None)) for version, lineup, n in values]
            found.courses.append((of, number))
    return found
