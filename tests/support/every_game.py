"""Every registered game and the toys, and how tests play them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import torch
from slow import slow_except
from torch import Tensor
from toy_games import TOYS, random_actions

import cellgames
from cellgames.agents import AnyAgent, random_openings, select
from cellgames.envs.core import Game, seeds

# Where a whole game takes long, what makes it shorter.
QUICK: dict[str, dict[str, Any]] = {
    "torus-v0": {"size": 6},
    "torus-small-v0": {"size": 4},
    "hex-v0": {"size": 6},
    "hex-small-v0": {"size": 3, "tiling": "octagons", "swap": False},
    "y-v0": {"size": 6, "swap": False},
    "y-small-v0": {"size": 4, "tiling": "octagons"},
    "grid-adaptation-v0": {"size": 5, "players": 3, "rounds": 3, "flip_rounds": (2,)},
    "grid-adaptation-small-v0": {
        **{"size": 6, "players": 2, "rounds": 4, "flip_rounds": (1, 3)},
        **{"reward_scheme": "outcome", "garnet_value": 0.5},
    },
    "toroidal-cup-v0": {"shapes": 4, "max_generations": 60},
    "toroidal-cup-small-v0": {"max_generations": 300},
    "cloth-of-gold-v0": {"height": 8, "width": 9, "generations": 3, "max_units": 3, "max_rounds": 3, "radius": 3},
    "cloth-of-gold-fair-v0": {"height": 9, "width": 8, "generations": 3, "max_units": 3, "max_rounds": 3, "radius": 3},
    "cloth-of-gold-fair-small-v0": {"height": 8, "width": 9, "generations": 3, "max_units": 2, "max_rounds": 3},
    "cloth-of-gold-small-v0": {
        **{"height": 9, "width": 8, "generations": 2, "max_units": 2, "max_rounds": 3, "radius": 3},
        **{"initial_placement": False, "neutral_births": True, "neutral_density": 0.2, "shaping": 0.5},
        "win_rule": "extinction",
    },
    "cloth-of-gold-wild-v0": {
        **{"height": 10, "width": 9, "generations": 4, "max_units": 2, "max_rounds": 2, "wildlife": (1, 1, 1)}
    },
    "cloth-of-gold-wild-small-v0": {
        **{"height": 9, "width": 12, "generations": 4, "max_units": 1, "max_rounds": 3, "neutral_density": 0.1},
        **{"initial_placement": False, "first_verdict": 3, "shaping": 0.5},
    },
}

GAMES: dict[str, Game] = {id: cellgames.make(id, **QUICK.get(id, {})) for id in cellgames.games()}
GAMES |= {toy.id: toy for toy in TOYS}


def smaller(ids: Iterable[str]) -> list[str]:
    """Return the smaller preset of each game, and the toys: what `make test` plays where `make slow` plays all."""
    registered = cellgames.games()
    return [id for id in ids if id.endswith("-small-v0") or id not in registered]


every_game = pytest.mark.parametrize("game", slow_except(smaller(GAMES), GAMES.values(), GAMES))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def play(game: Game, state: Any, steps: int, seed: int = 0) -> Any:
    random = generator(seed)
    for _ in range(steps):
        state = game.step(state, random_actions(game, state, random))
    return state


def after_openings(game: Game, games: int, plies: int, seed: int = 1) -> tuple[Any, Tensor]:
    """Return games after random openings, and the openings."""
    opening, state = random_openings(game, games, plies, generator(seed)), game.init(seeds(0, games))
    for action in opening.unbind(1):
        state = game.step(state, action)
    return state, opening


def ask(agent: AnyAgent, game: Game, state: Any, seat: int = 0, seed: int = 0) -> Tensor:
    """What an agent does that joins in this position, in a seat or where it is its turn."""
    rows = torch.arange(len(state))
    players = torch.full_like(rows, seat) if game.info.simultaneous else state.current_player
    agent.start(game, players, rows)
    return select(agent, game, state, rows, generator(seed), players if game.info.simultaneous else None)


def midway(game: Game, num_envs: int = 5, seed: int = 1) -> Any:
    """Games in progress, at least most of them."""
    return play(game, game.init(seeds(seed, num_envs)), game.info.max_turns // 3)


def finished(game: Game, num_envs: int = 5, seed: int = 1) -> Any:
    state = play(game, game.init(seeds(seed, num_envs)), game.info.max_turns)
    assert state.done.all()
    return state


def seen(game: Game, state: Any) -> list[Tensor]:
    """All that a game says about a state."""
    views = [game.observe(state, seat) for seat in range(game.info.num_players)]
    return [*views, game.legal_actions(state), game.board(state), game.outcome(state)]
