"""Records made by hand, for tests of the analysis of strategy."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cellgames.agents import load, moves, play
from cellgames.arena.play.match import records_of
from cellgames.arena.records.record_lines import Outcome, Record, Result, plain
from cellgames.envs.core import Game, seeds


def a_game(
    game: Game,
    moves: Sequence[str],
    agents: Sequence[str],
    outcome: Sequence[Outcome],
    *,
    opening: int = 0,
    scores: Sequence[float] | None = None,
) -> Record:
    """A game as a record tells it; nothing is played."""
    numbers = tuple(float(value == "win") for value in outcome) if scores is None else tuple(scores)
    result = Result(tuple(outcome), numbers, len(moves), False)
    return Record(game.id, "0", plain(game.parameters), 0, tuple(agents), opening, tuple(moves), result)


def played(game: Game, specs: Sequence[str], games: int, seed: int = 0) -> list[Record]:
    """Games of agents that take turns on the seats."""
    agents = [load(spec, game) for spec in specs]
    seats = (torch.arange(games)[:, None] + torch.arange(game.info.num_players)) % len(agents)
    env_ids = seeds(seed, games)
    generators = [torch.Generator().manual_seed(seed + place) for place in range(len(agents))]
    found = play(game, agents, seats, env_ids, generators)
    assert all(moves(game, found, env_id) for env_id in range(games))
    seated = [tuple(specs[seat] for seat in row) for row in seats.tolist()]
    return records_of(game, found, seeds=env_ids.tolist(), agents=seated, openings=[0] * games)
