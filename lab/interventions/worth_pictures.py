"""Explanations drawn: the worth of cells on the board.

Green is worth something to its own player, magenta harms it, and the more the darker. A dark frame stands for what
decided the game: without it the outcome would have been another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.envs.core.drawing import Circle, Inset, Picture, Rectangle, Shape, Text, fitted, headed, mix
from cellgames.envs.registry import board_title
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.utils.errors import InputError

from .effects import Effect, Explanation

if TYPE_CHECKING:
    pass

WORTH, HARM = "#1b7837", "#c51b7d"
"""Colours of what helps and of what harms its own player; both are told apart in every kind of colour vision."""

LAYERS = {"cell": ("cell", "empty"), "empty": ("cell", "empty")}
"""Kinds that are drawn on one board; every other kind has its own."""

_INK, _PAPER, _NONE = "#1d1a16", "#fffdf8", "#ffffff"
_WORDS = {("cell", "empty"): "cell, live or empty,", ("empty",): "empty cell", ("move",): "place, seen from others,"}
_LEGEND = 62.0
_MOST_LABELS = 40  # effects whose numbers stand on the board
_STEPS = 24  # shades of a colour


def colour_of(worth: float, most: float, ground: str = _NONE) -> str:
    """Return the colour of a worth; `most` has the darkest one. Shades follow its square root, to show small ones."""
    share = min(1.0, abs(worth) / most) ** 0.5 if most > 0 else 0.0
    return mix(ground, WORTH if worth > 0 else HARM, round(share * _STEPS) / _STEPS)


def draw_worth(explanation: Explanation, kind: str) -> Picture:
    """Return the board with the worth of all effects of a kind, and of the kinds that are drawn with it.

    Raises:
        ValueError: The explanation has no effects of the kind.
    """
    kinds = [name for name in LAYERS.get(kind, (kind,)) if name in explanation.kinds]
    effects = [effect for effect in explanation.effects if effect.kind in kinds]
    if not effects:
        raise InputError("kind", f"a kind out of {', '.join(explanation.kinds)}", kind)
    most = _most(explanation, kinds)
    title = f"{board_title(explanation.game)}: what each {_WORDS.get(tuple(kinds), kinds[0])} was worth to its player"
    board = _board(explanation, kinds, effects, most)
    shown = headed(board, title)
    legend = tuple(_legend(most, explanation.measure, shown.width, shown.height))
    return Picture(
        shown.width, shown.height + _LEGEND, shown.background or _PAPER, (Inset(0, 0, shown), *legend), title
    )


def _most(explanation: Explanation, kinds: Sequence[str]) -> float:
    values = explanation.map(kinds)
    return float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0


def _board(explanation: Explanation, kinds: Sequence[str], effects: Sequence[Effect], most: float) -> Picture:
    game, state = explanation.game, explanation.scenes[kinds[0]]
    deciding = {cell for effect in effects if effect.result for cell in effect.cells}
    if isinstance(game, StoneGame):
        return _draw_stones(game, state, explanation.map(kinds), deciding, most)
    rows, cols = game.info.board.shape[-2:]  # words of Grid Adaptation with talk lie on further planes
    values = explanation.map(kinds).reshape(rows, cols)
    if isinstance(game, ToroidalCup):
        field = "cell" in kinds or "empty" in kinds
        labels = [] if field or "move" in kinds else effects
        return _draw_cup(game, state, tuple(_cells(values, deciding, most, solid=field)), labels)
    return _over(game.draw(state), rows, cols, tuple(_cells(values, deciding, most, solid=False)))


def _draw_cup(game: ToroidalCup, state: Any, shapes: tuple[Shape, ...], labels: Sequence[Effect]) -> Picture:
    """Return an arrangement with shapes on its board; a few effects have their numbers beside them."""
    from cellgames.envs.toroidal_cup import rendering

    view = game.view(state)
    generation = int(state.generations)
    moment = f"generation {generation}" if generation else "the arrangement"
    headline = f"{view.headline.partition(':')[0]}: {moment}"
    drawn = replace(view, headline=headline, results=[""] * game.teams).draw()
    live = state.board[0].numpy()
    dots = tuple(
        Rectangle(col + 0.25, row + 0.25, 0.5, 0.5, rendering.COLOURS[int(live[row, col]) - 1])
        for row, col in np.argwhere(live > 0).tolist()
    )
    words = _numbers(game, labels) if len(labels) <= _MOST_LABELS else ()
    return _over(drawn, game.rows, game.cols, (*shapes, *(() if labels else dots), *words))


def _numbers(game: ToroidalCup, effects: Sequence[Effect]) -> Iterator[Text]:
    """Yield the worth of placements beside their shapes, where they cover neither shapes nor other numbers."""
    size = min(3.2, game.rows / 14)
    taken = np.zeros((game.rows, game.cols), bool)
    for effect in effects:
        taken.reshape(-1)[list(effect.cells)] = True
    for effect in effects:
        words = f"{effect.worth:+.0f}"
        wide, tall = math.ceil(0.6 * size * len(words)), math.ceil(size)
        first, last = _box(game, effect.cells)
        middle = ((first + last + 1) // 2).tolist()
        across = (middle[1] - wide // 2, last[1] + 2, first[1] - wide - 1)
        # Above the shape, below it, at its sides, and further away; each as the upper left cell of the number.
        places = [(first[0] - tall, across[0]), (last[0] + 1, across[0])]
        places += [(middle[0] - tall // 2, at) for at in across[1:]]
        places += [(down, at) for down in (first[0] - tall, last[0] + 1) for at in across[1:]]
        places += [(first[0] - 2 * tall, across[0]), (last[0] + 1 + tall, across[0])]
        inside = [(min(max(y, 0), game.rows - tall), min(max(x, 0), game.cols - wide)) for y, x in places]
        top, left = min(inside, key=lambda at: int(taken[at[0] : at[0] + tall, at[1] : at[1] + wide].sum()))
        taken[top : top + tall, left : left + wide] = True
        yield Text(left, top + 0.85 * size, words, size, _INK, bold=bool(effect.result))


def _box(game: ToroidalCup, cells: Sequence[int]) -> tuple[Any, Any]:
    """Return the upper left and the lower right cell of a shape as arrays [2]; it may go across an edge."""
    board, at = np.array((game.rows, game.cols)), np.stack(np.divmod(np.array(sorted(cells)), game.cols), 1)
    near = (at - at[0] + board // 2) % board - board // 2 + at[0]
    return near.min(0), near.max(0)


def _cells(values: Any, deciding: set[int], most: float, *, solid: bool) -> Iterator[Shape]:
    """Yield the worth of cells in units of one."""
    cols = values.shape[1]
    for row, col in np.argwhere(np.nan_to_num(values) != 0).tolist():
        colour = colour_of(float(values[row, col]), most)
        yield Rectangle(col, row, 1, 1, colour, None if solid else colour, 0.2, opacity=1.0 if solid else 0.85)
    for cell in sorted(deciding):
        row, col = divmod(cell, cols)
        yield Rectangle(col + 0.06, row + 0.06, 0.88, 0.88, None, _INK, 0.13)


def _over(drawn: Picture, rows: int, cols: int, shapes: tuple[Shape, ...]) -> Picture:
    """Return a picture with shapes on its board, whose inset is as wide and as high as the board has cells."""
    for shape in drawn.shapes:
        if isinstance(shape, Inset) and (shape.picture.width, shape.picture.height) == (cols, rows):
            above = Inset(shape.x, shape.y, Picture(cols, rows, None, shapes), shape.scale)
            return replace(drawn, shapes=(*drawn.shapes, above))
    raise InputError("picture", f"a picture with a board of {rows} x {cols} cells")


def _draw_stones(game: StoneGame[Any], state: Any, values: Any, deciding: set[int], most: float) -> Picture:
    view = game.view(state)
    marks: list[Shape] = []
    for cell in np.flatnonzero(np.isfinite(values)).tolist():
        x, y = view.form.centre(cell)
        size = 0.17 if view.form.small(cell) else 0.24
        worth = float(values[cell])
        marks.append(Circle(x, y, size, colour_of(worth, most), _INK, 0.05 if cell in deciding else 0.012))
        ink = "#ffffff" if abs(worth) > 0.5 * most else "#000000"
        words = f"{worth:+.1f}" if abs(worth) >= 0.05 else "0"
        marks.append(Text(x, y + 0.25 * size, words, 0.72 * size, ink, "middle"))
    return view.drawn(view.title, {}, marks, 640.0)


def _legend(most: float, unit: str, width: float, top: float) -> Iterator[Shape]:
    x, y = 26.0, top + 6
    for share in (-1.0, -0.25, -0.05, 0.0, 0.05, 0.25, 1.0):
        words = f"{share * most:+.3g}" if share else "0"
        yield Rectangle(x, y, 22, 16, colour_of(share * most, most), "#857d70", 1.0)
        yield Text(x + 27, y + 13, words, 13, _INK)
        x += 40 + 8 * len(words)
    words = f"{unit}; framed: the outcome hung on it"
    yield Text(26.0, y + 38, words, fitted(words, 13, width - 36), _INK)
