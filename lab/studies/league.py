"""Exact exploitability of a league beside plain self-play on Torus of size 3.

The command is `python -m cellgames.lab.studies.league`.
For each seed a run of self-play and a league learn from equally many steps. The numbers are exact: a best response
against the agent as it is saved, which takes its likeliest move, and against the league's mixture, of which the best
response knows the members and their weights, but not who was drawn. The page is results/benchmarks/league.md. A run
that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head, write_page

import cellgames
from cellgames.agents.loading import load
from cellgames.lab import LeagueOptions, exploitability, train_league
from cellgames.training import PPOArguments, train
from cellgames.training.runs.run import Finished
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table
from cellgames.utils.statistics import mean_interval

__all__ = ["main"]

OUT = Path("results/benchmarks/league.md")
RUNS = Path("results/train/league")
GAME = {"size": 3}
OPENING = 2
"""Random moves of the second measure, as matches have them."""
SHARED: dict[str, Any] = {
    **{"channels": 8, "layers": 1, "threads": 1, "device": "cpu", "checkpoint_every": 20},
    **{"eval_every": 1_000, "eval_games": 2, "eval_opponents": ("random",)},
}


def main(argv: Sequence[str] | None = None) -> int:
    """Train, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m cellgames.lab.studies.league", description=__doc__)
    parser.add_argument("--seeds", type=int, default=6, help="number of seeds")
    parser.add_argument("--steps", type=int, default=18_000, help="steps of each main agent, or best response")
    parser.add_argument("--rounds", type=int, default=8, help="rounds of a league")
    parser.add_argument("--method", choices=("psro", "league"), default="league")
    parser.add_argument("--openings", action="store_true", help=f"measure after {OPENING} random moves, too: slower")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs")
    parser.add_argument("--out", type=Path, default=OUT, help="the page")
    given = parser.parse_args(argv)
    check_least(parser, given, seeds=1, steps=1, rounds=1)
    rows = []
    for seed in range(given.seeds):
        rows.append(_seed(given, seed))
        print(rows[-1], flush=True)
        _write(given, rows, argv)
    return 0


def _seed(given: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Return the numbers of a seed; self-play has as many steps as its league took."""
    game = cellgames.make("torus-v0", **GAME)
    base = PPOArguments.fitted(game, seed=seed, total_steps=given.steps, **SHARED)
    options = LeagueOptions(method=given.method, rounds=given.rounds, games=2, opening_plies=0)
    league = train_league(base, given.runs / f"{given.method}-{given.rounds}x{given.steps}-{seed}", options)
    total = sum(_steps(league.out, planned.name) for planned in league.plans)
    alone: Finished = train(
        PPOArguments.fitted(game, seed=seed, total_steps=total, **SHARED), given.runs / f"self-play-{total}-{seed}"
    )
    plain = exploitability(game, [load(str(alone.agent), game)])
    mixture = load(f"league:{league.out}", game)
    agents, shares = mixture.members(game), mixture.mixture.shares()  # type: ignore[union-attr]
    mixed = exploitability(game, agents, shares)
    last = league.out / "members" / f"main-{given.rounds:03d}" / "agent.safetensors"
    more = {"last main agent": round(exploitability(game, [load(str(last), game)]).exploitability, 4)}
    more = more if given.method == "league" else {}
    if given.openings:
        for name, found, weights in (("self-play", [load(str(alone.agent), game)], None), ("league", agents, shares)):
            value = exploitability(game, found, weights, opening_plies=OPENING).exploitability
            more[f"{name}, openings"] = round(value, 4)
    return {
        "seed": seed,
        "steps of self-play": alone.steps,
        "steps of the league": total,
        "self-play": round(plain.exploitability, 4),
        "league": round(mixed.exploitability, 4),
        **more,
        "rounds": [row.exact for row in league.rounds],
        "weights": {name: round(weight, 3) for name, weight in league.strategy.items() if weight > 0.001},
    }


def _steps(league: Path, member: str) -> int:
    """Return the steps that a member has learned from."""
    from cellgames.agents.networks.saved import read_about

    return int(read_about(league / "members" / member / "agent.safetensors")["made"]["steps"])


def _mean(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the mean over seeds with its interval, within the range of the measure."""
    values = [row[name] for row in rows]
    if len(values) < 2:
        return f"{values[0]:.3f}"
    low, high = mean_interval(values)
    return f"{fmean(values):.3f} ({max(low, 0.0):.3f} to {min(high, 0.5):.3f})"


def _write(given: argparse.Namespace, rows: Sequence[dict[str, Any]], argv: Sequence[str] | None) -> None:
    command = typed_command("cellgames.lab.studies.league", argv)
    known = ("self-play", "league", "last main agent", "self-play, openings", "league, openings")
    names = [name for name in known if name in rows[0]]
    means = {name: fmean(row[name] for row in rows) for name in names}
    under = means["league"] < means["self-play"] / 2
    columns = ("seed", "steps of self-play", "steps of the league", *names)
    table = Table("", columns, [[row[name] for name in columns] for row in rows])
    by_round = Table(
        "",
        ("seed", *(f"round {number}" for number in range(1, given.rounds + 1)), "who plays in the end"),
        [
            (row["seed"], *row["rounds"], ", ".join(f"{name} {share:.0%}" for name, share in row["weights"].items()))
            for row in rows
        ],
    )
    text = (
        f"Exact exploitability on Torus of size 3, from 0 to 0.5: how far above one half a best response scores, over "
        f"both seats. Black wins with best play, so it is half of what the best response wins as White. PPO with "
        f"{SHARED['channels']} channels; leagues by `--method {given.method}` of {given.rounds} rounds, "
        f"{given.steps:,} steps a main agent or best response."
    )
    verdict = "".join(
        [
            f"Mean over {len(rows)} seeds: self-play {_mean(rows, 'self-play')}, league {_mean(rows, 'league')}, with ",
            "95 % intervals over seeds (Student's t). The bar, under half of self-play at equal steps, is ",
            "reached." if under else "not reached.",
        ]
    )
    meaning = (
        "An agent that always takes its likeliest move has an exploitability of 0 or 0.5 here: either it holds every "
        "line as Black, or there is one that beats it every time. A mixture of such agents lies between, and its "
        "exploitability is at most half the weight of members that can be beaten."
    )
    if given.openings:
        meaning += (
            f" So a second measure stands in the columns `openings`: the same game after {OPENING} random moves, as "
            "matches begin, the mean over all openings."
        )
    reasons = (
        "The values turn on single lines of play, so that they also depend on settings that have nothing to do with "
        "populations, and six seeds say little. What stands in the league's way: exploiters seldom find the holes, so "
        "neither main agents nor the meta-strategy hear of them. Once a main agent beats what its exploiters try, the "
        "lines that still beat it are too rare for an opponent that learns from results. A mixture that draws a member "
        "a game cannot hide them: the first moves tell the best response who plays, and it then uses that member's own "
        "hole. [Populations](../../docs/populations.md#what-was-tried) has what else was tried."
    )
    write_page(
        given.out,
        "Exploitability of leagues",
        [
            text,
            table,
            verdict,
            meaning,
            reasons,
            "Exploitability of the mixture after each round:",
            by_round,
            f"{cpu_model()}.",
        ],
        {**head(command), "mean": means, "rows": list(rows)},
    )


if __name__ == "__main__":
    sys.exit(main())
