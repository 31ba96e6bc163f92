"""A step of a `Vector` of the Toroidal Cup in native code."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.core import native_step as steps
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library, pointer

from . import dealing, placement
from .state import CupState

if TYPE_CHECKING:
    from .game import ToroidalCup

_NUMBERS = (
    *("rows", "cols", "teams", "band", "stride", "longest", "queue", "margin", "keep_colour", "generations"),
    *("patterns", "draws", "numbers", "kinds", "limit"),
)
_TABLES = ("footprints", "spots", "fits", "sizes", "ways", "number_of", "choices", "kind_of", "dealt")


class _Rules(ctypes.Structure):
    """The options of a game, `Rules` of `sources/toroidal_cup_step.cpp`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS),
        ("tolerance", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in _TABLES),
    )
    tables: tuple[Tensor, ...]  # kept as long as their addresses


@lru_cache(maxsize=64)
def _rules(game: ToroidalCup) -> _Rules:
    cpu, lattice = torch.device("cpu"), game.lattice
    footprints = placement.cells(game.stamps, cpu)
    row, col = (footprints + lattice.stride // 2).unbind(-1)
    position = col // lattice.stride
    spots = torch.stack((row % lattice.rows, col % lattice.stride, position >> 6, position & 63), -1)
    ways, numbers, choices, kinds = dealing.tables(game.patterns, cpu)
    most = game.info.max_turns
    tables = (
        footprints,
        spots.to(torch.int32),
        placement.fits(lattice, game.stamps, cpu),
        placement.sizes(game.stamps, cpu),
        *(ways, numbers, choices, kinds),
        dealing.dealt(most, game.teams, cpu),
    )
    rules = _Rules(
        *(game.rows, game.cols, game.teams, lattice.band, lattice.stride),
        footprints.shape[2],
        most,
        1 + int((position >> 6).abs().max()),
        game.survivors == "keep",
        game.max_generations,
        *numbers.shape,
        kinds.shape[1],
        most,
        float(game.tolerance),
        *(pointer(table, table.dtype) for table in tables),
    )
    rules.tables = tables
    return rules


def native_step(game: ToroidalCup, native: Library) -> NativeStep[CupState]:
    """Return the native step of a game."""
    innermost = frozenset({"rewards", "scores"})
    return steps.InPlace(native.cellgames_toroidal_cup_step, _rules(game), innermost)
