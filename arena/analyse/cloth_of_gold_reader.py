"""The reader of Cloth of Gold: the shapes that players begin with, and the cells they fill, round by round."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from typing_extensions import override

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game

from . import cell_shapes as shapes
from .layouts import Layout
from .reader import Frame, Opening, Placed, Reader

_REACH = 2  # king's moves between cells of one shape
_LATER = (1, 2, 4, 8)  # rounds that begin another phase
_MOST = 4  # shapes that are named of a turn


class Turn(NamedTuple):
    """A player's turn.

    Attributes:
        seat: Whose.
        round: 0 is the initial placement.
        cells: Filled when it ended, in the order of their numbers.
        forced: True if a part of it was not the player's choice.
    """

    seat: int
    round: int
    cells: tuple[int, ...]
    forced: bool


class ClothReader(Reader):
    """A reader of Cloth of Gold; an opening is both players' first turns as shapes, wherever they stand."""

    depth = 2
    phases = ("initial placement", "round 1", "rounds 2 and 3", "rounds 4 to 7", "later rounds")

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.height, self.width = (int(game.parameters[name]) for name in ("height", "width"))
        self.first = 0 if game.parameters["initial_placement"] else 1
        names = tuple(game.action_to_string(cell) for cell in range(self.height * self.width))
        self.frames = (Frame("board", "the world", Layout.rectangle(names, self.height, self.width)),)

    @property
    @override
    def about(self) -> str:
        return (
            "An opening is the first turn of player_a and the answer of player_b, as shapes: cells within two king's "
            "moves of each other are one shape, however it is turned and wherever it stands."
        )

    def turns(self, record: Record) -> Iterator[Turn]:
        """Return all turns that were ended."""
        number, first, cells = 0, 0, set[int]()
        for ply, move in enumerate(record.moves):
            if move != "end":
                cells ^= {self.action(move)}  # named again, a cell is taken back
                continue
            seat, lap = number % 2, number // 2
            yield Turn(seat, lap + self.first, tuple(sorted(cells)), first < record.opening)
            number, first, cells = number + 1, ply + 1, set()

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        if record.position:
            return
        turns = [turn for turn, _ in zip(self.turns(record), range(self.depth), strict=False)]
        if turns:
            steps = tuple(self.shapes_of(turn.cells) for turn in turns)
            yield Opening(steps, tuple(turn.seat for turn in turns), sum(turn.forced for turn in turns))

    def shapes_of(self, cells: tuple[int, ...]) -> str:
        """Return a text such as `2 glider + block`: the most frequent shapes, and how many more there are."""
        found = Counter(map(shapes.named, shapes.groups([divmod(cell, self.width) for cell in cells], _REACH)))
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        parts = [f"{count} {name}" if count > 1 else name for name, count in ordered]
        more = len(parts) - _MOST
        return " + ".join(parts[:_MOST] + ([f"{more} more shapes"] if more > 0 else [])) or "nothing"

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        if record.position:
            return
        for turn in self.turns(record):
            if not turn.forced:
                phase = bisect.bisect_right(_LATER, turn.round)
                yield from (Placed(0, turn.seat, phase, cell) for cell in turn.cells)
