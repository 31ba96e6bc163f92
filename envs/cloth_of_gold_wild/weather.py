"""Weather: a state for each round, the water level that follows it, lightning and fire.

Letters: `n` games, `S, N` stored rows and words (see `boards.bitboards`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.dilation import Footprint
from cellgames.envs.cloth_of_gold.rules import PLUS
from cellgames.envs.core import chance
from cellgames.envs.native.operators import table

from .terrain import FIRE, HIGHEST, LEVEL, LEVEL_STEP, LOWEST, REGROWTH, STRIKES, WEATHER, draw_byte

KINDS = ("calm", "dry", "rain", "storm")
"""The states of the weather, by number."""
CALM, DRY, RAIN, STORM = range(4)

CHANCES = ((96, 64, 64, 32), (64, 112, 32, 48), (80, 32, 112, 32), (96, 32, 96, 32))
"""The chances of the next round's weather in 256ths, by the weather of the round."""

STAGES = 4
"""The generations that a cell burns."""

SQUARE = Footprint((row, col) for row in (-1, 0, 1) for col in (-1, 0, 1))
"""A cell and its eight neighbours."""

_SPREAD, _SPREAD_DRY, _REGROWTH = 48, 96, 64  # 256ths
_STRIKES = 6  # of lightning in a round of storm


class Fire(NamedTuple):
    """Fire in some games.

    Attributes:
        stages: `STAGES` bitboards int64 [S, N, n], burning cells by the number of generations left, from 1 on.
        burnt: bitboards int64 [S, N, n], burnt cells.
    """

    stages: tuple[Tensor, ...]
    burnt: Tensor

    @classmethod
    def of(cls, field: Tensor) -> Fire:
        """Return the fires of a field [B, 5, S, N], as bitboards [B, S, N]."""
        *stages, burnt = field.unbind(1)
        return cls(tuple(stages), burnt)

    @property
    def burning(self) -> Tensor:
        """Return bitboards of all burning cells."""
        first, *others = self.stages
        for stage in others:
            first = first | stage
        return first


@table
def _thresholds(device: torch.device) -> Tensor:
    """Return the sums of `CHANCES` up to each state, int64 [4, 4]."""
    return torch.tensor(CHANCES, device=device).cumsum(1)


def draw_weather(seed: Tensor, last: Tensor) -> Tensor:
    """Return the weather of new rounds, int32 [n], for the rounds' seeds and the weather before, integers [n]."""
    byte = draw_byte(seed, WEATHER, torch.zeros_like(seed))
    return (byte[:, None] >= _thresholds(seed.device)[last.long()]).sum(1, dtype=torch.int32)


def next_level(level: Tensor, weather: Tensor) -> Tensor:
    """Return the water levels in rounds of some weather: up in rain, down when dry, else towards the usual one."""
    calmer = level + (LEVEL - level).sign() * LEVEL_STEP
    wetter, drier = (level + LEVEL_STEP).clamp(max=HIGHEST), (level - LEVEL_STEP).clamp(min=LOWEST)
    return torch.where(weather == RAIN, wetter, torch.where(weather == DRY, drier, calmer))


def put_out(grid: Grid, fire: Fire, seed: Tensor, weather: Tensor, forest: Tensor, water: Tensor) -> Fire:
    """Return the fires at the beginning of a round: out on water and in rain, in which burnt forest may grow again.

    Seeds are the rounds', int64 [n]; forest and water are bitboards, forest burnt or not.
    """
    rain = -(weather == RAIN).long()
    out = water | rain
    fire = Fire(tuple(stage & ~out for stage in fire.stages), fire.burnt | (fire.burning & out))
    wet = rain.nonzero().squeeze(1)
    burnt = fire.burnt[..., wet]
    places = grid.unpack(burnt & forest[..., wet] & ~water[..., wet]).flatten(1).nonzero()
    grown = _drawn(grid, places, seed[wet], REGROWTH, places[:, 1], torch.full_like(wet, _REGROWTH))
    return fire._replace(burnt=fire.burnt.index_copy(-1, wet, burnt & ~grown))


def draw_strikes(seed: Tensor, weather: Tensor, generations: int, cells: int) -> tuple[Tensor, Tensor]:
    """Return the strikes of lightning in rounds: generations from 1 on (0 for none) and cells, int64 [n, 6] each."""
    counter = torch.arange(2 * _STRIKES, device=seed.device)
    when, where = chance.draw(seed[:, None], STRIKES, counter).unflatten(1, (-1, 2)).unbind(2)
    storm = (weather == STORM)[:, None]
    return torch.where(storm, chance.uniform_int(when, generations) + 1, 0), chance.uniform_int(where, cells)


def set_alight(fire: Fire, forest: Tensor, cells: Tensor) -> Fire:
    """Return the fires after unburnt forest among some cells, bitboards, has been lit; it burns from now on."""
    lit = forest & cells & ~fire.burnt & ~fire.burning
    return fire._replace(stages=(*fire.stages[:-1], fire.stages[-1] | lit))


def burn(grid: Grid, fire: Fire, forest: Tensor, seed: Tensor, generation: int, weather: Tensor) -> tuple[Fire, Tensor]:
    """Return the fires a generation later, and bitboards of the cells on which fire kills units.

    Unburnt forest beside a burning cell catches fire by chance, a function of the round's seed, int64 [n], and the
    number of the generation, from 1 on. Fire kills on cells that burnt and on new ones. Forest under water is no
    part of `forest`.
    """
    burning = fire.burning
    beside = forest & ~fire.burnt & ~burning & grid.dilate(burning, PLUS)
    places = grid.unpack(beside).flatten(1).nonzero()
    counter = generation * grid.rows * grid.cols + places[:, 1]
    caught = _drawn(grid, places, seed, FIRE, counter, torch.where(weather == DRY, _SPREAD_DRY, _SPREAD))
    out, *others = fire.stages
    return Fire((*others, caught), fire.burnt | out), burning | caught


def _drawn(grid: Grid, places: Tensor, seed: Tensor, purpose: int, counter: Tensor, below: Tensor) -> Tensor:
    """Return bitboards of those places, (game, cell) int64 [p, 2], whose byte is less than the game's `below`."""
    games, cells = places.unbind(1)
    hit = draw_byte(seed[games], purpose, counter) < below[games]
    flags = torch.zeros((len(seed), grid.rows * grid.cols), dtype=torch.bool, device=seed.device)
    flags[games[hit], cells[hit]] = True
    return grid.pack(flags.unflatten(1, (grid.rows, grid.cols)))
