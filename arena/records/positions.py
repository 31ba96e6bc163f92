"""Positions out of move lists and recorded games, each a batch of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from cellgames.agents.play_loop import parse_move
from cellgames.envs.core import Game, State
from cellgames.envs.core.errors import brief
from cellgames.envs.core.state import S
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike

from .checksums import RecordError
from .record_lines import Outcome, Record, read_records
from .replays import replay, result, start

_ENDS: dict[Outcome, str] = {"win": "has won", "draw": "has drawn", "loss": "has lost"}


def after_moves(game: Game[S], moves: Sequence[str], *, position: str = "", seed: int = 0) -> S:
    """Return the state after moves from a position; "" is the game's usual start.

    Raises:
        ValueError: A bad position; a move that is illegal or comes after the end, with its number from 1.
    """
    (state,) = deque(states_of_moves(game, moves, position=position, seed=seed), 1)
    return state


def states_of_moves(game: Game[S], moves: Sequence[str], *, position: str = "", seed: int = 0) -> Iterator[S]:
    """Yield the states before and after each of the moves; arguments and errors are those of `after_moves`."""
    state = start(game, seed, position)
    yield state
    for number, move in enumerate(moves, 1):
        if bool(state.done):
            raise ValueError(f"move {number}, {shown(move)}: the game is over after move {number - 1}")
        try:
            state = game.step(state, parse_move(game, move)[None])
        except ValueError as error:
            raise ValueError(f"move {number}, {shown(move)}: {brief(error)}") from None
        yield state


def pick(path: PathLike, number: int | None = None) -> Record:
    """Return one record of a file by its number, from 1; a file of one record needs no number.

    Raises:
        RecordError: No records, no such number, or none given among many; what `read_records` raises.
        OSError: The file cannot be read.
    """
    records = read_records(path).records
    if not records:
        raise RecordError(path, "records", "none")
    if number is None and len(records) > 1:
        raise RecordError(path, "one game", len(records), "choose one by its number from 1")
    if number is not None and not 1 <= number <= len(records):
        raise RecordError("number", f"1 to {len(records)}", number, where=path)
    return records[(number or 1) - 1]


def at_ply(record: Record, ply: int | None = None) -> State:
    """Return the state of a recorded game after `ply` moves; None stands for the one before the last move.

    Raises:
        ValueError: The game has fewer moves than `ply`.
        ReplayError: The record does not reproduce.
    """
    states, most = replay(record), len(record.moves)
    if ply is not None and not 0 <= ply <= most:
        raise InputError("ply", f"a ply from 0 to {most - 1}", ply, f"the game is over after {most} moves")
    return states[most - 1 if ply is None else ply]


def check_unfinished(game: Game, state: State) -> None:
    """Raise a `ValueError` that says how the game ended if the state, a batch of one, is a finished game."""
    if bool(state.done):
        ended = result(game, state)
        said = ", ".join(f"{name} {_ENDS[end]}" for name, end in zip(game.info.players, ended.outcome, strict=True))
        raise ValueError(f"the game is over in this position: {said}, turn {ended.turns}; give an earlier one")
