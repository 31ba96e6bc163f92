"""`cellgames play`: a game at the terminal."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellgames.cli.console import UserError, program
from cellgames.cli.shared_options import add_agents, add_command, add_game, add_out, add_seed, add_spending, make_game
from cellgames.utils.errors import shown

_TEXT = (
    "Play a game at the terminal. Play against agents, or watch agents play each other. Type `help` in the game for\n"
    "all words, such as hint, undo and resign. Where all act at once, everybody's action counts at the same\n"
    "time, and you see what your seat may see."
)
_EXAMPLES = (
    "torus-v0",
    "torus-v0 --size 5 --agents rollout:64 --as white",
    "torus-v0 --watch --agents greedy random --out game.jsonl",
    "grid-adaptation-small-v0 --agents greedy",
    "torus-v0 --size 3 --position 'x../.../... .../.o./... b'",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "play", "GAME ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_seed(command)
    add_agents(
        command,
        "one agent for all other seats, or one for each in their order (default random); NAME=SPEC gives a name",
        required=False,
    )
    add_spending(command)
    command.add_argument("--as", dest="seat", metavar="PLAYER", help="your seat, such as black (default the first)")
    command.add_argument("--watch", action="store_true", help="let agents play all seats")
    command.add_argument("--position", metavar="TEXT", default="", help="start position, as `position` prints it")
    add_out(command, "add the finished game to this file of records", "FILE")


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.agents.agent_specs import split_name
    from cellgames.agents.loading import load
    from cellgames.arena.records.record_lines import append
    from cellgames.cli.terminal import Table

    game = make_game(arguments)
    players = game.info.players
    seat_of_person = _own_seat(arguments, players)
    others = [seat for seat in range(len(players)) if seat != seat_of_person]
    specs = arguments.agents or ["random"]
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
    )
    record = table.run()
    if arguments.out is not None and record is None:
        print("The game is not finished, so it is not saved.")
    elif arguments.out is not None and record is not None:
        agents = tuple(names.get(seat, "human") for seat in range(len(players)))
        append(arguments.out, [dataclasses.replace(record, agents=agents)])
        print(f"Saved: {program()} replay {shlex.quote(str(arguments.out))}")
    return 0


def _own_seat(arguments: argparse.Namespace, players: Sequence[str]) -> int | None:
    """Return the person's seat, None for a spectator."""
    if arguments.watch and arguments.seat is not None:
        raise UserError("--as gives you a seat and --watch gives all seats to agents; choose one")
    if arguments.seat is None:
        return None if arguments.watch else 0
    known = [player.replace("_", " ") for player in players]
    if (wanted := arguments.seat.replace("_", " ").lower()) not in (lower := [*map(str.lower, known)]):
        raise UserError(f"--as must be one of {', '.join(known)}, got {shown(arguments.seat)}")
    return lower.index(wanted)


def _check_record_file(path: Path) -> None:
    """Complain before a game is played that could not be added to the file."""
    from cellgames.arena.records.record_lines import append, read_records

    new = not path.exists()
    if not new and (torn := read_records(path).torn):
        raise UserError(f"{torn}; remove that line first")
    append(path, [])
    if new:
        path.unlink()  # there is nothing in it until the game is over
