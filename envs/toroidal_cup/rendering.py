"""Pictures and text of the Toroidal Cup: the board in the teams' colours, scores, and shapes to come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core.drawing import BoardView, Picture, Rectangle, Shape, frame_times, framed, mix, sign_rows
from cellgames.envs.core.info import DRAW, LOSS, WIN

from .notation import known
from .patterns.pattern import PATTERNS
from .roster import held_by_quadrant, roster
from .state import CupState

if TYPE_CHECKING:
    from .game import ToroidalCup
    from .simulator import Result


Cells: TypeAlias = npt.NDArray[np.int8]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#e69f00", "#7a6a00", "#333333")
"""Of the teams, told apart in every kind of colour vision; most are Okabe and Ito's."""

FRAMES = 120  # of Life in an animation

BOARD, LINE = "#ffffff", "#d8d0c2"
"""Colours of empty cells and of lines on the board."""
_WIDTH = 1120  # units of the board, about
_ROOMY = 8  # units of a cell from which cells are drawn apart
_MARKS = "12345678"
RESULTS = {WIN: "wins", LOSS: "loses", DRAW: "draw"}


@dataclass(frozen=True)
class View(BoardView):
    """One moment of a game.

    Attributes:
        board: int8 [rows, cols], 0 empty, else the team's number.
        names: names of the teams.
        headline: a line above the board.
        results: a word for each team, "" before the end.
        band: columns of a band, 0 if they are not to be shown.
        queues: names of the stamps that each team has still to place, the next one first; `HIDDEN` where not known.
        last: the generation at which the game ends.
        zones: names of the four quadrants (`roster`) in a game of a season, for lines on quadrants and players.
    """

    board: Cells
    names: Sequence[str]
    headline: str
    results: Sequence[str]
    band: int = 0
    queues: Sequence[Sequence[str]] = ()
    last: int = 0
    zones: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Return a line for each team, such as `team_1: 242 cells, 47.7 %, loses`, and those of `zones`."""
        scores = [int((self.board == number).sum()) for number in range(1, len(self.names) + 1)]
        lines = []
        for team, (name, score) in enumerate(zip(self.names, scores, strict=True)):
            share = f"{100 * score / sum(scores):.1f} %" if any(scores) else "-"
            to_place = f"to place: {_listed(self.queues[team])}" if self.queues and self.queues[team] else ""
            lines.append(", ".join(filter(None, (f"{name}: {score} cells, {share}", self.results[team], to_place))))
        if self.zones:
            held = held_by_quadrant(self.board, len(self.names))
            zones = (f"{name} {':'.join(map(str, cells))}" for name, cells in zip(self.zones, held, strict=True))
            players = (f"{_MARKS[team]} {player or 'nobody'}" for team, player in enumerate(self.topmost()))
            lines += f"quadrants: {', '.join(zones)}", f"topmost players: {', '.join(players)}"
        return lines

    def topmost(self) -> Iterator[str]:
        """Yield the first player of each team on the field, row by row, and the square; "" where no cell is left."""
        rows, cols = self.board.shape
        for number, team in enumerate(self.names, 1):
            squares = np.argwhere(self.board == number).tolist()
            yield "".join(f"{roster(team, rows, cols).player(*at)} in r{at[0]}c{at[1]}" for at in squares[:1])

    @override
    def draw(self) -> Picture:
        (rows, cols), teams = self.board.shape, len(self.names)
        cell = min(14, max(3, _WIDTH // cols))
        tints = (mix(colour, BOARD, 0.9) for colour in COLOURS[: teams if self.band else 0])
        bands = (Rectangle(team * self.band, 0, self.band, rows, tint) for team, tint in enumerate(tints))
        board = Picture(cols, rows, BOARD, (*bands, *_draw_cells(self.board, 0.08 if cell >= _ROOMY else 0.0)))
        return framed(board, cell, self.headline, self.lines(), COLOURS[:teams])

    @override
    def text(self) -> str:
        lines, teams = self.lines(), len(self.names)
        marked = [f"{mark} {line}" for mark, line in zip(_MARKS, lines[:teams], strict=False)]
        rows = (signs for _, signs in sign_rows(self.board, "." + _MARKS[:teams]))
        return "\n".join([self.headline, *marked, *rows, *lines[teams:]])


def _draw_cells(cells: Cells, gap: float) -> Iterator[Shape]:
    """Yield cells in units of one; bars for runs of a team where `gap` is 0."""
    for y, row in enumerate(cells.tolist()):
        x = 0
        for owner, run in groupby(row):
            length = len(list(run))
            for place in range(x, x + length if owner else x, 1 if gap else length):
                wide = (1 if gap else length) - gap
                yield Rectangle(place + gap / 2, y + gap / 2, wide, 1 - gap, COLOURS[owner - 1])
            x += length


def end_of(result: Result, names: Sequence[str], title: str, zones: Sequence[str]) -> View:
    """Return the end of a game from any start by its result; the title begins the headline, `zones` are `View`'s."""
    generations, winner = int(result.generations[0]), int(result.winner[0])
    ends = [WIN if number == winner else LOSS if winner else DRAW for number in range(1, len(names) + 1)]
    return View(
        board=result.board[0].numpy(force=True),
        names=names,
        headline=f"{title}: {ending(generations, bool(result.truncated[0]))}",
        results=[RESULTS[end] for end in ends],
        last=generations,
        zones=zones,
    )


def ending(generations: int, truncated: bool) -> str:
    """Return `over at generation 1234`, or `cut off` where there are no more generations."""
    return f"{'cut off' if truncated else 'over'} at generation {generations}"


def moment(end: View, title: str, generation: int, board: Cells) -> View:
    """Return a generation of the game whose end is `end`; the board is of it."""
    headline = f"{title}: generation {generation}"
    return dataclasses.replace(end, board=board, headline=headline, results=[""] * len(end.names))


def life_frames(end: View, title: str, life: Callable[[Sequence[int]], Result]) -> Iterator[Picture]:
    """Yield Life from the start to `end` in up to `FRAMES` pictures and a last one.

    The function plays the game and keeps its boards at the generations given.
    """
    *shown, _ = frame_times(end.last, FRAMES)
    boards = life(shown).boards
    for generation in shown:
        yield moment(end, title, generation, boards[generation][0].numpy(force=True)).draw()
    yield end.draw()


def _listed(names: Sequence[str]) -> str:
    """Return `rabbit, 2 x rpentomino` for three shapes."""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    return ", ".join(f"{count} x {name}" if count > 1 else name for name, count in runs)


def view(game: ToroidalCup, state: CupState, player: int | None = None) -> View:
    """Return the first game of the batch, to a spectator or as a team may know it.

    A team sees `notation.known` shapes and no drawn pattern.
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
        last=generations,
    )


def seen_pattern(game: ToroidalCup, state: CupState, player: int | None) -> str | None:
    """Return the first game's pattern; None for a team (see `view`) while it is drawn and tells shapes to come."""
    hidden = player is not None and len(game.patterns) > 1 and not bool(state.done[0])
    return None if hidden else game.patterns[int(state.pattern[0])]


def frames(game: ToroidalCup, before: CupState, after: CupState) -> Iterator[Picture]:
    """Yield a placement as one picture, and where Life has run up to `rendering.FRAMES` of its generations."""
    end = view(game, after)
    if not bool(after.done[0]) or bool(before.done[0]):
        yield end.draw()
    else:
        title = _title(game, seen_pattern(game, after, None))
        yield from life_frames(end, title, lambda shown: game.life(after.start[:1], keep=shown))


def _title(game: ToroidalCup, pattern: str | None) -> str:
    return game.info.title if pattern is None else f"{game.info.title}, {PATTERNS[pattern].title}"
