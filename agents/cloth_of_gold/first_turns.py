"""First turns of Cloth of Gold as designs, and `champion`, which begins with one and goes on as another agent.

    {"turn": "r9c9 r9c10 r10c9 r10c10 / r14c3 r14c4 r14c5", "weight": 1.0}

is a design of a champion's file: units of each shape, as the game writes them. Shapes are placed whole or not at all.
A player on the empty board turns and mirrors the design at random. The other one takes the way that would be worth
most if the round ran now, as `greedy` judges.

Letters: `L` games to move in, `D` designs, `S` shapes of a design, `W` units of a shape, `K` the most units of a turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.agent_files import CHAMPION_FILE, check_weight, read_champion_data
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game, chance
from cellgames.utils.errors import InputError, located

from .greedy import ClothGreedy, forecast, worth
from .turns import TurnAgent, limits

CHAMPIONS = Path(__file__).parent / "champions"
"""The files that come with the package."""

BETWEEN = "/"
"""The text between two shapes in a file."""

_WAY = chance.USER  # purpose of draws


@dataclass(frozen=True)
class ClothOpening:
    """A first turn.

    Attributes:
        shapes: row and column of each unit, shape by shape.
        weight: relative frequency of its play, beside other ones; above 0.
    """

    shapes: tuple[tuple[tuple[int, int], ...], ...]
    weight: float


def read_openings(path: Path) -> tuple[ClothOfGold, tuple[ClothOpening, ...]]:
    """Return the game for which a champion was made, and its designs; a `ValueError` names faults of the file."""
    game, designs = read_champion_data(path, ClothOfGold)
    return game, tuple(_opening(f"{path}, design {number}", game, one) for number, one in enumerate(designs, 1))


def _opening(where: str, game: ClothOfGold, data: Any) -> ClothOpening:
    if not isinstance(data, dict) or not isinstance(data.get("turn"), str):
        raise InputError(where, "a turn such as r9c9 r9c10 r10c9 r10c10")
    try:
        shapes = [[game.string_to_action(word) for word in part.split()] for part in data["turn"].split(BETWEEN)]
    except ValueError as error:
        raise located(error, where) from None
    units = [cell for shape in shapes for cell in shape]
    if not all(shapes) or game.end_turn in units or len(set(units)) < len(units) or len(units) > game.max_units:
        raise InputError(where, f"one to {game.max_units} different cells, and some in each shape")
    weight = check_weight(where, data.get("weight"))
    return ClothOpening(tuple(tuple(divmod(cell, game.width) for cell in shape) for shape in shapes), weight)


def shipped_openings(game: ClothOfGold) -> tuple[ClothOfGold, tuple[ClothOpening, ...]]:
    """Return the champion of the package for a world and rounds as large; a `ValueError` without one."""
    same = ("height", "width", "generations")
    for path in sorted(CHAMPIONS.glob("*.json")):
        made = read_openings(path)
        if all(getattr(made[0], name) == getattr(game, name) for name in same):
            return made
    wanted = ", ".join(f"{name}={getattr(game, name)}" for name in same)
    cause = "`cellgames evolve` makes one"
    raise InputError("champion", "a game for which the package has one", wanted, cause, ClothOfGold.id)


def ways(game: ClothOfGold) -> int:
    """Return the number of ways to turn and mirror the world onto itself."""
    return 8 if game.height == game.width else 4


def turned(game: ClothOfGold, cells: Tensor, way: Tensor) -> Tensor:
    """Return cells [L, ...], -1 for none, turned and mirrored in some way, int64 [L]."""
    way = way.view(-1, *[1] * (cells.ndim - 1))
    row, col = cells // game.width, cells % game.width
    row = torch.where(way & 1 > 0, game.height - 1 - row, row)
    col = torch.where(way & 2 > 0, game.width - 1 - col, col)
    swapped = way & 4 > 0
    row, col = torch.where(swapped, col, row), torch.where(swapped, row, col)
    return torch.where(cells < 0, -1, row * game.width + col)


def opening_turns(game: ClothOfGold, state: ClothState, shapes: Tensor, seeds: Tensor) -> Tensor:
    """Return first turns by designs, int64 [L, K], as `TurnAgent.turns` does; -1 alone where no shape can be placed.

    In `L` games a player's first turn begins. `shapes`, int64 [L, S, W], are the cells of the designs, -1 for none; on
    the empty board the way is a function of `seeds`, int64 [L].
    """
    count, rows = ways(game), torch.arange(len(state), device=state.device)
    way = chance.uniform_int(chance.draw(seeds, _WAY, torch.zeros_like(rows)), count)
    second = (state.current_player != state.first).nonzero().squeeze(1)
    if len(second):
        every = rows[: len(second)].repeat_interleave(count)
        tried = torch.arange(count, device=state.device).repeat(len(second))
        there = state[second]
        plans = _fitting(game, there[every], turned(game, shapes[second][every], tried))
        plans = plans.view(len(second), count, game.most_units)
        value = worth(game, there, forecast(game, there, plans))
        value = value.masked_fill(plans[:, :, 0] < 0, -torch.inf)
        way[second] = value.argmax(1)
    return _fitting(game, state, turned(game, shapes, way))


def _fitting(game: ClothOfGold, state: ClothState, shapes: Tensor) -> Tensor:
    """Return the units of the shapes that may be placed whole, one shape after the other: int64 [L, K]."""
    homeless, foreign, room = limits(game, state)
    free = game.grid.unpack((game.legal_cells(state) & ~foreign).movedim(0, -1)).flatten(1).bool()
    wide = torch.full((len(state), game.most_units + shapes.shape[2]), -1, dtype=torch.int64, device=state.device)
    used = torch.zeros_like(room)
    for cells in shapes.unbind(1):
        needed = cells >= 0
        start = torch.where(used > 0, wide[:, 0], cells[:, 0])[:, None]
        far = (cells // game.width - start // game.width) ** 2 + (cells % game.width - start % game.width) ** 2
        fits = free.gather(1, cells.clamp(min=0)) & ((far < game.first_reach) | ~homeless[:, None])
        size = needed.sum(1)
        whole = (fits | ~needed).all(1) & (used + size <= room) & (size > 0)
        chosen = cells.where(whole[:, None], -1)
        wide.scatter_(1, used[:, None] + torch.arange(cells.shape[1], device=cells.device), chosen)
        used += torch.where(whole, size, 0)
    return wide[:, : game.most_units]


class ClothChampion(TurnAgent):
    """An agent that opens by a design, drawn by the designs' weights, and then plays as `greedy`.

    On worlds of another size than the designs' the units keep their places about the middle. Where no shape of a
    design may be placed, the first turn is that of `greedy`, too.

    Args:
        path: a champion.json of `cellgames evolve`, or a folder with one; None for the champion of the package.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__("champion")
        self._file = None if path is None else read_openings(path / CHAMPION_FILE if path.is_dir() else path)
        self.then = ClothGreedy()

    @override
    def check_game(self, game: Game) -> None:
        super().check_game(game)
        assert isinstance(game, ClothOfGold)  # says `super`
        if self._file is None:
            shipped_openings(game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        before = self._game
        super().start(game, players, env_ids)
        self.then.start(game, players, env_ids)
        if before != game:
            self._prepare()

    def _prepare(self) -> None:
        """Write down all designs as cells of the game."""
        game = self.game
        made, designs = self._file or shipped_openings(game)
        down, right = (game.height - made.height) // 2, (game.width - made.width) // 2
        widest = max(len(shape) for one in designs for shape in one.shapes)
        most = max(len(one.shapes) for one in designs)
        self._shapes = torch.full((len(designs), most, widest), -1, device="cpu")  # [D, S, W]
        for number, one in enumerate(designs):
            for place, shape in enumerate(one.shapes):
                cells = [(row + down, col + right) for row, col in shape]
                if all(0 <= row < game.height and 0 <= col < game.width for row, col in cells):
                    units = torch.tensor([row * game.width + col for row, col in cells])
                    self._shapes[number, place, : len(units)] = units
        weights = np.array([one.weight for one in designs])
        self._weights = weights / weights.sum()

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        found, opens = self.then.turns(state, generator), state.round == 1 - self.game.initial_placement
        first = (opens & (state.acts == 0)).nonzero().squeeze(1)
        if len(first):
            seeds = draw_seeds(len(first), generator, state.device)
            drawn = [int(np.random.default_rng(s).choice(len(self._weights), p=self._weights)) for s in seeds.tolist()]
            shapes = self._shapes[drawn].to(state.device)
            plans = opening_turns(self.game, state[first], shapes, seeds)
            found[first] = torch.where(plans[:, :1] >= 0, plans, found[first])
        return found
