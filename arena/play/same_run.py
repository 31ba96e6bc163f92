"""Check that the folder of a run that goes on holds that run, and games of the same agents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.records.checksums import CHECKSUM, FINISHED
from cellgames.utils.run_folders import START_OVER, RunError, differences, reading, refuse_foreign

__all__ = ["prepare", "refuse_changed"]


def prepare(
    folder: Path,
    files: Sequence[str],
    settings: Mapping[str, Any],
    compared: Callable[[Mapping[str, Any]], dict[str, Any]],
    *,
    resume: bool,
    other: str,
) -> None:
    """Check that the folder is empty or holds this run, or delete the run that it holds.

    Args:
        folder: of the run.
        files: names of the files that the run writes. The first one has the settings; it stays until the caller
            writes it anew.
        settings: of the run.
        compared: returns the settings that the run in the folder must have too, by the names that messages use.
        resume: False deletes the run in the folder.
        other: what the folder holds if the settings differ, such as "another season".

    Raises:
        RunError: the folder holds something else or, to be resumed, another run, or games of an agent that changed.
    """
    name, *others = files
    path = folder / name
    refuse_foreign(folder, name)
    if not resume:
        for file in others:
            (folder / file).unlink(missing_ok=True)
    elif path.exists():
        with reading(path):
            found = json.loads(path.read_text(encoding="utf-8"))
            before = compared({name: value for name, value in found.items() if name not in (FINISHED, CHECKSUM)})
        refuse_changed(folder, found.get("identities"), settings.get("identities", {}))
        wanted = compared(settings)
        if wrong := differences({**dict.fromkeys(wanted), **before}, wanted):
            raise RunError(f"{folder} holds {other}. {wrong}; {START_OVER}")


def refuse_changed(folder: Path, before: object, now: Mapping[str, str]) -> None:
    """Raise a `RunError` if an agent is not what it was when its games were played, as far as both are known."""
    for name, identity in before.items() if isinstance(before, dict) else ():
        if identity and now.get(name) and now[name] != identity:
            raise RunError(
                f"{folder} holds games of another {name}: expected identity {identity}, got {now[name]}; has its file "
                f"changed since? {START_OVER}"
            )
