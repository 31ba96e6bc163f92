"""The ladders of the package: `python -m benchmarks.arena.ladder torus-small-v0`.

A round robin of the rungs and of some other agents rates all of them (results/ladder/GAME). What `cellgames ladder`
reads of it goes to arena/ladder/calibrations/. Then each of the other agents climbs the ladder several times, with
other games each time; check.md and README.md say how far its places are from its rating.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import cellgames
from benchmarks.commands import typed_command
from benchmarks.pages import write_page
from cellgames.arena.ladder.climb import climb
from cellgames.arena.ladder.rungs import FOLDER, RATINGS
from cellgames.arena.play.match_options import LadderOptions, RoundRobinOptions
from cellgames.arena.play.round_robin import round_robin
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Cell, Table

OUT = Path("results/ladder")
GAMES, CLIMBS = 100, 3  # of a climb, and climbs of each agent
CLOSE = 50  # Elo


@dataclass(frozen=True)
class Setting:
    """A ladder to be made.

    Attributes:
        rungs: the agents of the ladder, weakest first.
        others: agents that are rated with them, and climb.
        games: games of each pair.
        opening_plies: none where a turn is several actions, or where all act at once.
    """

    rungs: str
    others: str
    games: int = 50
    opening_plies: int = 2


SETTINGS = {
    "torus-small-v0": Setting(
        "random rollout:4 rollout:8 rollout:16 rollout:24 rollout:40 rollout:64 rollout:96 "
        "mixed:0.5:greedy mcts:4 mcts:12 mcts:32 mcts:100 mcts:200 greedy mixed:0.1:trained mixed:0.05:trained trained",
        "rollout:12 rollout:48 mixed:0.6:greedy mixed:0.4:greedy mcts:8 mcts:64 amaf:64 mcts:400 "
        "mixed:0.2:trained mixed:0.02:trained",
    ),
    "hex-small-v0": Setting(
        "random rollout:2 rollout:8 rollout:16 mixed:0.6:greedy mixed:0.5:greedy mixed:0.4:greedy mcts:24 mcts:32 "
        "mixed:0.1:greedy mcts:100 mixed:0.1:trained mixed:0.05:trained trained",
        "rollout:4 mixed:0.7:greedy rollout:32 rollout:64 mcts:8 greedy mixed:0.2:trained mcts:200",
    ),
    "y-small-v0": Setting(
        "random rollout:4 rollout:8 rollout:16 rollout:24 rollout:32 rollout:64 mixed:0.2:greedy greedy "
        "mixed:0.2:trained mcts:200 mixed:0.05:trained trained",
        "mixed:0.5:greedy mcts:8 mixed:0.3:greedy mcts:32 mcts:50 mcts:100 mixed:0.1:trained",
    ),
    "cloth-of-gold-small-v0": Setting(
        "random mixed:0.7:greedy mixed:0.5:greedy mixed:0.3:greedy greedy mixed:0.5:trained mixed:0.35:trained "
        "mixed:0.2:trained mixed:0.1:trained trained",
        "rollout:8 mixed:0.4:greedy champion mixed:0.25:trained mixed:0.15:trained",
        games=40,
        opening_plies=0,
    ),
    "grid-adaptation-small-v0": Setting(
        "random mixed:0.8:greedy mixed:0.6:greedy mixed:0.4:greedy mixed:0.2:greedy rollout:32",
        "mixed:0.7:greedy mixed:0.5:greedy greedy rollout:4 trained",
        games=100,
        opening_plies=0,
    ),
    "toroidal-cup-small-v0": Setting(
        "random greedy trained", "rollout:8 mixed:0.5:greedy rollout:64", games=200, opening_plies=0
    ),
}


def calibrate(id: str, setting: Setting) -> dict[str, Any]:
    """Rate the agents; write and return what the package keeps."""
    agents = [*setting.rungs.split(), *setting.others.split()]
    options = RoundRobinOptions(games=setting.games, seed=1, opening_plies=setting.opening_plies, gif=False)
    round_robin(cellgames.make(id), agents, options, out=OUT / id, progress=True)
    found = json.loads((OUT / id / RATINGS).read_text())
    kept = ("agent", "elo", "elo_low", "elo_high")
    rungs = [{name: row[name] for name in kept} for row in found["agents"] if row["agent"] in setting.rungs.split()]
    run = {name: value for name, value in found["run"].items() if name not in ("agents", "finished", "checksum")}
    run["identities"] = {row["agent"]: run["identities"][row["agent"]] for row in rungs}
    data = {"run": run, "tie": found["tie"], "agents": rungs}
    write_atomic(FOLDER / f"{id}.json", json.dumps(data, indent=1) + "\n")
    return {row["agent"]: row["elo"] for row in found["agents"]}


def check(id: str, setting: Setting, rated: dict[str, Any]) -> None:
    """Let the other agents climb, and write how near their places are."""
    rows: list[tuple[str, float, float, float, int]] = []
    for agent in setting.others.split():
        for seed in range(CLIMBS):
            options = LadderOptions(games=GAMES, seed=10 + seed, within=1.0)
            with tempfile.TemporaryDirectory() as place:
                found = climb(cellgames.make(id), [agent], options, out=place, progress=True)
            low, high = found.place.placing.interval
            elo = found.place.placing.elo
            rows.append((agent, rated[agent], round(elo), round(elo - rated[agent]), int(low <= rated[agent] <= high)))
    errors = [row[3] for row in rows]
    numbers = {
        "climbs": len(rows),
        "mean error": round(statistics.fmean(map(abs, errors))),
        f"off by {CLOSE} at most": sum(abs(error) <= CLOSE for error in errors),
        "interval contains the rating": sum(row[4] for row in rows),
        "rank correlation": round(
            statistics.correlation(_ranks([row[1] for row in rows]), _ranks([row[2] for row in rows])), 3
        ),
    }
    print(f"{id}: {numbers}")
    text = (
        f"`{typed_command('benchmarks.arena.ladder', [id])}`: {CLIMBS} climbs of {GAMES} games for each agent, in Elo."
    )
    table = Table("", ("agent", "rating", "place", "error", "inside"), rows)
    write_page(OUT / id / "check.md", f"The ladder of {id}", (text, table), numbers)


def overview() -> None:
    """Write the page of all ladders."""
    rows: list[list[Cell]] = []
    heads: dict[str, None] = {}
    for path in sorted(FOLDER.glob("*.json")):
        elo = sorted(row["elo"] for row in json.loads(path.read_text())["agents"])
        steps = [b - a for a, b in pairwise(elo)]
        even = sum(70 <= step <= 130 for step in steps)
        checked = OUT / path.stem / "check.json"
        numbers = json.loads(checked.read_text()) if checked.exists() else {}
        heads |= dict.fromkeys(numbers)
        spread = f"{min(steps):.0f} to {max(steps):.0f}, {even} of {len(steps)} from 70 to 130"
        rows.append([path.stem, len(elo), round(elo[-1] - elo[0]), spread, *numbers.values()])
    text = (
        "`python -m benchmarks.arena.ladder` rates the rungs of each ladder by a round robin, in whose folder lie its "
        f"settings and ratings, and lets other agents of known rating climb, {CLIMBS} times {GAMES} games each. Errors "
        "are in Elo."
    )
    columns = ("ladder", "rungs", "Elo from bottom to top", "steps", *heads)
    rows = [row + [None] * (len(columns) - len(row)) for row in rows]
    write_page(OUT / "README.md", "Ladders", (text, Table("", columns, rows, shown=len(rows))))


def _ranks(values: Sequence[float]) -> list[float]:
    return [float(rank) for rank in np.argsort(np.argsort(values))]


def main() -> None:
    """Make and check ladders."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", nargs="*", default=list(SETTINGS), help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--no-check", action="store_true", help="rate only")
    arguments = parser.parse_args()
    for id in arguments.games:
        rated = calibrate(id, SETTINGS[id])
        if not arguments.no_check:
            check(id, SETTINGS[id], rated)
        overview()


if __name__ == "__main__":
    main()
