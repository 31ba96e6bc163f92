"""`cellgames free-for-all`: games of any number of seats.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_names import names_of
from cellgames.arena.play.match_options import FreeForAllOptions
from cellgames.cli.console import (
    counted,
    leaderboard_command,
    print_files,
    print_next,
    print_table,
    print_text,
    stopped_games,
    warn,
)
from cellgames.cli.shared_options import (
    add_agents,
    add_command,
    add_folder,
    add_game,
    add_options,
    add_ray,
    add_spending,
    add_store,
    file_name,
    folder_words,
    make_game,
    store_of,
    workers_of,
)

if TYPE_CHECKING:
    from cellgames.arena.play.free_for_all import FreeForAll
    from cellgames.envs.core import Game

__all__ = ["add"]

_TEXT = (
    "Let agents play games of any number of seats. Every agent plays equally often, and equally often\n"
    "in every seat. Fewer agents than seats have several seats each; more agents than seats take turns.\n"
    "Ratings count who finishes ahead of whom. The folder gets them, finishing places and scores, also by\n"
    "seat (CSV, Markdown, PNG), and a record of every game. If a run is stopped, the same command continues\n"
    "it. The same command with more games lets a run grow."
)
_EXAMPLES = (
    "toroidal-cup-small-v0 --param teams=4 --agents random greedy",
    "toroidal-cup-small-v0 --param teams=4 --agents greedy rollout:16 --games 300",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "free-for-all", "GAME --agents AGENT AGENT ... ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_agents(command)
    add_spending(command)
    add_options(command, FreeForAllOptions.options())
    add_store(command)
    add_ray(command, "chunks")
    add_folder(command, "results/free-for-all/GAME-...")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.arena.play.free_for_all import free_for_all

    game = make_game(arguments)
    options = FreeForAllOptions.from_given(vars(arguments))
    # Named by what cannot change when a run goes on; only games can grow.
    words = [*folder_words(arguments, options), f"agents={'+'.join(sorted(names_of(arguments.agents)))}"]
    out = arguments.out or Path("results") / "free-for-all" / file_name(words)
    try:
        with workers_of(arguments) as workers:
            finished = free_for_all(
                game,
                arguments.agents,
                options,
                out=out,
                store=store_of(arguments),
                progress=not arguments.quiet,
                warn=warn,
                workers=workers,
            )
    except KeyboardInterrupt:
        return stopped_games(arguments, out, "chunks")
    _report(finished, game, options, arguments)
    return 0


def _report(finished: FreeForAll, game: Game, options: FreeForAllOptions, arguments: argparse.Namespace) -> None:
    """Print the tables, the files, and commands to type next."""
    from cellgames.arena.report import rating_tables as report
    from cellgames.arena.report.payoff_sections import deviation_or_none, deviation_table
    from cellgames.arena.report.run_report import cross_table, ratings_table

    tables = finished.tables
    print_table(ratings_table(tables))
    print_text(f"\n{report.AHEAD}")
    print_table(cross_table(tables))
    print()
    print_table(report.seat_table(tables, game.info.players))
    if tables.by_table is not None and (rated := deviation_or_none(tables.by_table)) is not None:
        print(f"\nDeviation ratings of the game of {game.info.num_players} over all tables:")
        print_table(deviation_table(rated, tables.by_table.level))
    print()
    for line in report.notes(tables):
        print_text(line)
    print(f"\n{counted(tables.games, finished.played)}, {tables.distinct} different.")
    about = {
        "report.md": "all tables and plots on one page",
        "ratings.png": "ratings with intervals",
        "cross_table.png": "who finishes ahead of whom",
    }
    print_files(finished.out, finished.files, about)
    run = shlex.quote(str(finished.out))
    short = options.games % options.chunk
    again = f", and the last {short} games again" if short else ""
    print_next(
        (f"replay {run}", "check every game"),
        (f"replay {run} --record 1 --out game.gif", ""),
        *leaderboard_command(arguments),
        f"the same command with --games {2 * options.games}: plays what is missing{again}",
    )
