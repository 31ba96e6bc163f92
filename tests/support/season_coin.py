"""A season's umpire for tests: coins instead of games, some of which end without a winner."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from cellgames.arena.season.games import Fixture, Played
from cellgames.arena.season.teams import Team, assign_agents, assign_divisions, generate_names


def made_up(count: int, *agents: str) -> tuple[Team, ...]:
    """Teams that have the agents in turn, or none."""
    return assign_divisions(assign_agents([Team(name) for name in generate_names(count, 0)], agents))


class Coin:
    """level: of 100 games, how many nobody wins; batches: the number of games of each that was played."""

    def __init__(self, level: int = 0, chunk: int = 10) -> None:
        self.level, self.chunk = level, chunk
        self.batches: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {"game": "coin", "level": self.level, "chunk": self.chunk}

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        self.batches.append(len(fixtures))
        if finished is not None:
            finished(len(fixtures))
        return [self._game(fixture, seed) for fixture in fixtures]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        game = self._game(fixture, seed)
        if json.loads(line).get("scores") != game.data["scores"]:
            raise ValueError("the coins fell otherwise")
        return game

    def _game(self, fixture: Fixture, seed: int) -> Played:
        number = fixture.derive(seed, "coin")
        scores = (number % 7, number // 7 % 7)
        winner = None if number // 49 % 100 < self.level else number // 4900 % 2
        return Played(fixture, scores, winner, {"scores": list(scores), "winner": winner})
