"""What the sub-commands of `cellgames` do; each takes the parsed command line and returns the exit code.

What needs torch is imported by the function that uses it, so that help, version and list answer at once.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import AGENTS
from cellgames.agents.networks.file_names import WEIGHTS_SUFFIX
from cellgames.arena.defaults import CHUNK, OPENING_PLIES
from cellgames.cluster.connection import is_address
from cellgames.envs import registry
from cellgames.utils.version import __version__

if TYPE_CHECKING:
    from cellgames.arena.play.round_robin import RoundRobin
    from cellgames.cluster.workers import Workers
    from cellgames.envs.core import Game

__all__ = [
    "UserError",
    "counted",
    "file_name",
    "folder_words",
    "list_all",
    "make_game",
    "parameters",
    "play",
    "print_files",
    "print_leaderboard",
    "program",
    "ray_address",
    "round_robin",
    "run_options",
    "stopped",
    "store_of",
    "warn",
    "workers_of",
]


class UserError(Exception):
    """Something the user can put right; the message is one line."""


def program() -> str:
    """How to call this command again: by its name if the shell finds it, else as it was called."""
    if shutil.which("cellgames") is not None:
        return "cellgames"
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "cellgames" else f"{shlex.quote(sys.executable)} -m cellgames"


# ---------------------------------------------------------------- shared


def parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the command line."""
    given = list(arguments.param) + ([] if arguments.size is None else [f"size={arguments.size}"])
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"--param needs NAME=VALUE, such as size=5; got {text!r}")
        if name in found:
            raise UserError(f"parameter {name!r} is given twice")
        found[name] = _value(value)
    return found


def make_game(arguments: argparse.Namespace) -> Game:
    """The game with the parameters of the command line."""
    try:
        return registry.make(arguments.game, **parameters(arguments))
    except TypeError as error:  # a parameter of a kind that the game did not expect
        raise UserError(f"{arguments.game}: {error}") from error


def _value(text: str) -> Any:
    """A number, true, false or null as JSON has them, else the text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text


def warn(message: str) -> None:
    """A line on standard error."""
    print(f"cellgames: {message}", file=sys.stderr)


def stopped(arguments: argparse.Namespace, kept: str) -> int:
    """Say after Ctrl-C what is kept and how to go on; the exit code."""
    again = [word for word in arguments.command_line if word != "--fresh"]
    print(f"\nStopped. {kept}; to continue:\n  {program()} {shlex.join(again)}", file=sys.stderr)
    return 130


def file_name(words: Sequence[str]) -> str:
    """A name of a folder made of words, with nothing in it that a shell or a file system minds."""
    return "-".join("".join(c if c.isalnum() or c in "=._-" else "_" for c in word) for word in words)


def folder_words(arguments: argparse.Namespace, opening_plies: int) -> list[str]:
    """What names the folder of a run by its game and settings, as far as they are not the default ones."""
    size = [] if arguments.size is None else [f"size={arguments.size}"]
    words = [arguments.game, *sorted([*arguments.param, *size]), f"seed={arguments.seed}"]
    words += [f"plies={arguments.opening_plies}"] if arguments.opening_plies != opening_plies else []
    words += [f"chunk={arguments.chunk}"] if arguments.chunk != CHUNK else []
    return words


def run_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What a round robin and free-for-all games are told alike."""
    return {
        "seed": arguments.seed,
        "opening_plies": arguments.opening_plies,
        "chunk": arguments.chunk,
        "anchor": arguments.anchor,
        "resume": not arguments.fresh,
        "store": store_of(arguments),
        "progress": not arguments.quiet,
        "warn": warn,
    }


def ray_address(text: str) -> str:
    """What --ray takes; it may have taken a word that was meant for something else."""
    if not is_address(text):
        raise argparse.ArgumentTypeError(
            f"expected local, auto or HOST:PORT after it, or nothing, got {text!r}; was that meant as something else? "
            "Then put --ray last, or write --ray=local"
        )
    return text


def workers_of(arguments: argparse.Namespace) -> AbstractContextManager[Workers | None]:
    """Those of the Ray cluster that was asked for, None for none."""
    from cellgames.cluster.ray_workers import workers_at

    if arguments.ray is None and arguments.ray_workers is not None:
        raise UserError("--ray-workers is of a Ray cluster; add --ray to start one here, or --ray ADDRESS to join one")
    return workers_at(arguments.ray, arguments.ray_workers, warn=warn)


def store_of(arguments: argparse.Namespace) -> Path | None:
    """The file that a run adds its games to, None for none; what is another kind of file is refused at once."""
    from cellgames.arena.records.store.store import Store, default_store

    if arguments.no_store:
        return None
    path: Path = arguments.store or default_store()
    Store(path).close()
    return path


def print_leaderboard(arguments: argparse.Namespace) -> None:
    """A line on the store, if the games are there."""
    if not arguments.no_store:
        store = "" if arguments.store is None else f" --store {shlex.quote(str(arguments.store))}"
        print(f"  {program()} leaderboard {arguments.game}{store}   all games in the store")


def counted(games: int, played: int) -> str:
    """How many games a run has, and how many of them it did not have to play again."""
    before = games - played
    return f"{games} games" + (f", {before} of them from before" if before else "")


def print_files(out: Path, files: Sequence[Path], about: Mapping[str, str]) -> None:
    """What a run has written: a line for each file that `about` says something of, by its name, and the rest."""
    print(f"Written to {out}:")
    for path in files:
        if path.name in about:
            print(f"  {path.name:16} {about[path.name]}")
    print(f"  and the data: {', '.join(path.name for path in files if path.name not in about)}")


# ---------------------------------------------------------------- list


def list_all(arguments: argparse.Namespace) -> int:
    """Games and agents."""
    games = [
        {"id": spec.id, "summary": spec.summary, "parameters": dict(spec.defaults)}
        for spec in registry.REGISTRY.values()
    ]
    agents = [{"spec": spec.usage, "summary": spec.summary} for spec in AGENTS.values()]
    agents.append({"spec": f"FILE{WEIGHTS_SUFFIX}", "summary": "what `cellgames train` made"})
    agents.append({"spec": "module:Name", "summary": "your own, by import path"})
    if arguments.json:
        print(json.dumps({"version": __version__, "games": games, "agents": agents}, indent=2))
        return 0
    print("Games")
    lines = [
        (spec.id, "; ".join([spec.summary, *(f"{name}={value}" for name, value in spec.defaults.items())]))
        for spec in registry.REGISTRY.values()
    ]
    _print_columns(lines)
    print("  Parameters are set by --param NAME=VALUE, such as --param size=5.\n\nAgents")
    _print_columns([(agent["spec"], agent["summary"]) for agent in agents])
    print()
    print(f"Try: {program()} play torus-v0 --agent greedy")
    return 0


def _print_columns(lines: Sequence[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        print(f"  {name:{width}}  {text}")


# ---------------------------------------------------------------- play


def play(arguments: argparse.Namespace) -> int:
    """A game at the terminal."""
    from cellgames.agents.loading import load
    from cellgames.arena.records.record_lines import append

    from .terminal import Table

    game = make_game(arguments)
    players = game.info.players
    seat_of_person = _own_seat(arguments, players)
    others = [seat for seat in range(len(players)) if seat != seat_of_person]
    specs = arguments.agent or ["random"]
    if len(specs) not in (1, len(others)):
        hint = "; --watch lets agents play all seats" if len(specs) == len(players) else ""
        raise UserError(f"expected one --agent, or one for each of {len(others)} seats, got {len(specs)}{hint}")
    names = dict(zip(others, specs * len(others) if len(specs) == 1 else specs, strict=True))
    if arguments.record is not None:
        _check_record_file(arguments.record)
    table = Table(
        game,
        [None if seat == seat_of_person else load(names[seat], game) for seat in range(len(players))],
        [names.get(seat, "you" if seat_of_person == seat else "") for seat in range(len(players))],
        seed=arguments.seed,
        position=arguments.position,
    )
    record = table.run()
    if arguments.record is not None and record is None:
        print("The game is not finished, so it is not saved.")
    elif arguments.record is not None and record is not None:
        agents = tuple(names.get(seat, "human") for seat in range(len(players)))
        append(arguments.record, [dataclasses.replace(record, agents=agents)])
        print(f"Saved: {program()} replay {shlex.quote(str(arguments.record))}")
    return 0


def _own_seat(arguments: argparse.Namespace, players: Sequence[str]) -> int | None:
    """The person's seat, None for a watcher."""
    if arguments.watch:
        if arguments.seat is not None:
            raise UserError("--as gives you a seat and --watch gives all seats to agents; choose one")
        return None
    if arguments.seat is None:
        return 0
    if arguments.seat not in players:
        raise UserError(f"--as must be one of {', '.join(players)}, got {arguments.seat!r}")
    return list(players).index(arguments.seat)


def _check_record_file(path: Path) -> None:
    """Complain before a game is played that could not be added to the file."""
    from cellgames.arena.records.record_lines import append, read_records

    if path.exists() and (torn := read_records(path).torn):
        raise UserError(f"{torn}; remove that line first")
    append(path, [])


# ---------------------------------------------------------------- round-robin


def round_robin(arguments: argparse.Namespace) -> int:
    """Every agent against every other one."""
    from cellgames.arena.play import round_robin as arena

    game = make_game(arguments)
    # Named by what cannot change when a run goes on; agents and games can only grow.
    out = arguments.out or Path("results") / file_name(folder_words(arguments, OPENING_PLIES))
    try:
        with workers_of(arguments) as workers:
            run = arena.round_robin(
                game,
                arguments.agents,
                arguments.games,
                out=out,
                gif=arguments.gif,
                until_certain=arguments.until_certain,
                budget=arguments.budget,
                workers=workers,
                **run_options(arguments),
            )
    except KeyboardInterrupt:
        return stopped(arguments, f"All whole chunks of games are kept in {out}")
    _report(run, game, arguments)
    return 0


def _report(run: RoundRobin, game: Game, arguments: argparse.Namespace) -> None:
    """What came out, what to open, and what to do next."""
    from cellgames.arena.play.round_robin import top_game
    from cellgames.arena.report import reports

    tables = run.tables
    print(reports.ratings_text(tables))
    print("\nThe row's score against the column in %, with wins-draws-losses:")
    print(reports.cross_text(tables))
    print()
    seats = reports.seats_line(tables, game.info.players, simultaneous=game.info.simultaneous)
    for line in [seats, *reports.notes(tables)]:
        print(line)
    if run.order:
        from cellgames.arena.play import until_certain

        print(f"\n{reports.plain_table(until_certain.order_rows(run.order))}")
        print(f"\n{until_certain.order_text(run.order, tables.games)}")
    print(f"\n{counted(tables.games, run.played)}, {tables.distinct} different.")
    about = {
        "report.md": "all tables and plots on one page",
        "ratings.png": "ratings with intervals",
        "cross_table.png": "who beats whom",
        "top_game.gif": "the longest game of the two best agents",
    }
    print_files(run.out, run.files, about)
    number = run.records.index(top_game(tables, run.records)) + 1
    file = shlex.quote(str(run.out / "games.jsonl"))
    print("Next:")
    print(f"  {program()} replay {file}              check every game")
    print(f"  {program()} replay {file} --game {number} --show")
    print_leaderboard(arguments)
    if run.order:
        if run.undecided:
            print(f"  the same command with --budget {2 * tables.games}: goes on until more is certain")
        return
    short = arguments.games % (2 * arguments.chunk)
    again = f", and the last {short} games of each pair again" if short else ""
    print("  the same command with more --agents: plays only what is missing")
    print(f"  the same command with --games {2 * arguments.games}: plays what is missing{again}")
