"""Agents in processes of their own: `isolated:AGENT`, and `sandboxed:AGENT`, without network and files to write."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from typing_extensions import override

from cellgames.utils.last_call import run_folder

from .process import Limits
from .program_agent import ProgramAgent

__all__ = ["isolated", "sandboxed"]

_PROGRAM = "exec:"
_START = 60.0  # seconds to import torch, and to load weights
_RESULTS = Path("results")  # stores, runs and weights
_BUBBLEWRAP = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"),
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"),
    *("--unsetenv", "OPENAI_API_KEY"),  # of language models that play in the same run
)


def isolated(spec: str) -> ProgramAgent:
    """Return an agent that plays in a process of its own.

    Args:
        spec: as `load` takes it; a program is in a process of its own anyway.
    """
    return _Isolated(spec)


def sandboxed(spec: str) -> ProgramAgent:
    """Return an agent in a process that can write to no file that lasts, and sees neither network nor results.

    Args:
        spec: as for `isolated`.

    Raises:
        ValueError: bubblewrap is missing, or cannot make a sandbox on this machine.
    """
    _check_bubblewrap()
    return _Sandboxed(spec)


class _Isolated(ProgramAgent):
    """An agent of any kind in a process of its own; who it is follows from its spec."""

    def __init__(self, spec: str) -> None:
        if spec.startswith(_PROGRAM):
            super().__init__(spec.removeprefix(_PROGRAM))
        else:
            words = [sys.executable, "-m", "cellgames", "bot", spec]
            super().__init__(shlex.join(words), Limits(start=_START))
        self.identity = None


class _Sandboxed(_Isolated):
    """An agent of any kind within bubblewrap."""

    @override
    def words(self) -> list[str]:
        words, here = super().words(), Path.cwd()
        seen = [here, Path(sys.prefix), *_package(), *(path.resolve() for path in map(Path, words) if path.is_file())]
        hidden = [path.resolve() for path in (_RESULTS, run_folder()) if path is not None and path.is_dir()]
        shown = [word for path in seen for word in ("--ro-bind", str(path), str(path))]
        covered = [word for path in hidden for word in ("--tmpfs", str(path))]
        return [*_BUBBLEWRAP, *shown, *covered, "--chdir", str(here), *words]


@cache
def _package() -> list[Path]:
    """Return the folders of this package, which may be a working copy in a folder that a sandbox hides."""
    inside = Path(__file__).parents[2]
    return sorted({inside.parent, inside.resolve(), *(path.resolve().parent for path in inside.iterdir())})


@cache
def _check_bubblewrap() -> None:
    if shutil.which("bwrap") is None:
        raise ValueError(
            "sandboxed agents need bubblewrap, and no program bwrap was found; install it, or use isolated"
        )
    tried = subprocess.run([*_BUBBLEWRAP, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise ValueError(f"bwrap cannot make a sandbox on this machine: {tried.stderr.strip()}; use isolated instead")
