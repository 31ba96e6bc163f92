"""Opponents as levels: `python -m benchmarks.agents.levels`.

In each preset all candidates meet each other. From the weakest upward, an agent becomes a level if it scores more
than half against the level below, with 95 % certainty, and is rated clearly higher. The levels with their ratings and
seconds a move go to src/cellgames/plugins/levels.json, which the page reads, and a page goes to
results/levels/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import cellgames
from benchmarks.pages import parser_of, typed_command, write_page
from cellgames.agents.loading import load
from cellgames.arena.play import evaluation
from cellgames.arena.play.evaluation import opening_plies
from cellgames.arena.play.match import GamePlayer, batch_of
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Pairing, plain
from cellgames.arena.stats.tables import make_tables
from cellgames.plugins.levels import FILE, NAMES
from cellgames.utils.files import write_atomic
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Cell, Part, Section, Table

CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "torus-small-v0": ("random", "rollout:4", "rollout:64", "greedy", "mcts:100", "mcts:1000", "trained"),
    "torus-v0": ("random", "mcts:30", "mcts:100", "greedy", "trained", "gumbel:64"),
    "cloth-of-gold-small-v0": ("random", "rollout:2", "greedy", "trained"),
    "cloth-of-gold-v0": ("random", "greedy", "trained"),
    "cloth-of-gold-wild-small-v0": ("random", "rollout:2", "greedy", "trained"),
    "grid-adaptation-small-v0": ("random", "rollout:1", "rollout:4", "greedy", "trained", "rollout:64", "mcts:64"),
    "grid-adaptation-v0": ("random", "rollout:1", "greedy", "trained"),
    "toroidal-cup-small-v0": ("random", "rollout:2", "rollout:8", "greedy", "champion", "mcts:256"),
    "toroidal-cup-v0": ("random", "rollout:2", "greedy", "champion"),
    "hex-small-v0": ("random", "rollout:4", "rollout:64", "greedy", "mcts:100", "mcts:1000", "trained"),
    "hex-v0": ("random", "mcts:30", "mcts:100", "greedy", "trained", "gumbel:64"),
    "y-small-v0": ("random", "rollout:4", "rollout:64", "greedy", "mcts:100", "mcts:1000", "trained"),
    "y-v0": ("random", "mcts:30", "mcts:100", "greedy", "trained", "gumbel:64"),
}
"""The agents that may become levels, by preset."""

ANCHOR = "random"
APART = 50  # Elo between two levels, at least; 57 % of the points
OUT = Path("results/levels")


def spread(elo: Mapping[str, float], ahead: Mapping[tuple[str, str], float], most: int = len(NAMES)) -> list[str]:
    """Return the agents that are clearly apart, weakest first, the strongest of all among them.

    Args:
        elo: Their ratings.
        ahead: The lower end of the interval of the score of the first agent of a pair against the second.
        most: The most levels; where there are more, those closest to the one below are left out.
    """

    def apart(agent: str, below: str) -> bool:
        return ahead[agent, below] > 0.5 and elo[agent] - elo[below] >= APART

    weakest, *others = sorted(elo, key=elo.__getitem__)
    kept = [weakest]
    for agent in others:
        if agent == others[-1]:
            kept = kept[:1] + [below for below in kept[1:] if apart(agent, below)]
        if apart(agent, kept[-1]):
            kept.append(agent)
    while len(kept) > most:  # the ends stay
        kept.remove(min(kept[1:-1], key=lambda agent: elo[agent] - elo[kept[kept.index(agent) - 1]]))
    return kept


def _seconds(game: Any, spec: str) -> float:
    """Return the mean seconds of a move of an agent that plays one game alone, on this machine."""
    options = MatchOptions(games=2, opening_plies=0, clock="100000")
    pairings = [Pairing("levels", number, (0,) * game.info.num_players) for number in range(2)]
    records = GamePlayer(game, {spec: load(spec, game)}, options).play(batch_of([spec], pairings))
    return fmean(time for record in records for seat in record.seconds for time in seat)


def _measure(id: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the levels of a preset and the numbers of all candidates."""
    game, specs = cellgames.make(id), CANDIDATES[id]
    many = MatchOptions(games=options.games, seed=options.seed, opening_plies=opening_plies(game), chunk=100)
    records, ahead = [], dict[tuple[str, str], float]()
    for pair in combinations(specs, 2):
        played = evaluation.play_evaluation(
            game, {spec: load(spec, game) for spec in pair}, many, progress=not options.quiet
        )
        records += played
        row = evaluation.evaluate(game, played, pair[0])
        ahead[pair], ahead[pair[1], pair[0]] = row["low"], 1 - row["high"]
    ratings = {line.agent: (line.elo, line.low, line.high) for line in make_tables(records, anchor=ANCHOR).standings}
    agents = {
        spec: {
            **dict(zip(("elo", "low", "high"), map(_whole, ratings[spec]), strict=True)),
            "seconds": float(f"{_seconds(game, spec):.2g}"),
        }
        for spec in sorted(ratings, key=lambda spec: ratings[spec][0])
    }
    return {
        "parameters": plain(game.parameters),
        "games": options.games,
        "levels": spread({spec: rating[0] for spec, rating in ratings.items()}, ahead),
        "agents": agents,
    }


def _whole(elo: float | None) -> int | None:
    return None if elo is None else round(elo)


def _section(id: str, found: Mapping[str, Any]) -> Section:
    named = dict(zip(found["levels"], NAMES[len(found["levels"])], strict=True))
    rows: list[Sequence[Cell]] = [
        (spec, named.get(spec, ""), one["elo"], f"{one['low']} to {one['high']}", one["seconds"])
        for spec, one in found["agents"].items()
    ]
    columns = ("agent", "level", "Elo", "95 % interval", "seconds a move")
    table = Table("", columns, rows, text=("agent", "level", "95 % interval"))
    return Section(id, (f"{found['games']} games of each pair.", table))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the levels and write them; return the exit code."""
    parser = parser_of("benchmarks.agents.levels", __doc__, OUT, seed=True)
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each pair, even (default 200)")
    parser.add_argument("--only", nargs="+", metavar="ID", help="presets to measure now; others stay")
    parser.add_argument("--levels", type=Path, default=FILE, metavar="FILE", help="the file that the page reads")
    parser.add_argument("--quiet", action="store_true", help="show no progress on standard error")
    options = parser.parse_args(arguments)
    if unknown := [id for id in options.only or [] if id not in CANDIDATES]:
        parser.error(f"unknown preset {unknown[0]!r}; known: {', '.join(CANDIDATES)}")
    if options.games < 2 or options.games % 2:
        parser.error(f"--games must be even and at least 2, got {options.games}")
    words = ["--seed", str(options.seed)] if options.seed else []
    data: dict[str, Any] = json.loads(options.levels.read_text(encoding="utf-8")) if options.levels.is_file() else {}
    presets: dict[str, Any] = data.get("presets", {})
    for id in CANDIDATES if options.only is None else options.only:
        presets[id] = _measure(id, options)
        command = typed_command("benchmarks.agents.levels", words)
        data = {"command": command, "cpu": cpu_model()}
        measured = {key: presets[key] for key in CANDIDATES if key in presets}
        data |= {"version": cellgames.__version__, "presets": measured}
        write_atomic(options.levels, json.dumps(data, indent=1) + "\n")
        print(f"{id}: {', '.join(presets[id]['levels'])}", file=sys.stderr)
    parts: tuple[Part, ...] = (
        f"`{data['command']}`: agents meet in both seats, or in half of the seats of a larger game; cellgames "
        f"{data['version']}. {ANCHOR} is rated 0. An agent is a level if it scores more than half against the level "
        f"below, with 95 % certainty, and is rated at least {APART} points higher. Seconds a move are the mean of one "
        f"game at a time on {data['cpu']}; the processor had other work at the same time.",
        *(_section(id, found) for id, found in data["presets"].items()),
    )
    print(write_page(options.out / "README.md", "Opponents as levels", parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
