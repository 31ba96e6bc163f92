"""Import of games into the store: from the folder of any kind of run, a file of records, or another store.

Every game is played again first (`replays.verify`), since a file may come from anybody: what counts in ratings has
legal moves and the result that they lead to.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cellgames.arena.records.checksums import settings_of
from cellgames.arena.records.record_lines import RECORDS, Record, read_lines, to_line
from cellgames.utils.files import PathLike
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.version import __version__

from .schema import StoreError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Played", "import_run", "places_of"]

_PATIENCE_S = 2.0

_KINDS = {  # by the file of settings
    "run.json": "round robin",
    "evaluation.json": "evaluation",
    "season.json": "season",
    "series.json": "series",
}

_Origin: TypeAlias = tuple[str, str, dict[str, str]]
"""Kind and place of a source, and the identities of agents by name."""


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


def import_run(
    store: Store, path: PathLike, *, warn: Callable[[str], None] = lambda message: None, progress: bool = False
) -> int:
    """Add the games of a folder to a store: all of them, or none if one does not replay.

    Args:
        store: An open store.
        path: The folder of a round robin, of free-for-all games, an evaluation, a season or series, any file of
            records, or another store, of this or of an earlier version.
        warn: Gets a line for what is dropped, such as a torn line.
        progress: True to report on standard error if it takes more than two seconds.

    Returns:
        The number of new games.

    Raises:
        StoreError: The folder holds no games, or games of teams without agents, which cannot be rated, or a game that
            does not replay: an illegal or missing move, another result.
        RecordError: A line that is no record and that no crash can explain.
    """
    path = Path(path)
    file = path / RECORDS if path.is_dir() else path
    if not file.is_file():
        raise StoreError(f"{path}: expected the folder of a run with {RECORDS}, or a file of records, found none")
    with file.open("rb") as opened:
        is_store = opened.read(16) == b"SQLite format 3\0"
    games = _of_store(file) if is_store else _of_run(path, file, warn)
    _check(file, [record for record, _ in games], progress=progress)
    groups = groupby(games, key=itemgetter(1))
    return sum(
        store.add((record for record, _ in group), source=(kind, place), identities=identities)
        for (kind, place, identities), group in groups
    )


def _of_run(path: Path, file: Path, warn: Callable[[str], None]) -> list[tuple[Record, _Origin]]:
    name, settings = settings_of(file.parent) if file.name == RECORDS else ("", {})
    kind = _KINDS.get(name, "file") if name != "run.json" or "games_per_pair" in settings else "free-for-all"
    if kind == "season" and "patterns" in settings:
        raise StoreError(
            f"{path}: a season of random arrangements has no agents; the store holds games of agents, such as those "
            "of a season with --agents"
        )
    games, torn = read_lines(file, Played.from_json)
    if torn:
        warn(torn)
    known = _names(settings.get("identities"))
    return [(game.record, (kind, str(path), {**known, **game.identities})) for game in games]


def _of_store(file: Path) -> list[tuple[Record, _Origin]]:
    """Return the games of another store; its first version keeps variations apart from records."""
    question = """SELECT records.data, {}, kind, place, identities FROM games JOIN records ON records.game = games.id
        JOIN lineups ON lineups.id = lineup JOIN sources ON sources.id = source {} ORDER BY games.id"""
    apart = "variations.data", "LEFT JOIN variations ON variations.game = games.id"
    found = []
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            rows = database.execute(question.format(*(apart if "variations" in tables else ("NULL", ""))))
            for data, tried, kind, place, identities in rows:
                text = zlib.decompress(data).decode()
                if tried is not None:
                    text = f'{text[:-1]},"variations":{zlib.decompress(tried).decode()}}}'
                record = Record.from_json(text)
                known = dict(zip(record.agents, json.loads(identities), strict=True))
                found.append((record, (str(kind), str(place), _names(known))))
    except (sqlite3.Error, ValueError, TypeError, zlib.error) as error:
        raise StoreError(
            f"{file}: expected a store of games, got a damaged file or another program's: {error}"
        ) from None
    return found


def _names(identities: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in identities.items()} if isinstance(identities, dict) else {}


def _check(file: Path, records: Sequence[Record], *, progress: bool) -> None:
    """Raise a `StoreError` unless all games replay."""
    from cellgames.arena.records.replays import verify  # needs torch

    with show_progress(len(records), label=f"replay {file}", shown=progress, after_s=_PATIENCE_S) as finished:
        for number, error in verify(records, finished=finished):
            version = records[number].version
            other = "" if version == __version__ else f"; it was played by version {version}, this is {__version__}"
            raise StoreError(
                f"{file}, game {number + 1} does not replay, so no game was added: {error}{other}"
            ) from None
