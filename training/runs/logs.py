"""Logs of a run: tables of results and of times, TensorBoard events, and a plot of the learning curve."""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.runs.run_folder import TENSORBOARD, TIMING
from cellgames.utils.extras import install, no_pictures
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Plot, drawn
from cellgames.utils.report.plots import FAINT, INK, Curve, label_ends, line_style
from cellgames.utils.statistics import wilson_interval

from .checkpoints import CURVE, PROGRESS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

TIMING_METRICS = {
    "seconds": "wall time of playing and learning, without evaluations, over all parts of a continued run",
    "steps_per_second": "since the last row; in TensorBoard, in the iteration",
}
"""Columns of a file of their own, so that all other files of equal runs are equal."""

_TIMING_COLUMNS = ("iteration", "steps", *TIMING_METRICS)
_PLOT_EVERY_S = 30.0


class Logs:
    """The logs in the folder of a run; those that need a missing package are left out, with a warning.

    Args:
        folder: folder of the run.
        title: title of the plot.
        eval_opponents: columns of the plot.
        games: number of games against each of them in an evaluation.
        steps: steps of the checkpoint from which the run continues; None for a new run. Later times and events are
            dropped.
        warn: gets a line for each thing left out.

    Attributes:
        seconds: time of playing and learning.
    """

    def __init__(
        self,
        folder: Path,
        title: str,
        eval_opponents: Sequence[str],
        games: int,
        steps: int | None,
        warn: Callable[[str], None],
    ) -> None:
        self._folder, self._title, self._eval_opponents, self._warn = folder, title, eval_opponents, warn
        self._games = games
        self._first, self._draws, self._tells = 0 if steps is None else steps + 1, True, True
        self._writer: Any = None
        self._next_plot_s = time.monotonic() + _PLOT_EVERY_S
        self._times = [] if steps is None else [row for row in _read_times(folder / TIMING) if row[1] <= steps]
        self.seconds = self._times[-1][2] if self._times else 0.0

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

    def times(self, iteration: int, steps: int) -> None:
        """Add a row of times, unless the table has it, and write the table."""
        if self._times and self._times[-1][0] == iteration:
            return
        before, since = self._times[-1][1:3] if self._times else (0, 0.0)
        taken = self.seconds - since
        self._times.append((iteration, steps, self.seconds, (steps - before) / taken if taken else math.nan))
        rows = [f"{row[0]},{row[1]},{row[2]:.3f},{row[3]:.6g}" for row in self._times]
        write_atomic(self._folder / TIMING, "\n".join([",".join(_TIMING_COLUMNS), *rows, ""]))

    def plot(self, history: Sequence[Mapping[str, float]], *, last: bool) -> None:
        """Write the plot of the learning curve, if it is the last one or half a minute has passed since one before."""
        if not (self._draws and history and self._eval_opponents and (last or time.monotonic() > self._next_plot_s)):
            return
        self._next_plot_s = time.monotonic() + _PLOT_EVERY_S
        try:
            draw = partial(draw_learning_curve, self._title, self._eval_opponents, self._games)
            images = drawn(Plot("curve", "", partial(draw, history)))
        except ImportError as error:
            self._draws = False
            self._warn(no_pictures(error))
            return
        for name, image in zip(CURVE, images.values(), strict=True):
            write_atomic(self._folder / name, image)

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


def draw_learning_curve(
    title: str, eval_opponents: Sequence[str], games: int, history: Sequence[Mapping[str, float]], figure: Figure
) -> None:
    """Draw a line for each evaluation opponent: the share of games in which the learner is ahead, over steps.

    A band around each line is the 95 % Wilson interval of the games of an evaluation, which it takes as independent.
    `history` has the rows of a run's table, and the figure of matplotlib is empty.
    """
    from matplotlib.ticker import EngFormatter, PercentFormatter

    figure.set_size_inches(8.2, 4.2)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    steps = [row["steps"] for row in history]
    lines = []
    for number, spec in enumerate(eval_opponents):
        shares = [row[spec] for row in history]
        low, high = zip(*(wilson_interval(share, games) for share in shares), strict=True)
        style = line_style(number)
        axes.fill_between(steps, low, high, color=style["color"], alpha=0.16, linewidth=0)
        axes.plot(steps, shares, linewidth=1.8, markersize=3.5, **style)
        lines.append(Curve(f"against {spec}", shares, low, high))
    axes.axhline(0.5, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    most = max(steps, default=0) or 1000  # before anything is learned there is one point, and no scale
    axes.set_xlim(-0.05 * most, 1.05 * most)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions learned from", fontsize=9, color=INK)
    axes.set_ylabel(f"games ahead, of {games}; band: 95 % interval", fontsize=9, color=INK)
    axes.set_title(title, fontsize=11, weight="bold", color=INK, loc="left")
    axes.grid(color=FAINT, linewidth=0.6, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    label_ends(axes, lines, 3.2)


def _read_times(path: Path) -> list[tuple[int, int, float, float]]:
    """Return the rows of the file; none if there is no such file, since nothing but speeds depends on it."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [[row[name] for name in _TIMING_COLUMNS] for row in csv.DictReader(file)]
        return [(int(row[0]), int(row[1]), float(row[2]), float(row[3])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"
