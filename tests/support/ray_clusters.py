"""Work for the workers of a Ray cluster, and processes that are watched and killed, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import KILL, environment


@dataclass(frozen=True)
class Told:
    """Work whose pieces say what is to be done, such as `square 3`; each worker notes its start in a folder."""

    folder: Path
    failing: bool = False

    def start(self) -> Callable[[str], Any]:
        (self.folder / f"{os.getpid()}.started").touch()
        if self.failing:
            raise OSError("no way to start")
        return self.do

    def do(self, piece: str) -> Any:
        word, _, text = piece.partition(" ")
        note = self.folder / f"{piece}.{os.getpid()}"
        note.touch()
        if word == "square":
            return int(text) ** 2
        if word == "machine":
            import torch

            return os.getpid(), torch.get_num_threads(), os.environ["OMP_NUM_THREADS"]
        while word == "hold" and not (self.folder / "released").exists():
            time.sleep(0.02)
        if word == "wait":
            time.sleep(float(text))
        if word == "leave":
            sys.exit(f"left {text}")
        if word == "raise":
            raise RuntimeError(f"cannot do\n{text}")
        if word == "die" or (word == "once" and len(list(self.folder.glob(f"{piece}.*"))) == 1):
            os.kill(os.getpid(), KILL)
        return piece


def patient(condition: Callable[[], Any], seconds: float = 150.0, what: str = "") -> Any:
    """The first true value of a condition; it must come soon."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"nothing after {seconds} s: {what or condition}"
        time.sleep(0.02)
    return found


@contextmanager
def driver(script: str, *arguments: object, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs a script, or a module for `-m NAME`; ended with the block.

    With `before`, a folder in which this process alone looks for modules first, it runs beside that folder: workers
    look for modules where it runs.
    """
    before, there = variables.pop("before", ""), environment(**variables)
    there["PYTHONPATH"] = os.pathsep.join(filter(None, [before, there["PYTHONPATH"]]))
    words = ["-m", script.split()[1]] if script.startswith("-m ") else ["-c", script]
    process = subprocess.Popen(
        [sys.executable, *words, *map(str, arguments)],
        cwd=Path(before).parent if before else None,
        env=there,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        children = family(process.pid)
        process.kill()
        process.communicate()
        end(children)


def family(process: int) -> dict[int, str]:
    """The processes that one has started, and those that these have, by number; with their names. Linux only."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (place / "stat").read_text().partition("(")[2].rpartition(")")
        except OSError:  # ended meanwhile
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            parents[int(place.name)], names[int(place.name)] = int(parent), name
    found, left = dict[int, str](), [process]
    while left:
        one = left.pop()
        children = [child for child, parent in parents.items() if parent == one]
        found.update({child: names[child] for child in children})
        left += children
    return found


def alive(processes: dict[int, str]) -> dict[int, str]:
    """Those of some processes that have not ended."""
    found = {}
    for number, name in processes.items():
        with suppress(OSError):
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                found[number] = name
    return found


def end(processes: dict[int, str]) -> None:
    """Kill those that are still there."""
    for number in alive(processes):
        with suppress(ProcessLookupError):
            os.kill(number, KILL)
