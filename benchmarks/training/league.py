"""Exact exploitability of a league beside plain self-play on Torus of size 3: `python -m benchmarks.training.league`.

For each seed a run of self-play and a league learn from equally many steps. The numbers are exact: a best response
against the agent as it is saved, which takes its likeliest move, and against the league's mixture, of which the best
response knows the members and their weights, but not who was drawn. The page is results/benchmarks/league.md. A run
that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import cellgames
from benchmarks.pages import head, write_page
from cellgames.agents.loading import load
from cellgames.training import LeagueOptions, PPOArguments, exploitability, train, train_league
from cellgames.training.runs.run import Finished
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table

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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training.league", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--steps", type=int, default=20_000, help="steps of each member of a league")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of a league")
    parser.add_argument("--method", choices=("psro", "league"), default="league")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder of the runs")
    parser.add_argument("--out", type=Path, default=OUT, help="the page")
    given = parser.parse_args(argv)
    members = given.rounds if given.method == "psro" else 1 + 3 * (given.rounds - 1)
    rows = []
    for seed in range(given.seeds):
        rows.append(_seed(given, seed, members * given.steps))
        print(rows[-1], flush=True)
        _write(given, rows, members, argv)
    return 0


def _seed(given: argparse.Namespace, seed: int, total: int) -> dict[str, Any]:
    """Return the numbers of a seed."""
    game = cellgames.make("torus-v0", **GAME)
    alone: Finished = train(
        PPOArguments.fitted(game, seed=seed, total_steps=total, **SHARED), given.runs / f"self-play-{total}-{seed}"
    )
    base = PPOArguments.fitted(game, seed=seed, total_steps=given.steps, **SHARED)
    # Members take their likeliest moves, so two games a pair without random openings are all there are.
    options = LeagueOptions(method=given.method, rounds=given.rounds, games=2, opening_plies=0)
    league = train_league(base, given.runs / f"{given.method}-{given.rounds}x{given.steps}-{seed}", options)
    plain = exploitability(game, [load(str(alone.agent), game)])
    mixture = load(f"league:{league.out}", game)
    agents, shares = mixture.members(game), mixture.mixture.shares()  # type: ignore[union-attr]
    mixed = exploitability(game, agents, shares)
    opened = [
        exploitability(game, found, weights, opening_plies=OPENING).exploitability
        for found, weights in (([load(str(alone.agent), game)], None), (agents, shares))
    ]
    return {
        "seed": seed,
        "steps of self-play": alone.steps,
        "steps of the league": sum(_steps(league.out, planned.name) for planned in league.plans),
        "self-play": round(plain.exploitability, 4),
        "league": round(mixed.exploitability, 4),
        "self-play, openings": round(opened[0], 4),
        "league, openings": round(opened[1], 4),
        "rounds": [row.exact for row in league.rounds],
        "weights": {name: round(weight, 3) for name, weight in league.strategy.items() if weight > 0.001},
    }


def _steps(league: Path, member: str) -> int:
    """Return the steps that a member has learned from."""
    from cellgames.agents.networks.saved import read_about

    return int(read_about(league / "members" / member / "agent.safetensors")["made"]["steps"])


def _write(given: argparse.Namespace, rows: Sequence[dict[str, Any]], members: int, argv: Sequence[str] | None) -> None:
    words = sys.argv[1:] if argv is None else argv
    command = shlex.join(["python", "-m", "benchmarks.training.league", *words])
    names = ("self-play", "league", "self-play, openings", "league, openings")
    means = {name: fmean(row[name] for row in rows) for name in names}
    under = means["league"] < means["self-play"] / 2
    columns = (
        *("seed", "steps of self-play", "steps of the league", "self-play", "league"),
        *("self-play, openings", "league, openings"),
    )
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
        f"{SHARED['channels']} channels; leagues by `--method {given.method}` of {given.rounds} rounds, {members} "
        f"members of {given.steps:,} steps each."
    )
    verdict = (
        f"Mean over {len(rows)} seeds: self-play {means['self-play']:.3f}, league {means['league']:.3f}. The bar, "
        f"under half of self-play at equal steps, is {'reached' if under else 'not reached'}. From openings: self-play "
        f"{means['self-play, openings']:.3f}, league {means['league, openings']:.3f}."
    )
    meaning = (
        "An agent that always takes its likeliest move has an exploitability of 0 or 0.5 here: either it holds every "
        "line as Black, or there is one that beats it every time. A mixture of such agents lies between, and its "
        "exploitability is at most half the weight of members that can be beaten. So a second measure stands in the "
        f"columns `openings`: the same game after {OPENING} random moves, as matches begin, the mean over all openings."
    )
    reasons = (
        "What probably stands in the way: exploiters do not find the holes, so neither main agents nor the "
        "meta-strategy hear of them. Once a main agent beats what its exploiters try, the lines that still beat it "
        "are too rare for an opponent that learns from results. A mixture that draws a member a game cannot hide "
        "them: the first moves tell the best response who plays, and it then uses that member's own hole. Exact "
        "values turn on single lines, so they also depend on settings that have nothing to do with populations; "
        "[Populations](../../docs/populations.md#what-was-tried) has the measurements."
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
