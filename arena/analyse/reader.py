"""The meaning of a game's moves for an analysis: its openings, and the cells that were claimed.

A reader knows how a game writes its moves and numbers its cells, never its rules. Games without one of their own
(`GamePlugin.reader`) have openings, their first moves, and no heat maps.

Records are read from files and run folders, and grouped by game.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from cellgames.arena.records.record_lines import Record, RecordError, read_records, records_file
from cellgames.arena.records.replays import game_of
from cellgames.arena.stats.ratings import standing_points
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")
Values = npt.NDArray[np.float64]

_MOST_SYMMETRIES = 1 << 24  # numbers of a table of symmetries by actions
_MARGIN = 0.05  # around cells
_MOST = 50  # rows or columns that are drawn one by one; of more, several make one block


class Opening(NamedTuple):
    """The beginning of a game, step by step; openings that begin alike are one branch of a tree.

    Attributes:
        steps: Names, up to symmetry, each of which stands below the one before it.
        seats: Seat that made each step.
        forced: Number of first steps that nobody chose.
    """

    steps: tuple[str, ...]
    seats: tuple[int, ...]
    forced: int


class Placed(NamedTuple):
    """A cell that a seat claimed.

    Attributes:
        frame: Index of `Reader.frames`, whose layout numbers the cell.
        phase: Index of `Reader.phases`.
    """

    frame: int
    seat: int
    phase: int
    cell: int


@dataclass(frozen=True)
class Layout:
    """A board in a plot.

    Attributes:
        names: names of the cells, `N` of them.
        outlines: corners of each cell, or block of cells, whose mean is its middle; y grows downwards.
        blocks: the outline of each cell, where several cells make one block; () if each has its own.
        block: number of rows and columns that are drawn as one.
    """

    names: tuple[str, ...]
    outlines: tuple[tuple[tuple[float, float], ...], ...]
    blocks: tuple[int, ...] = ()
    block: int = 1

    @classmethod
    def rectangle(cls, names: tuple[str, ...], rows: int, cols: int) -> Layout:
        """Return a board of rows of cells; cell = row * cols + col."""
        side = -(-max(rows, cols) // _MOST)
        down, across = -(-rows // side), -(-cols // side)
        corners = [
            (side * left, side * top, min(side * (left + 1), cols), min(side * (top + 1), rows))
            for top in range(down)
            for left in range(across)
        ]
        blocks = tuple(row // side * across + col // side for row in range(rows) for col in range(cols))
        outlines = tuple(((left, top), (right, top), (right, low), (left, low)) for left, top, right, low in corners)
        return cls(names, outlines, blocks, side)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The least and the greatest x, and the least and the greatest y."""
        columns, rows = zip(*(corner for outline in self.outlines for corner in outline), strict=True)
        return min(columns), max(columns), min(rows), max(rows)

    @property
    def aspect(self) -> float:
        """Width over height."""
        left, right, top, bottom = self.extent
        return (right - left) / (bottom - top)

    def shown(self, values: Values) -> Values:
        """Return the numbers as they are drawn; the cells of a block are added up."""
        return np.asarray(np.bincount(self.blocks, values, len(self.outlines)) if self.blocks else values)

    def draw(self, axes: Axes, values: Values, **style: Any) -> Any:
        """Draw a number of each cell, [N], as a colour (`cmap`, `norm`); return what a colour bar takes."""
        from matplotlib.collections import PolyCollection

        shapes, shown = [np.array(outline) for outline in self.outlines], self.shown(values)
        drawn = PolyCollection(shapes, array=shown, edgecolors="#ffffff", linewidths=0.4, **style)
        axes.add_collection(drawn)
        left, right, top, bottom = self.extent
        axes.set(xlim=(left - _MARGIN, right + _MARGIN), ylim=(bottom + _MARGIN, top - _MARGIN), aspect="equal")
        axes.set(xticks=[], yticks=[])
        return drawn


@dataclass(frozen=True)
class Frame:
    """A way to number cells.

    Attributes:
        name: `board`, or the cell from which the others are counted.
        title: Title in plots.
        layout: Layout of the cells.
        marked: The cell from which the others are counted; -1 for none.
    """

    name: str
    title: str
    layout: Layout
    marked: int = -1


class Reader:
    """A reader of any game: an opening is its first moves up to symmetry, and no cells are known.

    Args:
        game: The game with its parameters.
    """

    depth = 4
    """Steps of an opening, at most."""

    frames: tuple[Frame, ...] = ()
    phases: tuple[str, ...] = ()

    def __init__(self, game: Game) -> None:
        self.game = game
        self.action = cache(game.string_to_action)  # there are few names and many moves

    @property
    def about(self) -> str:
        """A sentence on what an opening is in this game."""
        alike = " Openings that symmetries of the board turn into each other are one." if self._alike.size else ""
        if self.game.info.simultaneous:
            return "An opening is the first action of a seat."
        return f"An opening is the first {self.depth} moves of a game.{alike}"

    def openings(self, record: Record) -> Iterator[Opening]:
        """Yield one opening of a game with moves, or one of each seat if all act at once."""
        if self.game.info.simultaneous:
            for seat, name in enumerate(self.by_seat(record.moves[0])):
                yield Opening((name,), (seat,), min(1, record.opening))
            return
        moves = record.moves[: max(self.depth, record.opening + 1)]
        steps = tuple(map(self.game.action_to_string, self.canonical([self.action(move) for move in moves])))
        seats = tuple(ply % self.game.info.num_players for ply in range(len(moves)))  # they take turns
        yield Opening(steps, seats, min(record.opening, len(moves)))

    def placed(self, record: Record) -> Iterator[Placed]:
        """Yield all cells that agents chose, without those of forced openings."""
        return iter(())

    def by_seat(self, move: str) -> list[str]:
        """Return the actions of a turn in which all act at once; raise a `ValueError` unless each seat has one."""
        names, seats = move.split(" "), self.game.info.num_players
        if len(names) != seats:
            raise InputError("names", f"{seats} actions in a turn", len(names))
        return names

    def canonical(self, actions: Sequence[int]) -> list[int]:
        """Return the first actions as they are in the least of all games that symmetries make of this one.

        The least sequence counts, first action first, so the beginning of a canonical sequence is canonical.
        """
        if not len(actions) or not self._alike.size:
            return list(actions)
        rows = self._alike[:, list(actions)]
        for place in range(len(actions)):
            rows = rows[rows[:, place] == rows[:, place].min()]
        return [int(action) for action in rows[0]]

    @cached_property
    def _alike(self) -> npt.NDArray[np.int64]:
        """Image of each action under the symmetries that keep the game's start and seats, int64 [S, A].

        The array is empty for games with no symmetry but the identity, or with too many to list.
        """
        game, count, actions = self.game, self.game.symmetries, self.game.info.num_actions
        if count == 1 or game.info.simultaneous or count * actions > _MOST_SYMMETRIES:
            return np.empty((0, actions), dtype=np.int64)
        start = game.init(torch.zeros(1, dtype=torch.int64, device="cpu"))
        seen = game.observe(start, start.current_player)
        which = torch.arange(count, device="cpu")
        numbers = torch.arange(actions, device="cpu").expand(count, -1)
        moved, source = game.transform(seen.expand(count, *seen.shape[1:]), numbers, which)
        keeps = (moved == seen).flatten(1).all(1)  # a symmetry that exchanges seats shows another player's view
        return source[keeps].argsort(1).numpy()


def read_all(game: Game, records: Sequence[Record], read: Callable[[Record], Iterator[T]]) -> Iterator[list[T]]:
    """Yield the results of a reader's method for each record, less games from a position and those without moves.

    Raises:
        RecordError: A record has moves that the game does not know; the message says which of the games it is.
    """
    for number, record in enumerate(records, 1):
        try:
            found = [] if record.position or not record.moves else list(read(record))
        except (ValueError, LookupError) as error:
            cause = "`cellgames replay` checks every move"
            raise RecordError(f"game {number} of {game}", "moves of this game", str(error), cause) from None
        yield found


def make_reader(game: Game) -> Reader:
    """Return the reader of the game's plugin, else one that knows its openings only."""
    reader: Reader = resolve(plugin_of(game).reader or Reader)(game)
    return reader


@dataclass(frozen=True)
class Games:
    """Games with the same rules.

    Attributes:
        game: The game with its parameters.
        records: The records in the order of the files, without those that ended by a forfeit, which say little about
            how the game is played.
        forfeited: Number of records that ended by a forfeit.
    """

    game: Game
    records: tuple[Record, ...]
    forfeited: int = 0


def read_paths(paths: Sequence[PathLike], warn: Callable[[str], None] = lambda message: None) -> list[Record]:
    """Return all records of files, and of folders that runs of the arena have written (their `games.jsonl`).

    Raises:
        RecordError: A file without records, or a line that is not a record; the message names file and line.
        OSError: A file cannot be read.
    """
    from cellgames.arena.season.cup import recognises

    found: list[Record] = []
    for path in map(records_file, paths):
        with path.open("rb") as file:
            if recognises(file.readline()):
                raise RecordError(
                    f"{path} holds games of a season without agents: arrangements, and no moves to analyse; give "
                    "games of agents, such as those of `cellgames free-for-all`"
                )
        reading = read_records(path)
        if reading.torn:
            warn(reading.torn)
        if not reading.records:
            raise RecordError(path, "records", "none")
        found += reading.records
    return found


def grouped(records: Iterable[Record]) -> list[Games]:
    """Return the records by game and parameters, in the order of their first ones.

    Raises:
        ReplayError: No such game or parameter.
        RecordError: A record tells of more or fewer seats than its game has.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(json.dumps([record.game, record.parameters], sort_keys=True), []).append(record)
    found = []
    for group in groups.values():
        game = game_of(group[0])
        seats = game.info.num_players
        if wrong := [record for record in group if len(record.agents) != seats]:
            expected = f"agents, outcomes and scores of {seats} seats"
            raise RecordError(f"a game of {game}", expected, len(wrong[0].agents), "was the file changed?")
        played = tuple(without_forfeits(group))
        found.append(Games(game, played, len(group) - len(played)))
    return found


def without_forfeits(records: Iterable[Record]) -> list[Record]:
    """Return the games that came to their ends."""
    return [record for record in records if record.result.forfeit is None]


def agents_of(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the names of all agents, sorted."""
    return tuple(sorted({name for record in records for name in record.agents}))


def scores(record: Record) -> tuple[float, ...]:
    """Return the score of each seat, from 0 to 1.

    In games for two a win is 1 and a draw 1/2; in larger ones it is the share of the other seats that have a lower
    final score, a tie half.
    """
    if len(record.agents) == 2:
        return tuple({"win": 1.0, "draw": 0.5, "loss": 0.0}[outcome] for outcome in record.result.outcome)
    return tuple(standing_points(record))
