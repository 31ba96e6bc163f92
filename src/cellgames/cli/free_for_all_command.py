"""What `cellgames free-for-all` does.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from .commands import (
    counted,
    file_name,
    folder_words,
    make_game,
    print_files,
    print_leaderboard,
    program,
    run_options,
    stopped,
    workers_of,
)

if TYPE_CHECKING:
    from cellgames.arena.play.free_for_all import FreeForAll
    from cellgames.envs.core import Game

__all__ = ["free_for_all"]


def free_for_all(arguments: argparse.Namespace) -> int:
    """Games of any number of seats."""
    from cellgames.arena.play import free_for_all as arena

    game = make_game(arguments)
    out = arguments.out or _default_out(arguments)
    try:
        with workers_of(arguments) as workers:
            run = arena.free_for_all(
                game, arguments.agents, arguments.games, out=out, workers=workers, **run_options(arguments)
            )
    except KeyboardInterrupt:
        return stopped(arguments, f"All whole chunks of games are kept in {out}")
    _report(run, game, arguments)
    return 0


def _default_out(arguments: argparse.Namespace) -> Path:
    """A folder named by what cannot change when a run goes on; only games can grow."""
    words = [*folder_words(arguments, 0), f"agents={'+'.join(sorted(arguments.agents))}"]
    return Path("results") / "free-for-all" / file_name(words)


def _report(run: FreeForAll, game: Game, arguments: argparse.Namespace) -> None:
    """What came out, what to open, and what to do next."""
    from cellgames.arena.report import free_for_all_reports as reports

    tables = run.tables
    print(reports.ratings_text(tables))
    print(f"\n{reports.AHEAD}")
    print(reports.cross_text(tables))
    print()
    print(reports.seats_text(tables, game.info.players))
    print()
    for line in reports.notes(tables):
        print(line)
    print(f"\n{counted(tables.games, run.played)}, {tables.distinct} different.")
    about = {
        "report.md": "all tables and plots on one page",
        "ratings.png": "ratings with intervals",
        "cross_table.png": "who finishes ahead of whom",
    }
    print_files(run.out, run.files, about)
    file = shlex.quote(str(run.out / "games.jsonl"))
    short = arguments.games % arguments.chunk
    again = f", and the last {short} games again" if short else ""
    print("Next:")
    print(f"  {program()} replay {file}              check every game")
    print(f"  {program()} replay {file} --game 1 --gif game.gif")
    print_leaderboard(arguments)
    print(f"  the same command with --games {2 * arguments.games}: plays what is missing{again}")
