"""The folder of a run: its lock, its settings, and whether the run that it holds may go on as the one asked for.

    with RunFolder(folder, RunKind("season", "season.json", files=("games.jsonl",))) as run:
        run.begin(settings, resume=True)
        run.write(settings)

All kinds of runs use this module: rounds of games, seasons, training, leagues, exploiters, evolution. Their seeds are
derived from the run's by `derive`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from cellgames.utils.errors import MOST_LINE, MOST_SHOWN, InputError, clipped
from cellgames.utils.files import write_atomic
from cellgames.utils.options import Options, option

TIMING, TENSORBOARD, LOGS, ANSWERS = "timing.csv", "tensorboard", "logs", "llm.jsonl"

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
        told = [_text(part, MOST_SHOWN) for part in (name, value, found)]
        differ.append(f"{told[0]}: expected {told[1]}, got {told[2]}")
    return "; ".join([*differ[:_MOST], *([f"{len(differ) - _MOST} more differ"] if len(differ) > _MOST else [])])


def _text(value: object, most: int = MOST_LINE) -> str:
    return clipped(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value), most)


START_OVER = "choose another folder (--out), or start over with resume=False (--no-resume), which deletes this run"

hidden: set[Path] = set()
"""Folders of runs of other processes, in which this one plays games."""

_open: list[Path] = []  # folders of the runs of this process; of runs within runs, the innermost is the last
_FREE = ("identities", "specs", "finished", "checksum", "seed_sha256")  # settings that may change in every kind of run


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Options of every run that has a folder of its own."""

    resume: bool = option(True, "continue the run that the folder holds; otherwise delete that run first")


class RunError(InputError):
    """A folder that cannot be used for this run; the cause says what to do.

    Attributes:
        fields: names of the settings that differ, if they are the reason.
    """

    def __init__(self, *facts: Any, fields: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*facts, **named)
        self.fields = tuple(fields)


@dataclass(frozen=True)
class RunKind:
    """A kind of run: the files in its folder, and the settings that may change when a run goes on.

    Settings inside of others have names with a dot, such as `arguments.total_steps`.

    Attributes:
        name: such as "season"; messages use it.
        settings: name of the file with the settings.
        files: names of the other files and folders of a run, which are deleted when it starts over.
        grows: numbers that may grow, and lists that may get more entries.
        free: settings that may change.
        defaults: settings that runs may lack, with the values that they had then.
    """

    name: str
    settings: str
    files: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    defaults: Mapping[str, Any] | None = None

    def check(self, place: Path, found: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        """Raise a `RunError` unless a run with the settings `found` may go on with those asked for.

        Args:
            place: file or folder that holds them.
            found: settings of the run there.
            asked: settings of the run that goes on.
        """
        defaults = self.defaults or {}
        with reading(place):
            before, now = (dict(_flat({**defaults, **settings})) for settings in (found, asked))
            identities = dict(found.get("identities", {}))
        check_agents(place, identities, asked.get("identities", {}))
        free = (*_FREE, *self.free, *self.grows)
        fixed = [name for name in {**before, **now} if not f"{name}.".startswith(tuple(f"{part}." for part in free))]
        was, wanted = ({name: settings.get(name) for name in fixed} for settings in (before, now))
        if names := differing(was, wanted):
            cause = f"{differences(was, wanted)}; {START_OVER}"
            raise RunError(place, f"this {self.name}", "another", cause, fields=names)
        with reading(place):
            names = [name for name in self.grows if not _includes(now[name], before[name])]
        if names:
            more = [f"{name}: expected {_text(before[name])} or more, got {_text(now[name])}" for name in names]
            raise RunError(place, f"this {self.name}", "a larger one", "; ".join([*more, START_OVER]), fields=names)


def check_agents(place: Path | str, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise a `RunError` if an agent has another identity than when its games were played, as far as both are known."""
    for agent, identity in before.items():
        if identity and now.get(agent) and now[agent] != identity:
            cause = f"has its file changed since? {START_OVER}"
            raise RunError(f"identity of {agent}", identity, now[agent], cause, place, fields=["identities"])


def _flat(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings by name; those inside of others have a name of both, and entries of a list have numbers."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", part) for inner, part in _flat(value))
        elif isinstance(value, list | tuple) and value and all(isinstance(part, Mapping) for part in value):
            yield from ((f"{name}.{number}", list(part.values())) for number, part in enumerate(value, 1))
        else:
            yield name, list(value) if isinstance(value, tuple) else value


def _includes(now: Any, before: Any) -> bool:
    """Return True if a number is no less, and a list has all entries that it had."""
    return {*before} <= {*now} if isinstance(before, list) else int(before) <= int(now)


class RunFolder:
    """The folder of a run; entering it creates and locks the folder, and deletes leftovers of killed processes.

    Args:
        path: path of the folder.
        kind: kind of the run.

    Raises:
        RunError: the path is a file or cannot be written, another process is at work in the folder, or it holds files
            but no run of this kind.
    """

    def __init__(self, path: Path, kind: RunKind) -> None:
        self.path, self.kind = path, kind
        self._lock: int | None = None

    def __enter__(self) -> Self:
        path = self.path
        check_writable(path)
        path.mkdir(parents=True, exist_ok=True)
        self.refuse_foreign()
        try:
            self._lock = exclusive(path)
        except BlockingIOError:
            raise RunError(path, cause="another process is at work in it; wait, or choose another folder") from None
        for part in path.rglob(".*.part"):  # of `files.replacing`
            part.unlink(missing_ok=True)
        _open.append(path)
        return self

    def __exit__(self, *_: object) -> None:
        _open.pop()
        if self._lock is not None:
            os.close(self._lock)

    @property
    def file(self) -> Path:
        """Return the path of the file with the settings."""
        return self.path / self.kind.settings

    def refuse_foreign(self) -> None:
        """Raise a `RunError` if the folder holds files, but not the one with the settings."""
        children = self.path.iterdir() if self.path.is_dir() else ()
        others = sorted(child.name for child in children if not child.name.startswith("."))
        if others and self.kind.settings not in others:
            names = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
            raise RunError(self.path, f"an empty folder, or {self.kind.settings} in it", names, "choose another folder")

    def read(self) -> dict[str, Any] | None:
        """Return the settings of the run that the folder holds, None for none.

        Raises:
            RunError: the file cannot be read.
        """
        if not self.file.exists():
            return None
        with reading(self.file):
            found = json.loads(self.file.read_text(encoding="utf-8"))
            if not isinstance(found, dict):
                raise InputError("", "settings", type(found).__name__)
        return found

    def begin(self, settings: Mapping[str, Any], *, resume: bool) -> dict[str, Any] | None:
        """Check that the run in the folder may go on, or delete it.

        The file with the settings stays until it is written.

        Args:
            settings: settings of the run.
            resume: False deletes the run in the folder.

        Returns:
            The settings of the run that goes on, None for a new one.

        Raises:
            RunError: the folder holds another run, which would be continued.
        """
        if not resume:
            self.delete(*self.kind.files)
            return None
        if (found := self.read()) is not None:
            self.kind.check(self.path, found, settings)
        return found

    def delete(self, *names: str) -> None:
        """Delete files and folders of the run."""
        for path in (self.path / name for name in names):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def write(self, settings: Mapping[str, Any]) -> None:
        """Write the settings."""
        write_atomic(self.file, json.dumps(settings, indent=2, ensure_ascii=False) + "\n")


def run_folder() -> Path | None:
    """Return the folder of the run that this process is in, None outside of one."""
    return _open[-1] if _open else None


def check_writable(folder: Path) -> None:
    """Raise a `RunError` unless files can be written into the folder, which need not exist yet."""
    existing = next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
    if existing.exists() and not existing.is_dir():
        raise RunError(folder, "a folder", f"the file {existing}")
    if not os.access(existing, os.W_OK):
        raise RunError(folder, cause=f"nothing can be written into {existing}; choose another folder (--out)")


def exclusive(path: Path) -> int | None:
    """Return a descriptor of a folder or file that keeps other processes away until it is closed.

    It is None on systems without locks of this kind.

    Raises:
        BlockingIOError: another process has the lock.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # a file system without locks
        pass
    return handle


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise a `RunError` that names the file for any error of the block, which reads a file of the run.

    The block only reads: it raises no `RunError` of its own.
    """
    try:
        yield
    except Exception as error:  # archives and JSON raise many kinds
        why = f"{type(error).__name__}: {clipped(str(error))}"
        raise RunError(path, cause=f"it cannot be read ({why}); {START_OVER}") from None


def derive(*parts: str | int) -> int:
    """Return a seed from 0 to 2^63 - 1: the first 63 bits of BLAKE2b over the parts as a JSON list."""
    digest = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def derive_short(*parts: str | int) -> int:
    """Return a seed of 32 bits: CRC-32 over the parts as words, as evolution has always drawn its own."""
    return zlib.crc32(" ".join(map(str, parts)).encode())
