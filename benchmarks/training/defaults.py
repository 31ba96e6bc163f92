"""Win rate by training time of games that nobody tuned: `python -m benchmarks.training.defaults`.

The games of examples/games learn by the defaults of `cellgames train`, each for five minutes of learning. The page
results/benchmarks/defaults.md has the win rates, a plot of them over time, and the games of the agents in the end
against a tree search and, in Treblecross, the best score that is possible. A run that is stopped goes on where it was;
`--game` and `--algo` choose some of the runs, and the page keeps the results of the others.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellgames
from benchmarks.commands import typed_command
from benchmarks.pages import head, write_page
from cellgames.agents.loading import load
from cellgames.training import compare
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.runs.run import Progress, train
from cellgames.utils.hardware import cpu_model
from cellgames.utils.progress import StatusLine
from cellgames.utils.report.model import Plot, Table
from cellgames.utils.report.plots import FAINT, INK, line_style, prepare
from cellgames.utils.report.text import percent
from cellgames.utils.run_folders import TIMING, write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ALGOS", "GAMES", "Point", "Row", "main"]

GAMES = {
    "connect-four": "examples.games.connect_four:connect-four-small-v0",
    "othello": "examples.games.othello:othello-small-v0",
    "treblecross": "examples.games.treblecross:treblecross-v0",
}
ALGOS = ("ppo", "alphazero")
OUT = Path("results/benchmarks/defaults.md")
RUNS = Path("results/train/defaults")
GOAL = 0.95
MINUTES = 5.0
RIVALS = {"random": 1000, "rollout:64": 200, "mcts:100": 200}
"""The agents that the trained one meets in the end, and the number of games."""
BEST = {"treblecross": 0.9698}
"""The score of the best player against random from all openings of two random moves, by exact calculation."""

_EVAL = {"eval_opponents": ("random",), "eval_games": 400, "eval_every": 5}  # measuring changes nothing that is learned


@dataclass(frozen=True)
class Point:
    """An evaluation.

    Attributes:
        seconds: of learning before it.
        steps: that were learned from.
        share: score against random, a draw as half a win.
    """

    seconds: float
    steps: int
    share: float


@dataclass(frozen=True)
class Row:
    """The result of a run.

    Attributes:
        game: key of `GAMES`.
        algorithm: of the run.
        points: the evaluations.
        scores: the score of the agent in the end against each of `RIVALS`.
        cores: of the machine.
        cpu: its name.
    """

    game: str
    algorithm: str
    points: tuple[Point, ...]
    scores: Mapping[str, float]
    cores: int
    cpu: str

    @property
    def reached(self) -> Point | None:
        """The first evaluation that reaches the goal; None if there is none."""
        return next((point for point in self.points if point.share >= GOAL), None)

    def after(self, minutes: float) -> float:
        """Return the share of the last evaluation within so many minutes."""
        return [point for point in self.points if point.seconds <= 60 * minutes][-1].share


class _EnoughError(Exception):
    """The run has learned for as long as it may."""


def run(name: str, algorithm: str, seconds: float, seed: int, *, resume: bool) -> Row:
    """Train by defaults until the time is over, then play the games of `RIVALS`."""
    game = cellgames.make(GAMES[name])
    arguments = ALGORITHMS[algorithm].arguments.fitted(game, seed=seed, **_EVAL)
    folder = RUNS / f"{name}-{algorithm}"
    line, points = StatusLine(True), list[Point]()

    def report(at: Progress) -> None:
        points[:] = _points(folder, at.history)
        spent = points[-1].seconds if points else 0.0
        shown = f"{points[-1].share:.1%} against random" if points else ""
        line.show(f"{name}, {algorithm}: {at.steps:,} steps, {spent:.0f} of {seconds:.0f} s, {shown}")
        if spent >= seconds:
            raise _EnoughError

    try:
        train(arguments, folder, resume=resume, report=report)
    except _EnoughError:
        pass
    finally:
        line.end()
    agent, scores = str(folder), dict[str, float]()
    for spec, games in RIVALS.items():
        scores[spec] = compare(game, load(agent, game), load(spec, game), games, seed).ahead
        print(f"{name}, {algorithm}: {scores[spec]:.1%} against {spec}", file=sys.stderr, flush=True)
    return Row(name, algorithm, tuple(points), scores, os.cpu_count() or 0, cpu_model())


def _points(folder: Path, history: Sequence[Mapping[str, float]]) -> list[Point]:
    """Return the evaluations of a run, with the times that it wrote."""
    with (folder / TIMING).open(encoding="utf-8", newline="") as file:
        seconds = {int(row["steps"]): float(row["seconds"]) for row in csv.DictReader(file)}
    return [
        Point(seconds[int(row["steps"])], int(row["steps"]), row["random"])
        for row in history
        if int(row["steps"]) in seconds
    ]


# ---------------------------------------------------------------- the page


def _write(out: Path, command: str, rows: Sequence[Row]) -> str:
    """Write the page and its numbers; return the text of the page."""
    moments = (1, 2, 3, MINUTES)
    columns = ("game", "algorithm", *(f"{moment:g} min" for moment in moments), "95 % after")
    lines, against = [], []
    for row in rows:
        when = "not reached" if row.reached is None else f"{row.reached.seconds:.0f} s, {row.reached.steps:,} steps"
        lines.append((row.game, row.algorithm, *(percent(row.after(moment)) for moment in moments), when))
        best = percent(BEST[row.game]) if row.game in BEST else ""
        against.append((row.game, row.algorithm, *(percent(row.scores[spec]) for spec in RIVALS), best))
    machines = {f"{row.cpu}, {row.cores} cores" for row in rows}
    parts = (
        f"`{command}`: `cellgames train` without options for the games of examples/games (Connect Four on 5 x 5, "
        f"Othello on 6 x 6, Treblecross on 12 cells), cellgames {cellgames.__version__}, "
        f"{' and '.join(sorted(machines))}. Scores in %, over 400 games from two random moves, with seats exchanged; a "
        "draw counts as half a win. Minutes are wall time of playing and learning, without evaluations.",
        "Score against `random`:",
        Table("", columns, lines, text=("game", "algorithm", "95 % after")),
        Plot(out.stem, "Score against random over minutes", partial(_draw, rows)),
        "The agents at the last checkpoint within that time, in 1,000 games against `random` and 200 against each of "
        "two searches, which nobody trained. `best` is what the best player would score against `random`, where "
        "it can be calculated: some openings give the game to whoever moves.",
        Table("", ("game", "algorithm", *RIVALS, "best"), against, text=("game", "algorithm")),
    )
    data = {**head(command), "runs": [asdict(row) for row in rows]}
    return write_page(out, "Games that nobody tuned, learned by defaults", parts, data)


def _draw(rows: Sequence[Row], figure: Figure) -> None:
    """Draw a line for each run, each with its own dashes."""
    from matplotlib.ticker import PercentFormatter

    prepare(figure, "Games that nobody tuned, learned by default settings", 7.2, 4.5)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        style = {**line_style(place), "marker": ""}
        minutes, shares = zip(*((point.seconds / 60, point.share) for point in row.points), strict=True)
        axes.plot(minutes, shares, linewidth=1.6, label=f"{row.game}, {row.algorithm}", **style)
    axes.axhline(GOAL, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlim(0, MINUTES)
    axes.set_ylim(0.4, 1.01)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("minutes of learning", fontsize=9, color=INK)
    axes.set_ylabel("score against random", fontsize=9, color=INK)
    axes.grid(color=FAINT, linewidth=0.6, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def _result(name: str, algorithm: str, options: argparse.Namespace) -> Row:
    """Return the result of a run: of the last call if that finished it, and `--no-resume` is not given."""
    folder = RUNS / f"{name}-{algorithm}"
    finished, asked = folder.with_suffix(".json"), {"minutes": options.minutes, "seed": options.seed}
    if options.no_resume:
        shutil.rmtree(folder, ignore_errors=True)
        finished.unlink(missing_ok=True)
    if finished.exists():
        kept = json.loads(finished.read_text(encoding="utf-8"))
        if kept["asked"] == asked:
            return _row(kept["row"])
    made = run(name, algorithm, 60 * options.minutes, options.seed, resume=True)
    write_atomic(finished, json.dumps({"asked": asked, "row": asdict(made)}))
    return made


def _row(data: Mapping[str, Any]) -> Row:
    return Row(**{**data, "points": tuple(Point(**point) for point in data["points"])})


def _known(out: Path) -> dict[tuple[str, str], Row]:
    """Return the results that the page has already."""
    path = out.with_suffix(".json")
    if not path.exists():
        return {}
    rows = [_row(data) for data in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    return {(row.game, row.algorithm): row for row in rows}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and measure; the exit code is 1 if PPO misses the goal in a game."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training.defaults", description=__doc__.split("\n")[0])
    parser.add_argument("--game", nargs="+", choices=GAMES, default=list(GAMES), help="of these (default: all)")
    parser.add_argument("--algo", nargs="+", choices=ALGOS, default=list(ALGOS), help="by these (default: all)")
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="X", help=f"(default {MINUTES:g})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all random numbers (default 0)")
    parser.add_argument("--no-resume", action="store_true", help="delete the runs that are there, and start again")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help=f"(default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if options.minutes <= 0:
        parser.error(f"--minutes must be above 0, got {options.minutes:g}")
    rows, page = _known(options.out), ""
    for name in options.game:
        for algorithm in options.algo:
            rows[name, algorithm] = _result(name, algorithm, options)
            order = [rows[key] for key in ((game, algo) for game in GAMES for algo in ALGOS) if key in rows]
            page = _write(options.out, typed_command("benchmarks.training.defaults", given), order)
    print(page)
    return int(any(row.reached is None for row in rows.values() if row.algorithm == ALGOS[0]))


if __name__ == "__main__":
    sys.exit(main())
