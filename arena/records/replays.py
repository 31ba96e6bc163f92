"""Records played again with checks of every move and the result, their positions, and games saved as animations.

Letters: `B` games, `P` players, `K` components of an action.
"""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise, repeat, zip_longest

import torch
from torch import Tensor

from cellgames.agents.play_loop import parse_move, parse_moves
from cellgames.envs.core import DRAW, LOSS, WIN, Game, IllegalActionError, State
from cellgames.envs.core.drawing import Picture
from cellgames.envs.core.inputs import brief
from cellgames.envs.core.raster import to_rgb
from cellgames.envs.core.state import S
from cellgames.envs.registry import make
from cellgames.utils.animations import save_animation
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.files import PathLike
from cellgames.utils.progress import progress as show_progress

from .record_lines import LOSSES, Forfeit, Outcome, Record, RecordError, Result, read_records

_MOST_CELLS = 1 << 25  # of all boards of a batch

_SEEDS = range(-(1 << 63), 1 << 63)

_OUTCOMES: dict[int, Outcome] = {WIN: "win", DRAW: "draw", LOSS: "loss"}


class ReplayError(InputError):
    """A record does not reproduce; `parameter` is the place, `cause` says how it differs."""


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
        raise ReplayError(cause=str(error)) from None


def start(game: Game[S], seed: int, position: str = "") -> S:
    """Return a batch of one: a new game, or the game from a position.

    Raises:
        ValueError: The seed is out of range, or the game cannot read the position.
    """
    if seed not in _SEEDS:
        raise InputError("seed", "a seed from -2^63 to 2^63 - 1", seed)
    return game.string_to_state(position, seed) if position else game.init(torch.tensor([seed], device="cpu"))


def replay(record: Record) -> list[State]:
    """Play a record again by checked steps; return all its states, batches of one, the first before any move.

    Raises:
        ReplayError: Unknown game, a move that is illegal or missing or comes after the end, another result.
    """
    game, messages = game_of(record), [""]
    states = [step.after for step in _executed(game, [record], messages)]
    if messages[0]:
        raise ReplayError(cause=messages[0])
    return [start(game, record.seed, record.position), *states]


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
            messages = [""] * len(part)
            for _ in _executed(game, [records[number] for number in part], messages):
                pass
            for number, message in zip(part, messages, strict=True):
                if message:
                    yield number, ReplayError(cause=message)
            finished(len(part))


def animate(record: Record, path: PathLike, *, progress: bool = False) -> None:
    """Save the game as a GIF or an MP4, one frame a position for 0.3 seconds; the last one stays longer.

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
    save_film(steps, path, frame_ms=300, progress=progress)


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
        part = rows[first : first + batch]
        messages = [""] * len(part)
        for step in _executed(game, [records[number] for number, _ in part], messages, [count for _, count in part]):
            yield replace(step, rows=[first + row for row in step.rows])
        for (number, _), message in zip(part, messages, strict=True):
            if message:
                raise ReplayError(f"game {number + 1}", cause=message)


# ---------------------------------------------------------------- execution


def _executed(
    game: Game, records: Sequence[Record], messages: list[str], counts: Sequence[int] | None = None
) -> Iterator[Step]:
    """Play records of one game; `messages` get the fault of each.

    With `counts`, this number of moves of each is played, and results are not compared. An env leaves the batch when
    its game is over or has failed, or when its moves are played.
    """
    judged, counts = counts is None, counts or [len(record.moves) for record in records]
    actions, known = list[Tensor](), dict[str, list[int]]()
    for number, record in enumerate(records):
        try:
            actions.append(_actions(game, record.moves[: counts[number]], known))
        except ReplayError as error:
            actions.append(torch.empty((0, *game.info.action_shape), dtype=torch.int64, device="cpu"))
            messages[number] = str(error)
    state, env_ids = _first(game, records, messages)  # `env_ids`: the record of each env of the batch
    moves, firsts, turn = torch.cat(actions), [0, *accumulate(map(len, actions))], 0
    while env_ids:
        going = []
        for env_id, (number, done) in enumerate(zip(env_ids, state.done.tolist(), strict=True)):
            if messages[number]:
                continue
            if not done and turn < counts[number]:
                going.append(env_id)
            else:
                messages[number] = _fault(game, state, env_id, records[number], turn, judged)
        if len(going) < len(env_ids):
            state, env_ids = state[going], [env_ids[env_id] for env_id in going]
        if not env_ids:
            return
        chosen = moves[[firsts[number] + turn for number in env_ids]]
        try:
            after = game.step(state, chosen)
        except IllegalActionError:
            for env_id, number in enumerate(env_ids):
                try:
                    game.check(state[env_id], chosen[env_id : env_id + 1])
                except IllegalActionError as error:
                    messages[number] = f"move {turn + 1}, {shown(records[number].moves[turn])}: {error.brief}"
            if not any(messages[number] for number in env_ids):
                raise
            continue
        yield Step(turn, env_ids, state, chosen, after)
        state, turn = after, turn + 1


def _fault(game: Game, state: State, env_id: int, record: Record, turn: int, judged: bool) -> str:
    """Return the fault of a record after `turn` moves, when its game is over or no more are played, "" for none."""
    done, more, forfeit = bool(state.done[env_id]), len(record.moves) - turn, record.result.forfeit
    if done and more:
        word = "move follows" if more == 1 else "moves follow"
        return f"moves after the end: the game is over after move {turn}, but {more} {word}"
    if done and forfeit is not None:
        return f"forfeited by seat {forfeit.seat + 1}, but the game is over after its last move"
    if more or (done and not judged):
        return ""
    if done:
        common = list(_common("summary", record.summary, game.summary(state[env_id])))
        recorded = vars(record.result) | {name: was for name, was, _ in common}
        return result_differs(recorded, vars(result(game, state, env_id)) | {name: now for name, _, now in common})
    if forfeit is None:
        return f"too few moves: after the last one, move {turn}, the game goes on"
    players, seats = game.info.num_players, forfeit.seats
    if list(seats) != sorted(set(seats)) or not all(seat < players for seat in seats):
        return f"forfeit: expected different seats from 0 to {players - 1}, ascending, got {list(seats)}"
    # Agents fail on the move, or all at once, or when a game begins; people resign at any time.
    free = game.info.simultaneous or not turn or forfeit.kind in LOSSES
    if not free and seats != (mover := int(state.current_player[env_id]),):
        return f"forfeit: expected seat {mover}, whose turn it is after move {turn}, got {list(seats)}"
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


def _actions(game: Game, moves: Sequence[str], known: dict[str, list[int]]) -> Tensor:
    """Return the actions, one row a move; `known` as for `parse_moves`."""
    try:
        return parse_moves(game, moves, known)
    except ValueError:
        for number, move in enumerate(moves, 1):
            try:
                parse_move(game, move)
            except ValueError as error:
                raise ReplayError(f"move {number}, {shown(move)}", cause=str(error)) from None
        raise


def _first(game: Game[S], records: Sequence[Record], messages: list[str]) -> tuple[S, list[int]]:
    """Return the first states of the records without a message, and their numbers; others get one if they have none."""
    env_ids = [number for number, message in enumerate(messages) if not message]
    if all(not records[number].position and records[number].seed in _SEEDS for number in env_ids):
        seeds = [records[number].seed for number in env_ids]
        return game.init(torch.tensor(seeds, dtype=torch.int64, device="cpu")), env_ids
    states = dict[int, S]()
    for number in env_ids:
        try:
            states[number] = start(game, records[number].seed, records[number].position)
        except ValueError as error:
            messages[number] = f"the starting position: {error}"
    return (State.cat([*states.values()]) if states else start(game, 0)), [*states]


_FRAME_SPEED = 5  # pictures within a step in the time of one position
_LAST_MS = 3000


def save_film(steps: Sequence[Sequence[Picture]], path: PathLike, *, frame_ms: int, progress: bool = False) -> None:
    """Save pictures as an animation; where a step has several of them, they take a fifth of a frame's time each.

    The file's suffix says which kind, and `frame_ms` is in milliseconds. The last picture stays for three seconds.

    Raises:
        ValueError: Another suffix than .gif and .mp4.
        ImportError: Pillow, or for a video imageio-ffmpeg, is not installed.
    """
    hold = _FRAME_SPEED if any(len(pictures) > 1 for pictures in steps) else 1
    shown = [(picture, hold if len(pictures) == 1 else 1) for pictures in steps for picture in pictures]
    frames = (frame for picture, times in shown for frame in repeat(to_rgb(picture), times))
    total = sum(times for _, times in shown) if progress else 0
    save_animation(frames, path, frame_ms=max(10, frame_ms // hold), last_ms=_LAST_MS, total=total)


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
            raise InputError(f"move {number}, {shown(move)}", cause=f"the game is over after move {number - 1}")
        try:
            state = game.step(state, parse_move(game, move)[None])
        except ValueError as error:
            raise InputError(f"move {number}, {shown(move)}", cause=brief(error)) from None
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


def check_unfinished(game: Game, state: State) -> None:
    """Raise a `ValueError` that says how the game ended if the state, a batch of one, is a finished game."""
    if bool(state.done):
        ended = result(game, state)
        said = ", ".join(f"{name} {_ENDS[end]}" for name, end in zip(game.info.players, ended.outcome, strict=True))
        raise InputError("position", "one where the game goes on", f"{said}, turn {ended.turns}")
