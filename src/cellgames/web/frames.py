"""Games and positions as JSON for a page: layouts, frames, and whole records in packed form.

Rules stay in Python: a page draws frames and asks the server for the next position.

A packed sequence holds the planes of its frames (`views.Frame.planes`), each combined with those of the frame before by
exclusive or, and the other details of the frames as a list in JSON. Both are compressed with gzip, which browsers
decompress themselves.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.envs.core import Game, State
from cellgames.utils.foreign_text import shown
from cellgames.utils.version import __version__
from cellgames.web.views.view import encoded, player_goals, player_names

from . import limits
from .limits import check as check_limits
from .views import Frame, view_of

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup import CupRecord
    from cellgames.envs.toroidal_cup.game import ToroidalCup

_LEVEL = 6  # of compression; 9 takes ten times as long and saves a tenth


def layout(game: Game) -> dict[str, Any]:
    """Return the constant data of a game for the page.

    `kind` ("torus", "stones", "cells", or "picture" where frames are drawn by the game, as `svg`), `id`, `title`,
    `credit`, `players` (names for people, by seat), `seats` (their ids), `goals` (of each), `colours` (of seats),
    `simultaneous`; `size`, or `rows` and `cols`, or `centres` of cells; `wrap`; `palette`, and `paint` that says how
    cells are drawn; `dark`: `palette`, `colours` and `ground` of a dark page, where they are other ones; `marks` (names
    of the bits of the plane of that name); `columns` (infos for a table of players) and `curves` (infos to draw over
    time); `trials`, True if `trial_data` has films.
    """
    info = game.info
    return {
        "id": game.id,
        "title": info.title,
        "credit": info.credit,
        "players": player_names(game),
        "seats": list(info.players),
        "goals": player_goals(game),
        "simultaneous": info.simultaneous,
        "trials": view_of(game).has_trials,
        **view_of(game).layout(),
    }


def frame(
    game: Game,
    state: State,
    before: State | None = None,
    viewer: int | None = None,
    action: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return the first game of a batch as JSON that a page can draw.

    `cells` and `layers` are planes of uint8 in base64. `turn`, `player` (the seat to move; None where all act at once
    or the game is over), `results` (a word a seat, "" while the game goes on), `status` (a line), `last`
    (cells that were changed by hand since `before`), `path` (Torus, Hex, Y: the path that has won), `done`, `text`
    (pairs of a label and a value), `infos` (lists by seat, None for what is hidden).

    Args:
        game: The game with its parameters.
        state: The position.
        before: An earlier one, to mark what has changed; None to mark what the state itself tells.
        viewer: Hide what this seat may not know; None for spectators, who see all.
        action: The viewer's own action in the step from `before`, if it is known, to mark it.

    Raises:
        ValueError: No such seat, or one that may not see the pictures of a game without a board.
    """
    return _frame(game, state, before, viewer, action).to_data()


def _frame(
    game: Game, state: State, before: State | None, viewer: int | None, action: Sequence[int] | None = None
) -> Frame:
    _check_viewer(game, viewer)
    now = view_of(game).frame(state[:1], None if before is None else before[:1], viewer, action)
    return replace(now, fields={**_common(game, state, bool(state.done[0])), **now.fields})


def _check_viewer(game: Game, viewer: int | None) -> None:
    if viewer is not None and not 0 <= viewer < game.info.num_players:
        raise ValueError(f"expected a seat from 0 to {game.info.num_players - 1}, got {viewer}")


def _common(game: Game, state: State, done: bool) -> dict[str, Any]:
    mover = None if done or game.info.simultaneous else int(state.current_player[0])
    return {"turn": int(state.turn[0]), "player": mover, "done": done}


def step_data(
    game: Game, before: State, after: State, viewer: int | None = None, action: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return a step as a page that plays shows it; arguments as for `frame`.

    Returns:
        `frames`, the one of `after` alone; `film`, where Life runs in the step: every generation and the end (see
        `packed`), else None.
    """
    *film, last = _step_frames(game, before, after, viewer, _most_frames(game), action)
    return {"frames": [last.to_data()], "film": packed([*film, last]) if film else None}


def trial_data(game: Game, state: State, seat: int, action: Sequence[int] | None = None) -> dict[str, Any]:
    """Return a film (see `packed`) of what would happen if nobody placed anything more; see `View.trial`.

    Raises:
        ValueError: There is nothing to try, or it cannot be placed.
    """
    _check_viewer(game, seat)
    common = {**_common(game, state, False), "player": None}
    frames = view_of(game).trial(state[:1], seat, action, _most_frames(game))
    return packed(replace(frame, fields={**common, **frame.fields}) for frame in frames)


def _most_frames(game: Game) -> int:
    """Return the most frames of a film that is sent while a game is played."""
    return min(limits.STEP_FRAMES, limits.PLANES // max(1, 2 * math.prod(game.info.board.shape)))


def _step_frames(
    game: Game, before: State, after: State, viewer: int | None, most: int, action: Sequence[int] | None = None
) -> Iterator[Frame]:
    _check_viewer(game, viewer)
    during = {**_common(game, before, False), "turn": int(after.turn[0]), "player": None}
    *shown, last = view_of(game).step(before[:1], after[:1], viewer, action, most)
    yield from (replace(frame, fields={**during, **frame.fields}) for frame in shown)
    yield replace(last, fields={**_common(game, after, bool(after.done[0])), **last.fields})


# ---------------------------------------------------------------- packed


def packed(frames: Iterable[Frame]) -> dict[str, Any]:
    """Return frames of one size: `count`, `cells` (bytes of a plane), `planes` (of a frame), `data` and `fields`."""
    before: np.ndarray[Any, np.dtype[np.uint8]] | None = None
    fields, cells = [], 0
    squeezed, parts = zlib.compressobj(_LEVEL, wbits=31), []  # a file of gzip without the time: same game, same bytes
    for frame in frames:
        planes = np.frombuffer(frame.planes(), np.uint8)
        parts.append(squeezed.compress((planes if before is None else planes ^ before).tobytes()))
        before, cells = planes, len(frame.cells)
        fields.append(frame.fields)
    size = 0 if before is None else len(before)
    told = zlib.compressobj(_LEVEL, wbits=31)
    words = told.compress(json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()) + told.flush()
    return {
        "count": len(fields),
        "cells": cells,
        "planes": size // cells if cells else 0,
        "data": encoded(b"".join(parts) + squeezed.flush()),
        "fields": encoded(words),
    }


def replay_data(record: Record | CupRecord) -> dict[str, Any]:
    """Play a record, of a match or of the Cup's own season, again with checks; return it as the viewer needs it.

    Args:
        record: A record of `arena.records`, or of `arena.season.cup`.

    Returns:
        `layout`; `record` (agents, parameters, seed, result, moves, `movers`: the seat of each, None where all act;
        `words`: each move as people read it, by seat where all act;
        `seconds` of each in a game with clocks);
        `frames` (see `packed`) with `marks`, how many moves have been played in each of them.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: A record of an unknown game, or too large (see `limits`).
    """
    from cellgames.arena.season.cup import CupRecord

    return _season_data(record) if isinstance(record, CupRecord) else _match_data(record)


def board_data(record: Record | CupRecord) -> dict[str, Any]:
    """Return `layout` and `frame` of the last position of a record, which of a Cup's game is not verified."""
    from cellgames.arena.records.replays import replay
    from cellgames.arena.season.cup import CupRecord

    game: Game
    if isinstance(record, CupRecord):
        game, moments = _season(record, 1)
        *_, last = moments
        shown = last.to_data()
    else:
        game, states = _checked_game(record), replay(record)
        shown = frame(game, states[-1], states[-2] if len(states) > 1 else None)
    return {"layout": {**layout(game), "roster": None}, "frame": shown}


def _checked_game(record: Record) -> Game:
    """Return the game of a record that can be shown; raise a `ValueError` for others."""
    from cellgames.arena.records.replays import game_of
    from cellgames.envs.registry import REGISTRY

    if record.game not in REGISTRY:  # an id may name a module, and records come from strangers
        raise ValueError(f"expected a record of one of {', '.join(REGISTRY)}, got {shown(record.game)}")
    game = game_of(record)
    check_limits(game, record.moves)
    if len(record.agents) != game.info.num_players:
        raise ValueError(f"expected {game.info.num_players} agents, one a seat, got {len(record.agents)}")
    return game


def _match_data(record: Record) -> dict[str, Any]:
    from cellgames.agents.play_loop import move_in_words
    from cellgames.arena.records.checksums import plain
    from cellgames.arena.records.replays import replay

    game, states = _checked_game(record), replay(record)
    marks: list[int] = []
    pictures = packed(_pictures(game, states, marks))
    movers = [None if game.info.simultaneous else int(state.current_player[0]) for state in states[:-1]]
    record_data = {
        "agents": list(record.agents),
        "parameters": game.parameters,
        "seed": str(record.seed),  # scripts in pages count in doubles
        "version": record.version,
        "opening": record.opening,
        "moves": list(record.moves),
        "movers": movers,
        "words": [move_in_words(game, state, move) for state, move in zip(states, record.moves, strict=False)],
        "result": plain(record.to_data()["result"]),
        **({"seconds": _seconds(record, movers)} if record.seconds else {}),
    }
    return {"layout": layout(game), "record": record_data, "frames": pictures, "marks": marks}


def _seconds(record: Record, movers: Sequence[int | None]) -> list[list[float]]:
    """Return by move the seconds that it took: one number, or one a seat where all act; none where it is not known."""
    clocks = [iter(seconds) for seconds in record.seconds]
    found: list[list[float]] = []
    for number, mover in enumerate(movers):
        seats = clocks if mover is None else clocks[mover : mover + 1]
        times = [] if number < record.opening else [next(seat, None) for seat in seats]
        found.append([time for time in times if time is not None] if None not in times else [])
    return found


def _pictures(game: Game, states: Sequence[State], marks: list[int]) -> Iterator[Frame]:
    """Yield all frames of a game; `marks` gets for each the number of moves played."""
    view = view_of(game)
    more = view.extra(states)
    animated = sum(view.animated(*step) for step in pairwise(states))
    first = _frame(game, states[0], None, None)
    spare = max(0, limits.PLANES // max(1, len(first.planes())) - len(states))
    most = min(limits.STEP_FRAMES, limits.PICTURES // max(1, animated), spare // max(1, animated))
    drawn = 0
    marks.append(0)
    yield _with(first, more, 0)
    for turn, (before, after) in enumerate(pairwise(states), 1):
        for frame in _step_frames(game, before, after, None, most):
            drawn += len(frame.fields.get("svg", ""))
            if drawn > limits.PLANES:
                raise ValueError(f"expected pictures of at most {limits.PLANES:,} bytes, got more by turn {turn}")
            marks.append(turn)
            yield _with(frame, more, turn)


def _with(shown: Frame, more: Any, turn: int) -> Frame:
    """Return the frame with the infos that `View.extra` has of the position after a turn."""
    if not more:
        return shown
    infos = {**shown.fields.get("infos", {}), **{name: list(values[turn]) for name, values in more.items()}}
    return replace(shown, fields={**shown.fields, "infos": infos})


def _season(record: CupRecord, most: int) -> tuple[ToroidalCup, Iterator[Frame]]:
    """Return a game of the Cup's season, and its frames: Life from an arrangement that nobody placed shape by shape."""
    from cellgames.arena.season.cup import game_of, start_of
    from cellgames.envs.toroidal_cup.simulator import boards

    from .views import toroidal_cup_view as toroidal_cup

    game = game_of(record)
    check_limits(game)
    moments = toroidal_cup.life(game, boards([start_of(vars(record))]), record.generations, most, record.pattern)
    common: dict[str, Any] = {"turn": 0, "player": None}
    return game, (replace(one, fields={**common, "done": not one.fields["life"], **one.fields}) for one in moments)


def _season_data(record: CupRecord) -> dict[str, Any]:
    from cellgames.arena.season.cup import verify

    from .views import toroidal_cup_view as toroidal_cup

    game, frames = _season(record, limits.STEP_FRAMES)
    for _, error in verify([record]):
        raise error
    moments = [*frames]
    record_data = {
        "agents": list(record.fixture.teams),
        "parameters": {"pattern": record.pattern, "survivors": record.survivors},
        "seed": str(record.seed),
        "version": __version__,
        "opening": 0,
        "moves": [],
        "movers": [],
        "words": [],
        "result": {
            "outcome": list(record.outcome),
            "scores": list(record.scores),
            "turns": 0,
            "truncated": record.truncated,
        },
    }
    rosters = toroidal_cup.roster_data(record.fixture.teams, game.rows, game.cols)
    title = f"Toroidal Cup, {record.fixture.occasion}"
    shown = {**layout(game), "title": title, "roster": rosters}
    return {"layout": shown, "record": record_data, "frames": packed(moments), "marks": [0] * len(moments)}
