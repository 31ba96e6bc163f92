"""The reader of the Toroidal Cup: where in its band a team puts its first shapes, and how they are turned."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import override

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.game import ToroidalCup

from .layouts import Layout
from .reader import Frame, Opening, Placed, Reader

_PHASES = 4


class CupReader(Reader):
    """A reader of the Cup; an opening is a team's first two placements and the rows and columns between them."""

    depth = 2

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert isinstance(game, ToroidalCup)
        self.lattice = game.lattice
        names = tuple(
            self.game.action_to_string(self.lattice.actions // self._positions * position).partition("/")[0]
            for position in range(self._positions)
        )
        layout = Layout.rectangle(names, self.lattice.down, self.lattice.across)
        self.frames = (Frame("band", "one's own band, a square for each position of a shape's centre", layout),)
        most = game.info.max_turns
        self.phases = tuple(f"shape {number}" for number in range(1, min(most, _PHASES) + 1))
        if most > _PHASES:
            self.phases = (*self.phases[:-1], f"shape {_PHASES} and later")

    @property
    def _positions(self) -> int:
        return self.lattice.down * self.lattice.across

    @property
    @override
    def about(self) -> str:
        return (
            "An opening is the first two placements of a team: the column of the first shape's centre within the "
            "band and its orientation, then how far down (rows wrap) and right of it the second one lies."
        )

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        if record.position or not record.moves:
            return
        moves = [self.by_seat(move) for move in record.moves[: self.depth]]
        for seat, names in enumerate(zip(*moves, strict=True)):
            placed = [self.lattice.centre(self.action(name)) for name in names]
            row, col, orientation = placed[0]
            steps = [f"column {col}/{orientation}"]
            for below, right, turned in placed[1:]:
                down = (below - row) % self.lattice.rows
                down -= self.lattice.rows * (down > self.lattice.rows // 2)
                steps.append(f"{down:+d} rows, {right - col:+d} columns/{turned}")
            yield Opening(tuple(steps), (seat,) * len(steps), min(record.opening, len(steps)))

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        if record.position:
            return
        for turn, move in enumerate(record.moves):
            if turn >= record.opening:
                phase = min(turn, len(self.phases) - 1)
                for seat, name in enumerate(self.by_seat(move)):
                    position = self.action(name) * self._positions // self.lattice.actions
                    yield Placed(0, seat, phase, position)
