"""Endings of games: `python -m benchmarks.agents.endings --game cloth-of-gold-v0 --agents greedy rollout:32`.

Every agent plays itself, then each pair. The table goes to a Markdown file, the same data to a JSON file beside it;
both are written anew after each match, so Ctrl-C loses the match in progress only.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import cellgames
from benchmarks.pages import write_page
from cellgames.agents.loading import load
from cellgames.arena.play.match import match
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Table
from cellgames.utils.report.text import markdown_table

__all__ = ["Endings", "endings_of", "main"]


@dataclass(frozen=True)
class Endings:
    """The endings of the games of a pair of agents.

    seats:     games won by whoever sat there.
    lost:      games that both lost.
    drawn:     games without winner or loser.
    truncated: games cut off by a limit, won or not.
    first:     games won by the first agent of the pair; in games with itself that says nothing.
    length:    games by their number of rounds, or of turns in games without rounds.
    """

    agents: tuple[str, str]
    games: int
    seats: tuple[int, int]
    lost: int
    drawn: int
    truncated: int
    first: int
    length: dict[int, int]


def endings_of(agents: tuple[str, str], records: Sequence[Record]) -> Endings:
    """Counts of a match; the records' agents may carry other names."""
    ends = Counter(record.result.outcome for record in records)
    first = sum(record.result.outcome[record.agents.index(min(record.agents))] == "win" for record in records)
    return Endings(
        agents,
        len(records),
        (ends["win", "loss"], ends["loss", "win"]),
        ends["loss", "loss"],
        ends["draw", "draw"],
        sum(record.result.truncated for record in records),
        first,
        dict(sorted(Counter(map(_length, records)).items())),
    )


def _length(record: Record) -> int:
    """Rounds after the initial placement, if the game tells of rounds."""
    rounds = record.summary.get("rounds")
    return len(rounds["units"]) - 1 if rounds else record.result.turns


def _play(game: Game, pair: tuple[str, str], options: argparse.Namespace) -> Endings:
    one, two = (load(spec, game) for spec in pair)
    for agent, mark in ((one, "1"), (two, "2")):
        agent.name = f"{mark} {agent.name}"  # so that an agent can meet itself, and the first one sorts first
    played = match(game, one, two, MatchOptions(games=options.games, seed=options.seed, opening_plies=0))
    return endings_of(pair, played.records)


def _row(found: Endings) -> tuple[Cell, ...]:
    def share(count: int) -> str:
        return f"{100 * count / found.games:.0f} %"

    lengths = [length for length, count in found.length.items() for _ in range(count)]
    mirror = found.agents[0] == found.agents[1]
    counts = " ".join(f"{length}: {count}" for length, count in found.length.items())
    return (
        " - ".join(found.agents),
        found.games,
        "" if mirror else share(found.first),
        share(sum(found.seats)),
        *map(share, found.seats),
        share(found.lost),
        share(found.drawn),
        share(found.truncated),
        f"{median(lengths):g}",
        counts if len(found.length) <= 24 else f"{lengths[0]} to {lengths[-1]}",
    )


def _table(game: Game, found: Sequence[Endings]) -> Table:
    seats = [f"{name} wins" for name in game.info.players]
    header = ("agents", "games", "first agent wins", "a winner", *seats, "both lose", "draw", "cut off")
    return Table("", (*header, "median length", "games by length"), [_row(one) for one in found], text=("agents",))


def _write(path: Path, game: Game, id: str, argv: Sequence[str], found: Sequence[Endings]) -> None:
    command = f"python -m benchmarks.agents.endings {shlex.join(argv)}"
    parts = (
        f"`{command}`; cellgames {cellgames.__version__}. No forced openings; each pair plays as often in both seats. "
        "Length is in rounds, in games without rounds in turns.",
        _table(game, found),
    )
    data = {"command": command, "game": id, "version": cellgames.__version__, "pairs": [asdict(pair) for pair in found]}
    write_page(path, f"How games of {id} end", parts, data)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents.endings", description=__doc__.partition("\n")[0])
    parser.add_argument("--game", required=True, help="id of a game for two players")
    parser.add_argument("--agents", required=True, nargs="+", help="specs, such as greedy or rollout:32")
    parser.add_argument("--games", type=int, default=100, help="of each pair, even (default 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the Markdown file")
    options = parser.parse_args(arguments)
    found: list[Endings] = []
    try:
        game = cellgames.make(options.game)
        for pair in itertools.combinations_with_replacement(options.agents, 2):
            print(" - ".join(pair), end=" ... ", flush=True, file=sys.stderr)
            found.append(_play(game, pair, options))
            _write(options.out, game, options.game, arguments, found)
            print(f"median length {_row(found[-1])[-2]}", file=sys.stderr)
    except ValueError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("stopped; what is finished is written", file=sys.stderr)
        return 130
    print(markdown_table(_table(game, found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
