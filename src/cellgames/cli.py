"""The command `cellgames`: list, play, round-robin, replay.

What needs torch is imported by the sub-command that uses it, so that help, version and list answer at once.
Exit codes: 0 done, 1 a record does not reproduce or the program failed, 2 something is wrong with what was
asked for, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import cellgames
from cellgames.agents.registry import AGENTS
from cellgames.envs import registry

if TYPE_CHECKING:
    from cellgames.arena.records import Record
    from cellgames.arena.round_robin import RoundRobin
    from cellgames.envs.core import Game

__all__ = ["main", "parser"]


class UserError(Exception):
    """Something the user can put right; the message is one line."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's own) and return the exit code."""
    # Before torch is imported: threads that spin while they wait are slow beside other busy processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = parser().parse_args(given)
    arguments.command_line = given
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        return _complain(error)
    return code


def _complain(error: Exception) -> int:
    """One line on standard error; the exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UserError | ValueError | OSError | ImportError):
        print(f"cellgames: {text}", file=sys.stderr)
        return 2
    print(f"cellgames: {type(error).__name__}: {text} (--debug shows where)", file=sys.stderr)
    return 1


# ---------------------------------------------------------------- the command line


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="cellgames",
        description="Board games played with cells, for people and for programs that learn.",
        epilog="Examples:\n"
        "  cellgames list\n"
        "  cellgames play torus-v0 --agent greedy\n"
        "  cellgames round-robin torus-v0 --agents random greedy rollout:64\n\n"
        "`cellgames COMMAND --help` explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"cellgames {cellgames.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for add in (_add_list, _add_play, _add_round_robin, _add_replay):
        add(commands)
    return top


def _command(
    commands: Any,
    name: str,
    usage: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
    examples: Sequence[str],
) -> argparse.ArgumentParser:
    """A sub-command; the first sentence of `text` stands in the list of commands."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text.split(". ")[0].rstrip("."),
        usage=f"cellgames {name} {usage}[options]",
        description=text,
        epilog="Examples:\n" + "\n".join(f"  cellgames {name} {example}".rstrip() for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _add_game(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", metavar="GAME", help="an id that `cellgames list` shows")
    command.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set a parameter of the game, such as size=5; may be given several times",
    )
    command.add_argument("--size", metavar="N", help="short for --param size=N")
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of all chance (default 0)")


def _add_list(commands: Any) -> None:
    text = "Show all games and agents."
    command = _command(commands, "list", "", _list, text, ("", "--json"))
    command.add_argument("--json", action="store_true", help="as JSON, for programs")


def _add_play(commands: Any) -> None:
    text = "Play a game at the terminal. Against an agent, or watch agents play each other."
    examples = (
        "torus-v0",
        "torus-v0 --size 5 --agent rollout:64 --as white",
        "torus-v0 --watch --agent greedy --agent random --record game.jsonl",
        "torus-v0 --size 3 --position 'x../.../... .../.o./... b'",
    )
    command = _command(commands, "play", "GAME ", _play, text, examples)
    _add_game(command)
    command.add_argument(
        "--agent",
        metavar="SPEC",
        action="append",
        help="who plays the other seats, in their order (default random); `cellgames list` shows the agents",
    )
    command.add_argument(
        "--as", dest="seat", metavar="PLAYER", help="your seat, such as black (default the first)"
    )
    command.add_argument("--watch", action="store_true", help="agents play all seats")
    command.add_argument(
        "--position", metavar="TEXT", default="", help="where to start, as `position` prints it"
    )
    command.add_argument(
        "--record", metavar="FILE", type=Path, help="add the finished game to a file of records"
    )


def _add_round_robin(commands: Any) -> None:
    text = (
        "Let every agent play every other one. Games start from random openings, each played in both\n"
        "seats. The folder gets ratings, a cross table and a seat table (CSV, Markdown, PNG), and a record\n"
        "of every game. A run that was stopped continues where it was; the same command with more agents\n"
        "or more games lets it grow."
    )
    examples = (
        "torus-v0 --agents random greedy rollout:64",
        "torus-v0 --agents random greedy --games 400 --param size=5 --out results/torus5",
        "torus-v0 --agents greedy my_bots:MyBot --anchor greedy",
    )
    command = _command(commands, "round-robin", "GAME --agents SPEC SPEC ... ", _round_robin, text, examples)
    _add_game(command)
    command.add_argument(
        "--agents", metavar="SPEC", nargs="+", required=True, help="two or more that `cellgames list` shows"
    )
    command.add_argument(
        "--games", metavar="N", type=int, default=100, help="of each pair, even (default 100)"
    )
    command.add_argument(
        "--opening-plies",
        metavar="N",
        type=int,
        default=2,
        help="random moves before agents move (default 2)",
    )
    command.add_argument(
        "--chunk",
        metavar="N",
        type=int,
        default=25,
        help="openings played side by side, and lost together when a run is stopped (default 25)",
    )
    command.add_argument("--anchor", metavar="SPEC", help="the agent rated 0 (default: the mean is 0)")
    command.add_argument("--out", metavar="DIR", type=Path, help="the folder (default results/GAME-...)")
    command.add_argument("--fresh", action="store_true", help="delete the run in the folder first")
    command.add_argument(
        "--gif",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw the longest game of the two best agents (default yes)",
    )
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")


def _add_replay(commands: Any) -> None:
    text = "Play recorded games again. Checks every move and the result; exit code 1 if one differs."
    examples = (
        "results/torus5/games.jsonl",
        "results/torus5/games.jsonl --game 17 --show",
        "game.jsonl --gif game.gif",
    )
    command = _command(commands, "replay", "FILE ", _replay, text, examples)
    command.add_argument("file", metavar="FILE", type=Path, help="records, one a line")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--game", metavar="N", type=int, help="only the game of line N, from 1")
    which.add_argument("--all", action="store_true", help="all games of the file (the default)")
    command.add_argument("--gif", metavar="OUT", type=Path, help="save one game as a GIF")
    command.add_argument("--show", action="store_true", help="print every position of one game")


# ---------------------------------------------------------------- shared


def _make(arguments: argparse.Namespace) -> Game[Any]:
    """The game with the parameters of the command line."""
    given = list(arguments.param) + ([] if arguments.size is None else [f"size={arguments.size}"])
    parameters: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise UserError(f"--param needs NAME=VALUE, such as size=5; got {text!r}")
        if name in parameters:
            raise UserError(f"parameter {name!r} is given twice")
        parameters[name] = _value(value)
    try:
        return cellgames.make(arguments.game, **parameters)
    except TypeError as error:  # a parameter of a kind that the game did not expect
        raise UserError(f"{arguments.game}: {error}") from error


def _value(text: str) -> Any:
    """A number, true, false or null as JSON has them, else the text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text


def _warn(message: str) -> None:
    print(f"cellgames: {message}", file=sys.stderr)


def _read(path: Path) -> list[Record]:
    from cellgames.arena.records import read

    records, torn = read(path)
    if torn:
        _warn(torn)
    return records


# ---------------------------------------------------------------- list


def _list(arguments: argparse.Namespace) -> int:
    games = [
        {"id": spec.id, "summary": spec.summary, "parameters": dict(spec.parameters)}
        for spec in registry.REGISTRY.values()
    ]
    agents = [{"spec": spec.usage, "summary": spec.summary} for spec in AGENTS.values()]
    agents.append({"spec": "module:Name", "summary": "your own, by import path"})
    if arguments.json:
        print(json.dumps({"version": cellgames.__version__, "games": games, "agents": agents}, indent=2))
        return 0
    for title, entries, key in (("Games", games, "id"), ("Agents", agents, "spec")):
        width = max(len(str(entry[key])) for entry in entries)
        print(title)
        for entry in entries:
            print(f"  {entry[key]:{width}}  {entry['summary']}")
        if title == "Games":
            print("  Parameters are set by --param NAME=VALUE, such as --param size=5.")
        print()
    print("Try: cellgames play torus-v0 --agent greedy")
    return 0


# ---------------------------------------------------------------- play


def _play(arguments: argparse.Namespace) -> int:
    from cellgames.agents.registry import load
    from cellgames.arena.records import append
    from cellgames.terminal import Table

    game = _make(arguments)
    players = game.info.players
    own = _own_seat(arguments, players)
    others = [seat for seat in range(len(players)) if seat != own]
    specs = arguments.agent or ["random"]
    if len(specs) not in (1, len(others)):
        hint = "; --watch lets agents play all seats" if len(specs) == len(players) else ""
        raise UserError(
            f"expected one --agent, or one for each of {len(others)} seats, got {len(specs)}{hint}"
        )
    names = dict(zip(others, specs * len(others) if len(specs) == 1 else specs, strict=True))
    if arguments.record is not None:
        _check_record_file(arguments.record)
    table = Table(
        game,
        [None if seat == own else load(names[seat], game) for seat in range(len(players))],
        [names.get(seat, "you" if own == seat else "") for seat in range(len(players))],
        seed=arguments.seed,
        position=arguments.position,
    )
    record = table.run()
    if arguments.record is not None and record is None:
        print("The game is not finished, so it is not saved.")
    elif arguments.record is not None and record is not None:
        agents = tuple(names.get(seat, "human") for seat in range(len(players)))
        append(arguments.record, [dataclasses.replace(record, agents=agents)])
        print(f"Saved: cellgames replay {shlex.quote(str(arguments.record))}")
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
    from cellgames.arena.records import append, read

    if path.exists() and (torn := read(path).torn):
        raise UserError(f"{torn}; remove that line first")
    append(path, [])


# ---------------------------------------------------------------- round-robin


def _round_robin(arguments: argparse.Namespace) -> int:
    from cellgames.arena.round_robin import round_robin

    game = _make(arguments)
    out: Path = arguments.out if arguments.out is not None else _default_out(arguments)
    try:
        run = round_robin(
            game,
            arguments.agents,
            arguments.games,
            out=out,
            seed=arguments.seed,
            opening_plies=arguments.opening_plies,
            chunk=arguments.chunk,
            anchor=arguments.anchor,
            resume=not arguments.fresh,
            gif=arguments.gif,
            progress=not arguments.quiet,
            warn=_warn,
        )
    except KeyboardInterrupt:
        again = [word for word in arguments.command_line if word != "--fresh"]
        print(
            f"\nStopped. All whole chunks of games are kept in {out}; to continue:\n"
            f"  cellgames {shlex.join(again)}",
            file=sys.stderr,
        )
        return 130
    _report(run, game, arguments)
    return 0


def _default_out(arguments: argparse.Namespace) -> Path:
    """A folder that tells apart runs which cannot be continued by each other."""
    size = [] if arguments.size is None else [f"size={arguments.size}"]
    words = [arguments.game, *sorted([*arguments.param, *size]), f"seed={arguments.seed}"]
    name = "-".join("".join(c if c.isalnum() or c in "=._-" else "_" for c in word) for word in words)
    return Path("results") / name


def _report(run: RoundRobin, game: Game[Any], arguments: argparse.Namespace) -> None:
    """What came out, what to open, and what to do next."""
    from cellgames.arena import reports
    from cellgames.arena.round_robin import top_game

    tables = run.tables
    print(reports.ratings_text(tables))
    print()
    for line in [reports.seats_line(tables, game.info.players), *reports.notes(tables)]:
        print(line)
    before = tables.games - run.played
    kept = f", {before} of them from before" if before else ""
    print(f"\n{tables.games} games{kept}, {tables.distinct} different.")
    print(f"Written to {run.out}:")
    about = {
        "report.md": "all tables and plots on one page",
        "ratings.png": "ratings with intervals",
        "cross_table.png": "who beats whom",
        "top_game.gif": "the longest game of the two best agents",
    }
    for path in run.files:
        if path.name in about:
            print(f"  {path.name:16} {about[path.name]}")
    rest = [path.name for path in run.files if path.name not in about]
    print(f"  and the data: {', '.join(rest)}")
    number = run.records.index(top_game(tables, run.records)) + 1
    file = shlex.quote(str(run.out / "games.jsonl"))
    print("Next:")
    print(f"  cellgames replay {file}              check every game")
    print(f"  cellgames replay {file} --game {number} --show")
    print(
        f"  the same command with more --agents, or --games {2 * arguments.games}, plays only what is missing"
    )


# ---------------------------------------------------------------- replay


def _replay(arguments: argparse.Namespace) -> int:
    records = _read(arguments.file)
    if not records:
        raise UserError(f"{arguments.file} holds no records")
    numbers = list(range(1, len(records) + 1))
    if arguments.game is not None:
        if arguments.game not in numbers:
            raise UserError(f"--game must be from 1 to {len(records)}, got {arguments.game}")
        numbers = [arguments.game]
    if (arguments.gif is not None or arguments.show) and len(numbers) > 1:
        raise UserError(f"--gif and --show need one game; choose it with --game 1 to {len(records)}")
    return _verify(arguments, records, numbers)


def _verify(arguments: argparse.Namespace, records: list[Record], numbers: list[int]) -> int:
    from cellgames.arena import replays

    failed = sorted(
        (numbers[place], str(error)) for place, error in replays.verify([records[n - 1] for n in numbers])
    )
    if failed:
        number, reason = failed[0]
        more = f" ({len(failed) - 1} more of {len(numbers)} games fail)" if len(failed) > 1 else ""
        _warn(f"{arguments.file}, game {number}: {reason}{more}")
        return 1
    record = records[numbers[0] - 1]
    if arguments.show:
        _show(record)
    if arguments.gif is not None:
        replays.gif(record, arguments.gif)
        print(f"Saved {arguments.gif}")
    games = "The game was" if len(numbers) == 1 else f"All {len(numbers)} games were"
    print(f"{games} played again with the recorded moves and results.")
    return 0


def _show(record: Record) -> None:
    from cellgames.arena import replays
    from cellgames.terminal import VERBS

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
