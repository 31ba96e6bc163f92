"""`cellgames series`: matches of Grid Adaptation after each of which somebody leaves.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from cellgames.agents.agent_names import names_of
from cellgames.arena.series.series_options import SeriesOptions
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
    add_spending,
    add_store,
    folder_of,
    make_game,
    store_of,
)

if TYPE_CHECKING:
    from cellgames.arena.series.series import SeriesRun

__all__ = ["add"]

_TEXT = (
    "Play series of Grid Adaptation matches. After each match the Elimination Candidate leaves, and the others\n"
    "play the next one with the garnets that they hold, until one player is left. Tokens of Life may be given\n"
    "away between two matches, which does not count as winning them. The agents are the players in turn. The\n"
    "folder gets the final order of each series, and a record of every match. If a run is stopped, the same\n"
    "command continues it."
)
_EXAMPLES = (
    "grid-adaptation-v0 --agents random greedy",
    "grid-adaptation-small-v0 --agents random greedy --series 20 --gifts second --seed 1",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "series", "GAME --agents AGENT ... ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_agents(command, "one or more that `cellgames list` shows; NAME=SPEC gives a name")
    add_spending(command)
    add_options(command, SeriesOptions.options())
    add_store(command)
    add_folder(command, "results/series/GAME-...")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.arena.series.series import play_series

    game = make_game(arguments)
    options = SeriesOptions.from_given(vars(arguments))
    out = folder_of(arguments, "series", _folder_words(arguments, options))
    try:
        finished = play_series(
            game,
            arguments.agents,
            options,
            out=out,
            store=store_of(arguments),
            progress=not arguments.quiet,
            warn=warn,
        )
    except KeyboardInterrupt:
        return stopped_games(arguments, out, "batches")
    _report(finished, arguments)
    return 0


def _folder_words(arguments: argparse.Namespace, options: SeriesOptions) -> list[str]:
    """Return the settings, but for most of those that are usual."""
    words = [f"series={options.series}", f"seed={options.seed}"]
    words += [f"matches={options.matches}"] if options.matches is not None else []
    words += [f"gifts={options.gifts}"] if options.gifts != SeriesOptions.gifts else []
    words += [f"clock={limits}"] if (limits := options.time_control) is not None else []
    words += [f"chunk={options.chunk}"] if options.chunk != SeriesOptions.chunk else []
    return [*words, f"agents={'+'.join(names_of(arguments.agents))}"]


def _report(finished: SeriesRun, arguments: argparse.Namespace) -> None:
    """Print the tables, the files, and commands to type next."""
    from cellgames.arena.series import series_report as reports

    if len(finished.series) > 1:
        print_table(reports.agents_table(finished.series, finished.players))
    else:
        (series,) = finished.series
        for played in series.matches:
            print(reports.match_text(played))
        print()
        print_table(reports.order_table(series, finished.players))
        print(f"Winner: {series.order[0].name}")
    print(f"\n{counted(finished.games, finished.played)}.")
    for line in finished.notes:
        print_text(line)
    print_files(finished.out, finished.files, {"report.md": "the final orders and the matches on one page"})
    run = shlex.quote(str(finished.out))
    print_next(
        (f"replay {run}", "check every match"),
        (f"replay {run} --record {finished.games} --out final.gif", ""),
        *leaderboard_command(arguments),
    )
