"""The planes and numbers that the wild options add to a player's observation, behind those of the base game."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.cloth_of_gold.placement import bits_of

from . import weather
from .state import WildState
from .weather import Fire
from .wildlife import GONE, KINDS

if TYPE_CHECKING:
    from .game import ClothOfGoldWild

_EARNED = ("own supply", "opponent's supply", "own reach", "opponent's reach", "own spells", "opponent's spells")


def board_names(game: ClothOfGoldWild) -> tuple[str, ...]:
    """Return the names of the planes of cells that a game's options add."""
    return (
        *(("water", "forest", "rock") if game.terrain else ()),
        *(("burning", "burnt") if game.weather else ()),
        *(("own wards", "opponent's wards") if game.perks else ()),
        *(KINDS if sum(game.wildlife) else ()),
    )


def number_names(game: ClothOfGoldWild) -> tuple[str, ...]:
    """Return the names of the planes that are the same everywhere."""
    return (
        *((*(f"1 in {kind} weather" for kind in weather.KINDS), "water level") if game.weather else ()),
        *(_EARNED if game.perks else ()),
    )


def ground_planes(game: ClothOfGoldWild, state: WildState) -> list[Tensor]:
    """Return water, forest and rock, int64 [B, S, N] each; burnt forest does not count until it has grown again."""
    wood, rock = state.land.unbind(1)
    forest = wood & ~state.water
    if game.weather:
        forest &= ~state.fire[:, -1]
    return [state.water, forest, rock]


def planes(game: ClothOfGoldWild, state: WildState, seat: Tensor) -> tuple[list[Tensor], Tensor]:
    """Return the boards that options add, as `write_planes` takes them, and the numbers for seats, int16 [B, q]."""
    env_ids = torch.arange(len(state), device=state.device)[:, None]
    order = torch.stack((seat, 1 - seat), 1)
    boards: list[Tensor] = []
    numbers = [torch.zeros((len(state), 0), dtype=torch.int16, device=state.device)]
    if game.terrain:
        boards += ground_planes(game, state)
    if game.weather:
        boards += [Fire.of(state.fire).burning, state.fire[:, -1]]
        numbers += [torch.nn.functional.one_hot(state.weather.long(), len(weather.KINDS)), state.level[:, None]]
    if game.perks:
        boards.append(state.wards)
        numbers += [earned[env_ids, order] for earned in (state.supply, state.reach, state.spells)]
    if sum(game.wildlife):
        for animals in state.animals.long().split(game.wildlife, 1):
            boards.append(bits_of(game.grid, animals))
    return boards, torch.cat(numbers, 1).to(torch.int16)


def infos(game: ClothOfGoldWild, state: WildState) -> dict[str, Tensor]:
    """Return the further `infos`: `weather`, `level`, `still_lifes`, `supply`, `reach`, `spells` and `animals`."""
    found: dict[str, Tensor] = {}
    if game.weather:
        found |= {"weather": state.weather, "level": state.level}
    if game.perks:
        earned = {"supply": state.supply, "reach": state.reach, "spells": state.spells}
        found |= {"still_lifes": state.lives} | earned
    if sum(game.wildlife):
        kinds = (state.animals != GONE).split(game.wildlife, 1)
        found["animals"] = torch.stack([alive.sum(1, dtype=torch.int32) for alive in kinds], 1)
    return found
