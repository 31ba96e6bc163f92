"""Processes of Python that tests start, and the signal that ends them at once."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from paths import ROOT

KILL = 9
"""For `os.kill`: SIGKILL; on Windows, which has none, TerminateProcess with this exit code."""

KILLED = -KILL if os.name == "posix" else KILL
"""The exit code of a process that `KILL` has ended, as `subprocess` tells it."""


def environment(**more: str) -> dict[str, str]:
    """The variables of a process that finds the package and the modules of this folder, and computes on one thread."""
    paths = os.pathsep.join(str(ROOT / part) for part in ("src", "tests/support", "tests/lab/support"))
    return {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", **more}


def python(*words: str, variables: dict[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these words to its end; `more` is for `subprocess.run`."""
    words = (sys.executable, *words)
    given = {"env": environment(**variables or {}), "capture_output": "stdout" not in more, "text": True, **more}
    return subprocess.run(words, check=False, **given)


def printed(code: str, *words: str, **more: Any) -> str:
    """What a program prints that ends well; `more` is for `python`."""
    done = python("-c", code, *words, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout
