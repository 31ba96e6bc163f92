"""Import of earlier runs into the store: the folder of any kind of run, or a file of records.

Every game is played again first (`replays.verify`), since a file may come from anybody: what counts in ratings has
legal moves and the result that they lead to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.arena.records.record_lines import Record, read_records
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.run_folders import PathLike
from cellgames.utils.version import __version__

from .database import StoreError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["import_run", "kind_of"]

_RECORDS = "games.jsonl"
_PATIENCE_S = 2.0

_KINDS = {  # by the file of settings
    "run.json": "round robin",
    "evaluation.json": "evaluation",
    "season.json": "season",
    "series.json": "series",
}


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
    file = path / _RECORDS if path.is_dir() else path
    if not file.is_file():
        raise StoreError(f"{path}: expected the folder of a run with {_RECORDS}, or a file of records, found none")
    kind, settings = kind_of(path.parent if path.name == _RECORDS and not path.is_dir() else path)
    if kind == "season" and "patterns" in settings:
        raise StoreError(
            f"{path}: a season of random arrangements has no agents; the store holds games of agents, such as those "
            "of a season with --agents"
        )
    records, torn = read_records(file)
    if torn:
        warn(torn)
    _check(file, records, progress=progress)
    identities = settings.get("identities")
    known = {str(k): str(v) for k, v in identities.items()} if isinstance(identities, dict) else {}
    return store.add(records, source=(kind, path), identities=known)


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


def kind_of(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the kind of run that a folder holds, and its settings."""
    for name, kind in _KINDS.items():
        try:
            found = json.loads((path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            if name == "run.json" and "games_per_pair" not in found:
                kind = "free-for-all"
            return kind, found
    return "file", {}
