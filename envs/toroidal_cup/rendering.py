"""Pictures of the Toroidal Cup: the board in the teams' colours, scores, shapes to come, the lead over time.

Letters: `k` teams, `G` generations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core.drawing import (
    Inset,
    Picture,
    Point,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    fitted,
    frame_times,
    mix,
)
from cellgames.envs.core.info import DRAW, LOSS, WIN
from cellgames.envs.toroidal_cup.patterns.stamps import grid

from .notation import HIDDEN, known
from .patterns.pattern import PATTERNS
from .roster import held_by_quadrant, roster
from .state import CupState

if TYPE_CHECKING:
    from .game import ToroidalCup
    from .simulator import Result


Cells: TypeAlias = npt.NDArray[np.int8]
Counts: TypeAlias = npt.NDArray[np.integer[Any]]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#e69f00", "#7a6a00", "#333333")
"""Of the teams, told apart in every kind of colour vision; most are Okabe and Ito's."""

FRAMES = 120  # of Life in an animation

_PAPER, _INK, _PALE, _LINE, _BOARD = "#fffdf8", "#3b362f", "#857d70", "#d8d0c2", "#ffffff"
_WIDTH = 1120  # units of the board, about
_ROOMY = 8  # units of a cell from which cells are drawn apart
_MARGIN, _HEADER, _GAP, _PANEL, _AXIS = 20.0, 66.0, 14.0, 124.0, 44.0
_PLAYERS = 18.0  # height of the line of players, where there is one
_MARKS = "1234567890"
RESULTS = {WIN: "wins", LOSS: "loses", DRAW: "draw"}


@dataclass(frozen=True)
class View:
    """One moment of a game.

    Attributes:
        board: int8 [rows, cols], 0 empty, else the team's number.
        names: names of the teams.
        headline: a line above the board.
        results: a word for each team, "" before the end.
        band: columns of a band, 0 if they are not to be shown.
        queues: names of the stamps that each team has still to place, the next one first; `HIDDEN` where not known.
        counts: [G' + 1, k] live cells of each team at generations 0 to now, None while teams arrange.
        last: the generation at which the game ends.
        zones: names of the four quadrants (`roster`); with them a picture shows quadrants and players, too.
    """

    board: Cells
    names: Sequence[str]
    headline: str
    results: Sequence[str]
    band: int = 0
    queues: Sequence[Sequence[str]] = ()
    counts: Counts | None = None
    last: int = 0
    zones: Sequence[str] = ()

    @property
    def scores(self) -> list[int]:
        """Live cells of each team."""
        return [int((self.board == number).sum()) for number in range(1, len(self.names) + 1)]


def draw(view: View) -> Picture:
    """Return one moment as a drawing; all moments of a game have the same size."""
    rows, cols = view.board.shape
    cell = min(14, max(3, _WIDTH // cols))
    wide, high = float(cols * cell), float(rows * cell)
    header = _HEADER + (_PLAYERS if view.zones else 0)
    below = header + high + _GAP
    gap = 0.08 if cell >= _ROOMY else 0.0
    shapes: list[Shape] = [
        Text(_MARGIN, 28, view.headline, fitted(view.headline, 19, wide), _INK, bold=True),
        *_score_line(view, wide),
        Inset(_MARGIN, header, Picture(cols, rows, _BOARD, (*_draw_bands(view), *_draw_cells(view.board, gap))), cell),
        Rectangle(_MARGIN, header, wide, high, None, _LINE, 1.5),
        *(_draw_zones(view, header, wide, high) if view.zones else ()),
        *(_draw_queues(view, below, wide) if view.counts is None else _draw_shares(view, below, wide)),
    ]
    return Picture(wide + 2 * _MARGIN, below + _PANEL + _MARGIN, _PAPER, tuple(shapes), view.headline)


def _columns(view: View, wide: float) -> Iterator[tuple[int, float, float]]:
    """Yield every team with the left edge and the width of its share of the picture."""
    each = wide / len(view.names)
    for team in range(len(view.names)):
        yield team, _MARGIN + team * each, each


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _standing(view: View, team: int, scores: Sequence[int]) -> str:
    """Return `team_1: 242 cells, 47.7 %, loses`."""
    result = f", {view.results[team]}" if view.results[team] else ""
    return f"{view.names[team]}: {scores[team]} cells, {_percent(scores[team], sum(scores))}{result}"


def _score_line(view: View, wide: float) -> Iterator[Shape]:
    scores = view.scores
    for team, left, each in _columns(view, wide):
        words = _standing(view, team, scores)
        yield Rectangle(left, 43, 13, 13, COLOURS[team])
        yield Text(left + 20, 54.5, words, fitted(words, 15, each - 30), _INK, bold=view.results[team] == "wins")


def tops(view: View) -> Iterator[str]:
    """Yield the first player of each team on the field, row by row, with the square; "" where no cell is left."""
    rows, cols = view.board.shape
    for number, team in enumerate(view.names, 1):
        squares = np.flatnonzero(view.board == number)
        if len(squares):
            row, col = divmod(int(squares[0]), cols)
            yield f"{roster(team, rows, cols).player(row, col)} in r{row}c{col}"
        else:
            yield ""


def _draw_zones(view: View, top: float, wide: float, high: float) -> Iterator[Shape]:
    """Yield the borders and the names of the quadrants, and the topmost player of each team above the board."""
    for points in (
        ((_MARGIN, top + high / 2), (_MARGIN + wide, top + high / 2)),
        ((_MARGIN + wide / 2, top), (_MARGIN + wide / 2, top + high)),
    ):
        yield Polyline(points, _LINE, 1.2, dash=(3, 5))
    for index, name in enumerate(view.zones):
        right, lower = index in (1, 2), index > 1
        size = fitted(name, 13, wide / 2 - 16)
        y = top + (high - 6 if lower else size + 2)
        yield Text(_MARGIN + (wide - 6 if right else 6), y, name, size, _PALE, "end" if right else "start")
    for (_, left, each), player in zip(_columns(view, wide), tops(view), strict=True):
        words = f"topmost player: {player}" if player else ""
        yield Text(left + 20, top - 10, words, fitted(words, 12, each - 30), _PALE)


def _draw_cells(cells: npt.NDArray[Any], gap: float, colours: Sequence[str] = COLOURS) -> Iterator[Shape]:
    """Yield cells in units of one, 0 empty, else the team's number; bars for runs of a team where `gap` is 0."""
    for y, row in enumerate(cells.tolist()):
        x = 0
        for owner, run in groupby(row):
            length = len(list(run))
            if owner and gap:
                for place in range(x, x + length):
                    yield Rectangle(place + gap / 2, y + gap / 2, 1 - gap, 1 - gap, colours[owner - 1])
            elif owner:
                yield Rectangle(x, y, length, 1, colours[owner - 1])
            x += length


def _draw_bands(view: View) -> Iterator[Shape]:
    """Yield a tint of its colour behind every team's band, in units of one cell."""
    for team in range(len(view.names) if view.band else 0):
        yield Rectangle(team * view.band, 0, view.band, view.board.shape[0], mix(COLOURS[team], _BOARD, 0.9))


# ---------------------------------------------------------------- below the board: shapes to come


def _draw_queues(view: View, top: float, wide: float) -> Iterator[Shape]:
    for team, left, each in _columns(view, wide):
        names = view.queues[team]
        if not names or names[0] == HIDDEN:
            continue
        words = f"next: {names[0]}, then {len(names) - 1} more" if len(names) > 1 else f"last: {names[0]}"
        yield Text(left, top + 13, words, fitted(words, 13, each - 20), _PALE)
        x = left
        for place, name in enumerate(name for name in names if name != HIDDEN):
            inset = _draw_stamp(name, x, top + 22, COLOURS[team], place == 0)
            x = inset.x + inset.picture.width * inset.scale + 14
            if x > left + each:
                break
            yield inset


def _draw_stamp(name: str, x: float, top: float, colour: str, first: bool) -> Inset:
    """Return a shape to place, the next one larger and in full colour."""
    cells = grid(name)
    rows, cols = cells.shape
    scale = min(14.0 if first else 8.0, (_PANEL - 26) / rows)
    fill = colour if first else mix(colour, _PAPER, 0.45)
    return Inset(x, top, Picture(cols, rows, None, tuple(_draw_cells(cells, 0.08, (fill,)))), scale)


# ---------------------------------------------------------------- below the board: the lead over time


def _draw_shares(view: View, top: float, wide: float) -> Iterator[Shape]:
    """Yield each team's share of the live cells, stacked, the first team at the bottom; empty boards leave a gap."""
    assert view.counts is not None  # the caller has looked
    left, width, high = _MARGIN + _AXIS, wide - _AXIS, _PANEL - 20
    bottom, last = top + high, max(1, view.last)
    yield Rectangle(left, top, width, high, _BOARD)
    step = max(1, last // int(width))
    shown = sorted({*range(0, len(view.counts), step), len(view.counts) - 1})
    counts = view.counts[shown].astype(np.float64)
    total = counts.sum(1, keepdims=True)
    tops = np.cumsum(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0), 1)
    x = left + width * np.array(shown) / last
    floor = np.zeros(len(shown))
    for team in range(len(view.names)):
        upper, lower = bottom - high * tops[:, team], bottom - high * floor
        outline = _points(x, upper) + _points(x, lower)[::-1]
        if len(shown) > 1:
            yield Polygon(outline, mix(COLOURS[team], _BOARD, 0.25))
        floor = tops[:, team]
    yield from _draw_axes(left, top, width, high, last)


def _points(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[Point, ...]:
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _draw_axes(left: float, top: float, width: float, high: float, last: int) -> Iterator[Shape]:
    middle = top + high / 2
    yield Polyline(((left, middle), (left + width, middle)), _INK, 1.2, dash=(5, 5))
    yield Rectangle(left, top, width, high, None, _LINE, 1.5)
    for percent, y in ((100, top + 10), (50, middle + 4), (0, top + high)):
        yield Text(left - 6, y, f"{percent} %", 12, _PALE, "end")
    step = _tick(last)
    for generation in range(0, last + 1, step):
        x = left + width * generation / last
        yield Polyline(((x, top + high), (x, top + high + 4)), _PALE, 1.2)
        if generation == 0:
            yield Text(x, top + high + 17, "generation 0", 12, _PALE)
        else:
            near_the_end = left + width - x < 20
            yield Text(x, top + high + 17, str(generation), 12, _PALE, "end" if near_the_end else "middle")


def _tick(last: int) -> int:
    """Return a round number of generations between ticks, some eight of them."""
    size: int = 10 ** (len(str(last)) - 1)
    return next(step for step in (size // 10, size // 5, size // 2, size, 2 * size) if step and last / step <= 9)


# ---------------------------------------------------------------- moments of a game, and text


def end_of(result: Result, names: Sequence[str], title: str, zones: Sequence[str]) -> View:
    """Return the end of a game from any start, by its result with the trajectory; the title begins the headline.

    `zones` are those of `View`.
    """
    assert result.trajectory is not None  # asked for
    generations, winner = int(result.generations[0]), int(result.winner[0])
    ends = [WIN if number == winner else LOSS if winner else DRAW for number in range(1, len(names) + 1)]
    return View(
        board=result.board[0].numpy(force=True),
        names=names,
        headline=f"{title}: {ending(generations, bool(result.truncated[0]))}",
        results=[RESULTS[end] for end in ends],
        counts=result.trajectory[0].numpy(force=True),
        last=generations,
        zones=zones,
    )


def ending(generations: int, truncated: bool) -> str:
    """Return `over at generation 1234`, or `cut off` where there are no more generations."""
    return f"{'cut off' if truncated else 'over'} at generation {generations}"


def moment(end: View, title: str, generation: int, board: Cells) -> View:
    """Return a generation of the game whose end is `end`; the board is of it."""
    assert end.counts is not None  # as Life has run
    return dataclasses.replace(
        end,
        board=board,
        headline=f"{title}: generation {generation}",
        results=[""] * len(end.names),
        counts=end.counts[: generation + 1],
    )


def life_frames(end: View, title: str, life: Callable[[Sequence[int]], Result]) -> Iterator[Picture]:
    """Yield Life from the start to `end` in up to `FRAMES` pictures and a last one.

    The function plays the game and keeps its boards at the generations given.
    """
    *shown, _ = frame_times(end.last, FRAMES)
    boards = life(shown).boards
    for generation in shown:
        yield draw(moment(end, title, generation, boards[generation][0].numpy(force=True)))
    yield draw(end)


def text(view: View) -> str:
    """Return the board for a terminal: a digit (the team) or a dot a cell, wide boards a block of cells a sign.

    A block shows the team that has most of it, a dot if it is empty, `+` if two teams tie. Quadrants follow with the
    teams' cells in them, and the topmost players, where the view has names of quadrants.
    """
    block = -(-view.board.shape[1] // 140)
    high = 2 * block if block > 1 else 1
    scores = view.scores
    lines = [view.headline]
    for team in range(len(view.names)):
        line = f"{_MARKS[team]} {_standing(view, team, scores)}"
        line += f", to place: {_listed(view.queues[team])}" if view.queues and view.queues[team] else ""
        lines.append(line)
    pad = [(0, -size % part) for size, part in zip(view.board.shape, (high, block), strict=True)]
    cells = np.pad(view.board, pad)
    blocks = cells.reshape(cells.shape[0] // high, high, cells.shape[1] // block, block)
    held = np.stack([(blocks == number).sum((1, 3)) for number in range(1, len(view.names) + 1)])
    best = held.max(0)
    marks = np.where(best == 0, ".", np.where((held == best).sum(0) > 1, "+", np.array(list(_MARKS))[held.argmax(0)]))
    return "\n".join([*lines, *("".join(row) for row in marks.tolist()), *_zone_lines(view)])


def _zone_lines(view: View) -> list[str]:
    """Return a line on the quadrants and one on players, none without names of quadrants."""
    if not view.zones:
        return []
    held = held_by_quadrant(view.board, len(view.names))
    zones = ", ".join(f"{name} {':'.join(map(str, cells))}" for name, cells in zip(view.zones, held, strict=True))
    players = ", ".join(f"{_MARKS[team]} {player or 'nobody'}" for team, player in enumerate(tops(view)))
    return [f"quadrants: {zones}", f"topmost players: {players}"]


def _listed(names: Sequence[str]) -> str:
    """Return `rabbit, 2 x rpentomino` for three shapes."""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in runs)


def view(game: ToroidalCup, state: CupState, player: int | None = None, *, counts: bool = True) -> View:
    """Return the first game of the batch, to a spectator or as a team may know it.

    A team sees `notation.known` shapes and no drawn pattern. With `counts`, for pictures, a finished game is played
    again for the lead over time, and the quadrants have names.
    """
    done, generations = bool(state.done[0]), int(state.generations[0])
    queues = [[game.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
    words = {**RESULTS, DRAW: RESULTS[DRAW] if done else ""}
    placed = int(state.turn[0])
    stage = f"shape {placed + 1} of {placed + len(queues[0])}"
    pattern = seen_pattern(game, state, player)
    if player is not None:
        queues = known(queues, player)
    return View(
        board=state.board[0].numpy(force=True),
        names=game.info.players,
        headline=f"{_title(game, pattern)}: {ending(generations, bool(state.truncated[0])) if done else stage}",
        results=[words[value] for value in game.outcome(state)[0].tolist()],
        band=0 if done else game.lattice.band,
        queues=queues,
        counts=_counts(game, state.start[:1].cpu().numpy().tobytes()) if done and counts else None,
        last=generations,
        zones=PATTERNS[pattern].zones if counts and pattern is not None else (),
    )


def seen_pattern(game: ToroidalCup, state: CupState, player: int | None) -> str | None:
    """Return the first game's pattern; None for a team (see `view`) while it is drawn and tells shapes to come."""
    hidden = player is not None and len(game.patterns) > 1 and not bool(state.done[0])
    return None if hidden else game.patterns[int(state.pattern[0])]


def frames(game: ToroidalCup, before: CupState, after: CupState) -> Iterator[Picture]:
    """Yield a placement as one picture, and where Life has run up to `rendering.FRAMES` of its generations."""
    end = view(game, after)
    if end.counts is None or bool(before.done[0]):
        yield draw(end)
    else:
        title = _title(game, seen_pattern(game, after, None))
        yield from life_frames(end, title, lambda shown: game.life(after.start[:1], keep=shown))


def _title(game: ToroidalCup, pattern: str | None) -> str:
    return game.info.title if pattern is None else f"{game.info.title}, {PATTERNS[pattern].title}"


@lru_cache(maxsize=16)
def _counts(game: ToroidalCup, start: bytes) -> Counts:
    """Return the live cells of all teams from an arrangement (int8 cells, row by row) to the end: [G + 1, k]."""
    cells = torch.frombuffer(bytearray(start), dtype=torch.int8).view(1, game.rows, game.cols)
    trajectory = game.life(cells, trajectory=True).trajectory
    assert trajectory is not None  # asked for
    return trajectory[0].numpy()
