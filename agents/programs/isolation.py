"""Agents in processes of their own: `isolated:AGENT`, and `sandboxed:AGENT`, without network and files to write."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game
from cellgames.runs.run_folder import hidden, run_folder
from cellgames.utils.errors import InputError

from .process import Limits, identity_of_command, namespaces
from .program_agent import ProgramAgent
from .supervisor import FILTER_FD

_PROGRAM = "exec:"
_START = 60.0  # seconds to import torch, and to load weights
_RESULTS = Path("results")  # stores, runs and weights
_SCRATCH = 256 << 20  # bytes of files in each folder in memory, which no process is charged for
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "OMP_NUM_THREADS", "PATH", "PYTHONPATH", "TZ")
_SYSTEM_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # the architecture, and socket(2)
_IO_URING_SETUP = 425  # whose requests make sockets, too
_FAMILIES = (2, 10, 16)  # of sockets that remain: IPv4, IPv6 and netlink, in a network without devices


class Isolated(ProgramAgent):
    """An agent of any kind in a process of its own, which finds the modules that this one finds.

    Its identity follows from the spec, as `load` takes it. A program is in a process of its own anyway.
    """

    def __init__(self, spec: str, environment: Mapping[str, str] = os.environ, filter: bytes = b"") -> None:
        if spec.startswith(_PROGRAM):
            super().__init__(spec.removeprefix(_PROGRAM), environment=environment, filter=filter)
        else:
            words = [sys.executable, "-m", "cellgames", "bot", spec]
            environment = {**environment, "PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder)}
            super().__init__(shlex.join(words), Limits(start=_START), environment=environment, filter=filter)
        self.identity = None
        self._spec = spec


class Sandboxed(Isolated):
    """An agent in a process that can write to no file that lasts, and sees neither network nor results.

    Bubblewrap starts when it is asked: then the folder of the run is known. A `ValueError` says why it cannot.
    """

    _run: Path | None = None

    def __init__(self, spec: str) -> None:
        _check_bubblewrap()
        super().__init__(spec, {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}, _filter())

    @override
    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless a program is there; no code of the agent runs before its first question."""
        if self._spec.startswith(_PROGRAM) and not identity_of_command(self._spec.removeprefix(_PROGRAM)):
            raise InputError(f"agent {self.name!r}", "a program that exists", self._spec)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        if self._run != (folder := run_folder()):
            self.close()
        self._run = folder
        super().start(game, players, env_ids)

    @override
    def words(self) -> list[str]:
        words, here = super().words(), Path.cwd()
        seen = [here, Path(sys.prefix), *_package(), *(path for path in map(Path, sys.path) if path.is_dir())]
        seen += [Path(word).resolve() for word in words if os.path.isfile(word)]
        covers = [path.resolve() for path in (_RESULTS, self._run, *sorted(hidden)) if path is not None]
        for path in covers:  # what is not there can be covered no better
            with contextlib.suppress(OSError):
                path.mkdir(parents=True, exist_ok=True)
        shown = [word for path in seen for word in ("--ro-bind", str(path), str(path))]
        covered = [word for path in covers if path.is_dir() for word in (*_tmpfs(), str(path))]
        seccomp = ["--seccomp", str(FILTER_FD)] if _filter() else []
        return [*_bubblewrap(), *seccomp, *shown, *covered, "--chdir", str(here), *words]


def _tmpfs() -> tuple[str, ...]:
    """Return the words before the path of a folder in memory; before version 0.7 bwrap cannot bound its size."""
    return *(("--size", str(_SCRATCH)) if "--size" in _help() else ()), "--tmpfs"


@cache
def _help() -> str:
    return subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False).stdout


def _bubblewrap() -> tuple[str, ...]:
    """Return the words that begin a sandbox."""
    return (  # the supervisor starts it in a session of its own, so that SIGSTOP reaches all of it
        *("bwrap", "--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent"),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"),
        *(word for path in ("/dev/shm", "/tmp", "/run") for word in (*_tmpfs(), path)),
        *("--remount-ro", "/dev"),
    )


@cache
def _filter() -> bytes:
    """Return a program of seccomp(2) that denies all other sockets; empty where its numbers are not known."""
    if (known := _SYSTEM_CALLS.get(platform.machine())) is None:
        return b""
    architecture, make_socket = known
    load, equal, at_least, result = 0x20, 0x15, 0x35, 0x06
    program = [
        (load, 0, 0, 4),
        (equal, 0, 8, architecture),
        (load, 0, 0, 0),
        (at_least, 6, 0, 1 << 30),  # the other calls of x86_64
        (equal, 5, 0, _IO_URING_SETUP),
        (equal, 0, 5, make_socket),
        (load, 0, 0, 16),
        *((equal, 3 - place, 0, family) for place, family in enumerate(_FAMILIES)),
        (result, 0, 0, 0x00050001),  # EPERM
        (result, 0, 0, 0x7FFF0000),  # allowed
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in program)


@cache
def _package() -> list[Path]:
    """Return the folders of this package, which may be a working copy in a folder that a sandbox hides."""
    inside = Path(__file__).parents[2]
    return sorted({inside.parent, inside.resolve(), *(path.resolve().parent for path in inside.iterdir())})


@cache
def _check_bubblewrap() -> None:
    if shutil.which("bwrap") is None:
        raise InputError("sandboxed", "the program bwrap of bubblewrap", "none", "install it, or use isolated")
    tried = subprocess.run([*namespaces(), *_bubblewrap(), "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise InputError("sandboxed", "a machine on which bwrap makes sandboxes", tried.stderr.strip(), "use isolated")
