"""Import of earlier runs into the store: the folder of any kind of run, or a file of records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.arena.records.record_lines import read_records
from cellgames.utils.run_folders import PathLike

from .database import StoreError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["import_run", "kind_of"]

_RECORDS = "games.jsonl"


def import_run(store: Store, path: PathLike, *, warn: Callable[[str], None] = lambda message: None) -> int:
    """Add the games of a folder to a store.

    Args:
        store: An open store.
        path: The folder of a round robin, of free-for-all games, an evaluation or a season, or any file of records.
        warn: Gets a line for what is dropped, such as a torn line.

    Returns:
        The number of new games.

    Raises:
        StoreError: The folder holds no games, or games of teams without agents, which cannot be rated.
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
    identities = settings.get("identities")
    known = {str(k): str(v) for k, v in identities.items()} if isinstance(identities, dict) else {}
    return store.add(records, source=(kind, path), identities=known)


def kind_of(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the kind of run that a folder holds, and its settings."""
    for name, kind in (("run.json", "round robin"), ("evaluation.json", "evaluation"), ("season.json", "season")):
        try:
            found = json.loads((path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(found, dict):
            if name == "run.json" and "games_per_pair" not in found:
                kind = "free-for-all"
            return kind, found
    return "file", {}
