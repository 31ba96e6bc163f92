"""`cellgames balance`: how often each seat wins, by strength of play, and the options that make seats equal.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import print_table, recorded, warn
from cellgames.cli.shared_options import (
    GameId,
    add_command,
    add_json,
    add_out,
    add_parameters,
    add_quiet,
    add_seed,
    parameters,
    typed_value,
)
from cellgames.runs.run_folder import check_writable
from cellgames.utils.errors import InputError, shown
from cellgames.utils.version import __version__

if TYPE_CHECKING:
    from cellgames.lab.balance import Balance

_TEXT = (
    "Measure how often each seat wins, and search for fair options: agents of rising strength play themselves, and\n"
    "options make their seats equal. Variants race: games stop when the interval tells whether the first seat wins\n"
    "50 % within the margin, and a variant that is unfair for one agent is not played by the next ones. Options of\n"
    "the rule sheet come first. The share is that of games with one winner; intervals hold however often one looks."
)
_EXAMPLES = (
    "cloth-of-gold-small-v0",
    "cloth-of-gold-small-v0 --vary order=alternate,drawn max_units=3,5 --together 2",
    "torus-small-v0 hex-small-v0 y-small-v0 --games 400 --out results/balance",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "balance", "GAME [GAME ...] ", _run, _TEXT, _EXAMPLES)
    command.add_argument("games_of", metavar="GAME", nargs="+", type=GameId, help="games or presets of two players")
    add_parameters(command)
    command.add_argument(
        "--agents",
        metavar="AGENT",
        nargs="+",
        help="agents that play themselves, the quickest first (default random, greedy or else rollout:16, and mcts:16)",
    )
    command.add_argument(
        "--vary",
        metavar="NAME=VALUES",
        nargs="*",
        help="options to try, such as order=alternate,drawn; without any, those known for the game",
    )
    command.add_argument(
        "--together", metavar="N", type=int, default=1, help="most options changed at once (default 1)"
    )
    command.add_argument(
        "--games", metavar="N", type=int, default=400, help="most games a variant and agent (default 400)"
    )
    command.add_argument("--chunk", metavar="N", type=int, default=100, help="games between two looks (default 100)")
    command.add_argument(
        "--margin", metavar="X", type=float, default=2.0, help="seats are equal within X %% (default 2)"
    )
    add_seed(command)
    add_out(command, "a folder for a page, its numbers and a plot")
    command.add_argument("--against", metavar="DIR", type=Path, help="say which rows agree with the run in this folder")
    add_json(command)
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.agents.loading import default_opponents
    from cellgames.envs import registry
    from cellgames.lab.balance import COLUMNS, OPTIONS, race, variants
    from cellgames.utils.report.model import people_table, row_data

    for name in ("games", "chunk", "margin", "together"):
        if not getattr(arguments, name) > 0:
            raise InputError(f"--{name}", "a number above 0", getattr(arguments, name))

    def told(row: Balance) -> None:
        words = f"{row.games} games, {100 * row.share:.1f} %, {row.verdict}"
        if not (arguments.quiet or arguments.json):
            print(f"{row.game} {row.options} {row.agent}: {words}", file=sys.stderr, flush=True)

    if arguments.out is not None:
        check_writable(arguments.out)
    earlier = None if arguments.against is None else _earlier(arguments.against)
    rows, given = [], parameters(arguments)
    for game in arguments.games_of:
        options = {} if arguments.vary is None else _options(arguments.vary) or OPTIONS.get(registry.make(game).id, {})
        games = [(more, registry.make(game, **{**given, **more})) for more in variants(options, arguments.together)]
        margin, chunk, seed = arguments.margin / 100, arguments.chunk, arguments.seed
        agents = arguments.agents or [*default_opponents(games[0][1]), "mcts:16"]
        rows += race(game, games, agents, arguments.games, margin=margin, chunk=chunk, seed=seed, told=told)
    if arguments.json:
        print(json.dumps([row_data(COLUMNS, row) for row in rows], indent=1))
    else:
        print_table(people_table(COLUMNS, rows))
    if earlier is not None:
        print(_agreement(arguments.against, earlier, rows), file=sys.stderr if arguments.json else sys.stdout)
    if arguments.out is not None:
        _write(arguments.out, rows, recorded(arguments))
    return 0


def _options(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values to try by option."""
    found = {}
    for name, equals, values in (text.partition("=") for text in texts):
        if not (name and equals and values):
            raise InputError("--vary", "NAME=VALUES, such as order=alternate,drawn", shown(name + equals + values))
        found[name] = [typed_value(value) for value in values.split(",")]
    return found


def _earlier(folder: Path) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the intervals of an earlier run by game, options and agent."""
    try:
        rows = json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]
        return {(row["game"], row["options"], row["agent"]): row["interval"] for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError("--against", "the folder of a run of cellgames balance", folder, str(error)) from error


def _agreement(folder: Path, known: Mapping[tuple[str, str, str], tuple[float, float]], rows: Sequence[Balance]) -> str:
    """Return a sentence on the rows of an earlier run: they agree where the intervals overlap."""
    pairs = [(row, known[key]) for row in rows if (key := (row.game, row.options, row.agent)) in known]
    apart = [row for row, (low, high) in pairs if row.interval[0] > high or row.interval[1] < low]
    found = f"{len(pairs) - len(apart)} of {len(pairs)} rows agree with {folder}"
    return "; not ".join([found, *(f"{row.game} {row.options} {row.agent}" for row in apart)])


def _write(folder: Path, rows: Sequence[Balance], command: str) -> None:
    """Write the page, its numbers and the plot."""
    from cellgames.lab.balance import COLUMNS, draw_shares
    from cellgames.utils.report.model import Plot, Report, people_table, row_data, write_report

    text = (
        f"`{command}`; cellgames {__version__}.",
        "Each agent plays itself. The share of the first seat is that of the games with one winner, and its interval "
        "holds however often one looks. The last mover is who placed last in the last round.",
    )
    plot = Plot(
        "balance",
        f"Share of the first seat; grey: {100 * rows[0].margin:g} points around 50 %.",
        partial(draw_shares, rows=rows),
    )
    data = {"command": command, "rows": [row_data(COLUMNS, row) for row in rows]}
    write_report(folder, Report("How often each seat wins", (*text, people_table(COLUMNS, rows), plot), data), warn)
