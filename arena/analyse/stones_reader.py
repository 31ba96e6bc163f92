"""The base of the readers of Torus, Hex and Y: one stone a turn, and answers seen from the opponent's last stone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from typing_extensions import override

from cellgames.arena.records.record_lines import Record

from .reader import Placed, Reader

__all__ = ["StonesReader"]

_LATER = (1, 3, 8)  # own moves of a seat before each phase but the first


class StonesReader(Reader):
    """A reader of a game of connected stones; its first frame is the board."""

    phases = ("move 1", "moves 2 and 3", "moves 4 to 8", "later moves")

    @abstractmethod
    def seen_from(self, cell: int, other: int) -> tuple[int, int] | None:
        """Return a frame, and a cell there when the board is moved so that `other` comes to the frame's marked cell.

        None stands for a cell that is too far away.
        """

    def stones(self, actions: Sequence[int]) -> Iterator[int | None]:
        """Yield the cell of each action's stone; None where an action only changes a stone."""
        yield from actions

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        if record.position:  # whose turn it was there is not known
            return
        last = -1
        for ply, cell in enumerate(self.stones([self.action(move) for move in record.moves])):
            if ply >= record.opening and cell is not None:
                seat, phase = ply % 2, sum(ply // 2 >= own for own in _LATER)
                yield Placed(0, seat, phase, cell)
                if last >= 0 and (seen := self.seen_from(cell, last)):
                    yield Placed(seen[0], seat, phase, seen[1])
            last = self.last_stone(last) if cell is None else cell

    def last_stone(self, before: int) -> int:
        """Return the cell of the last stone after an action that only changed it."""
        return before
