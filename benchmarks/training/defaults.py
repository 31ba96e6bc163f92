"""Win rate by training time of games that nobody tuned: `python -m benchmarks.training.defaults`.

The games of examples/games learn by the defaults of `cellgames train`, each for five minutes of learning. The page has
the win rates, a plot of them over time, and the games of the agents in the end against a tree search and, in
Treblecross, the best score that is possible. A run that is stopped goes on where it was.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellgames
from benchmarks.pages import listed, machine_head, parser_of, typed_command, write_page
from cellgames.agents.loading import load
from cellgames.runs.run_folder import TIMING
from cellgames.training import compare
from cellgames.training.arguments import ALGORITHMS
from cellgames.training.runs.run import Progress, train
from cellgames.utils.progress import StatusLine
from cellgames.utils.report.model import Plot, Table, percent
from cellgames.utils.report.plots import FAINT, line_style, prepare, remove_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = {
    "connect-four": "examples.games.connect_four:connect-four-small-v0",
    "othello": "examples.games.othello:othello-small-v0",
    "treblecross": "examples.games.treblecross:treblecross-v0",
}
OUT = Path("results/benchmarks/defaults.md")
RUNS = Path("results/train/defaults")
GOAL = 0.95
RIVALS = {"random": 1000, "rollout:64": 200, "mcts:100": 200}
"""The agents that the trained one meets in the end, and the number of games."""
BEST = {"treblecross": 0.9698}
"""The score of the best player against random from all openings of two random moves, by exact calculation."""

_EVAL = {"eval_opponents": ("random",), "eval_games": 400, "eval_every": 5}  # measuring changes nothing that is learned


class _EnoughError(Exception):
    """The run has learned for as long as it may."""


def run(name: str, algorithm: str, minutes: float, seed: int) -> dict[str, Any]:
    """Train by defaults until the time is over, then play the games of `RIVALS`; return the figures."""
    game = cellgames.make(GAMES[name])
    arguments = ALGORITHMS[algorithm].arguments.fitted(game, seed=seed, **_EVAL)
    folder, line, points = RUNS / f"{name}-{algorithm}", StatusLine(True), list[dict[str, float]]()

    def report(at: Progress) -> None:
        points[:] = _points(folder, at.history)
        spent = points[-1]["seconds"] if points else 0.0
        line.show(f"{name}, {algorithm}: {at.steps:,} steps, {spent:.0f} of {60 * minutes:.0f} s")
        if spent >= 60 * minutes:
            raise _EnoughError

    try:
        train(arguments, folder, report=report)
    except _EnoughError:
        pass
    finally:
        line.end()
    agents = {spec: load(spec, game) for spec in (str(folder), *RIVALS)}
    scores = {
        spec: compare(game, agents[str(folder)], agents[spec], games, seed).ahead for spec, games in RIVALS.items()
    }
    return {"game": name, "algorithm": algorithm, "points": points, "scores": scores}


def _points(folder: Path, history: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the evaluations of a run: seconds of learning, steps, and the score against random."""
    with (folder / TIMING).open(encoding="utf-8", newline="") as file:
        seconds = {int(row["steps"]): float(row["seconds"]) for row in csv.DictReader(file)}
    rows = [row for row in history if int(row["steps"]) in seconds]
    return [{"seconds": seconds[int(row["steps"])], "steps": row["steps"], "share": row["random"]} for row in rows]


def _share(points: Sequence[Mapping[str, float]], seconds: float) -> float:
    """Return the share of the last evaluation within some seconds, or of the first."""
    return max((point for point in points if point["seconds"] <= seconds), default=points[0], key=_seconds)["share"]


def _seconds(point: Mapping[str, float]) -> float:
    return point["seconds"]


def _reached(row: Mapping[str, Any]) -> Mapping[str, float] | None:
    """Return the first evaluation that reaches the goal; None if there is none."""
    return next((point for point in row["points"] if point["share"] >= GOAL), None)


def _draw(rows: Sequence[Mapping[str, Any]], figure: Figure) -> None:
    """Draw a line for each run, each with its own dashes."""
    prepare(figure, "Games that nobody tuned, learned by default settings", 7.2, 4.5)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        minutes, shares = [point["seconds"] / 60 for point in row["points"]], [p["share"] for p in row["points"]]
        style = {**line_style(place), "marker": ""}
        axes.plot(minutes, shares, linewidth=1.6, label=f"{row['game']}, {row['algorithm']}", **style)
    axes.axhline(GOAL, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlabel("minutes of learning", fontsize=9)
    axes.set_ylabel("score against random", fontsize=9)
    remove_frame(axes)
    axes.legend(frameon=False, fontsize=9, loc="lower right")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, measure and write the page; return 1 if a run misses the goal."""
    parser = parser_of("benchmarks.training.defaults", __doc__, OUT, seed=True)
    parser.add_argument("--game", nargs="+", choices=GAMES, default=list(GAMES), help="of these (default: all)")
    parser.add_argument("--algo", nargs="+", choices=ALGORITHMS, default=["ppo"], help="by these (default ppo)")
    parser.add_argument("--minutes", type=float, default=5.0, metavar="X", help="(default 5)")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if options.minutes <= 0:
        parser.error(f"--minutes must be above 0, got {options.minutes:g}")
    rows = [run(name, algo, options.minutes, options.seed) for name in options.game for algo in options.algo]
    moments = [options.minutes * part for part in (0.2, 0.4, 0.6, 1)]
    columns = ("game", "algorithm", *(f"{moment:g} min" for moment in moments), "95 % after", *RIVALS, "best")
    lines = []
    for row in rows:
        goal, best = _reached(row), BEST.get(row["game"])
        lines.append(
            (
                *(row["game"], row["algorithm"]),
                *(percent(_share(row["points"], 60 * moment)) for moment in moments),
                "not reached" if goal is None else f"{goal['seconds']:.0f} s, {goal['steps']:,.0f} steps",
                *(percent(score) for score in row["scores"].values()),
                "" if best is None else percent(best),
            )
        )
    head = machine_head(typed_command("benchmarks.training.defaults", given), "torch")
    parts = (
        listed(head),
        "`cellgames train` without options for the games of examples/games (Connect Four on 5 x 5, Othello on 6 x 6, "
        "Treblecross on 12 cells). Scores in % against `random`, over 400 games from two random moves, with seats "
        "exchanged; a draw counts as half a win. Minutes are wall time of playing and learning, without evaluations. "
        "Then the agents at the last checkpoint within that time, in 1,000 games against `random` and 200 against each "
        "of two searches, which nobody trained. `best` is the score of the best player against `random`, where it can "
        "be calculated: some openings give the game to whoever moves.",
        Table("", columns, lines, text=("game", "algorithm", "95 % after")),
        Plot(options.out.stem, "Score against random over minutes", partial(_draw, rows)),
    )
    print(write_page(options.out, "Games that nobody tuned, learned by defaults", parts, {**head, "runs": rows}))
    return int(any(_reached(row) is None for row in rows))


if __name__ == "__main__":
    sys.exit(main())
