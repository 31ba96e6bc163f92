"""Games with Life in them played again at the same time, and measured at the moments that count.

Cloth of Gold and Grid Adaptation are shown after every round, the Toroidal Cup at some generations between start and
end. Moves are checked; that results are as recorded is checked by `arena.records.replays.verify`.

Letters: `n` games of a moment, `H, W` rows and columns, `P` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import stepped
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError
from cellgames.utils.report.plots import COLOURS, FAINT, INK, Curve, draw_title, label_ends, line_style, remove_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats: TypeAlias = npt.NDArray[np.float64]

_BATCH = 64
_FRAMES = 24  # generations of the Cup that are shown, beside the first


@dataclass(frozen=True)
class Moment:
    """The games of a batch at one time.

    Attributes:
        time: The round, or the generation.
        games: int64 [n], indices of the records.
        board: int8 [n, H, W], whose each live cell is: 0 nobody's or dead, else the seat + 1, or in Grid Adaptation the
            tile's sequence + 1.
        live: Bool [n, H, W].
        last: Bool [n], the games that are over then.
        measures: Measures by name, float64 [n, P], or [n, 1] if they belong to no seat.
    """

    time: int
    games: npt.NDArray[np.int64]
    board: npt.NDArray[np.int8]
    live: npt.NDArray[np.bool_]
    last: npt.NDArray[np.bool_]
    measures: dict[str, Floats]


# ---------------------------------------------------------------- by game


def _cloth(game: Any, records: Sequence[Record]) -> Iterator[Moment]:
    """Yield moments after every round; round 0 is the initial placement."""
    from cellgames.envs.cloth_of_gold.state import COLUMNS

    for step in stepped(game, records):
        closed = ((step.after.round != step.before.round) | step.after.done) & ~step.before.done  # type: ignore[attr-defined]
        rows = closed.nonzero().flatten()
        for time in sorted(set(step.before.round[rows].tolist())):  # type: ignore[attr-defined]
            here = rows[step.before.round[rows] == time]  # type: ignore[attr-defined]
            state = step.after[here]
            columns = dict(zip(COLUMNS, state.rounds[:, time].t().double().numpy(), strict=True))  # type: ignore[attr-defined]
            board = game.board(state).numpy()
            yield Moment(
                time=time,
                games=np.array([step.rows[row] for row in here.tolist()]),
                board=np.where(board <= 2, board, 0).astype(np.int8),
                live=(board > 0) & (board <= 3),  # killed cells are nobody's neighbours
                last=state.done.numpy(),
                measures={
                    "units": np.stack((columns["units_a"], columns["units_b"]), 1),
                    "territory": np.stack((columns["territory_a"], columns["territory_b"]), 1),
                    "contested": columns["contested"][:, None],
                    "killed": columns["killed"][:, None],
                },
            )


def _cup(game: Any, records: Sequence[Record]) -> Iterator[Moment]:
    """Yield moments at generations that grow by about a factor, the same for all games of a batch, and at the ends."""
    starts: dict[int, Tensor] = {}
    for step in stepped(game, records):
        for row in step.after.done.nonzero().flatten().tolist():
            starts[step.rows[row]] = step.after.start[row]  # type: ignore[attr-defined]
    numbers = sorted(starts)
    for first in range(0, len(numbers), _BATCH):
        chosen = numbers[first : first + _BATCH]
        steps = np.geomspace(1, max(game.max_generations, 2), _FRAMES)
        times = [0, *sorted({round(step) for step in steps.tolist()})]
        result = game.life(torch.stack([starts[number] for number in chosen]), keep=times)
        ends = result.generations.numpy()
        seats = np.arange(1, game.teams + 1)
        for time in [*(time for time in times if time < ends.max()), -1]:
            board = (result.board if time < 0 else result.boards[time]).numpy()
            going = np.flatnonzero(ends > time) if time >= 0 else np.arange(len(chosen))
            for end in [time] if time >= 0 else sorted(set(ends.tolist())):
                here = going if time >= 0 else np.flatnonzero(ends == end)
                if not len(here):
                    continue
                cells = (board[here, None] == seats[:, None, None]).sum((2, 3)).astype(float)
                share = 100 * cells / np.maximum(cells.sum(1, keepdims=True), 1)
                yield Moment(
                    time=int(end),
                    games=np.array(chosen)[here],
                    board=board[here],
                    live=board[here] > 0,
                    last=np.full(len(here), time < 0),
                    measures={"live cells": cells, "share in %": share},
                )


def _grid(game: Any, records: Sequence[Record]) -> Iterator[Moment]:
    """Yield moments after every round."""
    for step in stepped(game, records):
        rows = game.places_tiles(step.before).nonzero().flatten()
        for time in sorted(set(step.before.round[rows].tolist())):  # type: ignore[attr-defined]
            here = rows[step.before.round[rows] == time]  # type: ignore[attr-defined]
            before, after = step.before[here], step.after[here]
            board = game.tiles(after).numpy()
            live = board >= 0
            yield Moment(
                time=time,
                games=np.array([step.rows[row] for row in here.tolist()]),
                board=(board + 1).astype(np.int8),
                live=live,
                last=np.full(len(board), time == game.rounds),
                measures={
                    "points of the round": (after.scores - before.scores).double().numpy(),
                    "tiles": live.sum((1, 2)).astype(float)[:, None],
                },
            )


@dataclass(frozen=True)
class LifeSeries:
    """A way to look at the boards of a game in which Life runs, over time. `SERIES` has one for each.

    Attributes:
        moments: Function of a game and its records to the moments that count; a `ReplayError` if a record does not
            play.
        unit: What times count.
        wrap: True if the board is a torus.
        seats_own: True if a live cell belongs to a seat.
        remark: A sentence for the report about the objects found.
    """

    moments: Callable[[Any, Sequence[Record]], Iterator[Moment]]
    unit: Literal["round", "generation"] = "round"
    wrap: bool = False
    seats_own: bool = True
    remark: str = ""


CLOTH_OF_GOLD = LifeSeries(
    _cloth,
    remark="Objects are named as if both sides were one and nothing was killed: in the game, units of two sides that "
    "meet may do otherwise.",
)
TOROIDAL_CUP = LifeSeries(_cup, unit="generation", wrap=True)
GRID_ADAPTATION = LifeSeries(_grid, seats_own=False)  # nobody knows whose a tile is, and it has a sequence

SERIES = {
    "cloth-of-gold-v0": CLOTH_OF_GOLD,
    "toroidal-cup-v0": TOROIDAL_CUP,
    "grid-adaptation-v0": GRID_ADAPTATION,
}
"""The games in which Life runs, by id; other packages may add theirs."""


def life_series(game: Game) -> LifeSeries | None:
    """Return the way to look at the game's boards over time; None for a game without Life."""
    return SERIES.get(game.id)


def moments(game: Game, records: Sequence[Record]) -> Iterator[Moment]:
    """Yield the games of records, all of the rules of `game`, at the moments that count.

    Raises:
        ValueError: A game without Life.
        ReplayError: A record that does not play.
    """
    if (series := life_series(game)) is None:
        raise InputError("game", f"one of {', '.join(sorted(SERIES))}", game.id)
    yield from series.moments(game, records)


# ---------------------------------------------------------------- curves


def curves(
    figure: Figure, title: str, steps: Sequence[float], parts: Sequence[tuple[str, Sequence[Curve]]], axis: str
) -> None:
    """Draw plots below each other over the same steps; `parts` holds the name and the curves of each."""
    from matplotlib.ticker import EngFormatter

    tall = 2.1
    width, height = 7.6, 0.95 + (tall + 0.25) * len(parts)
    figure.set_size_inches(width, height)
    for number, (name, lines) in enumerate(parts):
        y = height - 0.6 - number * (tall + 0.25) - tall + 0.1
        axes = figure.add_axes((0.75 / width, y / height, 4.6 / width, tall / height))
        remove_frame(axes)
        axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
        for place, line in enumerate(lines):
            colour = COLOURS[place % len(COLOURS)]
            axes.fill_between(steps, line.low, line.high, color=colour, alpha=0.16, linewidth=0)
            axes.plot(steps, line.values, linewidth=1.8, markersize=3.5, **line_style(place))
        axes.set_ylabel(name, fontsize=9, color=INK)
        axes.tick_params(labelsize=8)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        if number + 1 < len(parts):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel(axis, fontsize=9, color=INK)
        label_ends(axes, lines, tall)
    draw_title(figure, title)
