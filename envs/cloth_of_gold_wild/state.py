"""The state of a batch of Cloth of Gold games with wild options."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.cloth_of_gold.state import ClothState


@dataclass(frozen=True, eq=False)
class WildState(ClothState):
    """The state of a batch of Cloth of Gold games with wild options.

    Fields of options that are off have no element. Letters: `H, W` the world, `S, N` stored rows and words in them,
    `A` animals, `K` kinds of still lifes.

    Attributes:
        ground: [B, H, W] uint8, codes of `terrain` (terrain).
        land: [B, 2, S, N] int64, forest, burnt, under water or not, and rock (terrain).
        water: [B, S, N] int64, cells under water at the level (terrain).
        level: [B] int32, the water level (weather; the level of the start without it).
        weather: [B] int32, the state of the round, see `weather.KINDS` (weather).
        fire: [B, 5, S, N] int64, burning cells by generations left, one first; burnt cells (weather).
        wards: [B, 2, S, N] int64, cells warded for each player until the next count (perks).
        lives: [B, 2, K] int32, still lifes of each player at the last count (perks).
        supply: [B, 2] int32, points of the last count, tamed grazers included (perks).
        reach: [B, 2] int32, cells by which the territory of each player is wider until the next count (perks).
        spells: [B, 2] int32, bolts that each player has (perks).
        animals: [B, A] int32, cells by rows, -1 for an animal that is dead or tamed (wildlife).
    """

    ground: Tensor
    land: Tensor
    water: Tensor
    level: Tensor
    weather: Tensor
    fire: Tensor
    wards: Tensor
    lives: Tensor
    supply: Tensor
    reach: Tensor
    spells: Tensor
    animals: Tensor


def wild(state: ClothState) -> WildState:
    """Return the state of games with wild options, for type checkers."""
    assert isinstance(state, WildState)
    return state
