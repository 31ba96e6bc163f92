"""Torus by trying all moves on sets of stones, slowly; what solvers are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import torus_reference as ref

from cellgames.envs.torus import Torus, TorusState

Stones = tuple[int, int]  # Black's set and White's; bit i is cell i


def mover(stones: Stones) -> int:
    return stones[0].bit_count() - stones[1].bit_count()


@cache
def holds(player: int, stones: int, size: int) -> bool:
    """The reference's word on a set of one side's stones."""
    return ref.wins(player, [ref.cell_of(cell, size) for cell in range(2 * size * size) if stones >> cell & 1], size)


def after(stones: Stones, cell: int) -> Stones:
    black, white = stones
    return (black, white | 1 << cell) if mover(stones) else (black | 1 << cell, white)


def free(stones: Stones, size: int) -> list[int]:
    return [cell for cell in range(2 * size * size) if not (stones[0] | stones[1]) >> cell & 1]


@cache
def minimax(stones: Stones, size: int) -> bool:
    """Return True if the player to move wins an unfinished position."""
    return any(good(stones, cell, size) for cell in free(stones, size))


def good(stones: Stones, cell: int, size: int) -> bool:
    """Return True if a move wins at once, or leaves the opponent without a move that does."""
    player, later = mover(stones), after(stones, cell)
    return holds(player, later[player], size) or not minimax(later, size)


def good_moves(stones: Stones, size: int) -> list[bool]:
    """Return whether each cell is free and a winning move."""
    return [not (stones[0] | stones[1]) >> cell & 1 and good(stones, cell, size) for cell in range(2 * size * size)]


@cache
def distance(stones: Stones, size: int) -> int:
    """Return the turns to the end, positive if the player to move wins."""
    turns = [distance_after(stones, cell, size) for cell in free(stones, size)]
    return min([won for won in turns if won > 0] or turns)


def distance_after(stones: Stones, cell: int, size: int) -> int:
    player, later = mover(stones), after(stones, cell)
    if holds(player, later[player], size):
        return 1
    turns = -distance(later, size)
    return turns + 1 if turns > 0 else turns - 1


def states(positions: Iterable[Stones], size: int) -> TorusState:
    game, lines = Torus(size), []
    for black, white in positions:
        marks = "".join(".xo"[(black >> cell & 1) + 2 * (white >> cell & 1)] for cell in range(2 * size * size))
        rows = [marks[start : start + size] for start in range(0, len(marks), size)]
        lines.append(f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {'bw'[mover((black, white))]}")
    return TorusState.cat([game.string_to_state(line) for line in lines])
