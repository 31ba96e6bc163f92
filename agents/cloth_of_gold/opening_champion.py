"""`champion` in Cloth of Gold: a first turn that an evolution found, and another agent's turns after it.

Letters: `L` games to move in, `D` designs, `S` shapes, `W` units of a shape.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.file_names import CHAMPION_FILE
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game

from .first_turns import opening_turns, opens, read_openings, shipped_openings
from .greedy import ClothGreedy
from .turns import TurnAgent


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
        self.then.check_game(game)
        if self._file is None:
            shipped_openings(game.parameters)

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
        made, designs = self._file or read_openings(shipped_openings(game.parameters))
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
        found = self.then.turns(state, generator)
        first = opens(self.game, state).nonzero().squeeze(1)
        if len(first):
            seeds = draw_seeds(len(first), generator, state.device)
            drawn = [int(np.random.default_rng(s).choice(len(self._weights), p=self._weights)) for s in seeds.tolist()]
            shapes = self._shapes[drawn].to(state.device)
            plans = opening_turns(self.game, state[first], shapes, seeds)
            found[first] = torch.where(plans[:, :1] >= 0, plans, found[first])
        return found
