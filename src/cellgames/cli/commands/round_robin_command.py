"""`cellgames round-robin`: every agent plays every other one.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.arena.play.match_options import RoundRobinOptions
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
    from cellgames.arena.play.round_robin import RoundRobin
    from cellgames.envs.core import Game

__all__ = ["add"]

_TEXT = (
    "Let every agent play every other one. Games start from random openings, each played in both\n"
    "seats. The folder gets ratings, a cross table and a seat table (CSV, Markdown, PNG), and a record\n"
    "of every game. If a run is stopped, the same command continues it. The same command with more\n"
    "agents or more games lets a run grow."
)
_EXAMPLES = (
    "torus-v0 --agents random greedy rollout:64",
    "torus-v0 --agents random greedy --games 400 --param size=5 --out results/torus5",
    "torus-v0 --agents greedy my_bots:MyBot --anchor greedy",
    "torus-small-v0 --agents random greedy trained --games 50 --until-certain --budget 4000",
    "torus-v0 --agents greedy trained mcts:400 --ray",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "round-robin", "GAME --agents AGENT AGENT ... ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_agents(command)
    add_spending(command)
    add_options(command, RoundRobinOptions.options())
    add_store(command)
    add_ray(command, "chunks")
    add_folder(command, "results/GAME-...")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.arena.play.round_robin import round_robin

    game = make_game(arguments)
    options = RoundRobinOptions.from_given(vars(arguments))
    # Named by what cannot change when a run goes on; agents and games can only grow.
    out = arguments.out or Path("results") / file_name(folder_words(arguments, options))
    try:
        with workers_of(arguments) as workers:
            finished = round_robin(
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


def _report(finished: RoundRobin, game: Game, options: RoundRobinOptions, arguments: argparse.Namespace) -> None:
    """Print the tables, the files, and commands to type next."""
    from cellgames.arena.play.round_robin import top_game
    from cellgames.arena.report import rating_tables as report
    from cellgames.arena.report.order_section import order_table, order_text
    from cellgames.arena.report.run_report import cross_table, ratings_table

    tables = finished.tables
    print_table(ratings_table(tables))
    print("\nThe row's score against the column in %, with wins-draws-losses:")
    print_table(cross_table(tables))
    print()
    seats = report.seats_line(tables, game.info.players, simultaneous=game.info.simultaneous)
    for line in [seats, *report.notes(tables)]:
        print_text(line)
    if finished.order:
        print()
        print_table(order_table(finished.order))
        print_text(f"\n{order_text(finished.order, tables.games)}")
    print(f"\n{counted(tables.games, finished.played)}, {tables.distinct} different.")
    about = {
        "report.md": "all tables and plots on one page",
        "ratings.png": "ratings with intervals",
        "cross_table.png": "who beats whom",
        "top_game.gif": "the longest game of the two best agents",
    }
    print_files(finished.out, finished.files, about)
    number = finished.records.index(top_game(tables, finished.records)) + 1
    run = shlex.quote(str(finished.out))
    short = options.games % (2 * options.chunk)
    again = f", and the last {short} games of each pair again" if short else ""
    more = [
        "the same command with more --agents: plays only what is missing",
        f"the same command with --games {2 * options.games}: plays what is missing{again}",
    ]
    if finished.order:
        until = f"the same command with --budget {2 * tables.games}: goes on until more is certain"
        more = [until] if finished.undecided else []
    print_next(
        (f"replay {run}", "check every game"),
        (f"replay {run} --record {number} --step", ""),
        *leaderboard_command(arguments),
        *more,
    )
