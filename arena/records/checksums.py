"""Checksums of the games of a run, by which damage by a disk, a transfer or an editor is noticed.

Each line of games.jsonl ends in a field `checksum`: 16 hexadecimal digits of BLAKE2b over the line without that field.
The settings of a finished run have two more fields: `finished` names its files of data with the checksum of each and
the number of lines, so that a missing end is noticed too, and `checksum` is that of the settings themselves. Files that
users write, and those of earlier versions, have none of these. Importing this imports no torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cellgames.agents.loading import digest
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike

FINISHED, CHECKSUM = "finished", "checksum"

_AGAIN = "the command that made this run plays again what is missing"

_MARK = b',"checksum":"'

_SETTINGS = ("run.json", "evaluation.json", "season.json", "series.json")
"""Names of the files that may hold the settings of a run with games."""


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as they come back from a JSON file: lists for tuples."""
    copy: dict[str, Any] = json.loads(json.dumps(values))
    return copy


class RecordError(InputError):
    """A file of records that cannot be read or continued; `parameter` names file and line."""


def sign(line: bytes) -> bytes:
    """Return a JSON object on one line with its checksum, unless it has one."""
    return line if has_checksum(line) else b'%s,"checksum":"%s"}' % (line[:-1], digest(line).encode())


def has_checksum(line: bytes) -> bool:
    """Return True if a line has a checksum, right or wrong."""
    return _MARK in line[-64:]


def has_changed(line: bytes) -> bool:
    """Return True if the checksum of a line is not that of its content; a line without checksum has not changed."""
    content, mark, end = line.rpartition(_MARK)
    return has_checksum(line) and bool(mark) and end != f'{digest(content + b"}")}"}}'.encode()


def finish(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the settings of a finished run with the checksums of these files, by name, and of the settings."""
    data = {**settings, FINISHED: {name: Checksum(content).to_data() for name, content in files.items()}}
    return {**data, CHECKSUM: _checksum(data)}


def _checksum(settings: Mapping[str, Any]) -> str:
    return digest(json.dumps(plain(settings), sort_keys=True).encode())


def settings_of(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the name of the file with the settings of a run, and the settings; "" and {} without them.

    Raises:
        RecordError: The settings cannot be read, or have changed since the run was finished.
    """
    path = next((folder / name for name in _SETTINGS if (folder / name).is_file()), None)
    if path is None:
        return "", {}
    try:
        settings = json.loads(path.read_bytes())
        rest = {name: value for name, value in settings.items() if name != CHECKSUM}
        if rest.keys() != settings.keys() or FINISHED in settings:
            sound = settings.get(CHECKSUM) == _checksum(rest)
            if not sound or not all(type(known["lines"]) is int for known in settings[FINISHED].values()):
                raise ValueError
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        raise RecordError(path, "the settings of a run as it wrote them", "damaged ones") from None
    return path.name, settings


class Checksum:
    """The number of lines and the checksum of a file that is read piece by piece."""

    def __init__(self, content: bytes = b"") -> None:
        self.lines, self._digest = 0, blake2b(digest_size=8)
        self.add(content)

    def add(self, content: bytes) -> None:
        """Take the next piece of the file."""
        self.lines += content.count(b"\n")
        self._digest.update(content)

    def to_data(self) -> dict[str, Any]:
        """Return the entry of the file in the settings of its run."""
        return {"lines": self.lines, CHECKSUM: self._digest.hexdigest()}


def changed_file(settings: Mapping[str, Any], name: str, whole: Checksum) -> str:
    """Return why a file is not that of a finished run, "" if it is, or if nothing is known of it."""
    known, found = settings.get(FINISHED, {}).get(name), whole.to_data()
    if known is None or known == found:
        return ""
    if found["lines"] < known["lines"]:
        return f"expected {known['lines']} lines, got {found['lines']}: some are missing; {_AGAIN}"
    return f"the file has changed since the run was finished; {_AGAIN}"


def check_finished(path: PathLike, content: bytes) -> bool:
    """Check the content of a file by the settings beside it; return True if it is a file of a run.

    Raises:
        RecordError: The run is finished, and the file is not as it was then.
    """
    path = Path(path)
    name, settings = settings_of(path.parent)
    if why := changed_file(settings, path.name, Checksum(content)):
        raise RecordError(path, cause=why)
    return bool(name)
