"""Games with wild options: their start, their rounds, and what the options change in a turn.

Letters: `B` games, `n` of them whose round ends, `S, N` stored rows and words in them (see `boards.bitboards`).
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import count
from cellgames.envs.cloth_of_gold import rules
from cellgames.envs.cloth_of_gold.placement import bits_of
from cellgames.envs.cloth_of_gold.simulation import territory
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core.state import innermost
from cellgames.envs.native import Operator

from . import perks, terrain, weather
from .borders import zones
from .state import WildState
from .terrain import round_seed
from .weather import Fire
from .wildlife import EVERY, Wildlife, kinds_of, place_animals

if TYPE_CHECKING:
    from .game import ClothOfGoldWild


def _outer(boards: Tensor) -> Tensor:
    """Return boards [..., B] as a field [B, ...]."""
    return boards.movedim(-1, 0)


def start(game: ClothOfGoldWild, state: ClothState) -> WildState:
    """Return new games with the fields of the options, by their seeds; `state` may be overwritten."""
    seed, grid, num_envs = state.seed, game.grid, len(state)

    def planes(option: bool, *kinds: int) -> Tensor:
        shape = grid.shape if option else (0, 0)
        return seed.new_zeros((*kinds, *shape, num_envs)).movedim(-1, 0)

    def numbers(option: bool, *shape: int) -> Tensor:
        return seed.new_zeros((num_envs, *shape) if option else (num_envs, 0), dtype=torch.int32)

    size = (game.height, game.width) if game.terrain else (0, 0)
    blank = WildState(
        **{field.name: getattr(state, field.name) for field in fields(ClothState)},
        ground=torch.zeros((num_envs, *size), dtype=torch.uint8, device=seed.device),
        land=planes(game.terrain, 2),
        water=planes(game.terrain),
        level=numbers(game.terrain),
        weather=numbers(game.weather),
        fire=planes(game.weather, weather.STAGES + 1),
        wards=planes(game.perks, 2),
        lives=numbers(game.perks, 2, len(perks.LIVES)),
        supply=numbers(game.perks, 2),
        reach=numbers(game.perks, 2),
        spells=numbers(game.perks, 2),
        animals=torch.zeros((num_envs, sum(game.wildlife)), dtype=torch.int32, device=seed.device),
    )
    return begun(game, blank)


@Operator
def begun(game: ClothOfGoldWild, blank: WildState) -> WildState:
    """Return new games with land and animals; `blank` may be overwritten."""
    grid, state = game.grid, blank
    if game.terrain:
        ground = terrain.make_ground(blank.seed, (game.height, game.width))
        level = torch.full_like(blank.level, terrain.LEVEL)
        water = _outer(terrain.water_on(grid, ground, level))
        land, neutral = _outer(terrain.land_on(grid, ground)), blank.neutral & ~water
        state = blank.replace(ground=ground, land=land, water=water, level=level, neutral=neutral)
    free = ~grid.unpack(innermost(state.neutral | state.water if game.terrain else state.neutral)).flatten(1)
    return state.replace(animals=place_animals(state.seed, free, sum(game.wildlife)))


def widened(game: ClothOfGoldWild, state: WildState, sides: Tensor) -> WildState:
    """Return the games with the territory or zones of some sides, bool [B, 2], as they are now.

    Each is wider by its cells of `reach`.
    """
    env_ids, players = sides.nonzero().unbind(1)
    if len(env_ids) == 0:
        return state
    units = innermost(state.units[env_ids, players])
    reach = state.reach[env_ids, players] if game.perks else torch.zeros_like(env_ids, dtype=torch.int32)
    if game.territory == "hull":
        new = zones(game.grid, units, game.buffer + reach)
    else:
        new = torch.empty_like(units)
        for more in sorted(set(reach.tolist())):
            some = (reach == more).nonzero().squeeze(1)
            new[..., some] = territory(game.grid, units[..., some], game.radius + more)
    return state.replace(territory=state.territory.index_put((env_ids, players), _outer(new)))


def bolt(game: ClothOfGoldWild, state: WildState, cells: Tensor) -> WildState:
    """Return the games after a bolt of the mover at a cell, int64 [B]; -1 for no bolt.

    It empties the 3 x 3 around the cell, but for cells that are warded for the opponent.
    """
    env_ids = (cells >= 0).nonzero().squeeze(1)
    if len(env_ids) == 0:
        return state
    player = state.current_player[env_ids]
    hit = game.grid.dilate(innermost(bits_of(game.grid, cells[env_ids, None])), weather.SQUARE)
    hit = _outer(game.grid.trim(hit)) & ~state.wards[env_ids, 1 - player]
    units = state.units[env_ids] & ~hit[:, None]
    mine = torch.nn.functional.one_hot(player, 2).int()
    changed = {
        "units": units,
        "neutral": state.neutral[env_ids] & ~hit,
        "killed": state.killed[env_ids] & ~hit,
        "placed": state.placed[env_ids] & ~hit,
        "live": count(innermost(units)).t().int(),
        "acts": state.acts[env_ids] + 1,
        "spells": state.spells[env_ids] - mine,
    }
    new = {name: getattr(state, name).index_put((env_ids,), value) for name, value in changed.items()}
    return widened(game, state.replace(**new), (cells >= 0)[:, None].expand(-1, 2))


class WildRound:
    """The generations of a round in some games, one call of `generation` each.

    Args:
        game: the rules.
        state: `n` games whose round runs; not changed.
    """

    def __init__(self, game: ClothOfGoldWild, state: WildState) -> None:
        self._game, self._number = game, 0
        grid = self._grid = game.grid
        self._seed = round_seed(state.seed, state.round)
        self.units = innermost(state.units)
        self.neutral, self.killed = innermost(state.neutral), innermost(state.killed)
        none = torch.zeros_like(self.neutral)  # stands for the boards of options that are off
        self._wards = innermost(state.wards) if game.perks else torch.stack((none, none))
        self.level, self.weather = state.level, state.weather
        self.water = self._wood = self._rock = none
        self.fire = Fire((none,) * weather.STAGES, none)
        if game.weather:
            self.level = weather.next_level(state.level, state.weather)
        if game.terrain:
            self.water = terrain.water_on(grid, state.ground, self.level)
            self._wood, self._rock = innermost(state.land)
        if game.weather:
            *stages, burnt = innermost(state.fire).unbind()
            self.fire = weather.put_out(
                grid, Fire(tuple(stages), burnt), self._seed, self.weather, self._wood, self.water
            )
            self._strikes = weather.draw_strikes(self._seed, self.weather, game.generations, game.cells)
        self._wildlife: Wildlife | None = None
        if sum(game.wildlife):
            move = (state.round.long() - 1) * (game.generations // EVERY)
            kinds = kinds_of(game.wildlife)
            self._wildlife = Wildlife(kinds, (game.height, game.width), state.seed, move, state.animals)

    def generation(self) -> None:
        """Play the next generation: Life, water, lightning, fire, wildlife."""
        self._number += 1
        self._live()
        if self._game.terrain:
            self._empty(self.water)
        if self._game.weather:
            self._strike()
            self._burn()
        if self._wildlife is not None and self._number % EVERY == 0:
            self._act()

    def _live(self) -> None:
        a, b = self.units
        killed_before = self.killed
        a, b, self.neutral, self.killed = rules.generation(
            self._grid, a, b, self.neutral, killed_before, self._game.neutral_rules
        )
        after = torch.stack((a, b))
        if self._game.perks:  # a unit that a stronger side has killed stays on a warded cell
            saved = self.units & self.killed & self._wards
            after |= saved
            self.killed = self.killed & ~(saved[0] | saved[1])
        self.units = after

    def _empty(self, cells: Tensor) -> None:
        self.units, self.neutral, self.killed = self.units & ~cells, self.neutral & ~cells, self.killed & ~cells

    def _strike(self) -> None:
        when, where = self._strikes
        now = torch.where(when == self._number, where, -1)
        if not (now >= 0).any():
            return
        struck = torch.zeros_like(self.neutral)
        for strike in now.unbind(1):  # two may fall on one cell
            struck |= innermost(bits_of(self._grid, strike[:, None]))
        struck = self._grid.trim(self._grid.dilate(struck, weather.SQUARE))
        self._empty(struck)
        self.fire = weather.set_alight(self.fire, self._forest(), struck)

    def _forest(self) -> Tensor:
        return self._wood & ~self.water

    def _burn(self) -> None:
        if not self.fire.burning.any():
            return
        self.fire, hot = weather.burn(self._grid, self.fire, self._forest(), self._seed, self._number, self.weather)
        self.neutral = self.neutral & ~hot
        self.units = self.units & (~hot | self._wards)

    def _act(self) -> None:
        assert self._wildlife is not None
        closed = self._grid.unpack(self.water | self.fire.burning)
        self.units = self._grid.pack(self._wildlife.act(self._grid.unpack(self.units), closed))

    def after(self, state: WildState) -> WildState:
        """Return the round's games, as `state`, after the generations so far; nothing is counted."""
        new = {
            "units": _outer(self.units),
            "neutral": _outer(self.neutral),
            "killed": _outer(self.killed),
            "live": count(self.units).t().int(),
        }
        if self._game.terrain:
            new |= {"water": _outer(self.water), "level": self.level}
        if self._game.weather:
            new["fire"] = _outer(torch.stack((*self.fire.stages, self.fire.burnt)))
        if self._wildlife is not None:
            new["animals"] = self._wildlife.places.int()
        return state.replace(**new)

    def counted(self, state: WildState) -> WildState:
        """Return `state` with the still lifes counted, and their perks until the next count."""
        game, state = self._game, self.after(state)
        new: dict[str, Tensor] = {}
        if game.perks:
            forest, barren = self._forest() & ~self.fire.burnt, self._rock | self.fire.burnt
            found = perks.count_still_lifes(
                self._grid, self.units, self.neutral, forest=forest, barren=barren, combinations=game.combinations
            )
            new = {
                "wards": _outer(found.wards),
                "lives": found.lives,
                "supply": found.supply,
                "reach": (found.reach // perks.POINTS_OF_REACH).clamp(max=perks.MOST_REACH),
                "spells": (state.spells + found.spells // perks.POINTS_A_SPELL).clamp(max=perks.MOST_SPELLS),
            }
            if self._wildlife is not None:
                new["supply"] = found.supply + self._wildlife.tamed.int()
        return state.replace(**new)


@Operator
def lived(game: ClothOfGoldWild, state: WildState) -> WildState:
    """Return the games after all generations of a round and the count, but for territory."""
    played = WildRound(game, state)
    for _ in range(game.generations):
        played.generation()
    return played.counted(state)
