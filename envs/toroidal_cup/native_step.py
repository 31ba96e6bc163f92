"""A step of a `Vector` of the Toroidal Cup in native code."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING

import torch

from cellgames.envs.core import native_step as steps
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library

from . import dealing, placement
from .state import CupState

if TYPE_CHECKING:
    from .game import ToroidalCup


@lru_cache(maxsize=64)
def _rules(game: ToroidalCup) -> ctypes.Structure:
    """Return `Rules` of `sources/toroidal_cup_step.cpp`."""
    cpu, lattice, most = torch.device("cpu"), game.lattice, game.info.max_turns
    footprints = placement.cells(game.stamps, cpu)
    row, col = (footprints + lattice.stride // 2).unbind(-1)
    position = col // lattice.stride
    spots = torch.stack((row % lattice.rows, col % lattice.stride, position >> 6, position & 63), -1)
    ways, numbers, choices, kinds = dealing.tables(game.patterns, cpu)
    sizes = {"rows": game.rows, "cols": game.cols, "teams": game.teams, "band": lattice.band, "stride": lattice.stride}
    return steps.structure(
        **sizes,
        longest=footprints.shape[2],
        queue=most,
        margin=1 + int((position >> 6).abs().max()),
        keep_colour=game.survivors == "keep",
        generations=game.max_generations,
        **dict(zip(("patterns", "draws", "numbers"), numbers.shape, strict=True)),
        kinds=kinds.shape[1],
        limit=most,
        tolerance=float(game.tolerance),
        footprints=footprints,
        spots=spots.to(torch.int32),
        fits=placement.fits(lattice, game.stamps, cpu),
        sizes=placement.sizes(game.stamps, cpu),
        **{"ways": ways, "number_of": numbers, "choices": choices, "kind_of": kinds},
        dealt=dealing.dealt(most, game.teams, cpu),
    )


def native_step(game: ToroidalCup, native: Library) -> NativeStep[CupState]:
    """Return the native step of a game."""
    innermost = frozenset({"rewards", "scores"})
    return steps.InPlace(native.cellgames_toroidal_cup_step, _rules(game), innermost)
