"""Exploitability of self-play, PSRO and Global PSRO at equal steps: `python -m cellgames.lab.studies.populations`.

Torus of size 3 and Hex of size 4 are small enough for exact best responses to agents that take their likeliest move.
Each method learns by PPO in `PARTS` parts of equal length. Runs that are done are kept in results/train/populations, so
that seeds can be shared out among processes (`--first`).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from benchmarks.pages import listed, machine_head, parser_of, typed_command, write_page

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import load
from cellgames.envs.core import Game
from cellgames.lab import LeagueOptions, exploitability, train_league
from cellgames.lab.comparison import permutation_p, welch_interval
from cellgames.lab.populations.league_agent import LeagueAgent
from cellgames.training import PPOArguments, train
from cellgames.utils.report.model import Table
from cellgames.utils.statistics import mean_interval

OUT = Path("results/studies/populations/report.md")
RUNS = Path("results/train/populations")
GAMES = {"torus-v0": 3, "hex-v0": 4}
PARTS = 8
LEAGUES = {"PSRO": LeagueOptions(rounds=PARTS), "Global PSRO": LeagueOptions(method="global", rounds=PARTS // 2)}
BEST = "the best of self-play's parts"
METHODS = ("self-play", BEST, *LEAGUES)
OPENINGS = (0, 2)
"""Random moves before anybody moves."""
_MOST = 20_000_000  # positions of an exact calculation


def measured(game: Game, method: str, seed: int, iterations: int) -> dict[str, list[float]]:
    """Return the gains of best responses to the agents of a method, from the start and after two random moves.

    The training is done first unless it has been.
    """
    folder = RUNS / f"{game.id}-{iterations}-{seed}" / method.replace(" ", "-").lower()
    path = folder.with_suffix(".json")
    if not path.exists():
        part = iterations // PARTS
        rare = dict.fromkeys(("eval_every", "checkpoint_every"), iterations)
        least = {"eval_games": 2, "eval_opponents": ("random",)}
        small = {"channels": 8, "layers": 1, "threads": 1, "device": "cpu"}
        base = PPOArguments.fitted(game, seed=seed, snapshot_every=part, **small, **rare, **least)
        step = base.num_envs * base.num_steps  # of an iteration
        if method in LEAGUES:
            train_league(PPOArguments(**{**vars(base), "total_steps": part * step}), folder, LEAGUES[method])
            agent = cast(LeagueAgent, load(f"league:{folder}", game))
            found = {method: _gains(game, agent.members(game), agent.mixture.shares())}
        else:
            done = train(PPOArguments(**{**vars(base), "total_steps": iterations * step}), folder)
            files = [done.agent, *sorted((folder / "pool").glob("*.safetensors"))]
            agents = [load(str(file), game) for file in files]
            best = min(agents, key=lambda agent: exploitability(game, [agent]).exploitability)
            found = {method: _gains(game, agents[:1]), BEST: _gains(game, [best])}
        path.write_text(json.dumps(found), encoding="utf-8")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _gains(game: Game, agents: Sequence[AnyAgent], shares: Sequence[float] | None = None) -> list[float]:
    return [exploitability(game, agents, shares, opening_plies=plies, most=_MOST).exploitability for plies in OPENINGS]


def main() -> None:
    """Train, measure, and write the page of all seeds."""
    parser = parser_of("cellgames.lab.studies.populations", __doc__, OUT)
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="of each method, from 0 on (default 20)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with this seed (default 0)")
    parser.add_argument("--iterations", type=int, default=64, metavar="N", help="of PPO (default 64)")
    parser.add_argument("--game", nargs="+", choices=GAMES, default=list(GAMES), help="of these (default: both)")
    options = parser.parse_args()
    order = [*range(options.first, options.seeds), *range(options.first)]
    rows: list[dict[str, Any]] = []
    for name in options.game:
        game = cellgames.make(name, size=GAMES[name])
        of_seed: dict[int, dict[str, list[float]]] = {seed: {} for seed in range(options.seeds)}
        for seed in order:
            for method in ("self-play", *LEAGUES):
                of_seed[seed] |= measured(game, method, seed, options.iterations)
            print(name, seed, of_seed[seed], flush=True)
        for place, plies in enumerate(OPENINGS):
            values = {method: [round(row[method][place], 6) for row in of_seed.values()] for method in METHODS}
            for method, found in values.items():
                low, high = mean_interval(found, few=True)
                p = permutation_p(found, values["self-play"], np.random.default_rng(0))
                gap = welch_interval(found, values["self-play"])
                row = {"game": f"{name}, size {GAMES[name]}", "random_moves": plies, "method": method}
                numbers = {"mean": statistics.fmean(found), "low": low, "high": high, "gap": gap, "p": p}
                rows.append({**row, **numbers, "values": found})
    head = machine_head(typed_command("cellgames.lab.studies.populations", None), "torch")
    columns = ("game", "random moves", "method", "mean", "95 %", "less self-play", "p", "at 0", "at 0.5")
    lines = [
        (
            *(row["game"], row["random_moves"], row["method"], f"{row['mean']:.3f}"),
            f"{row['low']:.3f} to {row['high']:.3f}",
            "" if row["method"] == "self-play" else f"{row['gap'][0]:.3f} to {row['gap'][1]:.3f}",
            "" if row["method"] == "self-play" else f"{row['p']:.5f}",
            sum(value == 0 for value in row["values"]),
            sum(value == 0.5 for value in row["values"]),
        )
        for row in rows
    ]
    about = (
        f"Exact exploitability, from 0 to 0.5, after {options.iterations} iterations of PPO in all (8 channels, one "
        f"layer), {options.seeds} seeds each. PSRO: {PARTS} responses one after another. Global PSRO: "
        f"{PARTS // 2} rounds of two responses, of which the one is kept that leaves the population least exploitable. "
        "Intervals of means and of differences are Student's and Welch's; p is that of a permutation test."
    )
    table = Table("", columns, lines, text=("game", "method", "95 %", "less self-play"))
    print(write_page(options.out, "Populations and self-play", (listed(head), about, table), {**head, "rows": rows}))


if __name__ == "__main__":
    main()
