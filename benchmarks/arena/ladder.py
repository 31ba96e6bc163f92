"""The ladders of the package: `python -m benchmarks.arena.ladder torus-small-v0`.

A round robin rates agents of many strengths (results/ladder/GAME). Those that are about 100 Elo apart become rungs:
what `cellgames ladder` reads of them goes to arena/ladder/calibrations/. Then each of the others climbs the ladder
several times, with other games each time; check.md and README.md say how far its places are from its rating.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from scipy.stats import spearmanr

import cellgames
from benchmarks.pages import parser_of, typed_command, write_page
from cellgames.agents.loading import digest, is_program
from cellgames.arena.ladder.climb import FOLDER, RATINGS, climb
from cellgames.arena.play.match import match
from cellgames.arena.play.match_options import LadderOptions, MatchOptions, RoundRobinOptions
from cellgames.arena.play.rated_runs import round_robin
from cellgames.envs.core import Game
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Cell, Table

OUT = Path("results/ladder")
GAMES, CLIMBS = 100, 3  # of a climb, and climbs of each agent
CLOSE, STEP = 50, 100  # Elo


@dataclass(frozen=True)
class Setting:
    """A ladder to be made: `rungs_of` chooses the rungs among the agents, which play `games` of each pair.

    `greedy` and `trained` are percentages of random moves, each for an agent `mixed:SHARE:AGENT`.
    """

    others: str
    games: int
    greedy: str = ""
    trained: str = ""
    opening_plies: int = 0

    @property
    def agents(self) -> list[str]:
        """The agents that play."""
        shares = {"greedy": self.greedy.split(), "trained": self.trained.split()}
        mixed = [f"mixed:{int(share) / 100:g}:{agent}" for agent in shares for share in shares[agent]]
        return [*self.others.split(), *mixed]


_GRID = Setting("random greedy rollout:4 rollout:32 trained", 16, greedy="80 70 60 50 40 20")
_LARGE = Setting(
    "random greedy trained gumbel:16 gumbel:32 gumbel:64",
    16,
    greedy="98 95 92 90 87 83 80 77 73 70 65 60 55 50 45 40 35 30 22 15",
    trained="50 40 35 30 25 20 15 12 10 7 5 3 2",
    opening_plies=2,
)
SETTINGS = {
    "torus-small-v0": Setting(
        "random rollout:4 rollout:8 rollout:12 rollout:16 rollout:24 rollout:32 rollout:40 rollout:48 rollout:64 "
        "rollout:80 rollout:96 greedy mcts:4 mcts:8 mcts:12 mcts:32 mcts:64 mcts:100 mcts:200 mcts:400 trained",
        50,
        greedy="60 55 50 40",
        trained="20 10 5 2",
        opening_plies=2,
    ),
    "torus-v0": Setting(
        "random rollout:4 rollout:16 rollout:64 mcts:16 mcts:32 mcts:100 greedy trained gumbel:16",
        20,
        greedy="97 90 87 84 80 75 70 60 50 30 20",
        trained="50 45 40 35 30 25 20 15 12 10 7 5 3 2",
        opening_plies=2,
    ),
    "hex-small-v0": Setting(
        "random rollout:2 rollout:4 rollout:8 rollout:16 rollout:32 rollout:64 rollout:128 greedy trained mcts:8 "
        "mcts:100",
        40,
        greedy="70 60 50 40 30 20 10",
        trained="30 20 10 5",
        opening_plies=2,
    ),
    "y-small-v0": Setting(
        "random rollout:4 rollout:8 rollout:16 rollout:24 rollout:32 rollout:64 rollout:128 greedy trained mcts:8 "
        "mcts:100",
        40,
        greedy="80 65 50 30 20",
        trained="50 40 30 20 10 5",
        opening_plies=2,
    ),
    "hex-v0": _LARGE,
    "y-v0": _LARGE,
    "cloth-of-gold-small-v0": Setting(
        "random rollout:8 greedy champion trained", 40, greedy="85 70 60 50 40 30 15", trained="60 50 35 25 20 15 10"
    ),
    "cloth-of-gold-v0": Setting("random greedy trained", 20, greedy="80 60 40 20", trained="60 40 25 15 5"),
    "cloth-of-gold-wild-small-v0": Setting(
        "random greedy trained", 16, greedy="80 70 60 50 40 20", trained="60 40 30 25 15 5"
    ),
    "cloth-of-gold-wild-v0": Setting("random greedy trained", 40, greedy="80 60 40 20", trained="25"),
    "grid-adaptation-small-v0": replace(_GRID, games=100, greedy=f"{_GRID.greedy} 90 30 10", trained="30"),
    **dict.fromkeys(("grid-adaptation-v0", "grid-adaptation-talk-small-v0", "grid-adaptation-talk-v0"), _GRID),
    "toroidal-cup-small-v0": Setting("random greedy trained rollout:8 rollout:64", 200, greedy="90 70 50 30 15"),
    "toroidal-cup-v0": Setting("random greedy trained", 20, greedy="80 60 40 20"),
}


def rungs_of(rated: Mapping[str, float]) -> list[str]:
    """Return the agents from the weakest to the strongest whose steps are nearest to `STEP`, by squares."""
    names = sorted(rated, key=rated.__getitem__)
    ways: list[tuple[float, list[str]]] = [(0.0, names[:1])]
    for name in names[1:]:
        steps = ((cost + (rated[name] - rated[way[-1]] - STEP) ** 2, way) for cost, way in ways)
        cost, way = min(steps, key=lambda one: one[0])
        ways.append((cost, [*way, name]))
    return ways[-1][1]


def fingerprint(game: Game, agents: Iterable[str], opening_plies: int) -> str:
    """Return a digest of some games of the agents without weights, "" for a game of more than two.

    Their identity is the version of the package, so only their games tell that they have changed since they were rated.
    """
    if game.info.num_players != 2:
        return ""
    options = MatchOptions(games=2, chunk=1, opening_plies=opening_plies)
    programs = pairwise(agent for agent in agents if is_program(agent))
    played = [record.moves for pair in programs for record in match(game, *pair, options).records]
    return digest(json.dumps(played).encode())


def calibrate(id: str, setting: Setting) -> dict[str, float]:
    """Rate the agents; write what the package keeps, and return the ratings."""
    options = RoundRobinOptions(games=setting.games, seed=1, opening_plies=setting.opening_plies, gif=False)
    round_robin(cellgames.make(id), setting.agents, options, out=OUT / id, progress=True)
    found = json.loads((OUT / id / RATINGS).read_text())
    rated = {row["agent"]: row["elo"] for row in found["agents"]}
    chosen, kept = rungs_of(rated), ("agent", "elo", "elo_low", "elo_high")
    rungs = [{name: row[name] for name in kept} for row in found["agents"] if row["agent"] in chosen]
    run = {name: value for name, value in found["run"].items() if name not in ("agents", "finished", "checksum")}
    run["identities"] = {name: run["identities"][name] for name in chosen}
    played = fingerprint(cellgames.make(id), chosen, setting.opening_plies)
    head = {"run": run, "tie": found["tie"], "fingerprint": played}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    lines.append('"agents": [\n' + ",\n".join(map(json.dumps, rungs)) + "\n]")
    write_atomic(FOLDER / f"{id}.json", "{\n" + ",\n".join(lines) + "\n}\n")
    return rated


def check(id: str, rated: Mapping[str, float]) -> None:
    """Let the other agents climb, and write how near their places are."""
    rows: list[tuple[str, float, float, float, int]] = []
    base, rungs = min(rated.values()), rungs_of(rated)
    for agent in (name for name in rated if name not in rungs):
        for seed in range(CLIMBS):
            options = LadderOptions(games=GAMES, seed=10 + seed, within=1.0)
            with tempfile.TemporaryDirectory() as place:
                found = climb(cellgames.make(id), [agent], options, out=place, progress=True)
            low, high = found.place.placing.interval
            elo = found.place.placing.elo
            true = rated[agent] - base
            rows.append((agent, round(true), round(elo), round(elo - true), int(low <= true <= high)))
    errors = [row[3] for row in rows]
    numbers = {
        "climbs": len(rows),
        "mean error": round(statistics.fmean(map(abs, errors))),
        f"off by {CLOSE} at most": sum(abs(error) <= CLOSE for error in errors),
        "interval contains the rating": sum(row[4] for row in rows),
        "rank correlation": round(float(spearmanr([row[1] for row in rows], [row[2] for row in rows]).statistic), 3),
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


def main() -> None:
    """Make and check ladders."""
    parser = parser_of("benchmarks.arena.ladder", __doc__)
    parser.add_argument("games", nargs="*", default=list(SETTINGS), help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--no-check", action="store_true", help="rate only")
    arguments = parser.parse_args()
    for id in arguments.games:
        rated = calibrate(id, SETTINGS[id])
        if not arguments.no_check and len(rungs_of(rated)) < len(rated):  # who is no rung climbs
            check(id, rated)
        overview()


if __name__ == "__main__":
    main()
