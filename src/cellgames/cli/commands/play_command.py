"""`cellgames play`: a game at the terminal."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.arena.play.match_options import MatchOptions
from cellgames.cli.console import UserError, program
from cellgames.cli.shared_options import add_agents, add_command, add_game, add_out, add_seed, add_spending, make_game
from cellgames.utils.foreign_text import shown

if TYPE_CHECKING:
    from cellgames.cli.saved_games import SavedGame
    from cellgames.envs.core import Game

__all__ = ["add"]

_TEXT = (
    "Play a game at the terminal. Play against agents, or watch agents play each other. Type `help` in the game for\n"
    "all words, such as hint, undo, save and resign. Where all act at once, everybody's action counts at the same\n"
    "time, and you see what your seat may see."
)
_EXAMPLES = (
    "torus-v0",
    "torus-v0 --size 5 --agents rollout:64 --as white",
    "torus-v0 --agents greedy --clock 300+5",
    "torus-v0 --watch --agents greedy random --out game.jsonl",
    "grid-adaptation-small-v0 --agents greedy",
    "--load game.json",
    "torus-v0 --size 3 --position 'x../.../... .../.o./... b'",
)


def add(commands: Any) -> None:
    """Add the command."""
    moved = {"--agent": "--agents AGENT ...", "--record": "--out FILE"}
    command = add_command(commands, "play", "[GAME] ", _run, _TEXT, _EXAMPLES, moved)
    add_game(command, otherwise="that of --load")
    add_seed(command)
    command.add_argument(
        "--load", metavar="FILE", type=Path, help="go on with a game that `save FILE` has kept, in the same seats"
    )
    add_agents(
        command,
        "one agent for all other seats, or one for each in their order (default random); NAME=SPEC gives a name",
        required=False,
    )
    add_spending(command)
    command.add_argument("--as", dest="seat", metavar="PLAYER", help="your seat, such as black (default the first)")
    command.add_argument("--watch", action="store_true", help="let agents play all seats")
    command.add_argument("--position", metavar="TEXT", default="", help="start position, as `position` prints it")
    command.add_argument(
        "--clock",
        metavar="S+S",
        help="seconds of each player, you too, for the game, and seconds that each move adds, such as 300+5",
    )
    command.add_argument("--move-time", metavar="S", type=float, help="seconds of each player, you too, for a move")
    add_out(command, "add the finished game to this file of records", "FILE")


def _run(arguments: argparse.Namespace) -> int:
    saved = _loaded(arguments)  # before torch is imported
    from cellgames.agents.agent_names import split_name
    from cellgames.agents.loading import load
    from cellgames.arena.records.record_lines import append
    from cellgames.cli.terminal import Table

    game = make_game(arguments) if saved is None else _game_of(saved)
    players = game.info.players
    seat_of_person = _own_seat(arguments, players) if saved is None else saved.seats.index(None)
    others = [seat for seat in range(len(players)) if seat != seat_of_person]
    specs = (arguments.agents or ["random"]) if saved is None else [spec for spec in saved.seats if spec is not None]
    if len(specs) not in (1, len(others)):
        hint = "; --watch lets agents play all seats" if len(specs) == len(players) else ""
        raise UserError(f"expected one of --agents, or one for each of {len(others)} seats, got {len(specs)}{hint}")
    given = dict(zip(others, specs * len(others) if len(specs) == 1 else specs, strict=True))
    names = {seat: split_name(text)[0] for seat, text in given.items()}
    if arguments.out is not None:
        _check_record_file(arguments.out)
    table = Table(
        game,
        [None if seat == seat_of_person else load(given[seat], game) for seat in range(len(players))],
        [names.get(seat, "you" if seat_of_person == seat else "") for seat in range(len(players))],
        seed=arguments.seed,
        position=arguments.position,
        time_control=MatchOptions(clock=arguments.clock, move_time=arguments.move_time).time_control,
    )
    table.specs = tuple(given.get(seat, "") for seat in range(len(players)))
    if saved is not None:
        table.go_on(saved)
    record = table.run()
    if arguments.out is not None and record is None:
        print("The game is not finished, so it is not saved.")
    elif arguments.out is not None and record is not None:
        agents = tuple(names.get(seat, "human") for seat in range(len(players)))
        append(arguments.out, [dataclasses.replace(record, agents=agents)])
        print(f"Saved: {program()} replay {shlex.quote(str(arguments.out))}")
    return 0


def _loaded(arguments: argparse.Namespace) -> SavedGame | None:
    """Return the game of --load, None without one."""
    from cellgames.cli.saved_games import SavedGame

    if arguments.load is None:
        if arguments.game is None:
            raise UserError("the following arguments are required: GAME, or --load FILE (see cellgames play --help)")
        return None
    options = ("game", "agents", "seat", "watch", "position", "param", "size", "clock", "move_time")
    if given := [name for name in options if getattr(arguments, name) not in (None, "", False, [])]:
        raise UserError(f"--load FILE says all about the game; leave out {given[0].replace('_', '-')}")
    return SavedGame.load(arguments.load)


def _game_of(saved: SavedGame) -> Game:
    """Return the game of a file, with seats for it."""
    from cellgames.envs import registry

    try:
        game = registry.make(saved.game, **saved.parameters)
    except TypeError as error:
        raise UserError(f"{saved.game}: {error}") from error
    if len(saved.seats) != game.info.num_players or saved.seats.count(None) != 1:
        raise UserError(f"expected a seat for each of {', '.join(game.info.players)}, and one of them yours")
    return game


def _own_seat(arguments: argparse.Namespace, players: Sequence[str]) -> int | None:
    """Return the person's seat, None for a spectator."""
    if arguments.watch:
        if arguments.seat is not None:
            raise UserError("--as gives you a seat and --watch gives all seats to agents; choose one")
        return None
    if arguments.seat is None:
        return 0
    if arguments.seat not in players:
        raise UserError(f"--as must be one of {', '.join(players)}, got {shown(arguments.seat)}")
    return list(players).index(arguments.seat)


def _check_record_file(path: Path) -> None:
    """Complain before a game is played that could not be added to the file."""
    from cellgames.arena.records.record_lines import append, read_records

    new = not path.exists()
    if not new and (torn := read_records(path).torn):
        raise UserError(f"{torn}; remove that line first")
    append(path, [])
    if new:
        path.unlink()  # there is nothing in it until the game is over
