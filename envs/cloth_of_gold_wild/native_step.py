"""Steps of wild Cloth of Gold in native code, of a `Vector` and of whole turns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.cloth_of_gold.native_step import INNERMOST, ClothSolo, Code, laid_out, options
from cellgames.envs.core import native_step as steps
from cellgames.envs.native import Library

from . import perks
from .observation import infos, number_names
from .rounds import begun, lived
from .state import WildState
from .wildlife import KINDS

if TYPE_CHECKING:
    from .game import ClothOfGoldWild


@lru_cache(maxsize=64)
def native_code(game: ClothOfGoldWild, native: Library) -> Code:
    """Return the native code of a game."""
    flags = {name: getattr(game, name) for name in ("buffer", "terrain", "weather", "perks", "combinations")}
    animals = dict(zip(("grazers", "hunters", "guards"), game.wildlife, strict=True))
    forms = perks.squares(torch.device("cpu"))
    rules = steps.structure(
        **options(game), hull=game.territory == "hull", **flags, **animals, forms=forms, number_of_forms=len(forms)
    )
    step, units = native.cellgames_cloth_of_gold_wild_step, native.cellgames_cloth_of_gold_wild_units
    return Code(step, units, rules, WildState, INNERMOST | {"land", "water", "fire", "wards"})


@begun.native
def _native_begun(native: Library, game: ClothOfGoldWild, blank: WildState) -> WildState:
    code = native_code(game, native)
    arguments = ctypes.byref(code.rules), steps.addresses(blank, code.innermost), len(blank), torch.get_num_threads()
    native.cellgames_cloth_of_gold_wild_begin(*arguments)
    return blank


@lived.native
def _native_lived(native: Library, game: ClothOfGoldWild, state: WildState) -> WildState:
    code = native_code(game, native)
    after = laid_out(state, code)
    arguments = ctypes.byref(code.rules), steps.addresses(after, code.innermost), len(after), torch.get_num_threads()
    native.cellgames_cloth_of_gold_wild_live(*arguments)
    return state.replace(**vars(after))


class WildSolo(ClothSolo):
    """One game of wild Cloth of Gold."""

    _game: ClothOfGoldWild
    _state: WildState

    @override
    def infos(self, player: int) -> dict[str, Any]:
        added = infos(self._game, self._state)
        return super().infos(player) | {name: value.tolist()[0] for name, value in added.items()}


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
    code, all_numbers = native_code(game, native), numbers.shape[2]
    sizes = len(state), all_numbers - len(number_names(game)), all_numbers
    arguments = ctypes.byref(code.rules), steps.addresses(state, code.innermost), *sizes, seat, made, numbers
    return boards, partial(native.cellgames_cloth_of_gold_wild_seen, *arguments)
