"""The reader of Grid Adaptation: the tiles of round 1 as a shape, and the spaces named in every round."""

from __future__ import annotations

import math
from collections.abc import Iterator

from typing_extensions import override

from cellgames.arena.records.record_lines import Record
from cellgames.envs.boards.orientations import Cell
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.game import GridAdaptation

from . import cell_shapes as shapes
from .layouts import Layout
from .reader import Frame, Opening, Placed, Reader

_APART = 4  # rows or columns that a shape of three tiles spans at most
_NONE = "none"
_RINGS = ("in the middle", "halfway", "at the edge")


class GridReader(Reader):
    """A reader of Grid Adaptation; an opening is the shape of a player's tiles of round 1, and how central they lie."""

    depth = 2

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert isinstance(game, GridAdaptation)
        self.size, self.rounds = game.size, game.rounds
        self._steps = game.steps_a_round
        names = tuple(f"r{cell // self.size}c{cell % self.size}" for cell in range(self.size**2))
        self._cells = {name: cell for cell, name in enumerate(names)}
        self.frames = (Frame("board", "the board", Layout.rectangle(names, self.size, self.size)),)
        self.phases = tuple(f"round {number}" for number in range(1, self.rounds + 1))

    @property
    @override
    def about(self) -> str:
        return (
            "An opening is the tiles that a player names in round 1: first their shape, however it is turned and "
            "wherever it lies, then the place of their centre. Every seat of every match has one."
        )

    def spaces(self, action: str) -> list[int]:
        """Return the spaces that an action names, the reserve tile's last."""
        tiles, _, reserve = action.partition("/")[0].partition("+")
        names = [*tiles.split(","), *([reserve] if reserve else [])]
        return [self._cells[name] for name in names if name != _NONE]

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        if record.position or not record.moves:
            return
        first = min(self._steps - 1, len(record.moves) - 1)
        for seat, action in enumerate(self.by_seat(record.moves[first])):
            cells = [divmod(space, self.size) for space in self.spaces(action)]
            steps = (self.shape(cells), self.ring(cells)) if cells else ("nothing",)
            yield Opening(steps, (seat,) * len(steps), len(steps) if record.opening > first else 0)

    def shape(self, cells: list[Cell]) -> str:
        """Return rows of `o` and `.`, or `n tiles apart`."""
        spans = [max(axis) - min(axis) + 1 for axis in zip(*cells, strict=True)]
        form = shapes.canonical(cells)
        return shapes.text(form) if max(spans) <= _APART else f"{len(form)} tiles apart"

    def ring(self, cells: list[Cell]) -> str:
        """Return the third of the way from the board's middle to its edge in which the cells' centre lies."""
        middle = (self.size - 1) / 2
        centre = (math.fsum(axis) / len(cells) for axis in zip(*cells, strict=True))
        share = max(abs(place - middle) for place in centre) / (self.size / 2)
        return _RINGS[min(2, int(3 * share))]

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        # Of spaces named, whether or not a tile came to lie there.
        if record.position:
            return
        for turn, move in enumerate(record.moves[: self.rounds * self._steps]):
            if turn >= record.opening:
                for seat, action in enumerate(self.by_seat(move)):
                    yield from (Placed(0, seat, turn // self._steps, space) for space in self.spaces(action))
