"""Runs of the arena for tests: options, files, and what saves time."""

from __future__ import annotations

import csv
import pickle
import re
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

PLOTS = ("matplotlib", "matplotlib.figure")
EXTRAS = ("torch.utils.tensorboard", "matplotlib.backends.backend_agg")
"""Modules that draw and log runs of training."""


def unsigned(path: Path) -> bytes:
    """Take the checksums off the lines of a file of games, as the first versions wrote it; return the file."""
    path.write_bytes(games := re.sub(rb',"checksum":"[0-9a-f]{16}"}', b"}", path.read_bytes()))
    return games


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def csv_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table by the names of its columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def block(patch: pytest.MonkeyPatch, *modules: str) -> None:
    """As if some modules were not installed; saves time."""
    for module in modules:
        patch.setitem(sys.modules, module, None)


class InLine(Executor):
    """A worker in this process that gets and gives everything pickled, at once; some pieces fail, counted from 0."""

    def __init__(self, *failing: int) -> None:
        self.failing, self.given = failing, 0

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future, number, self.given = Future[Any](), self.given, self.given + 1
        try:
            if number in self.failing:
                raise ArithmeticError(f"piece {number}")
            function, given = pickle.loads(pickle.dumps((function, given)))
            future.set_result(pickle.loads(pickle.dumps(function(*given, **named))))
        except Exception as error:
            future.set_exception(error)
        return future
