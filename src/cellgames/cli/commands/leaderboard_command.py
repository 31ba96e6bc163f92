"""`cellgames leaderboard`: ratings of all agents from the games in the store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cellgames.arena.records.store import Store, StoreError, default_store, places_of
from cellgames.cli.console import print_pairs_and_seats, print_table, program, warn
from cellgames.cli.shared_options import WHERE_STORE, add_agents, add_command, add_game, add_json, add_out, parameters
from cellgames.envs import registry
from cellgames.runs.run_folder import check_writable
from cellgames.utils.errors import InputError
from cellgames.utils.progress import waiting
from cellgames.utils.report.model import json_text, people_table

_TEXT = (
    "Show the ratings of all agents from all games in the store. Round robins, free-for-all games, evaluations\n"
    "and seasons add their games to it; --add takes runs that were played before or elsewhere. A game counts\n"
    "once, however often it is added. Without GAME the command lists the games and shows the ratings of each."
)

_EXAMPLES = (
    "torus-v0 --param size=5",
    "--add results/torus5 results/other/games.jsonl",
    "torus-small-v0 --anchor greedy --agents random greedy trained --out results/leaderboard",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "leaderboard", "[GAME] ", run, _TEXT, _EXAMPLES)
    add_game(command, otherwise="all that are in the store")
    command.add_argument("--store", metavar="FILE", type=Path, help=f"the store of games ({WHERE_STORE})")
    text = "add the games of runs' folders (or of all below a folder) or files of records first, if all of them replay"
    command.add_argument("--add", metavar="PATH", nargs="+", default=[], help=text)
    add_agents(command, "count only games among these", required=False, play=False)
    command.add_argument("--anchor", metavar="AGENT", help="agent that is rated 0 (default random, else the mean is 0)")
    command.add_argument("--version", metavar="VERSION", help="count only games of this version of cellgames")
    add_out(command, "a folder for pages, plots and data")
    add_json(command)


def run(arguments: argparse.Namespace) -> int:
    """Print the tables of the games in the store; return the exit code."""
    path = arguments.store or default_store()
    if arguments.out is not None:
        check_writable(arguments.out)
    if arguments.game is not None:
        registry.spec(arguments.game)
    wanted = parameters(arguments)
    if arguments.game is None and wanted:
        raise InputError("--param", cause="it needs GAME, since games have different parameters")
    try:
        store = Store(path, create=bool(arguments.add))
    except StoreError as error:
        if path.exists():
            raise
        raise InputError(cause=f"{error}, as do `{program()} round-robin` and all that play games") from None
    with store:
        for given in arguments.add:
            places = places_of(given)
            for place in places:
                try:
                    print(f"{place}: {store.import_run(place, warn=warn, progress=True)} new games", flush=True)
                except ValueError as error:
                    if len(places) == 1:
                        raise
                    warn(f"left out: {error}")
        _show(arguments, store, wanted)
    return 0


def _show(arguments: argparse.Namespace, store: Store, wanted: dict[str, Any]) -> None:
    """Print the tables, and write files where options ask for them."""
    from cellgames.arena.report import leaderboard as boards_of

    if not len(store):
        raise InputError(store.path, "games", "none", "add some with --add, or play some")
    settings = store.settings()
    matching = boards_of.matching(settings, arguments.game, wanted)
    if not matching:
        there = ", ".join(dict.fromkeys(boards_of.title(s.game, s.parameters) for s in settings))
        raise InputError(store.path, cause=f"it has no such games; it has {there}")
    with waiting("Computing ratings"):
        boards = boards_of.leaderboards(
            store, arguments.game, wanted, agents=arguments.agents, anchor=arguments.anchor, version=arguments.version
        )
    if not boards:
        raise InputError("--agents and --version", "games between different agents", "none", "take some away")
    if arguments.json:
        print(json_text(boards_of.to_data(boards, store.sources())), end="")
    else:
        several = len(boards) > 1
        with waiting("Comparing agents"):
            ratings = [people_table(board.columns, board.standings) for board in boards]
        if arguments.game is None:
            print(f"{store.path}: {len(store)} games\n")
            print_table(boards_of.overview_table(matching), end="\n\n\n")
        for number, (board, table) in enumerate(zip(boards, ratings, strict=True)):
            counts = f"{board.tables.games} games, {board.tables.distinct} different"
            print("\n\n" * (number > 0) + f"{board.title}: {counts}\n")
            print_table(table)
            if not several:
                print_pairs_and_seats(board.tables, board.players, board.remarks, simultaneous=True)
        if several:
            print(f"\n`{program()} leaderboard GAME --param NAME=VALUE` shows more of one of them, --out DIR of all.")
    if arguments.out is not None:
        with waiting("Writing the report"):
            pages = boards_of.write_leaderboards(arguments.out, boards, warn=warn, sources=store.sources())
        shown = [page.relative_to(arguments.out).as_posix() for page in pages]
        if not arguments.json:
            print(f"\nWritten to {arguments.out}: {', '.join(shown[:6])}{', ...' if len(shown) > 6 else ''}")
