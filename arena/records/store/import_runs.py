"""Import of games into the store: from the folder of any kind of run, or a file of records.

Every game is played again first (`replays.verify`), since a file may come from anybody: what counts in ratings has
legal moves and the result that they lead to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cellgames.arena.records.checksums import settings_of
from cellgames.arena.records.record_lines import RECORDS, Record, read_lines, to_line
from cellgames.utils.files import PathLike
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.version import __version__

from .schema import StoreError

if TYPE_CHECKING:
    from .store import Store

_PATIENCE_S = 2.0

_KINDS = {  # by the file of settings
    "run.json": "round robin",
    "evaluation.json": "evaluation",
    "season.json": "season",
    "series.json": "series",
}


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
        path: The folder of a round robin, of free-for-all games, an evaluation, a season or series, or any file of
            records.
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
        raise StoreError(path, f"the folder of a run with {RECORDS}, or a file of records", "none")
    name, settings = settings_of(file.parent) if file.name == RECORDS else ("", {})
    kind = _KINDS.get(name, "file") if name != "run.json" or "games_per_pair" in settings else "free-for-all"
    if kind == "season" and "patterns" in settings:
        raise StoreError(path, "games of agents, such as a season with --agents", "a season of random arrangements")
    games, torn = read_lines(file, Played.from_json)
    if torn:
        warn(torn)
    _check(file, [game.record for game in games], progress=progress)
    known = _names(settings.get("identities"))
    return sum(
        store.add((game.record for game in group), source=(kind, str(path)), identities={**known, **own})
        for own, group in groupby(games, key=lambda game: game.identities)
    )


def _names(identities: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in identities.items()} if isinstance(identities, dict) else {}


def _check(file: Path, records: Sequence[Record], *, progress: bool) -> None:
    """Raise a `StoreError` unless all games replay."""
    from cellgames.arena.records.replays import verify  # needs torch

    with show_progress(len(records), label=f"replay {file}", shown=progress, after_s=_PATIENCE_S) as finished:
        for number, error in verify(records, finished=finished):
            version = records[number].version
            other = "" if version == __version__ else f"; it was played by version {version}, this is {__version__}"
            got = f"{error}{other}"
            raise StoreError(f"{file}, game {number + 1}", "a game that replays", got, "no game was added") from None
