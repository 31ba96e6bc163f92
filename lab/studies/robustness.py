"""A study: how exploitable is each shipped agent, and does a league halve it?

The command is `python -m cellgames.lab.studies.robustness`. An exploiter of every `trained` starts from the agent's own
weights, learns by an algorithm of that game, and gets the same share of the agent's own steps. The exploiters of
results/strength/exploiters, which had more, stand beside them. Whether a league halves exploitability is measured where
it is exact (`cellgames.lab.studies.league`), and in the small game of Grid Adaptation by exploiters of the agents
that `cellgames.lab.studies.grid_league` trained. A page, its numbers and its plot go to results/studies/robustness/.
The same command goes on after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head

import cellgames
from cellgames.agents.networks.saved import read_about
from cellgames.agents.networks.shipped_weights import WEIGHTS
from cellgames.agents.networks.trained import shipped
from cellgames.lab import ExploitOptions, exploit, exploiter_arguments
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Plot, Report, Section, Table
from cellgames.utils.report.plots import prepare
from cellgames.utils.report.text import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PLAN", "Target", "main"]

OUT = Path("results/studies/robustness")
RUNS = Path("results/train/robustness")
LEAGUES = Path("results/train/grid_league")
EARLIER = Path("results/strength/exploiters")
EXACT = Path("results/benchmarks/league.json")
SHARE = 0.01
"""Steps of an exploiter, as a share of those of the agent's own training."""

_BAR = 0.6
"""Score of an exploiter that the shipped agents should not allow."""

_QUICK: dict[str, Any] = {"threads": 1, "device": "cpu", "eval_every": 1_000, "eval_games": 2, "seed": 1}
_COLOURS = ("#0072b2", "#d55e00")  # blue and vermillion of Okabe and Ito


@dataclass(frozen=True)
class Target:
    """A shipped agent to exploit.

    Attributes:
        game: Id of the game that it plays as `trained`.
        algorithm: By which its exploiter learns.
        games: Of the match.
        settings: Of the training, beside those that all have.
    """

    game: str
    algorithm: str
    games: int
    settings: Mapping[str, Any] = field(default_factory=dict)


_SEARCHED = {"num_envs": 32, "num_steps": 16, "num_simulations": 16}

PLAN = (
    Target("torus-small-v0", "alphazero", 400, _SEARCHED),
    Target("torus-v0", "alphazero", 400, _SEARCHED),
    Target("grid-adaptation-small-v0", "ppo", 400),
    Target("grid-adaptation-v0", "ppo", 100),
    Target("cloth-of-gold-small-v0", "turn-values", 200),
    Target("cloth-of-gold-v0", "turn-values", 60),
    Target("toroidal-cup-small-v0", "placement-values", 400),
    Target("toroidal-cup-v0", "placement-values", 100),
)
"""Every game whose weights are shipped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Train what is missing and write the page; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m cellgames.lab.studies.robustness", description=__doc__)
    parser.add_argument("--share", type=float, default=SHARE, help="of the agent's own steps (default %(default)s)")
    parser.add_argument(
        "--only", nargs="+", metavar="GAME", help="games to exploit anew; the page has all that are done"
    )
    parser.add_argument("--grid-steps", type=int, default=20_000, help="steps of exploiters of leagues (%(default)s)")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs")
    parser.add_argument("--leagues", type=Path, default=LEAGUES, help="runs of cellgames.lab.studies.grid_league")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the page")
    given = parser.parse_args(argv)
    check_least(parser, given, grid_steps=1)
    if not 0 < given.share <= 1:
        parser.error(f"--share must be above 0 and at most 1, got {given.share}")
    rows = {row["game"]: row for row in _kept(given.out, given.share)}
    for target in PLAN:
        if target.game not in (given.only or rows.keys() ^ {other.game for other in PLAN}):
            continue
        rows[target.game] = _exploited(target, given.share, given.runs)
        print(rows[target.game], flush=True)
        _write(given, [rows[one.game] for one in PLAN if one.game in rows], [], argv)
    grid = _grid(given)
    _write(given, [rows[one.game] for one in PLAN if one.game in rows], grid, argv)
    print(f"Written to {given.out}")
    return 0


def _kept(out: Path, share: float) -> list[dict[str, Any]]:
    """Return the rows that are done, with this share and version."""
    path = out / "report.json"
    if not path.exists():
        return []
    data = json.loads(path.read_text(encoding="utf-8"))
    same = (data["share"], data["version"]) == (share, cellgames.__version__)
    return list(data["rows"]) if same else []


def _exploited(target: Target, share: float, runs: Path) -> dict[str, Any]:
    """Return the row of an exploiter, which is trained and plays its match."""
    game = cellgames.make(target.game)
    weights = shipped(game, WEIGHTS)
    about = read_about(weights)
    own = int(about["made"]["steps"])
    settings = {**_QUICK, **target.settings, **about["size"], "start_from": str(weights)}
    arguments = exploiter_arguments(
        game, "trained", target.algorithm, **settings, total_steps=max(1, round(share * own))
    )
    folder = runs / f"{target.game}-{share:g}"
    found = exploit(arguments, folder, ExploitOptions(games=target.games))
    return {
        **{"game": target.game, "algorithm": target.algorithm, "steps": found.steps, "own steps": own},
        **{"games": found.games, "score": found.score, "low": found.low, "high": found.high},
    }


def _grid(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what exploiters score against the agents of the study of leagues in Grid Adaptation, if it has run."""
    game, rows = cellgames.make("grid-adaptation-small-v0"), []
    alone = sorted(given.leagues.glob("self-play-*-*/agent.safetensors"))
    for file in alone:
        seed = int(file.parent.name.rpartition("-")[2])
        (league,) = given.leagues.glob(f"league-*-{seed}")
        size = read_about(file)["size"]
        for method, agent in (("self-play", str(file.resolve())), ("league", f"league:{league.resolve()}")):
            settings = {**_QUICK, **size, "seed": seed}
            arguments = exploiter_arguments(
                game, f"{method}-{seed}={agent}", "ppo", **settings, total_steps=given.grid_steps
            )
            found = exploit(arguments, given.runs / f"grid-{method}-{seed}", ExploitOptions(games=400))
            scores = {"score": found.score, "low": found.low, "high": found.high}
            rows.append({"seed": seed, "method": method, "steps": found.steps, **scores})
            print(rows[-1], flush=True)
    return rows


# ---------------------------------------------------------------- the page


def _interval(row: Mapping[str, Any]) -> str:
    return f"{percent(row['score'])} ({percent(row['low'])} to {percent(row['high'])})"


def _earlier() -> list[dict[str, Any]]:
    """Return the exploiters of the pages on strength."""
    found = []
    for path in sorted(EARLIER.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        name = path.stem.rpartition(f"-{data['algorithm']}")[0]
        found.append({**data, "game": name, "own steps": data["own_steps"]})
    return found


def _exact(data: Mapping[str, Any]) -> tuple[str, Table]:
    """Return the answer of the exact benchmark, and its table."""
    names = [name for name in data["mean"] if "opening" not in name]
    means = {name: data["mean"][name] for name in names}
    halved = means["league"] < means["self-play"] / 2
    text = (
        f"On Torus of size 3, over {len(data['rows'])} seeds at equal steps, the exact exploitability is "
        f"{means['self-play']:.3f} for self-play and {means['league']:.3f} for the league's mixture: the league "
        f"{'halves it' if halved else 'does not halve it'}."
    )
    rows = [[row[name] for name in ("seed", *names)] for row in data["rows"]]
    return text, Table("", ("seed", *names), rows)


def _write(
    given: argparse.Namespace,
    rows: Sequence[Mapping[str, Any]],
    grid: Sequence[Mapping[str, Any]],
    argv: Sequence[str] | None,
) -> None:
    command = typed_command("cellgames.lab.studies.robustness", argv)
    earlier = _earlier()
    exact, exact_table = _exact(json.loads(EXACT.read_text(encoding="utf-8")))
    holes = [row for row in (*rows, *earlier) if row["low"] > 0.5]
    found = (
        f"Exploiters find a hole, a score whose interval is above one half, in {', '.join(map(_hole, holes))}."
        if holes
        else "No exploiter finds a hole: no interval of a score is above one half."
    )
    every = [*rows, *earlier]
    if holes:
        by_chance = 1 - 0.975 ** len(every)
        found += (
            f" If there were none, one or more of {len(every)} intervals would be above with a chance of "
            f"{percent(by_chance)} %."
        )
    most = max(row["high"] for row in every)
    found += f" {'No interval reaches' if most < _BAR else 'An interval reaches'} {percent(_BAR)} %."
    columns = ("game", "by", "steps", "% of its own", "games", "score % (95 %)")
    table: list[tuple[Cell, ...]] = [
        (
            row["game"],
            row["algorithm"],
            row["steps"],
            round(100 * row["steps"] / row["own steps"], 1),
            row["games"],
            _interval(row),
        )
        for row in (*rows, *earlier)
    ]
    leagues: list[str | Table] = [exact, exact_table]
    if grid:
        leagues += [
            f"In the small game of Grid Adaptation, exploiters by PPO from new weights, {given.grid_steps:,} steps "
            "each, 400 games, against agents that had equally many steps "
            "([what a league learns](../grid_league/report.md)); score in % of the pairs of seats:",
            Table(
                "",
                ("seed", "against", "steps", "score % (95 %)"),
                [(row["seed"], row["method"], row["steps"], _interval(row)) for row in grid],
            ),
        ]
    parts = (
        f"`{command}`; cellgames {cellgames.__version__}, {cpu_model()}.",
        Section(
            "The question",
            (
                "How much does each shipped agent lose to an opponent that was trained against it alone, and does a "
                "league halve exploitability at the same compute?",
                "The baseline of an exploiter is one half, which the agent scores against itself: exploiters start "
                f"from its weights. Each has the same share, {percent(given.share)} %, of the agent's own steps. A "
                "hole counts as found if the interval of the score is above one half. A league halves exploitability "
                "if its mean over seeds is under half of that of self-play.",
            ),
        ),
        Section("The answer", (f"{found} {exact}{_exploited_leagues(grid)}",)),
        Section(
            "Shipped agents",
            (
                "Matches in both seats, or half of the seats of a larger game. The exploiters below the first "
                f"{len(rows)} had more compute; those in the Toroidal Cup started anew "
                "([strength](../../strength/README.md)).",
                Table("exploiters", columns, table, shown=100),
                Plot("exploiters", "", partial(_draw, rows=rows, earlier=earlier), "scores of exploiters by game"),
            ),
        ),
        Section("Leagues and self-play", leagues),
        Section(
            "Limits and what would change this answer",
            (
                "A score is a lower bound of what an agent can lose: exploiters this small find only what is near the "
                "agent's own play. One seed each. An exploiter with more compute that scores above 60 % would change "
                "the first answer, and so would one that searches against the frozen agent itself. The exact values "
                "of agents that take their likeliest move are 0 or 0.5, so means over few seeds say little; ten "
                "seeds of which the league's are mostly 0 would change the second.",
            ),
        ),
    )
    data = {**head(command), "share": given.share, "rows": list(rows), "grid": list(grid)}
    write_report(given.out, Report("How exploitable the shipped agents are", parts, data, data_file="report.json"))


def _exploited_leagues(grid: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the exploiters in Grid Adaptation; "" if there are none."""
    if not grid:
        return ""
    mean = {of: fmean(row["score"] for row in grid if row["method"] == of) for of in ("self-play", "league")}
    return (
        f" In Grid Adaptation exploiters with equal compute score {percent(mean['self-play'])} % on average against "
        f"self-play and {percent(mean['league'])} % against leagues."
    )


def _hole(row: Mapping[str, Any]) -> str:
    return f"{row['game']} by {row['algorithm']}, {_interval(row)} %"


def _draw(figure: Figure, *, rows: Sequence[Mapping[str, Any]], earlier: Sequence[Mapping[str, Any]]) -> None:
    """Draw the score of every exploiter with its interval."""
    names = [target.game for target in PLAN if any(row["game"] == target.game for row in (*rows, *earlier))]
    prepare(figure, "What exploiters score against the shipped agents", 7.2, 1.5 + 0.36 * len(names))
    axes = figure.subplots()
    axes.axvline(50, color="#b8b8b8", linewidth=1)
    for colour, some, shift, label in (
        (_COLOURS[0], rows, 0.1, "this study"),
        (_COLOURS[1], earlier, -0.1, "earlier, more compute"),
    ):
        shown = [row for row in some if row["game"] in names]
        places = [len(names) - 1 - names.index(row["game"]) + shift for row in shown]
        middles = [100 * row["score"] for row in shown]
        spans = [
            [100 * (row["score"] - row["low"]) for row in shown],
            [100 * (row["high"] - row["score"]) for row in shown],
        ]
        axes.errorbar(middles, places, xerr=spans, fmt="o", color=colour, markersize=4, label=label, linewidth=1.2)
    axes.set_yticks(range(len(names)), names[::-1])
    axes.set_xlim(0, 102)
    axes.set_xlabel("score of the exploiter, %")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")


if __name__ == "__main__":
    sys.exit(main())
