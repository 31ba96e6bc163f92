"""`cellgames replay`: records of moves, and games of the Cup's own seasons, played again.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cellgames.cli.console import UserError, warn
from cellgames.cli.shared_options import add_command

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup_replays import CupRecord

__all__ = ["add", "run"]

R = TypeVar("R")

_TEXT = (
    "Play recorded games again. The command checks every move and the result; the exit code is 1 if one\n"
    "differs. It reads the games of seasons, too."
)
_EXAMPLES = (
    "results/torus5/games.jsonl",
    "results/torus5/games.jsonl --game 17 --show",
    "game.jsonl --gif game.gif",
    "results/torus5/games.jsonl --game 17 --html game.html",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "replay", "FILE ", run, _TEXT, _EXAMPLES)
    command.add_argument("file", metavar="FILE", type=Path, help="records, one a line")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--game", metavar="N", type=int, help="only the game of line N, from 1")
    which.add_argument("--all", action="store_true", help="all games of the file (the default)")
    command.add_argument("--html", metavar="OUT", type=Path, help="save one game as a page that plays offline")
    command.add_argument("--gif", metavar="OUT", type=Path, help="save one game as a GIF")
    command.add_argument("--show", action="store_true", help="print every position of one game; of Life, start and end")


@dataclass(frozen=True)
class _Kind(Generic[R]):
    """Functions that read, check, print and draw a kind of records; `compared` names what is checked."""

    parse: Callable[[bytes], R]
    verify: Callable[[Sequence[R]], Iterator[tuple[int, ValueError]]]
    show: Callable[[R], None]
    gif: Callable[[R, Path], None]
    html: Callable[[R, Path], None]
    compared: str


def run(arguments: argparse.Namespace) -> int:
    """Play the games of a file again; return the exit code."""
    from cellgames.arena.records import replays
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season import cup_replays as season_cup_replays
    from cellgames.web.export import export_html

    with open(arguments.file, "rb") as file:
        first = file.readline()
    if season_cup_replays.recognises(first):
        parse, verify, gif = season_cup_replays.CupRecord.from_json, season_cup_replays.verify, season_cup_replays.gif
        return _replay(arguments, _Kind(parse, verify, _show_cup, gif, export_html, "scores, generations and winners"))
    kind = _Kind(Record.from_json, replays.verify, _show, replays.gif, export_html, "moves and results")
    return _replay(arguments, kind)


def _replay(arguments: argparse.Namespace, kind: _Kind[R]) -> int:
    from cellgames.arena.records.record_lines import read_lines

    records, torn = read_lines(arguments.file, kind.parse)
    if torn:
        warn(torn)
    if not records:
        raise UserError(f"{arguments.file} holds no records")
    numbers = list(range(1, len(records) + 1))
    if arguments.game is not None:
        if arguments.game not in numbers:
            raise UserError(f"--game must be from 1 to {len(records)}, got {arguments.game}")
        numbers = [arguments.game]
    if (arguments.gif is not None or arguments.html is not None or arguments.show) and len(numbers) > 1:
        raise UserError(f"--html, --gif and --show need one game; choose it with --game 1 to {len(records)}")
    return _verify(arguments, kind, records, numbers)


def _verify(arguments: argparse.Namespace, kind: _Kind[R], records: list[R], numbers: list[int]) -> int:
    failed = sorted((numbers[place], str(error)) for place, error in kind.verify([records[n - 1] for n in numbers]))
    if failed:
        number, reason = failed[0]
        more = f" ({len(failed) - 1} more of {len(numbers)} games fail)" if len(failed) > 1 else ""
        warn(f"{arguments.file}, game {number}: {reason}{more}")
        return 1
    record = records[numbers[0] - 1]
    if arguments.show:
        kind.show(record)
    if arguments.gif is not None:
        kind.gif(record, arguments.gif)
        print(f"Saved {arguments.gif}")
    if arguments.html is not None:
        try:
            kind.html(record, arguments.html)
        except ValueError as error:  # too large for a page; it has been played again above
            raise UserError(str(error)) from None
        print(f"Saved {arguments.html}")
    games = "The game was" if len(numbers) == 1 else f"All {len(numbers)} games were"
    print(f"{games} played again with the recorded {kind.compared}.")
    return 0


def _show(record: Record) -> None:
    from cellgames.arena.records import replays
    from cellgames.cli.terminal import VERBS

    game = replays.game_of(record)
    states = replays.replay(record)
    print(game.text(states[0]))
    for number, (before, after, move) in enumerate(zip(states, states[1:], record.moves, strict=False), 1):
        seat = int(before.current_player)
        who = "" if game.info.simultaneous else f"{game.info.players[seat]} ({record.agents[seat]}) "
        forced = " (opening)" if number <= record.opening else ""
        print(f"\n{number}. {who}{move}{forced}\n\n{game.text(after)}")
    ends = zip(game.info.players, record.agents, record.result.outcome, strict=True)
    print("\nResult: " + ", ".join(f"{player} ({agent}) {VERBS[outcome]}" for player, agent, outcome in ends))
    if (forfeit := record.result.forfeit) is not None:
        seats = " and ".join(f"{game.info.players[seat]} ({record.agents[seat]})" for seat in forfeit.seats)
        print(f"Forfeited by {seats}: {forfeit.reason}")


def _show_cup(record: CupRecord) -> None:
    from cellgames.arena.season.cup_replays import texts

    print(*texts(record), sep="\n\n", end="\n\n")
