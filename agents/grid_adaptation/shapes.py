"""Shapes of a few tiles for round 1 of Grid Adaptation, where several are placed at once.

Letters: `L` games, `C` shapes of each, `N` spaces of a board.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.boards.orientations import orientations, parse_cells
from cellgames.envs.core import chance
from cellgames.envs.kernels.lookup_tables import table

__all__ = ["placements", "shapes_at"]

# By number of tiles. Those of four led most, of all that fit in 4 x 4 spaces, in matches that went on at random.
_SHAPES: dict[int, Sequence[str]] = {
    1: ("o",),
    2: ("oo", "o./.o"),
    3: ("oo/o.", "ooo", "oo./..o", "o.o/.o."),
    4: (
        *("oo./..o/..o", ".o./o.o/.o.", "oo./o../..o", "ooo./..../...o", "oo../.o../...o", "oo./o.o", "o..o/.o../.o.."),
        *("o.../.o.o/..o.", "oooo", "ooo/.o.", "oo/oo"),
    ),
}


@table
def placements(number: int, device: torch.device) -> Tensor:
    """Return the shapes of `number` tiles, turned and reflected in all ways: rows and columns, int64 [X, number, 2]."""
    found = {form for shape in _SHAPES[number] for form in orientations(parse_cells(shape))}
    return torch.tensor(sorted(found), device=device)


def shapes_at(size: int, number: int, lots: Tensor) -> Tensor:
    """Return the spaces of random shapes at random places of a board, int64 [..., number], for draws [..., 3]."""
    cells = placements(number, lots.device)
    shape = cells[chance.uniform_int(lots[..., 0], len(cells))]  # [..., number, 2]
    room = size - shape.amax(-2)  # how far the shape may be moved
    moved = shape + chance.uniform_int(lots[..., 1:], room).unsqueeze(-2)
    return moved[..., 0] * size + moved[..., 1]
