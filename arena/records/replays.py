"""Records played again: every move and the result are checked; a game can be saved as an animation.

Letters: `B` games, `P` players, `K` components of an action.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, zip_longest

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.agents.play_loop import parse_move, parse_moves
from cellgames.envs.core import DRAW, LOSS, WIN, Game, IllegalActionError, State
from cellgames.envs.core.drawing import Picture
from cellgames.envs.core.raster import to_rgb
from cellgames.envs.core.state import S
from cellgames.envs.registry import make
from cellgames.utils.animations import save_animation
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike
from cellgames.utils.foreign_text import clipped, shown
from cellgames.utils.progress import progress as show_progress

from .record_lines import Forfeit, Outcome, Record, Result

_MOST_CELLS = 1 << 25  # of all boards of a batch

_OUTCOMES: dict[int, Outcome] = {WIN: "win", DRAW: "draw", LOSS: "loss"}


class ReplayError(ValueError):
    """A record does not reproduce; the message says where and how it differs."""


def result(game: Game, state: State, env_id: int = 0, forfeit: Forfeit | None = None) -> Result:
    """Return the result of one env's game, which is finished or, with a forfeit, stopped before its end."""
    return results(game, state[env_id], [forfeit])[0]


def results(game: Game, state: State, forfeits: Sequence[Forfeit | None]) -> list[Result]:
    """Return the results of all games of a batch; those with a forfeit stopped before their end."""
    columns = (x.tolist() for x in (game.outcome(state), state.scores, state.turn, state.truncated))
    found = []
    for forfeit, outcome, scores, turn, truncated in zip(forfeits, *columns, strict=True):
        ended = tuple(_OUTCOMES[value] for value in outcome) if forfeit is None else forfeit.outcome(len(outcome))
        found.append(Result(ended, tuple(map(float, scores)), turn, truncated and forfeit is None, forfeit))
    return found


def result_differs(recorded: Mapping[str, object], replayed: Mapping[str, object]) -> str:
    """Return a sentence on how a result differs from its record, by the names in `recorded`; "" if it does not."""

    def told(value: object) -> str:
        return clipped("/".join(map(str, value)) if isinstance(value, tuple) else str(value))

    differ = [
        f"{clipped(name)} recorded {told(value)}, replayed {told(replayed[name])}"
        for name, value in recorded.items()
        if value != replayed[name]
    ]
    return f"the result differs: {'; '.join(differ)}" if differ else ""


def game_of(record: Record) -> Game:
    """Return the game with the record's parameters.

    Raises:
        ReplayError: No such game or parameter.
    """
    try:
        return make(record.game, **record.parameters)
    except ValueError as error:
        raise ReplayError(str(error)) from None


def start(game: Game[S], seed: int, position: str = "") -> S:
    """Return a batch of one: a new game, or the game from a position.

    Raises:
        ValueError: The seed is out of range, or the game cannot read the position.
    """
    if not _is_seed(seed):
        raise InputError("seed", "a seed from -2^63 to 2^63 - 1", seed)
    return game.string_to_state(position, seed) if position else game.init(torch.tensor([seed], device="cpu"))


def _is_seed(seed: int) -> bool:
    return -(1 << 63) <= seed < 1 << 63


def replay(record: Record) -> list[State]:
    """Play a record again by checked steps; return all its states, batches of one, the first before any move.

    Raises:
        ReplayError: Unknown game, a move that is illegal or missing or comes after the end, another result.
    """
    states: list[State] = []
    message = _execute(game_of(record), [record], states.append)[0]
    if message:
        raise ReplayError(message)
    return states


def verify(
    records: Sequence[Record],
    batch: int = 512,
    *,
    known: Game | None = None,
    finished: Callable[[int], None] = lambda games: None,
) -> Iterator[tuple[int, ReplayError]]:
    """Play all records again, `batch` at a time or fewer on large boards; yield number (from 0) and error of failures.

    Each is played as by `replay`; games with the same rules are stepped at the same time.

    Args:
        records: To play again.
        batch: Most games at a time.
        known: The game with its parameters, if all records are of it; it need not be registered.
        finished: Called with the number of games just played.
    """
    groups: dict[str, list[int]] = {}
    for number, record in enumerate(records):
        key = json.dumps([record.game, record.parameters], sort_keys=True)
        groups.setdefault(key, []).append(number)
    for group in groups.values():
        try:
            game = game_of(records[group[0]]) if known is None else known
        except ReplayError as error:
            yield from ((number, error) for number in group)
            continue
        numbers, width = iter(group), max(1, min(batch, _MOST_CELLS // math.prod(game.info.board.shape)))
        while part := list(islice(numbers, width)):
            messages = _execute(game, [records[number] for number in part])
            for number, message in zip(part, messages, strict=True):
                if message:
                    yield number, ReplayError(message)
            finished(len(part))


def animate(
    record: Record,
    path: PathLike,
    *,
    scale: float = 1.0,
    frame_ms: int = 300,
    last_ms: int = 3000,
    progress: bool = False,
) -> None:
    """Save the game as a GIF or an MP4, one frame a position; the last one stays longer.

    A step may have several frames (`Game.frames`), as when Life runs; `save_film` says how long they show.
    With `progress`, what takes more than two seconds shows its progress on standard error.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: Another suffix than .gif and .mp4.
        ImportError: Pillow, or for a video imageio-ffmpeg, is not installed.
    """
    game, states = game_of(record), replay(record)
    steps = [[game.draw(states[0])]]
    with show_progress(len(states) - 1, label="play again", unit="moves", shown=progress, after_s=2.0) as advance:
        for step in pairwise(states):
            steps.append(list(game.frames(*step)))
            advance(1)
    save_film(steps, path, scale=scale, frame_ms=frame_ms, last_ms=last_ms, progress=progress)


@dataclass(frozen=True)
class Step:
    """One turn of some games.

    Attributes:
        turn: Number of turns played before.
        rows: Indices of the games in the rows that `stepped` got.
        before: States before the turn.
        actions: Actions as `Game.step` takes them.
        after: States after the turn.
    """

    turn: int
    rows: list[int]
    before: State
    actions: Tensor
    after: State


def stepped(
    game: Game, records: Sequence[Record], rows: Sequence[tuple[int, int]] | None = None, batch: int = 64
) -> Iterator[Step]:
    """Play records again, `batch` games at a time, turn by turn; results are not compared.

    Args:
        game: The game with its parameters.
        records: Games with these rules.
        rows: The number of a record, from 0, and how many of its moves to play; None plays all records to their ends.
        batch: Games at a time.

    Raises:
        ReplayError: A record does not play: its position, a move, or the number of its moves is wrong.
    """
    rows = [(number, len(record.moves)) for number, record in enumerate(records)] if rows is None else rows
    for first in range(0, len(rows), batch):
        part = list(range(first, min(first + batch, len(rows))))
        states, moves = [], {}
        for row in part:
            number, count = rows[row]
            record = records[number]
            try:
                states.append(start(game, record.seed, record.position))
                moves[row] = [parse_move(game, move) for move in record.moves[:count]]
            except ValueError as error:
                raise ReplayError(f"game {number + 1}: {error}") from None
        going, turn = [row for row in part if moves[row]], 0
        state = type(states[0]).cat(states)[[row - first for row in going]]
        while going:
            chosen = torch.stack([moves[row][turn] for row in going])
            try:
                after = game.step(state, chosen)
            except IllegalActionError as error:
                where = f"game {rows[going[error.env_id]][0] + 1}, move {turn + 1}"
                raise ReplayError(f"{where}: {error.brief}") from None
            yield Step(turn, going, state, chosen, after)
            turn += 1
            for row, done in zip(going, after.done.tolist(), strict=True):
                number = rows[row][0]
                if done != (len(records[number].moves) == turn):
                    many = "moves follow the end" if done else "too few moves: the game goes on"
                    raise ReplayError(f"game {number + 1}, after move {turn}: {many}")
            left = [place for place, row in enumerate(going) if len(moves[row]) > turn]
            state, going = after[left], [going[place] for place in left]


# ---------------------------------------------------------------- execution


def _execute(game: Game, records: Sequence[Record], on_state: Callable[[State], None] | None = None) -> list[str]:
    """Play records of one game; return for each what is wrong with it, "" for nothing.

    `on_state` sees the batch before each turn, and at the end. An env leaves the batch when its game is over
    or has failed.
    """
    messages = [""] * len(records)
    actions: list[Tensor] = []
    starts: list[int] = []  # by record: the row of its first action among those of all records
    env_ids: list[int] = []  # the record of each env of the batch
    known: dict[str, int] = {}
    for number, record in enumerate(records):
        starts.append(starts[-1] + len(actions[-1]) if starts else 0)
        try:
            actions.append(_actions(game, record, known))
            env_ids.append(number)
        except ReplayError as error:
            actions.append(torch.empty((0, *game.info.action_shape), dtype=torch.int64, device="cpu"))
            messages[number] = str(error)
    state, env_ids = _first(game, records, env_ids, messages)
    if not env_ids:
        return messages
    moves, turn = torch.cat(actions), 0
    while True:
        if on_state is not None:
            on_state(state)
        going = []
        for env_id, done in enumerate(state.done.tolist()):
            record = records[env_ids[env_id]]
            count = len(record.moves)
            if done:
                messages[env_ids[env_id]] = _after(game, state, env_id, record, turn)
            elif turn == count and record.result.forfeit is not None:
                messages[env_ids[env_id]] = _forfeited(game, state, env_id, record, record.result.forfeit)
            elif turn == count:
                messages[env_ids[env_id]] = f"too few moves: after the last one, move {count}, the game goes on"
            else:
                going.append(env_id)
        state, env_ids = _keep(state, env_ids, going)
        if not env_ids:
            return messages
        chosen = moves[[starts[number] + turn for number in env_ids]]
        try:
            state = game.step(state, chosen)
        except IllegalActionError:
            going = []
            for env_id, number in enumerate(env_ids):
                try:
                    game.check(state[env_id], chosen[env_id : env_id + 1])
                    going.append(env_id)
                except IllegalActionError as error:
                    messages[number] = f"move {turn + 1}, {shown(records[number].moves[turn])}: {error.brief}"
            state, env_ids = _keep(state, env_ids, going)
            if not env_ids:
                return messages
            state = game.step(state, chosen[going])
        turn += 1


def _keep(state: State, env_ids: list[int], going: list[int]) -> tuple[State, list[int]]:
    """Return the envs in `going` only."""
    if len(going) == len(env_ids):
        return state, env_ids
    return state[going], [env_ids[env_id] for env_id in going]


def _after(game: Game, state: State, env_id: int, record: Record, turn: int) -> str:
    """Return the fault of a record whose game is over after `turn` moves, "" for none."""
    if more := len(record.moves) - turn:
        word = "move follows" if more == 1 else "moves follow"
        return f"moves after the end: the game is over after move {turn}, but {more} {word}"
    if record.result.forfeit is not None:
        return f"forfeited by seat {record.result.forfeit.seat + 1}, but the game is over after its last move"
    common = list(_common("summary", record.summary, game.summary(state[env_id])))
    recorded = vars(record.result) | {name: was for name, was, _ in common}
    return result_differs(recorded, vars(result(game, state, env_id)) | {name: now for name, _, now in common})


def _forfeited(game: Game, state: State, env_id: int, record: Record, forfeit: Forfeit) -> str:
    """Return the fault of the record of a forfeited game after all of its moves, "" for none."""
    players, seats = game.info.num_players, forfeit.seats
    if list(seats) != sorted(set(seats)) or not all(seat < players for seat in seats):
        return f"forfeit: expected different seats from 0 to {players - 1}, ascending, got {list(seats)}"
    # Agents fail on the move, or all at once, or when a game begins.
    if not game.info.simultaneous and record.moves and seats != (mover := int(state.current_player[env_id]),):
        return f"forfeit: expected seat {mover}, whose turn it is after move {len(record.moves)}, got {list(seats)}"
    return result_differs(vars(record.result), vars(result(game, state, env_id, forfeit)))


def _common(name: str, recorded: object, replayed: object) -> Iterator[tuple[str, object, object]]:
    """Yield name, recorded and replayed value of common parts of two summaries; of lists only the first difference."""
    if isinstance(recorded, Mapping) and isinstance(replayed, Mapping):
        for key in recorded:
            if key in replayed:
                yield from _common(f"{name}.{key}", recorded[key], replayed[key])
    elif isinstance(recorded, list) and isinstance(replayed, list):
        pairs = enumerate(zip_longest(recorded, replayed))
        yield from islice(((f"{name}[{place}]", was, now) for place, (was, now) in pairs if was != now), 1)
    else:
        yield name, recorded, replayed


def _actions(game: Game, record: Record, known: dict[str, int]) -> Tensor:
    """Return the actions, one row a move; `known` as for `parse_moves`."""
    try:
        return parse_moves(game, record.moves, known)
    except ValueError:
        for number, move in enumerate(record.moves, 1):
            try:
                parse_move(game, move)
            except ValueError as error:
                raise ReplayError(f"move {number}, {shown(move)}: {error}") from None
        raise


def _first(game: Game[S], records: Sequence[Record], env_ids: list[int], messages: list[str]) -> tuple[S, list[int]]:
    """Return the first states of some records, and which of them there are; `messages` get the errors of others."""
    if not any(records[number].position or not _is_seed(records[number].seed) for number in env_ids):
        return game.init(
            torch.tensor([records[number].seed for number in env_ids], dtype=torch.int64, device="cpu")
        ), env_ids
    states: list[S] = []
    there = []
    for number in env_ids:
        try:
            states.append(start(game, records[number].seed, records[number].position))
            there.append(number)
        except ValueError as error:
            messages[number] = f"the starting position: {error}"
    return (
        type(states[0]).cat(states) if states else game.init(torch.empty(0, dtype=torch.int64, device="cpu"))
    ), there


_FRAME_SPEED = 5  # pictures within a step in the time of one position


def save_film(
    steps: Sequence[Sequence[Picture]],
    path: PathLike,
    *,
    scale: float = 1.0,
    frame_ms: int,
    last_ms: int,
    progress: bool = False,
) -> None:
    """Save pictures as an animation; where a step has several of them, they take a fifth of a frame's time each.

    The file's suffix says which kind, `scale` is in pixels a unit of the pictures, and times are in milliseconds.

    Raises:
        ValueError: Another suffix than .gif and .mp4.
        ImportError: Pillow, or for a video imageio-ffmpeg, is not installed.
    """
    hold = _FRAME_SPEED if any(len(pictures) > 1 for pictures in steps) else 1

    def frames() -> Iterator[npt.NDArray[np.uint8]]:
        for pictures in steps:
            for picture in pictures:
                yield from [to_rgb(picture, scale)] * (hold if len(pictures) == 1 else 1)

    total = sum(hold if len(pictures) == 1 else len(pictures) for pictures in steps) if progress else 0
    save_animation(frames(), path, frame_ms=max(10, frame_ms // hold), last_ms=last_ms, total=total)
