"""Steps of wild Cloth of Gold in native code, of a `Vector` and of whole turns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.cloth_of_gold.native_step import INNERMOST, Units, laid_out, options
from cellgames.envs.core import native_step as steps
from cellgames.envs.core.vector import NativeStep
from cellgames.envs.native import Library

from . import perks
from .observation import number_names
from .rounds import lived
from .state import WildState
from .wildlife import KINDS

if TYPE_CHECKING:
    from .game import ClothOfGoldWild

_WILD_INNERMOST = INNERMOST | {"land", "water", "fire", "wards"}


@lru_cache(maxsize=64)
def native_step(game: ClothOfGoldWild, native: Library) -> NativeStep[WildState]:
    """Return the native step of a game."""
    return steps.InPlace(native.cellgames_cloth_of_gold_wild_step, _rules(game), _WILD_INNERMOST)


def native_units(game: ClothOfGoldWild, native: Library) -> Units:
    """Return the native code for units and ends of turns."""
    return Units(native.cellgames_cloth_of_gold_wild_units, _rules(game), WildState, _WILD_INNERMOST)


@lru_cache(maxsize=64)
def _rules(game: ClothOfGoldWild) -> ctypes.Structure:
    """Return the options of a game as `WildRules` of `sources/cloth_of_gold.h`."""
    flags = {name: getattr(game, name) for name in ("buffer", "terrain", "weather", "perks", "combinations")}
    animals = dict(zip(("grazers", "hunters", "guards"), game.wildlife, strict=True))
    forms = perks.squares(torch.device("cpu"))
    return steps.structure(
        **options(game), hull=game.territory == "hull", **flags, **animals, forms=forms, number_of_forms=len(forms)
    )


@lived.native
def _native_lived(native: Library, game: ClothOfGoldWild, state: WildState) -> WildState:
    after = laid_out(state, WildState, _WILD_INNERMOST)
    fields = steps.addresses(after, _WILD_INNERMOST)
    native.cellgames_cloth_of_gold_wild_live(ctypes.byref(_rules(game)), fields, len(after), torch.get_num_threads())
    return state.replace(**vars(after))


def native_planes(
    game: ClothOfGoldWild, native: Library, state: WildState, seat: Tensor, numbers: Tensor
) -> tuple[list[Tensor], Callable[[], object]]:
    """Return `ClothOfGold._native_further`, which is `observation.planes`."""
    made = state.seed.new_zeros((2 + len(KINDS), *game.grid.shape, len(state)))
    forest, burning, *animals = made.movedim(-1, 1)
    boards = [state.water, forest, state.land[:, 1]] if game.terrain else []
    boards += [burning, state.fire[:, -1]] if game.weather else []
    boards += [state.wards] if game.perks else []
    boards += animals if sum(game.wildlife) else []
    rules, fields, all_numbers = _rules(game), steps.addresses(state, _WILD_INNERMOST), numbers.shape[2]
    sizes = len(state), all_numbers - len(number_names(game)), all_numbers
    arguments = ctypes.byref(rules), fields, *sizes, seat, made, numbers
    return boards, partial(native.cellgames_cloth_of_gold_wild_seen, *arguments)
