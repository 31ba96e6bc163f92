"""Strength of the shipped agents: `python -m benchmarks.agents.strength`.

In every game `trained` meets other agents, in both seats or in half of the seats, and in some so does a search, or the
`champion` of an evolution. A page for each goes to results/strength/, and a table of all to results/strength/README.md.
Each chunk of games is kept, so that the same command goes on after Ctrl-C.

The table has a column for exploiters: results/strength/exploiters/PAGE-NAME.json is the `result.json` of a
`cellgames exploit trained`, with the command that made it. Of several the best one counts.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cellgames
from benchmarks.pages import parser_of, typed_command, write_page
from cellgames.agents.loading import identity, load
from cellgames.agents.networks.agent_files import SEARCH_WEIGHTS
from cellgames.agents.networks.saved import read_about, shipped
from cellgames.arena.play import evaluation
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Record, plain
from cellgames.arena.stats.tables import make_tables
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Cell, Part, Section, Table, markdown_table

ANCHOR = "random"
OUT = Path("results/strength")
_APART = 0.1  # of the score, by which seats differ that are told apart


@dataclass(frozen=True)
class Setting:
    """A game with the agent that is measured in it.

    Attributes:
        game: an id.
        opening_plies: random moves before agents move; none where a turn is several actions or where all act at once
            and cannot see each other: games differ anyway.
        opponents: whom the agent meets.
        agent: who is measured.
        games: of each match, at most.
        chunk: openings played at the same time; searches are faster the more there are.
    """

    game: str
    opening_plies: int = 0
    opponents: tuple[str, ...] = ("random", "greedy", "rollout:64")
    agent: str = "trained"
    games: int = 1_000_000
    chunk: int = MatchOptions.chunk

    @property
    def page(self) -> str:
        """The name of its page, without an ending."""
        return self.game if self.agent == "trained" else f"{self.game}-{self.agent.replace(':', '')}"

    def made(self, game: Game) -> dict[str, Any]:
        """Return what made the weights of the agent; nothing if it plays by none."""
        if not _learned(self.agent) or self.agent in plugin_of(game).agents:
            return {}
        folder = {} if self.agent == "trained" else {"folder": SEARCH_WEIGHTS}
        found: dict[str, Any] = read_about(shipped(game, **folder))["made"]
        return found


SETTINGS = (
    Setting("torus-small-v0", 2),
    Setting("torus-v0", 2, ("random", "greedy")),  # weights of size 5; rollouts take an hour here
    *(
        setting
        for game in ("hex", "y")
        for setting in (
            Setting(f"{game}-small-v0", 2, ("random", "greedy", "rollout:64", "mcts:400")),
            Setting(f"{game}-small-v0", 2, ("trained", "greedy", "mcts:400"), agent="gumbel:64", games=400, chunk=200),
            Setting(f"{game}-v0", 2, ("random", "greedy", "mcts:1000"), games=400, chunk=100),  # the same weights
            Setting(f"{game}-v0", 2, ("trained",), agent="gumbel:64", games=200, chunk=100),
        )
    ),
    Setting("grid-adaptation-v0", games=400),
    Setting("grid-adaptation-v0", opponents=("trained",), agent="mcts:64", games=100, chunk=100),
    Setting("grid-adaptation-small-v0", games=400),
    Setting(
        "grid-adaptation-small-v0", opponents=("trained", "rollout:64", "greedy"), agent="mcts:64", games=400, chunk=200
    ),
    Setting("cloth-of-gold-small-v0", opponents=("random", "greedy", "rollout:16"), games=200),  # of 64 an hour
    Setting("cloth-of-gold-v0", opponents=("random", "greedy"), games=400, chunk=100),  # rollouts take hours here
    Setting("cloth-of-gold-wild-v0", opponents=("random", "greedy"), games=100, chunk=50),
    Setting("cloth-of-gold-wild-small-v0", opponents=("random", "greedy", "rollout:16"), games=400),
    Setting("toroidal-cup-v0", opponents=("random", "greedy"), games=200, chunk=100),
    Setting("toroidal-cup-small-v0", games=400),
    Setting("toroidal-cup-small-v0", opponents=("random", "greedy"), agent="mcts:4096", games=400, chunk=200),
    Setting(
        *("torus-small-v0", 2, ("trained", "mcts:1600", "mcts:400", "mcts:100", "greedy", "gumbel:16", "gumbel:256")),
        agent="gumbel:64",
        games=400,
        chunk=200,
    ),
    Setting(  # twice as long, with almost three times as many cells
        *("torus-v0", 2, ("trained", "mcts:400", "mcts:100", "greedy", "gumbel:16")),
        agent="gumbel:64",
        games=200,
        chunk=100,
    ),
)


def _learned(spec: str) -> bool:
    """Return True if an agent has weights that come with the package."""
    return spec.partition(":")[0] in ("trained", "gumbel")


def _meet(game: Game, setting: Setting, spec: str, options: argparse.Namespace) -> list[Record]:
    """Return the games against one opponent; read from the folder of matches if they have been played."""
    count = min(options.games, setting.games)
    match_options = MatchOptions(
        games=count, seed=options.seed, opening_plies=setting.opening_plies, chunk=setting.chunk
    )
    asked = {
        **{"version": cellgames.__version__, "game": game.id, "parameters": plain(game.parameters)},
        **{"agents": [identity(name, game) for name in (setting.agent, spec)], "options": plain(asdict(match_options))},
    }
    path = options.out / "matches" / f"{setting.page} {spec.replace(':', '')}.jsonl"
    lines = [json.dumps(asked)]
    if path.is_file():
        before = path.read_text(encoding="utf-8").splitlines()
        lines = before if json.loads(before[0]) == asked else lines
    done = [Record.from_json(line) for line in lines[1:]]
    if len(done) == count:
        return done

    def keep(played: Sequence[Record]) -> None:
        lines.extend(record.to_json() for record in played)
        write_atomic(path, "\n".join(lines) + "\n")

    agents = {name: load(name, game) for name in (setting.agent, spec)}
    path.parent.mkdir(parents=True, exist_ok=True)
    return evaluation.play_evaluation(game, agents, match_options, progress=not options.quiet, keep=keep, done=done)


def _page(game: Game, setting: Setting, options: argparse.Namespace) -> list[Sequence[Cell]]:
    """Write the page of a game and its numbers; return its rows in the table of all."""
    rows: list[evaluation.Row] = []
    records: list[Record] = []
    for spec in setting.opponents:
        met = _meet(game, setting, spec, options)
        rows.append({"against": spec, **evaluation.evaluate(game, met, setting.agent)})
        records += met
    anchor, made = ANCHOR if ANCHOR in setting.opponents else setting.opponents[0], setting.made(game)
    standings, count = make_tables(records, anchor=anchor).standings, min(options.games, setting.games)
    settings = ", ".join(f"{name} = {value}" for name, value in game.parameters.items())
    elos = [(line.agent, *_elo(line.elo, line.low, line.high)) for line in standings]
    parts: tuple[Part, ...] = (
        f"`{options.command}`: {count} games each, {setting.opening_plies} random moves first, seed "
        f"{options.seed}; cellgames {cellgames.__version__}. {settings}.",
        evaluation.table(rows),
        evaluation.note(game),
        Table("", ("agent", "Elo", "95 % interval"), elos, text=("agent",)),
        f"Ratings are from these games alone, in which only {setting.agent} met the others; {anchor} has 0.",
        *([Section(f"How the weights of {setting.agent} were made", (_made(made),))] if made else []),
    )
    about = {"setting": setting.game, "agent": setting.agent, "parameters": plain(game.parameters), "made": made}
    rated = [{name: getattr(line, name) for name in ("agent", "elo", "low", "high")} for line in standings]
    written = json.dumps({**about, "rows": rows, "ratings": rated}, default=str)
    numbers = json.loads(written, parse_constant=lambda nan: None)
    write_page(options.out / f"{setting.page}.md", f"{setting.agent} in {setting.game}", parts, numbers)
    return _lines(setting, rows)


def _lines(setting: Setting, rows: list[evaluation.Row]) -> list[Sequence[Cell]]:
    """Return the rows of a page in the table of all."""
    table = evaluation.table(rows)
    columns = [table.columns.index(name) for name in ("against", "score", "low", "high")]
    return [
        (setting.game, setting.agent, *(line[column] for column in columns), _more(row))
        for line, row in zip(table.rows, rows, strict=True)
    ]


def _exploiter(setting: Setting, out: Path) -> str:
    """Return the score of the best exploiter that was found, with its share of the agent's own compute."""
    found = [
        result
        for path in sorted((out / "exploiters").glob(f"{setting.page}-*.json"))
        if (result := json.loads(path.read_text(encoding="utf-8")))["agent"] == setting.agent
    ]
    if not found:
        return ""
    best = max(found, key=lambda result: float(result["score"]))
    score, low, high = (f"{100 * best[name]:.1f}" for name in ("score", "low", "high"))
    share = best["share_of_compute"]
    steps = "simulations a move" if best["algorithm"] == "search" else "steps"
    compute = f"{best['steps']:,} {steps}" if share is None else f"{share:.0%} of the compute"
    old = best["identity"] != identity(setting.agent, cellgames.make(setting.game))
    return f"{score} ({low} to {high}) by {best['algorithm']}, {compute}{', of earlier weights' * old}"


def _known(setting: Setting, out: Path) -> list[Sequence[Cell]]:
    """Return the rows of a page that is there already; none if it is not."""
    path = out / f"{setting.page}.json"
    if not path.is_file():
        return []
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return _lines(setting, [{name: math.nan if x is None else x for name, x in row.items()} for row in rows])


def _elo(elo: float, low: float | None, high: float | None) -> tuple[str, str]:
    return f"{elo:+.0f}", "" if low is None or high is None else f"{low:+.0f} to {high:+.0f}"


def _more(row: evaluation.Row) -> str:
    """Return the rest of what the table of all tells of a match."""
    if "points" in row:
        ahead = row["points"] / row["their points"] - 1
        return f"mean points {row['points']:.0f} to {row['their points']:.0f} ({ahead:+.1%})"
    extras = [f"{name} {row[name]}" for name in ("draws", "both lose") if row[name]]
    if extras:
        extras.append(f"of decided games {row['of decided']:.1%}")
    seats = {name: value for name, value in row.items() if name.startswith("as ")}
    if seats and max(seats.values()) - min(seats.values()) > _APART:
        extras += [f"{name} {value:.1%}" for name, value in seats.items()]
    return "; ".join(extras)


def _made(made: dict[str, Any]) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in made.get("machine", {}).items())
    minutes = f", {made['seconds'] / 60:.0f} minutes" if "seconds" in made else ""
    commands = [f"`{command}`" for command in [*made.get("stages", []), made.get("command", "")]]
    steps = f"{made.get('steps', 0):,} steps, seed {made.get('seed')}{minutes}; {machine}."
    return "\n\n".join([*commands, steps])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or go on measuring; return the exit code."""
    parser = parser_of("benchmarks.agents.strength", __doc__, OUT, seed=True)
    parser.add_argument("--games", type=int, default=1000, metavar="N", help="of each match, even (default 1000)")
    parser.add_argument("--only", nargs="*", metavar="PAGE", help="pages to measure now, or none; others stay")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    known = {setting.page: setting for setting in SETTINGS}
    if unknown := [id for id in options.only or [] if id not in known]:
        parser.error(f"unknown page {unknown[0]!r}; known: {', '.join(known)}")
    if options.games < 2 or options.games % 2:
        parser.error(f"--games must be even and at least 2, got {options.games}")
    options.command = typed_command("benchmarks.agents.strength", [word for word in given if word != "--quiet"])
    lines: list[Sequence[Cell]] = []
    try:
        for setting in SETTINGS:
            exploiter = _exploiter(setting, options.out)
            if options.only is not None and setting.page not in options.only:
                lines += [(*line, exploiter) for line in _known(setting, options.out)]
                continue
            began = time.perf_counter()
            lines += [(*line, exploiter) for line in _page(cellgames.make(setting.game), setting, options)]
            print(f"{setting.page}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. Whole chunks of games are kept; the same command goes on.", file=sys.stderr)
        return 130
    columns = ("game", "agent", "against", "score", "low", "high", "", "best exploiter found")
    table = Table("", columns, lines, text=("game", "agent", "against", "", "best exploiter found"))
    print(markdown_table(table))
    parts: tuple[Part, ...] = (
        f"`python -m benchmarks.agents.strength`: {options.games} games each, or fewer where they take long (each page "
        "says how many), in both seats, or half of the seats of a larger game. Scores in %, a draw a half, with 95 % "
        "intervals; where more than two play, of the pairs of seats.",
        table,
        "The last column is the score of the best exploiter that was found against the agent "
        "(`cellgames exploit`), with its 95 % interval; of a training its steps as a share of the agent's own. "
        "`exploiters/` has the commands. It is a lower bound: a better exploiter may exist.",
        "Each agent has a page for each game, with ratings, and with what made the weights.",
    )
    write_page(options.out / "README.md", "How strong the shipped agents are", parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
