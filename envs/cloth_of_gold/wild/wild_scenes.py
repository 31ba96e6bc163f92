"""Moments of games with wild options, as `wild.wild_rendering` draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import perks, weather
from .weather import Fire
from .wild_observation import ground_planes
from .wild_rendering import WildView
from .wild_state import WildState
from .wildlife import GONE, kinds_of

if TYPE_CHECKING:
    from cellgames.envs.cloth_of_gold.game import ClothOfGold

__all__ = ["earned_words", "weather_words", "wild_view"]


def wild_view(game: ClothOfGold, state: WildState, names: Sequence[str] | None = None) -> WildView:
    """Return what the options add to the picture of a batch of one; players have `names`, by default their ids."""
    ground = {}
    if game.terrain:
        land = game.grid.unpack(ground_planes(game, state).movedim(0, -1))[0].numpy(force=True)
        ground = dict(zip(("water", "forest", "rock"), land, strict=True))
    if game.weather:
        fire = Fire.of(state.fire)
        for name, cells in (("burning", fire.burning), ("burnt", fire.burnt)):
            ground[name] = game.grid.unpack(cells.movedim(0, -1))[0].numpy(force=True)
    animals = None
    if sum(game.wildlife):
        places = zip(kinds_of(game.wildlife), state.animals[0].tolist(), strict=True)
        animals = [(kind, *divmod(cell, game.width)) for kind, cell in places if cell != GONE]
    wards = game.grid.unpack(state.wards.movedim(0, -1))[0].numpy(force=True) if game.perks else None
    earned = earned_words(game, state, game.info.players if names is None else names)
    return WildView(ground, wards, animals, weather_words(game, state), (earned[0], earned[1]))


def weather_words(game: ClothOfGold, state: WildState) -> str:
    """Return the weather of the round, the water level and the forecast of a batch of one, "" without weather."""
    if not game.weather:
        return ""
    now = int(state.weather)
    chances = ", ".join(
        f"{kind} {round(chance / 2.56)} %" for kind, chance in zip(weather.KINDS, weather.CHANCES[now], strict=True)
    )
    return f"Weather: {weather.KINDS[now]}, water level {int(state.level)}; next round: {chances}"


def earned_words(game: ClothOfGold, state: WildState, names: Sequence[str]) -> list[str]:
    """Return what each player, by name, has earned by still lifes in a batch of one, "" without perks."""
    if not game.perks:
        return ["", ""]
    words = []
    for player, name in enumerate(names):
        more = int(perks.allowance(game.max_units, state.supply[0, player])) - game.max_units
        reach, spells = int(state.reach[0, player]), int(state.spells[0, player])
        bolts = f"{spells} bolt{'s' * (spells != 1)}"
        words.append(f"{name}: supply {int(state.supply[0, player])} (+{more} units), reach +{reach}, {bolts}")
    return words
