"""A step of a `Vector` of wild Cloth of Gold: turns and masks in native code; rounds end in few games at once."""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.cloth_of_gold.native_step import INNERMOST
from cellgames.envs.cloth_of_gold.rounds import end_turns
from cellgames.envs.core import native_step as steps
from cellgames.envs.core.vector import NativeStep, Transition
from cellgames.envs.native import Library

from .borders import WIDEST
from .state import WildState

if TYPE_CHECKING:
    from .game import ClothOfGoldWild

_WILD_INNERMOST = INNERMOST | {"land", "water", "fire", "wards"}


@lru_cache(maxsize=64)
def native_step(game: ClothOfGoldWild, native: Library) -> NativeStep[WildState] | None:
    """Return the step of a game; None where native code has no room for its boards, or rewards are shaped."""
    if game.shaping or max(game.height, game.width) > WIDEST:
        return None
    sizes = {"rows": game.height, "cols": game.width, "radius": game.radius, "max_units": game.max_units}
    flags = {"hull": game.territory == "hull", "buffer": game.buffer, "terrain": game.terrain, "perks": game.perks}
    rules = steps.structure(**sizes, **flags)
    turn = steps.InPlace(native.cellgames_cloth_of_gold_wild_turn, rules, _WILD_INNERMOST)
    return partial(_step, game, native, rules, turn)


def _step(
    game: ClothOfGoldWild,
    native: Library,
    rules: ctypes.Structure,
    turn: NativeStep[WildState],
    state: WildState,
    mask: Tensor | None,
    given: Tensor,
    random: bool,
) -> Transition:
    """Play a step of a `Vector` (see `NativeStep`)."""
    assert mask is not None  # it writes the mask
    played = turn(state, mask, given, random)
    closing = played.terminated.nonzero().squeeze(1)  # the games whose round ends
    if len(closing):
        games = state[closing]
        after = end_turns(game, games, torch.ones_like(games.terminated))
        after = after.replace(left=game.allowance(after))
        for name in ("rewards", "terminated", "truncated"):
            getattr(played, name)[closing] = getattr(after, name)
        if after.done.any():
            after = game._restart(after, after.done)
        for field, new in zip(state.tensors(), after.tensors(), strict=True):
            field[closing] = new
    fields = steps.addresses(state, _WILD_INNERMOST)
    native.cellgames_cloth_of_gold_wild_legal(ctypes.addressof(rules), fields, len(mask), torch.get_num_threads(), mask)
    return played
