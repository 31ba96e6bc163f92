"""Comparison of runs: settings field by field, and folders file by file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellgames.utils.files import PathLike
from cellgames.utils.foreign_text import MOST_SHOWN, clipped

TIMING, TENSORBOARD, LOGS, ANSWERS = "timing.csv", "tensorboard", "logs", "llm.jsonl"

NOT_COMPARED = (TIMING, TENSORBOARD, LOGS, ANSWERS)
"""Names of the files and folders that hold times, dates or names of machines. All others of equal runs are equal.

`timing.csv` is ours; the events of TensorBoard and what programs print (`logs`) hold such things by their nature, and
answers of language models (`llm.jsonl`) tell how long they took.
"""

_MOST = 6  # differences that are named


def differing(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """Return the names of the fields of `expected` that `got` has otherwise."""
    return [name for name, value in expected.items() if got.get(name) != value]


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    """Return a text on the fields of `expected` that `got` has otherwise, "" for none."""
    differ = []
    for name in differing(expected, got):
        value, found = expected[name], got.get(name)
        if isinstance(value, Mapping) and isinstance(found, Mapping) and value.keys() == found.keys():
            parts = differing(value, found)  # the others need no place in the message
            value, found = ({part: every[part] for part in parts} for every in (value, found))
        differ.append(f"{_shown(name)}: expected {_shown(value)}, got {_shown(found)}")
    return "; ".join([*differ[:_MOST], *([f"{len(differ) - _MOST} more differ"] if len(differ) > _MOST else [])])


def _shown(value: object) -> str:
    return clipped(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value), MOST_SHOWN)


def compared_files(folder: PathLike) -> dict[str, Path]:
    """Return the files of a run by their relative paths, without those of `NOT_COMPARED`."""
    found = {path.relative_to(folder): path for path in sorted(Path(folder).rglob("*")) if path.is_file()}
    return {name.as_posix(): path for name, path in found.items() if not {*name.parts} & {*NOT_COMPARED}}


def different_files(one: PathLike, other: PathLike) -> list[str]:
    """Return the relative paths of files in which two runs differ; see `compared_files`."""
    first, second = ({name: path.read_bytes() for name, path in compared_files(f).items()} for f in (one, other))
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
