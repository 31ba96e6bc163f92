"""Games and positions as JSON for a page: layouts, frames, and whole records in packed form.

Rules stay in Python: a page draws frames and asks the server for the next position.

A packed sequence holds the planes of its frames (`views.Frame.planes`), each combined with those of the frame before by
exclusive or, and the other details of the frames as a list in JSON. Both are compressed with gzip, which browsers
decompress themselves.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import Any

import numpy as np

from cellgames.agents.play_loop import move_in_words
from cellgames.arena.records.record_lines import Record, plain
from cellgames.arena.records.replays import game_of, replay
from cellgames.arena.season import cup
from cellgames.arena.season.cup import CupRecord
from cellgames.envs.core import Game, State
from cellgames.envs.registry import REGISTRY
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.simulator import boards
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.version import __version__

from . import limits
from .views import Frame, toroidal_cup_view, view_of
from .views.view import Action, View, encoded, player_goals, player_names

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
        "trials": type(view_of(game)).trial is not View.trial,
        **view_of(game).layout(),
    }


def frame(
    game: Game,
    state: State,
    before: State | None = None,
    viewer: int | None = None,
    action: Action = None,
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
        ValueError: A seat that may not see the pictures of a game without a board.
    """
    return _frame(game, state, before, viewer, action).to_data()


def _frame(game: Game, state: State, before: State | None, viewer: int | None, action: Action = None) -> Frame:
    now = view_of(game).frame(state[:1], None if before is None else before[:1], viewer, action)
    return replace(now, fields={**_common(game, state, bool(state.done[0])), **now.fields})


def _common(game: Game, state: State, done: bool) -> dict[str, Any]:
    mover = None if done or game.info.simultaneous else int(state.current_player[0])
    return {"turn": int(state.turn[0]), "player": mover, "done": done}


def step_data(
    game: Game, before: State, after: State, viewer: int | None = None, action: Action = None
) -> dict[str, Any]:
    """Return a step as a page that plays shows it; arguments as for `frame`.

    Returns:
        `frames`, the one of `after` alone; `film`, where Life runs in the step: every generation and the end (see
        `packed`), else None.
    """
    *film, last = _step_frames(game, before, after, viewer, _most_frames(game), action)
    return {"frames": [last.to_data()], "film": packed([*film, last]) if film else None}


def trial_data(game: Game, state: State, seat: int, action: Action = None) -> dict[str, Any]:
    """Return a film (see `packed`) of what would happen if nobody placed anything more; see `View.trial`.

    Raises:
        ValueError: There is nothing to try, or it cannot be placed.
    """
    common = {**_common(game, state, False), "player": None}
    frames = view_of(game).trial(state[:1], seat, action, _most_frames(game))
    return packed(replace(frame, fields={**common, **frame.fields}) for frame in frames)


def _most_frames(game: Game) -> int:
    """Return the most frames of a film that is sent while a game is played."""
    return min(limits.STEP_FRAMES, limits.PLANES // max(1, 2 * math.prod(game.info.board.shape)))


def _step_frames(
    game: Game, before: State, after: State, viewer: int | None, most: int, action: Action = None
) -> Iterator[Frame]:
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
    words = zlib.compress(json.dumps(fields, separators=(",", ":"), allow_nan=False).encode(), _LEVEL, wbits=31)
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
    if isinstance(record, CupRecord):
        return _season_data(record)
    game, states = _checked_game(record), replay(record)
    marks: list[int] = []
    pictures = packed(_pictures(game, states, marks))
    movers = [None if game.info.simultaneous else int(state.current_player[0]) for state in states[:-1]]
    more = {
        "opening": record.opening,
        "moves": list(record.moves),
        "movers": movers,
        "words": [move_in_words(game, state, move) for state, move in zip(states, record.moves, strict=False)],
        "result": plain(record.to_data()["result"]),
        **({"seconds": _seconds(record, movers)} if record.seconds else {}),
    }
    told = _record_data(record, game.parameters, record.version) | more
    return {"layout": layout(game), "record": told, "frames": pictures, "marks": marks}


def board_data(record: Record | CupRecord) -> dict[str, Any]:
    """Return `layout` and `frame` of the last position of a record, which of a Cup's game is not verified."""
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
    if record.game not in REGISTRY:  # an id may name a module, and records come from strangers
        raise InputError("game", f"one of {', '.join(REGISTRY)}", shown(record.game))
    game = game_of(record)
    limits.check(game, record.moves)
    if len(record.agents) != game.info.num_players:
        raise InputError("agents", f"{game.info.num_players}, one a seat", len(record.agents))
    return game


def _record_data(record: Record | CupRecord, parameters: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return a record without moves as the viewer shows it."""
    return {
        "agents": list(record.agents),
        "parameters": parameters,
        "seed": str(record.seed),  # scripts in pages count in doubles
        "version": version,
        **{"opening": 0, "moves": [], "movers": [], "words": []},
        "result": {name: getattr(record.result, name) for name in ("outcome", "scores", "turns", "truncated")},
    }


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
    steps = (_step_frames(game, *step, None, most) for step in pairwise(states))
    drawn = 0
    for turn, frames in enumerate(chain([[first]], steps)):
        for frame in frames:
            drawn += len(frame.fields.get("svg", ""))
            if drawn > limits.PLANES:
                raise InputError("record", f"pictures of at most {limits.PLANES:,} bytes", f"more by turn {turn}")
            marks.append(turn)
            infos = {**frame.fields.get("infos", {}), **{name: list(values[turn]) for name, values in more.items()}}
            yield replace(frame, fields={**frame.fields, "infos": infos}) if more else frame


def _season(record: CupRecord, most: int) -> tuple[ToroidalCup, Iterator[Frame]]:
    """Return a game of the Cup's season, and its frames: Life from an arrangement that nobody placed shape by shape."""
    game = cup.game_of(record)
    limits.check(game)
    start = boards([cup.start_of(vars(record))])
    moments = toroidal_cup_view.life(game, start, record.generations, most, record.pattern)
    common: dict[str, Any] = {"turn": 0, "player": None}
    return game, (replace(one, fields={**common, "done": not one.fields["life"], **one.fields}) for one in moments)


def _season_data(record: CupRecord) -> dict[str, Any]:
    game, frames = _season(record, limits.STEP_FRAMES)
    for _, error in cup.verify([record]):
        raise error
    moments = [*frames]
    rules = {"pattern": record.pattern, "survivors": record.survivors}
    rosters = toroidal_cup_view.roster_data(record.agents, game.rows, game.cols)
    title = f"Toroidal Cup, {record.fixture.occasion}"
    shown = {**layout(game), "title": title, "roster": rosters}
    told = _record_data(record, rules, __version__)
    return {"layout": shown, "record": told, "frames": packed(moments), "marks": [0] * len(moments)}


SCRIPTS = (
    "theme.js",
    "canvas.js",
    "board_reader.js",
    "boards.js",
    "board_torus.js",
    "board_stones.js",
    "cell_sprites.js",
    "board_cells.js",
    "chart.js",
    "film.js",
    "viewer.js",
)
"""Scripts of the viewer, in the order in which pages load them."""

_PAGE_STYLE = """body { margin: 0 auto; max-width: 1240px; padding: 16px; background: var(--cg-paper); }
@media (max-width: 480px) { body { padding: 10px; } }
noscript { display: block; padding: 2em; font-family: sans-serif; }
"""

_START = """(function () {
  "use strict";
  const data = { ...JSON.parse(document.getElementById("game").textContent), alone: true };
  window.viewer = new window.Cellgames.Viewer(document.getElementById("viewer"), data);
})();
"""


def export_html(record: Record | CupRecord, path: PathLike, *, worth: Mapping[str, Any] | None = None) -> None:
    """Write a recorded game as one HTML file; the same record gives the same bytes.

    Args:
        record: A record of `arena.records`, or of `arena.season.cup`.
        path: The file.
        worth: Worth of each part of the game, as JSON holds it; the page then shows it on the board.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: An unknown game, or too large (see `limits`).
        OSError: The file cannot be written.
    """
    write_atomic(path, html_page(record, worth=worth))


def html_page(record: Record | CupRecord, *, worth: Mapping[str, Any] | None = None) -> str:
    """Return the HTML file of a recorded game; arguments as for `export_html`."""
    data = replay_data(record)
    if worth is not None:
        data["worth"] = worth
    title = f"{data['layout']['title']}: {', '.join(dict.fromkeys(data['record']['agents']))}"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII, without what ends a script in HTML
    for sign in "&<>":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    style = f"{_static('viewer.css')}\n{_PAGE_STYLE}"
    scripts = [*map(_static, SCRIPTS), _START]
    # Scripts run by their hashes only, so that no name in the record can become one; nothing is fetched.
    policy = (
        f"default-src 'none'; img-src data:; style-src {_source(style)}; script-src {' '.join(map(_source, scripts))}; "
        "base-uri 'none'; form-action 'none'"
    )
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{style}</style>",
        '<main id="viewer"></main>',
        "<noscript>This game is played by JavaScript, which is switched off.</noscript>",
        f'<script type="application/json" id="game">{text}</script>',
        *(f"<script>{script}</script>" for script in scripts),
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


@cache
def _static(name: str) -> str:
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")
