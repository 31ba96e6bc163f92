"""`cellgames explain`: what decided a recorded game, by playing it again without its parts.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import warn
from cellgames.cli.shared_options import (
    add_command,
    add_json,
    add_out,
    add_quiet,
    add_record,
    add_seed,
    file_name,
)
from cellgames.runs.run_folder import check_writable
from cellgames.utils.errors import InputError, check_place
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup import CupRecord
    from cellgames.lab.interventions.effects import Explanation, Options

_TEXT = (
    "Explain recorded games by intervening. The command plays the game again without one placement, turn, cell,\n"
    "Life object or stone, or with it elsewhere, thousands of times. The change of the result is what it was worth.\n"
    "The folder gets report.md, report.json, a table of each kind (CSV), and the board with the worth of its cells.\n\n"
    "Kinds: Toroidal Cup placement, turn, move, cell, empty, object; Cloth of Gold placement, turn, move, cell,\n"
    "object; Grid Adaptation action, part, move; Torus, Hex and Y stone, move."
)
_EXAMPLES = (
    "results/cup --record 3",
    "results/cup --record 3 --kinds placement object --moment 500 --pairs placement",
    "results/season --record 1 --html game.html",
    "results/torus4 --record 2 --kinds stone move --json",
    "results/cup --games 50 --kinds placement object",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "explain", "PATH ", _run, _TEXT, _EXAMPLES)
    command.add_argument("path", metavar="PATH", type=Path, help="the folder of a run, or a file of records")
    add_record(command, "the game, from 1; a file of one game needs none")
    command.add_argument("--games", metavar="N", type=int, help="explain the first N games: averages with intervals")
    command.add_argument("--kinds", metavar="KIND", nargs="+", default=[], help="what to change (default: by the game)")
    command.add_argument("--pairs", metavar="KIND", default="", help="remove pairs of this kind, too")
    command.add_argument(
        "--moment",
        metavar="N",
        type=int,
        help="where cells, objects or stones are removed: a generation in the Cup (default half of the game), a round "
        "in Cloth of Gold (the middle one), a ply in Torus, Hex and Y (the end)",
    )
    command.add_argument("--places", metavar="N", type=int, default=32, help="other places for each move (default 32)")
    command.add_argument("--most-pairs", metavar="N", type=int, default=48, help="things to pair at most (default 48)")
    command.add_argument(
        "--searcher",
        metavar="AGENT",
        default="",
        help="whose search values Torus, Hex and Y (default: exact where they are solved)",
    )
    command.add_argument("--top", metavar="N", type=int, default=5, help="effects to print either way (default 5)")
    command.add_argument("--html", metavar="FILE", type=Path, help="save the game as a page that shows the worth")
    add_seed(command)
    add_out(command, "the folder (default: in results/explain)")
    add_json(command)
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.lab.interventions import explanation_report
    from cellgames.lab.interventions.explanation import explain

    _check(arguments)
    if arguments.games is not None:
        return _many(arguments)
    record, number = _record(arguments)
    folder = arguments.out or _folder(arguments.path, number)
    check_writable(folder)

    def step(kind: str, replays: int) -> None:
        if not (arguments.quiet or arguments.json):
            print(f"{kind}: {replays:,} replays", flush=True)

    found = explain(record, arguments.kinds, pairs=arguments.pairs, options=_options(arguments), step=step)
    with waiting("Writing the report", shown=not arguments.quiet):
        explanation_report.write_explanation(folder, found, warn)
    if arguments.json:
        print(json.dumps({**explanation_report.to_data(found), "folder": str(folder)}, indent=1, ensure_ascii=False))
    else:
        lines = ["", *explanation_report.lines(found, arguments.top), "", f"Written to {folder}: report.md"]
        print("\n".join(lines))
    _save(arguments, record, found)
    return 0


def _many(arguments: argparse.Namespace) -> int:
    """Explain several games, and write and print the averages."""
    from cellgames.arena.season.cup import read_games
    from cellgames.lab.interventions import many_games
    from cellgames.lab.interventions.explanation import explain
    from cellgames.utils.progress import StatusLine
    from cellgames.utils.report.model import plain_table

    whole = [one for one in read_games(arguments.path)[0] if one.result.forfeit is None]
    records = whole[: arguments.games]
    if not records:
        raise InputError(arguments.path, "a game that was played to its end", "none")
    folder = arguments.out or _folder(arguments.path, f"games={len(records)}")
    check_writable(folder)
    line, found = StatusLine(not (arguments.quiet or arguments.json)), []
    for number, record in enumerate(records, 1):
        line.show(f"game {number} of {len(records)}")
        found.append(explain(record, arguments.kinds, options=_options(arguments)))
    line.end()
    report = many_games.write_averages(folder, found)
    if arguments.json:
        print(json.dumps({**report.data, "folder": str(folder)}, indent=1, ensure_ascii=False))
    else:
        print(f"{report.text}\n\n{plain_table(report.tables[0])}\n\nWritten to {folder}: report.md")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Complain before anything is played."""
    if arguments.games is not None and (arguments.record or arguments.pairs or arguments.html):
        raise InputError("--games", cause="it explains many games; --record, --pairs and --html are for one")
    for name, least in (("places", 1), ("most_pairs", 2), ("top", 1), ("games", 1)):
        if (value := getattr(arguments, name)) is not None and value < least:
            raise InputError(f"--{name.replace('_', '-')}", f"at least {least}", value)
    path = arguments.html
    if path is not None and path.suffix.lower() != ".html":
        raise InputError("--html", "a file that ends in .html", path)
    check_place("--html", path)


def _record(arguments: argparse.Namespace) -> tuple[Record | CupRecord, int]:
    """Return the chosen record and its number."""
    from cellgames.arena.season.cup import read_games

    records, number = read_games(arguments.path)[0], arguments.record
    if number is None and len(records) != 1:
        raise InputError(arguments.path, "one game", len(records), "choose one with --record, or many with --games")
    if number is not None and not 1 <= number <= len(records):
        raise InputError("--record", f"1 to {len(records)}", number)
    return records[(number or 1) - 1], number or 1


def _folder(path: Path, number: int | str) -> Path:
    source = path.stem if path.stem != "games" else path.resolve().parent.name
    return Path("results") / "explain" / file_name([source, str(number)])


def _options(arguments: argparse.Namespace) -> Options:
    from cellgames.lab.interventions.effects import Options

    return Options(arguments.moment, arguments.places, arguments.searcher, arguments.seed, arguments.most_pairs)


def _save(arguments: argparse.Namespace, record: Record | CupRecord, found: Explanation) -> None:
    """Write the page, if it is asked for."""
    if arguments.html is not None:
        from cellgames.lab.interventions.worth_layer import worth_layer
        from cellgames.web.frames import export_html

        with waiting(f"Writing {arguments.html}", shown=not arguments.quiet):
            export_html(record, arguments.html, worth=worth_layer(found))
        if not arguments.json:
            print(f"Saved {arguments.html}")
