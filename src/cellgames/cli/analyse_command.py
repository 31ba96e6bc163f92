"""What `cellgames analyse` does with a position; games are looked at by `strategy_command`.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from cellgames.envs import registry

from .analyse_games import analyse_strategy
from .analyse_options import add_options, wanted
from .commands import UserError, make_game, parameters

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.envs.core import Game, State

__all__ = ["add_analysis", "analyse"]

_TOP = 8


def add_analysis(command: argparse.ArgumentParser) -> None:
    """Options that say which position, who searches it, and how it is shown; and those of an analysis of games."""
    command.add_argument(
        "--agent",
        metavar="SPEC",
        help="who searches (default gumbel:256 if there are weights for the game, else mcts:1000)",
    )
    command.add_argument("--moves", metavar="TEXT", default="", help='played first, such as "c3 a1+ b2"')
    command.add_argument("--position", metavar="TEXT", default="", help="where to start, as `position` prints it")
    command.add_argument("--record", metavar="FILE", type=Path, help="take the position from a file of records")
    command.add_argument("--game-number", metavar="N", type=int, help="of the file's line, from 1, if it has several")
    command.add_argument("--ply", metavar="N", type=int, help="after so many moves (default before the last one)")
    command.add_argument("--top", metavar="N", type=int, help=f"show so many moves (default {_TOP})")
    command.add_argument(
        "--out", metavar="PATH", type=Path, help="draw the position (.svg, .png, .html), or the folder for a report"
    )
    command.add_argument("--json", action="store_true", help="as JSON, for programs")
    add_options(command)


def analyse(arguments: argparse.Namespace) -> int:
    """What a search says of a position, or how games were played."""
    if wanted(arguments):
        return analyse_strategy(arguments)
    return _analyse_position(arguments)


def _analyse_position(arguments: argparse.Namespace) -> int:
    from cellgames.agents.loading import load
    from cellgames.arena.insight import search_analysis as analysis
    from cellgames.arena.records import positions

    _check(arguments)
    game, state = _from_record(arguments) if arguments.record is not None else _from_moves(arguments)
    positions.check_unfinished(game, state)
    agent = analysis.default_agent(game) if arguments.agent is None else load(arguments.agent, game)
    found = analysis.analyse(game, state, agent, arguments.seed)
    if arguments.json:
        print(json.dumps(analysis.to_data(found), indent=2))
    else:
        print(f"{game.text(state)}\n\n{analysis.summary(found)}\n")
        print(analysis.table(found, arguments.top))
        print(f"\nLine: {analysis.line_text(found)}")
    if arguments.out is not None:
        _save(arguments, analysis.content(game, state, found, arguments.out.suffix, arguments.top))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Complain before anything is searched."""
    from cellgames.arena.insight.search_analysis import check_suffix

    if arguments.top is None:
        arguments.top = _TOP
    if arguments.top < 1:
        raise UserError(f"--top must be at least 1, got {arguments.top}")
    if arguments.record is None:
        if arguments.game is None:
            raise UserError("GAME is needed, unless --record names a file with games")
        if arguments.game_number is not None or arguments.ply is not None:
            raise UserError("--game-number and --ply choose a position of --record FILE, which is not given")
    elif arguments.moves or arguments.position:
        raise UserError("--record already says where the position comes from; leave out --moves and --position")
    if arguments.out is not None:
        check_suffix(arguments.out)
        if not arguments.out.parent.is_dir():
            raise UserError(f"--out {arguments.out}: there is no folder {arguments.out.parent}")


def _from_moves(arguments: argparse.Namespace) -> tuple[Game, State]:
    from cellgames.arena.records.positions import after_moves

    game = make_game(arguments)
    moves = arguments.moves.replace(",", " ").split()
    return game, after_moves(game, moves, position=arguments.position, seed=arguments.seed)


def _from_record(arguments: argparse.Namespace) -> tuple[Game, State]:
    from cellgames.arena.records import positions, replays

    record = positions.pick(arguments.record, arguments.game_number)
    _check_game(arguments, record)
    return replays.game_of(record), positions.at_ply(record, arguments.ply)


def _check_game(arguments: argparse.Namespace, record: Record) -> None:
    """Raise a `UserError` if the command line names another game than the record's, or other parameters."""
    if arguments.game is not None and registry.make(arguments.game).id != record.game:
        raise UserError(f"{arguments.record} holds a game of {record.game}, not of {arguments.game}")
    for name, value in parameters(arguments).items():
        if record.parameters.get(name) != value:
            recorded = record.parameters.get(name, "no such parameter")
            raise UserError(f"{arguments.record} holds a game with {name}={recorded}, not {name}={value}")


def _save(arguments: argparse.Namespace, content: str | bytes) -> None:
    from cellgames.utils.run_folders import write_atomic

    out: Path = arguments.out
    write_atomic(out, content)
    if not arguments.json:
        print(f"Saved {out}")
