"""Recorded games for tests of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from toy_games import TOYS

import cellgames
from cellgames.agents import load, play
from cellgames.arena.play.match import generator, records_of
from cellgames.arena.records.record_lines import Record
from cellgames.envs import Game, registry
from cellgames.plugins import GamePlugin

SMALL: dict[str, dict[str, Any]] = {
    "torus-v0": {"size": 4},
    "hex-v0": {"size": 4, "tiling": "octagons"},
    "cloth-of-gold-v0": {"height": 20, "width": 24, "generations": 12, "max_units": 4, "max_rounds": 3, "radius": 4},
    "grid-adaptation-v0": {"size": 7, "players": 4, "rounds": 4, "flip_rounds": (2,)},
    "toroidal-cup-v0": {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 60},
}
"""Parameters that make a whole game short, by the games' ids."""

SMALLEST: dict[str, dict[str, Any]] = {
    "torus-small-v0": {"size": 3},
    "hex-small-v0": {"size": 3},
    "y-small-v0": {"size": 4, "tiling": "octagons"},
    "cloth-of-gold-small-v0": {"height": 12, "width": 12, "generations": 3, "max_rounds": 2, "max_units": 3},
    "grid-adaptation-small-v0": {"size": 6, "rounds": 3},
    "toroidal-cup-small-v0": {"max_generations": 30},
}
"""Parameters of games that a person ends in a few moves, one of each game, by the presets' ids."""


RACE = "x..../x..../x..../x..../.oooo ...../...../...../...../..... b"
"""Torus of size 5: cell a5 closes Black's ring or White's bracelet, so whoever takes it wins."""


def registered_toy(patch: pytest.MonkeyPatch) -> Game:
    """A game in turns that the suite does not know, registered as one of another package."""
    game = TOYS[1]
    plugin = GamePlugin(id=game.id, game=type(game), summary="A toy")
    patch.setitem(registry.REGISTRY, game.id, registry.GameSpec(game.id, plugin, plugin.summary))
    return game


def recorded(id: str, agents: Sequence[str] = (), *, seed: int = 3, **parameters: Any) -> Record:
    """A whole game, of random agents by default, with the `SMALL` parameters where none are given."""
    game: Game = cellgames.make(id, **(parameters or SMALL.get(id, {})))
    specs = tuple(agents) or ("random",) * game.info.num_players
    names = list(dict.fromkeys(specs))
    seats = torch.tensor([[names.index(name) for name in specs]])
    generators = [generator("web", name, seed) for name in names]
    played = play(game, [load(name, game) for name in names], seats, torch.tensor([seed]), generators)
    return records_of(game, played, seeds=[seed], agents=[specs], openings=[0])[0]
