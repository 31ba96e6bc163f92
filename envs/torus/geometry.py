"""The octagon/square (4.8.8) tiling of the torus: cells, neighbours, names of cells, positions as text, symmetries.

Letters: `n` the size; `N = 2 n^2` cells. Octagon O(r, c) is cell r*n + c; square S(r, c) is cell
n^2 + r*n + c and sits at the lower right corner of O(r, c), between O(r, c), O(r, c+1), O(r+1, c) and
O(r+1, c+1). All indices are taken modulo n.

Around a cell, clockwise; an octagon alternates octagons (even places) and squares (odd places):

      5 6 7            0 1
      4 O 0             S
      3 2 1            3 2
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.envs.native.operators import table
from cellgames.envs.stones import row_notation
from cellgames.utils.errors import InputError, shown

MIN_SIZE = 2
MAX_SIZE = 16

_OCTAGON_RING = ((0, 1), (0, 0), (1, 0), (0, -1), (0, -1), (-1, -1), (-1, 0), (-1, 0))
_SQUARE_RING = ((0, 0), (0, 1), (1, 1), (1, 0))
_NAME = re.compile(r"([a-z])([0-9]{1,2})(\+?)")


class Edge(NamedTuple):
    """One step to a neighbour: its index, and how often the step crosses the right and the bottom seam."""

    cell: int
    right: int
    down: int


def num_cells(size: int) -> int:
    """Return the number of cells: `size`^2 octagons and `size`^2 squares."""
    return 2 * size * size


@cache
def neighbours(size: int) -> tuple[tuple[Edge, ...], ...]:
    """Return clockwise neighbours of every cell, eight of an octagon and four of a square.

    At size 2 a cell can be met twice, across two edges that wind differently; both are listed.
    """

    def edge(kind: int, row: int, col: int) -> Edge:
        down, row = divmod(row, size)
        right, col = divmod(col, size)
        return Edge(kind * size * size + row * size + col, right, down)

    octagons = tuple(
        tuple(edge(i % 2, r + dr, c + dc) for i, (dr, dc) in enumerate(_OCTAGON_RING))
        for r in range(size)
        for c in range(size)
    )
    squares = tuple(tuple(edge(0, r + dr, c + dc) for dr, dc in _SQUARE_RING) for r in range(size) for c in range(size))
    return octagons + squares


def cell_to_name(cell: int, size: int) -> str:
    """Return `c4` for the octagon in column c, row 4; `c4+` for the square at its lower right corner."""
    if not 0 <= cell < num_cells(size):
        raise InputError("cell", f"a cell from 0 to {num_cells(size) - 1} (size {size})", cell)
    square, place = divmod(cell, size * size)
    row, col = divmod(place, size)
    return f"{chr(ord('a') + col)}{row + 1}{'+' * square}"


def name_to_cell(name: str, size: int) -> int:
    """Return the cell called `name`; the inverse of `cell_to_name`."""
    last = f"{chr(ord('a') + size - 1)}{size}"
    match = _NAME.fullmatch(name.strip().lower())
    if match is None:
        raise InputError("cell", "a cell such as 'b1' (octagon) or 'b1+' (square)", shown(name))
    col, row = ord(match[1]) - ord("a"), int(match[2]) - 1
    if not (0 <= row < size and col < size):
        raise InputError("cell", f"a cell from a1 to {last} (with '+' for squares)", shown(name))
    return (size * size if match[3] else 0) + row * size + col


def position_to_string(cells: Sequence[int], player: int, size: int) -> str:
    """Return `x.o/.../..x .../.o./... b` for cells (0 free, 1 Black, 2 White, by cell index) and the player to move."""
    return row_notation.position_to_string(cells, player, widths(size))


def string_to_position(text: str, size: int) -> tuple[list[int], int]:
    """Return cells and player of a line by `position_to_string`."""
    return row_notation.string_to_position(text, widths(size), size)


def widths(size: int) -> list[list[int]]:
    """Return the lengths of the rows of octagons, and of those of squares."""
    return [[size] * size] * 2


# ---------------------------------------------------------------- symmetries

# Letters: `S = 4 n^2` symmetries; `L` rows.
# Translations by whole octagons and half turns keep both goals; quarter turns exchange them, so they count with colours
# swapped. Reflections are no symmetries: they keep ring and bracelet and exchange the helices.
# Symmetry q n^2 + r n + c makes q quarter turns clockwise around octagon O(0, 0), then moves everything r rows down and
# c columns to the right. In half columns and rows an octagon is at (2 r, 2 c) and a square at (2 r + 1, 2 c + 1), and a
# quarter turn takes (y, x) to (x, -y).


@table
def sources(size: int, device: torch.device) -> Tensor:
    """Return the cell whose content each symmetry brings to a cell: int64 [S, N]."""
    grid = torch.arange(size, device=device)
    row, col = (part.flatten() for part in torch.meshgrid(grid, grid, indexing="ij"))
    square = torch.arange(2, device=device).repeat_interleave(size * size)  # [N]
    y, x = 2 * row.repeat(2) + square, 2 * col.repeat(2) + square
    turned = []
    for _ in range(4):
        turned.append(torch.stack((y, x)))
        y, x = x, -y
    # [2, 4, translations, N]
    places = torch.stack(turned, 1)[:, :, None] + 2 * torch.stack((row, col))[:, None, :, None]
    down, right = (places // 2 % size).flatten(1, 2).unbind(0)
    return (square * size * size + down * size + right).argsort(1)


def transformed(observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Return observations, [L, 5, n, n], and numbers by action, [L, ..., N], after symmetries int64 [L]."""
    rows, size = len(which), observation.shape[-1]
    source = sources(size, observation.device)[which]  # [L, N]
    stones = observation[:, :4].reshape(rows, 2, -1).gather(2, source[:, None].expand(-1, 2, -1))
    swapped = (which // (size * size) % 2 == 1).view(-1, 1, 1, 1)
    black = torch.where(swapped, 1 - observation[:, 4:], observation[:, 4:])
    expanded = source.view(rows, *(1,) * (actions.ndim - 2), -1).expand_as(actions)
    return torch.cat((stones.view(rows, 4, size, size), black), 1), actions.gather(-1, expanded)
