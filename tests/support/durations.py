"""Measured durations of the tests: which files begin first, and which tests `make quick` runs.

`tests/durations.json` holds the seconds of every test function, with its fixtures, summed over its parameters; those
that are marked `slow` have a line of their own, with ` slow` after the name. `make durations` measures them again.
Where the file is out of date a run only takes longer.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from math import fsum
from pathlib import Path

import pytest
from paths import ROOT

FILE = ROOT / "tests" / "durations.json"

WEB = ROOT / "tests" / "web"
"""The folder of the tests that share a browser."""

QUICK_SECONDS = 75.0
"""Processor time that `--quick` may spend in tests; collecting them and starting processes comes on top."""


def _name(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0] + " slow" * (item.get_closest_marker("slow") is not None)


def read(path: Path = FILE) -> dict[str, float]:
    """Return the seconds of each test function; none where nothing was measured."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def longest_first(items: list[pytest.Item], seconds: Mapping[str, float]) -> None:
    """Sort tests in place by file, the file that takes longest first, so that no process ends with it alone.

    Files of `WEB` follow one another, as they share a browser.
    """
    functions: dict[str, set[str]] = defaultdict(set)
    for item in items:
        functions[item.nodeid.partition("::")[0]].add(_name(item))
    # `fsum` rounds once: all processes of a run must find the same order, and go through sets in orders of their own.
    files = {file: fsum(seconds.get(name, 0.0) for name in names) for file, names in functions.items()}
    web = {file for file in files if file.startswith(f"{WEB.relative_to(ROOT).as_posix()}/")}
    first = max((files[file] for file in web), default=0.0)

    def place(item: pytest.Item) -> tuple[float, bool, float]:
        file = item.nodeid.partition("::")[0]
        return -(first if file in web else files[file]), file not in web, -files[file]

    items.sort(key=place)


def quick(items: list[pytest.Item], seconds: Mapping[str, float], budget: float = QUICK_SECONDS) -> list[pytest.Item]:
    """Return the tests of functions that were not measured, and of the shortest others that fit a budget in seconds."""
    functions = {_name(item) for item in items}
    chosen, spent = functions - seconds.keys(), 0.0
    for name in sorted(functions - chosen, key=lambda name: (seconds[name], name)):
        spent += seconds[name]
        chosen |= {name} if spent <= budget else set()
    return [item for item in items if _name(item) in chosen]


class Recorder:
    """A pytest plugin that writes the durations of a whole run to a file, also where xdist runs the tests."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the set-up, the call or the end of a test."""
        self._seconds[report.nodeid.partition("[")[0] + " slow" * ("slow" in report.keywords)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the file; a process of xdist leaves that to the one that started it."""
        if not hasattr(session.config, "workerinput"):
            rounded = {name: round(seconds, 3) for name, seconds in sorted(self._seconds.items())}
            self._path.write_text(json.dumps(rounded, indent=0) + "\n", encoding="utf-8")
