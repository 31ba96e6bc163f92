"""The times of a run, in a file of their own, so that all other files of equal runs are equal."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from cellgames.runs.comparing import TIMING
from cellgames.utils.files import write_atomic

__all__ = ["TIMING_METRICS", "Timing"]

TIMING_METRICS = {
    "seconds": "wall time of playing and learning, without evaluations, over all parts of a continued run",
    "steps_per_second": "since the last row; in TensorBoard, in the iteration",
}

_COLUMNS = ("iteration", "steps", *TIMING_METRICS)


class Timing:
    """The seconds of a run, and the table of them: a row for each evaluation and each checkpoint.

    Args:
        folder: of the run; None if this process writes no files.
        steps: of the checkpoint from which the run continues; None for a new run. Later rows are dropped.

    Attributes:
        seconds: time of playing and learning.
    """

    def __init__(self, folder: Path | None = None, steps: int | None = None) -> None:
        self._path = None if folder is None else folder / TIMING
        self._rows: list[tuple[int, int, float, float]] = []
        if self._path is not None and steps is not None:
            self._rows = [row for row in _read(self._path) if row[1] <= steps]
        self.seconds = self._rows[-1][2] if self._rows else 0.0

    def keep(self, iteration: int, steps: int) -> None:
        """Add a row, unless the table has it, and write the file."""
        if self._path is None or (self._rows and self._rows[-1][0] == iteration):
            return
        before, since = self._rows[-1][1:3] if self._rows else (0, 0.0)
        taken = self.seconds - since
        self._rows.append((iteration, steps, self.seconds, (steps - before) / taken if taken else math.nan))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows((row[0], row[1], f"{row[2]:.3f}", f"{row[3]:.6g}") for row in self._rows)
        write_atomic(self._path, text.getvalue())


def _read(path: Path) -> list[tuple[int, int, float, float]]:
    """Return the rows of the file; none if there is no such file, since nothing but speeds depends on it."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [[row[name] for name in _COLUMNS] for row in csv.DictReader(file)]
        return [(int(row[0]), int(row[1]), float(row[2]), float(row[3])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return []
