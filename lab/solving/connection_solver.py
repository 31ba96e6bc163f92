"""Hex and Y solved where few cells are free: who wins with best play, and by which moves.

**The search.** A side that wins needs some cells for it, its carrier: it wins whatever stands elsewhere. So once the
opponent is known to win after one of the mover's stones, all stones outside that carrier lose as well, and the mover
must play inside the carriers of all wins that are known (Hayward's must-play region). If nothing is left there, the
opponent wins, and its carrier is all of those together.

**Ends.** A player to move wins at once by a cell that connects all sides of its goal. The other player wins if two
cells do so for it, or if its groups and sides are tied by pairs of free cells of which no two share a cell, since it
answers each stone on one of a pair by the other.

Sets of cells are integers; bit i is cell i.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.connection.state import ConnectionState
from cellgames.utils.errors import InputError

MOST_FREE = 16
"""So many cells may be free, at most. From the first move, Hex of size 4 takes seconds, Y of size 5 half a minute."""

_MOST_KNOWN = 1 << 20  # positions that are kept
_FAR = 99


class _Group(NamedTuple):
    """Stones that touch each other: their set, the set of all cells beside them, and the mask of the goal's sides."""

    stones: int
    near: int
    sides: int


class ConnectionSolver:
    """A solver of a board of Hex or Y; `solver` makes one for each game. Swaps are judged at the first two turns.

    Attributes:
        nodes: positions that have been looked at.
    """

    def __init__(self, game: ConnectionGame) -> None:
        self.game = game
        self.nodes = 0
        board = game.layout
        self._near = [_set(around) for around in board.neighbours]
        self._sides, self._goals = board.sides, board.goals
        self._goal_sides = [[side for side in (1, 2, 4, 8) if goal & side] for goal in board.goals]
        self._of_side = {side: _set(c for c, sides in enumerate(board.sides) if sides & side) for side in (1, 2, 4, 8)}
        self._all = (1 << board.cells) - 1
        self._known: dict[tuple[int, int, int], tuple[bool, int]] = {}

    def wins(self, state: ConnectionState) -> bool:
        """Return True if the player to move wins the unfinished game of a batch of one with best play.

        Raises:
            ValueError: more than `MOST_FREE` cells are free.
        """
        check_solvable(self.game, state)
        if self.game.swap and int(state.turn) < 2:
            return any(won for _, won in self.judged(state))
        return self._search(*self._stones(state))[0]

    def winning_moves(self, state: ConnectionState) -> list[int]:
        """Return all actions that win the unfinished game of a batch of one with best play, in their order.

        Raises:
            ValueError: more than `MOST_FREE` cells are free.
        """
        return [action for action, won in self.judged(state) if won]

    def judged(self, state: ConnectionState) -> Iterator[tuple[int, bool]]:
        """Yield each legal action of the unfinished game of a batch of one, and whether it wins with best play.

        Raises:
            ValueError: more than `MOST_FREE` cells are free.
        """
        check_solvable(self.game, state)
        own, other, seat = self._stones(state)
        for action in self.game.legal_actions(state)[0].nonzero().squeeze(1).tolist():
            if action == self.game.num_cells:  # the stone alone becomes the mover's, on the cell where the swap puts it
                stone = self.game.layout.swapped[int(state.last)]
                won = not self._search(0, 1 << stone, 1 - seat)[0]
            elif self.game.swap and int(state.turn) == 0:
                won = self._survives_swap(action, seat)
            else:
                won = self._plays(own | 1 << action, other, seat, action)
            yield action, won

    def _plays(self, own: int, other: int, seat: int, cell: int) -> bool:
        """Return True if the owner of `own` wins by the stone just put on a cell."""
        touched = next(group.sides for group in self._groups(own, seat) if group.stones >> cell & 1)
        return touched == self._goals[seat] or not self._search(other, own, 1 - seat)[0]

    def _survives_swap(self, cell: int, seat: int) -> bool:
        """Return True if a first stone wins for its player, whether the other one swaps or not."""
        swapped = 1 << self.game.layout.swapped[cell]
        return self._search(0, swapped, seat)[0] and not self._search(0, 1 << cell, 1 - seat)[0]

    def _stones(self, state: ConnectionState) -> tuple[int, int, int]:
        """Return the sets of the mover's and of the other's stones, and the mover's seat."""
        board, seat = self.game.board(state)[0].tolist(), int(state.current_player)
        sides = [_set(cell for cell, owner in enumerate(board) if owner == colour) for colour in (1, 2)]
        return sides[seat], sides[1 - seat], seat

    def _search(self, own: int, other: int, seat: int) -> tuple[bool, int]:
        """Return True if the player to move, the owner of `own`, wins; and the winner's carrier."""
        key = own, other, seat
        if key not in self._known:
            self.nodes += 1
            found = self._judged(own, other, seat)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return self._known[key]

    def _judged(self, own: int, other: int, seat: int) -> tuple[bool, int]:
        free = self._all & ~(own | other)
        if threats := self._threats(self._groups(own, seat), free, seat):
            return True, self._way(own, threats[0], seat)
        theirs = self._groups(other, 1 - seat)
        if carrier := self._tied(theirs, free, 1 - seat):
            return False, carrier
        must, carrier = free, 0
        if threats := self._threats(theirs, free, 1 - seat):
            ways = [self._way(other, cell, 1 - seat) for cell in threats[:2]]
            if len(ways) == 2:
                return False, ways[0] | ways[1]
            must, carrier = 1 << threats[0], ways[0]
        for cell in self._ordered(must, own, other, seat):
            if must >> cell & 1:
                lost, needed = self._search(other, own | 1 << cell, 1 - seat)
                if not lost:
                    return True, needed | 1 << cell
                carrier |= needed
                must &= needed
        return False, carrier

    def _ordered(self, must: int, own: int, other: int, seat: int) -> list[int]:
        """Return the cells of a set, those first through which both players' connections cost least."""
        cells = list(_cells(must))
        if len(cells) < 2:
            return cells
        free = self._all & ~(own | other)
        mine, theirs = self._costs(own, free, seat), self._costs(other, free, 1 - seat)
        return sorted(cells, key=lambda cell: mine[cell] + theirs[cell])

    def _groups(self, stones: int, seat: int) -> list[_Group]:
        """Return the groups of a player's stones."""
        near, sides, goal, found = self._near, self._sides, self._goals[seat], []
        while stones:
            front = stones & -stones
            stones ^= front
            group = around = touched = 0
            while front:
                bit = front & -front
                front ^= bit
                group |= bit
                cell = bit.bit_length() - 1
                around |= near[cell]
                touched |= sides[cell]
                new = near[cell] & stones
                stones ^= new
                front |= new
            found.append(_Group(group, around, touched & goal))
        return found

    def _threats(self, groups: Sequence[_Group], free: int, seat: int) -> list[int]:
        """Return the free cells by which a player wins at once."""
        goal, touched = self._goals[seat], dict[int, int]()
        for group in groups:
            if group.sides:
                for cell in _cells(group.near & free):
                    touched[cell] = touched.get(cell, 0) | group.sides
        return [cell for cell, sides in touched.items() if (sides | self._sides[cell]) & goal == goal]

    def _way(self, stones: int, cell: int, seat: int) -> int:
        """Return a cell that wins at once, with the stones of shortest ways from there to all sides of the goal."""
        way, left = 1 << cell, self._goals[seat] & ~self._sides[cell]
        before: dict[int, int] = {cell: -1}
        front = [cell]
        while left:
            ahead = []
            for at in front:
                for near in _cells(self._near[at] & stones):
                    if near in before:
                        continue
                    before[near] = at
                    ahead.append(near)
                    if self._sides[near] & left:
                        left &= ~self._sides[near]
                        step = near
                        while step >= 0:
                            way |= 1 << step
                            step = before[step]
            front = ahead
        return way

    def _tied(self, groups: Sequence[_Group], free: int, seat: int) -> int:
        """Return the carrier of a win by groups and sides that pairs of free cells tie; 0 without one."""
        count, used = len(groups), 0
        names = list(range(count))  # of the groups that are tied together, the least of them
        ties: list[tuple[int, int]] = []  # a group and the pair
        for one, other in ((i, j) for i in range(count) for j in range(i + 1, count)):
            if names[one] != names[other] and (pair := _pair(groups[one].near & groups[other].near & free & ~used)):
                old, new = sorted((names[one], names[other]), reverse=True)
                names = [new if name == old else name for name in names]
                used |= pair
                ties.append((one, pair))
        for name in set(names):
            members = [place for place in range(count) if names[place] == name]
            reached, more = 0, 0
            for side in self._goal_sides[seat]:
                if any(groups[place].sides & side for place in members):
                    reached |= side
                    continue
                for place in members:
                    if pair := _pair(groups[place].near & self._of_side[side] & free & ~used & ~more):
                        reached, more = reached | side, more | pair
                        break
            if reached == self._goals[seat]:
                between = [pair for place, pair in ties if names[place] == name]
                return sum(groups[place].stones for place in members) | sum(between) | more
        return 0

    def _costs(self, own: int, free: int, seat: int) -> list[int]:
        """Return for each cell the sum over the goal's sides of the free cells on the cheapest way there."""
        total = [0] * len(self._near)
        for side in self._goal_sides[seat]:
            cost, seen = 0, 0
            front, later = self._of_side[side] & own, self._of_side[side] & free
            costs = [_FAR] * len(total)
            while front or later:
                if not front:
                    cost, front, later = cost + 1, later, 0
                seen |= front
                around = 0
                for cell in _cells(front):
                    costs[cell] = cost
                    around |= self._near[cell]
                front = around & own & ~seen
                later = (later | around & free) & ~seen
            total = [sum(pair) for pair in zip(total, costs, strict=True)]
        return total


@lru_cache(maxsize=8)
def solver(game: ConnectionGame) -> ConnectionSolver:
    """Return the solver of a game, which keeps what it has found."""
    return ConnectionSolver(game)


def is_solvable(game: ConnectionGame, state: ConnectionState) -> bool:
    """Return True if `ConnectionSolver` solves the first position of a batch."""
    return int((game.board(state)[0] == 0).sum()) <= MOST_FREE


def check_solvable(game: ConnectionGame, state: ConnectionState) -> None:
    """Raise a `ValueError` unless `ConnectionSolver` solves the first position of a batch."""
    if not is_solvable(game, state):
        free = int((game.board(state)[0] == 0).sum())
        raise InputError("position", f"at most {MOST_FREE} free cells, to solve it", free, where=game.id)


def _set(cells: Iterator[int] | Sequence[int]) -> int:
    """Return the set of some cells."""
    return sum(1 << cell for cell in set(cells))


def _cells(cells: int) -> Iterator[int]:
    """Yield the cells of a set."""
    while cells:
        bit = cells & -cells
        cells ^= bit
        yield bit.bit_length() - 1


def _pair(cells: int) -> int:
    """Return the set of two cells of a set, 0 if it has fewer."""
    first = cells & -cells
    rest = cells ^ first
    return first | rest & -rest if rest else 0
