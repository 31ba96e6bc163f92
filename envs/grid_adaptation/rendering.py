"""Pictures of Grid Adaptation: tiles with their sequences, the round's births and deaths, points, the table.

Each digit of a sequence is an ink: a tile is pale stone, and every 1 lays its ink over it. So 110 looks like 100 and
010 laid over each other, and what three parents have in common shows in their child. In the tile stand the digits
themselves, bars for 1 and dots for 0, so that nothing is told by colour alone. Born tiles are ringed discs, others
squares; ghosts with a cross are tiles that died, and tiles that were placed have a dark corner.

Letters: `H, W` rows and columns of the board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import (
    Circle,
    Inset,
    Picture,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    fitted,
    mix,
    ruler,
)

from . import rules
from .notation import HIDDEN
from .state import GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

Board: TypeAlias = npt.NDArray[np.integer[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]

_STONE = "#dad7ce"
_INKS = ("#54ceab", "#a127f6", "#ffc927")  # of the digits, the leftmost first: teal, violet, gold


class Row(NamedTuple):
    """A player's row of the table; secret values are `HIDDEN`.

    Attributes:
        player: the name.
        sequence: 0 to 7.
        points, garnets, reserves: so far.
        tokens: Tokens of Life, None before they are awarded.
        candidate: True if the player is the Elimination Candidate.
    """

    player: str
    sequence: int | str
    points: int | str
    garnets: int | str
    reserves: int | str
    tokens: int | str | None = None
    candidate: bool = False

    def hidden(self, *, points: bool) -> Row:
        """Return the row without secrets, and without points if `points` is True."""
        row = self._replace(sequence=HIDDEN, garnets=HIDDEN, reserves=HIDDEN, tokens=HIDDEN)
        return row._replace(points=HIDDEN) if points else row


def bits(sequence: int | str) -> str:
    """Return `101` for 5, and what is hidden as it is."""
    return f"{sequence:03b}" if isinstance(sequence, int) else sequence


def _mixed(sequence: int) -> str:
    """Return the stone under the inks of all digits that are 1: linear light is multiplied, as by filters."""
    layers = [_STONE, *(ink for ink, digit in zip(_INKS, bits(sequence), strict=True) if digit == "1")]
    channels = (((int(layer[i : i + 2], 16) / 255) ** 2.2 for layer in layers) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 * float(np.prod(list(light))) ** (1 / 2.2)):02x}" for light in channels)


COLOURS = tuple(map(_mixed, range(8)))
"""Of tiles by sequence; told apart in every kind of colour vision, and as greys."""

_PAPER, _INK, _PALE, _BOARD = "#fffdf8", "#3b362f", "#857d70", "#ffffff"
_DIGIT = ("#ffffff", "#14110e")  # on dark tiles, on light ones
_RING, _CROSS, _DOOMED = "#14110e", "#5a5346", "#f6d9d5"

_SIDE, _LARGEST = 620, 90  # units of the board's place, and of a cell at most
_LEFT, _TOP, _MARGIN, _GAP, _PANEL = 38.0, 70.0, 24.0, 28.0, 384.0
_ROW, _SIGN = 26.0, 22.0  # from line to line of the panel, and of a cell in it
_COLUMNS = (("points", 204.0), ("tokens", 258.0), ("garnets", 318.0), ("reserves", _PANEL))  # right edges in the panel
_TITLES = ("points of the last round", "the table")


class Panel(Protocol):
    """A part of a picture right of the table, or of a text below it."""

    @property
    def width(self) -> float:
        """Return the width of the panel in a picture."""

    def draw(self, left: float, top: float) -> Iterator[Shape]:
        """Yield the shapes of the panel at a place."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the panel's text."""


@dataclass(frozen=True, eq=False)
class View:
    """One moment of a match.

    Attributes:
        board: integers [H, W], -1 where there is no tile, else its sequence from 0 to 7.
        title: a line above the board, such as "round 3 of 8".
        before: integers [H, W], the board before the generation; births and deaths are the differences to it.
        placed: bool [H, W], where tiles were placed in this round; they need not stand on `before`, but the ghosts of
            those that do not have no colour.
        public: points that each sequence would have earned in the last round; None before the first.
        table: rows of players, in the order in which they are to be shown.
        panel: more to show beside the board, for games that extend this one.
    """

    board: Board
    title: str = ""
    before: Board | None = None
    placed: Mask | None = None
    public: Sequence[int] | None = None
    table: Sequence[Row] = ()
    panel: Panel | None = None

    def changes(self) -> tuple[Mask, Mask, Mask]:
        """Return masks of the tiles that were placed, born and died, as far as they are known: bool [H, W] each."""
        nobody = np.zeros(self.board.shape, np.bool_)
        put = nobody if self.placed is None else self.placed
        if self.before is None:
            return put, nobody, put & (self.board < 0)
        stood = (self.before >= 0) | put
        return put, (self.board >= 0) & ~stood, stood & (self.board < 0)

    def counts(self) -> dict[str, int]:
        """Return `{"tiles": 31, "placed": 8, "born": 12, "died": 9}`, without what is not known."""
        masks = dict(zip(("placed", "born", "died"), self.changes(), strict=True))
        if self.placed is None:
            del masks["placed"]
        if self.before is None:
            del masks["born"], masks["died"]
        return {word: int(mask.sum()) for word, mask in ({"tiles": self.board >= 0} | masks).items()}


def draw(view: View) -> Picture:
    """Return one moment as a drawing; all moments of all games on boards of one size have the same size."""
    height, width = view.board.shape
    size = min(_LARGEST, _SIDE // max(height, width))
    left, top = _LEFT + (_SIDE - width * size) / 2, _TOP + (_SIDE - height * size) / 2
    panel = _LEFT + _SIDE + _GAP
    drawn = Picture(width, height, _BOARD, tuple(_draw_board(view, size)))
    shapes: list[Shape] = [
        Text(_LEFT, 34, view.title, fitted(view.title, 19, _SIDE), _INK, bold=True),
        *ruler(height, width, (left, top), size, _PALE),
        Inset(left, top, drawn, size),
        Rectangle(left, top, width * size, height * size, None, _PALE, 1.2),
        *_draw_public(view.public, panel),
        *_draw_changes(view.counts(), panel),
        *_draw_table(view.table, panel),
    ]
    right = panel + _PANEL + _MARGIN
    if view.panel is not None:
        shapes += view.panel.draw(right + _GAP - _MARGIN, _TOP)
        right += _GAP + view.panel.width
    return Picture(right, _TOP + _SIDE + _MARGIN, _PAPER, tuple(shapes), view.title)


def view(game: GridAdaptation, state: GridState, player: int | None = None) -> View:
    """Return the match of a batch of one; only what `player` may know, if one is given."""
    counted, candidate = bool(state.done) or int(state.round) > game.rounds, int(state.candidate)
    table = [
        Row(
            player,
            int(state.sequence[0, seat]),
            int(state.scores[0, seat]),
            int(state.garnets[0, seat]),
            int(state.reserves[0, seat]),
            int(state.tokens[0, seat]) if counted else None,
            candidate == seat,
        )
        for seat, player in enumerate(game.info.players)
    ]
    if player is not None and not bool(state.done):
        votes = bool(rules.voters(state.tied, state.tokens)[0, player])
        table = [row if seat == player else row.hidden(points=not votes) for seat, row in enumerate(table)]
        table[player] = table[player]._replace(tokens=HIDDEN if counted else None)
        counted = False  # the order would tell the standing
    return View(
        game.tiles(state)[0].numpy(force=True),
        _title(game, state),
        public=state.public[0].tolist() if int(state.turn) else None,
        table=sorted(table, key=lambda row: -int(row.points)) if counted else table,
    )


def _title(game: GridAdaptation, state: GridState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"After round {game.rounds}: {game.info.players[int(state.candidate)]} is the Elimination Candidate"
    if number > game.rounds:
        return "The vote for the Elimination Candidate"
    return f"Round {number} of {game.rounds}"


# ---------------------------------------------------------------- the board, in units of one cell


def _draw_board(view: View, size: float) -> Iterator[Shape]:
    """Yield everything inside the frame; `size` units of the picture are one cell."""
    board, before = view.board, view.before
    height, width = board.shape
    for row in range(1, height):
        yield Polyline(((0, row), (width, row)), _PALE, 1 / size, 0.3)
    for col in range(1, width):
        yield Polyline(((col, 0), (col, height)), _PALE, 1 / size, 0.3)
    put, born, died = view.changes()
    for row, col in np.argwhere(died).tolist():
        yield from _draw_ghost(col, row, -1 if before is None else int(before[row, col]))
    for row, col in np.argwhere(board >= 0).tolist():
        yield from _draw_tile(col, row, int(board[row, col]), bool(born[row, col]))
    for row, col in np.argwhere(put).tolist():
        corner = ((col + 0.03, row + 0.03), (col + 0.34, row + 0.03), (col + 0.03, row + 0.34))
        yield Polygon(corner, _RING, _BOARD, 0.04)


def _draw_tile(x: float, y: float, sequence: int, born: bool) -> Iterator[Shape]:
    """Yield a square, or a ringed disc, with a bar for each 1 and a dot for each 0."""
    fill = COLOURS[sequence]
    if born:
        yield Circle(x + 0.5, y + 0.5, 0.43, fill, _RING, 0.09)
    else:
        yield Rectangle(x + 0.07, y + 0.07, 0.86, 0.86, fill, mix(fill, _RING, 0.35), 0.03)
    digit = _DIGIT[_light(fill) > 0.3]
    for place, value in enumerate(bits(sequence)):
        middle = x + 0.5 + 0.19 * (place - 1)
        if value == "1":
            yield Rectangle(middle - 0.05, y + 0.31, 0.1, 0.38, digit)
        else:
            yield Circle(middle, y + 0.5, 0.05, digit)


def _light(colour: str) -> float:
    """Return the luminance of a colour from 0 to 1, roughly."""
    weights = zip((1, 3, 5), (0.21, 0.72, 0.07), strict=True)
    return sum(share * float((int(colour[i : i + 2], 16) / 255) ** 2.2) for i, share in weights)


def _draw_ghost(x: float, y: float, sequence: int) -> Iterator[Shape]:
    """Yield a pale square with a cross; white where the sequence is not known (-1)."""
    fill = _BOARD if sequence < 0 else mix(COLOURS[sequence], _BOARD, 0.68)
    yield Rectangle(x + 0.14, y + 0.14, 0.72, 0.72, fill)
    for slope in (1, -1):
        ends = ((x + 0.28, y + 0.5 - 0.22 * slope), (x + 0.72, y + 0.5 + 0.22 * slope))
        yield Polyline(ends, _CROSS, 0.07)


# ---------------------------------------------------------------- around the board


def _sample(x: float, y: float, shapes: Iterator[Shape]) -> Inset:
    """Return a single cell as a sign of what words beside it mean, its left edge at x and its middle at y."""
    return Inset(x, y - _SIGN / 2, Picture(1, 1, None, tuple(shapes)), _SIGN)


def _draw_public(public: Sequence[int] | None, left: float) -> Iterator[Shape]:
    """Yield a line a sequence: its tile, its digits, and a bar as long as its points."""
    heading, most = _TITLES[0], max(1, *(public or (0,)))
    yield Text(left, _TOP + 4, heading, 13, _PALE)
    for sequence in range(len(COLOURS)):
        y = _TOP + 24 + _ROW * sequence
        yield _sample(left, y, _draw_tile(0, 0, sequence, False))
        yield Text(left + 32, y + 5, bits(sequence), 14, _INK)
        if public is not None:
            length = 230 * public[sequence] / most
            yield Rectangle(left + 68, y - 8, max(1.0, length), 16, COLOURS[sequence], mix(_STONE, _INK, 0.5), 1)
            yield Text(left + 78 + length, y + 5, str(public[sequence]), 14, _INK)


_ONE, _NO = np.zeros((1, 1), np.int8), np.full((1, 1), -1, np.int8)
_SIGNS = {
    "tiles": View(_ONE),
    "placed": View(_ONE, placed=np.ones((1, 1), np.bool_)),
    "born": View(_ONE, before=_NO),
    "died": View(_NO, before=_ONE),
}


def _draw_changes(counts: dict[str, int], left: float) -> Iterator[Shape]:
    """Yield the counts of tiles on the board, and of those placed, born and dead, a sign and a number each."""
    y = _TOP + 40 + _ROW * len(COLOURS)
    for place, (word, count) in enumerate(counts.items()):
        x = left + place * _PANEL / 4
        yield _sample(x, y, _draw_board(_SIGNS[word], _SIGN))
        yield Text(x + 27, y + 5, f"{word} {count}", 13, _INK)


def _draw_table(table: Sequence[Row], left: float) -> Iterator[Shape]:
    if not table:
        return
    top = _TOP + 84 + _ROW * len(COLOURS)
    yield Text(left, top, "player", 13, _PALE)
    for heading, right in _COLUMNS:
        yield Text(left + right, top, heading, 13, _PALE, "end")
    for place, row in enumerate(table):
        y = top + 20 + _ROW * place
        if row.candidate:
            yield Rectangle(left - 8, y - _ROW / 2, _PANEL + 12, _ROW, _DOOMED)
        bold = bool(row.tokens)
        yield Text(left, y + 5, row.player, fitted(row.player, 14, 78), _INK, bold=bold)
        if isinstance(row.sequence, int):
            yield _sample(left + 86, y, _draw_tile(0, 0, row.sequence, False))
        yield Text(left + 116, y + 5, bits(row.sequence), 14, _INK)
        for (_, right), value in zip(_COLUMNS, _numbers(row), strict=True):
            yield Text(left + right, y + 5, value, 14, _INK, "end", bold)
    doomed = [row.player for row in table if row.candidate]
    if doomed:
        words = f"Elimination Candidate: {', '.join(doomed)}"
        yield Text(left, top + 24 + _ROW * len(table), words, fitted(words, 14, _PANEL), _INK, bold=True)


def _numbers(row: Row) -> list[str]:
    """Return the numbers of a row in the order of `_COLUMNS`."""
    values = {**row._asdict(), "tokens": "-" if row.tokens is None else row.tokens}
    return [str(values[heading]) for heading, _ in _COLUMNS]


# ---------------------------------------------------------------- as text


def text(view: View) -> str:
    """Return one moment for a terminal: a digit from 0 to 7 and a mark a cell."""
    board = view.board
    put, born, died = view.changes()
    marks = np.select([born, put], ["+", "'"], " ")
    tiles = np.where(board >= 0, board.astype(str), np.where(died, "x", "."))
    margin = len(str(board.shape[0] - 1))
    lines = [view.title, ", ".join(f"{word} {count}" for word, count in view.counts().items())]
    lines[1] += "; 5 is a tile of 101, 5+ a born one, 5' a placed one, x one that died"
    lines.append(" " * (margin + 1) + "".join(f"{col:<4}" for col in range(0, board.shape[1], 2)).rstrip())
    for row, (digits, signs) in enumerate(zip(tiles.tolist(), marks.tolist(), strict=True)):
        cells = "".join(digit + sign for digit, sign in zip(digits, signs, strict=True))
        lines.append(f"{row:>{margin}} {cells}".rstrip())
    if view.public is not None:
        lines.append(f"{_TITLES[0]}: " + ", ".join(f"{bits(n)} {points}" for n, points in enumerate(view.public)))
    lines += _table_lines(view.table)
    return "\n".join([*lines, *(view.panel.lines() if view.panel is not None else ())])


def _table_lines(table: Sequence[Row]) -> Iterator[str]:
    if not table:
        return
    wide = max(len("player"), *(len(row.player) for row in table))
    yield f"{'player':<{wide}} sequence " + " ".join(f"{heading:>8}" for heading, _ in _COLUMNS)
    for row in table:
        numbers = " ".join(f"{value:>8}" for value in _numbers(row))
        doomed = "  Elimination Candidate" if row.candidate else ""
        yield f"{row.player:<{wide}} {bits(row.sequence):<8} {numbers}{doomed}"
