"""Logs of a run: a table, TensorBoard events, and a plot of the learning curve."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cellgames.runs.comparing import TENSORBOARD
from cellgames.utils.extras import install, no_pictures
from cellgames.utils.files import write_atomic
from cellgames.utils.report.files import png
from cellgames.utils.report.model import Plot

from .checkpoints import CURVE, PROGRESS
from .curves import draw_learning_curve

__all__ = ["RUN_METRICS", "Logs", "eval_metrics"]

RUN_METRICS = {
    "iteration": "number of iterations",
    "steps": "actions of the learner that it has learned from",
    "games": "games that ended",
    "turns_per_game": "mean length of the games that ended in the iteration",
}

EVAL_METRICS = {
    "{}": "share of the games (of more than two seats: of the pairs of seats) in which the learner is ahead of the "
    "evaluation opponent; ties, and games that both lose, count half",
    "{} decided": "share of these games or pairs that are not ties",
    "{} score": "mean final score of the learner's seats",
    "{} other score": "mean final score of the opponent's seats",
}
"""Columns of each evaluation opponent; {} is its spec."""


class Logs:
    """The logs in the folder of a run; those that need a missing package are left out, with a warning.

    Args:
        folder: of the run.
        title: of the plot.
        eval_opponents: columns of the plot.
        games: against each of them in an evaluation.
        first: steps of the first event to come; TensorBoard hides later events of a run that was stopped.
        warn: gets a line for each thing left out.
    """

    def __init__(
        self,
        folder: Path,
        title: str,
        eval_opponents: Sequence[str],
        games: int,
        first: int,
        warn: Callable[[str], None],
    ) -> None:
        self._folder, self._title, self._eval_opponents, self._warn = folder, title, eval_opponents, warn
        self._games = games
        self._first, self._draws, self._tells = first, True, True
        self._writer: Any = None

    def scalars(self, group: str, values: Mapping[str, float], steps: int) -> None:
        """Write events for TensorBoard as `group/name`; the first event makes the file."""
        if self._writer is None and self._tells:
            self._open()
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(f"{group}/{name}", value, steps)

    def _open(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            self._tells = False
            self._warn(f"no TensorBoard events ({error}): {install('train')}")
            return
        folder = self._folder / TENSORBOARD
        while any(folder.glob(f"events.out.tfevents.{int(time.time()):010d}.*")):
            time.sleep(0.05)  # TensorBoard reads files in the order of their names, which hold no more than the second
        self._writer = SummaryWriter(folder, purge_step=self._first)

    def table(self, history: Sequence[Mapping[str, float]]) -> None:
        """Write the whole table."""
        text = io.StringIO()
        if history:
            writer = csv.DictWriter(text, history[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: _short(value) for name, value in line.items()} for line in history)
        write_atomic(self._folder / PROGRESS, text.getvalue())

    def plot(self, history: Sequence[Mapping[str, float]]) -> None:
        """Write the plot of the learning curve."""
        if not (self._draws and history and self._eval_opponents):
            return
        try:
            draw = partial(draw_learning_curve, self._title, self._eval_opponents, self._games)
            image = png(Plot(CURVE, "", partial(draw, history)))
        except ImportError as error:
            self._draws = False
            self._warn(no_pictures(error))
            return
        write_atomic(self._folder / CURVE, image)

    def flush(self) -> None:
        """Write buffered events, because a run that is killed later does not repeat them."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Write buffered events and close the file."""
        if self._writer is not None:
            self._writer.close()


def eval_metrics(spec: str) -> dict[str, str]:
    """Return the name and the explanation of each column of an evaluation opponent."""
    return {name.format(spec): text for name, text in EVAL_METRICS.items()}


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"
