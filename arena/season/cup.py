"""A season of the Toroidal Cup as the real one is played: random arrangements, and Life decides.

Every game draws a pattern from the season's, and an arrangement of it. The team with the first seat is team 1. The Cup
plays with two teams a game; up to eight are possible.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np

from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, arrange, simulate
from cellgames.envs.toroidal_cup.patterns.pattern import MOST_TEAMS
from cellgames.envs.toroidal_cup.simulator import MAX_GENERATIONS, Survivors
from cellgames.runs.comparing import differences
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError, check_one_of, check_whole, shown

from .games import Fixture, PackedUmpire, Played, places_of

CUP = "toroidal-cup-v0"
"""The game of the suite whose rules these are."""

PARAMETERS = ("max_generations", "survivors")
"""The rules that a season may change and a record holds, by the names that `CupUmpire` gives them."""

ENDED = ("scores", "generations", "winner", "truncated")
"""The fields of `Result` that a record holds."""


class CupUmpire:
    """An umpire for teams that are not bots.

    Args:
        patterns: names in `PATTERNS`; None for all of them.
        max_generations: generation at which a game is cut off.
        survivors: "recolour" or "keep", see `simulate`.
        teams: teams of a game, 2 to 8.
        chunk: games played at the same time, about.

    Raises:
        ValueError: unknown patterns or one twice, numbers out of range.
    """

    def __init__(
        self,
        patterns: Sequence[str] | None = None,
        *,
        max_generations: int = MAX_GENERATIONS,
        survivors: Survivors = "recolour",
        teams: int = 2,
        chunk: int = 250,
    ) -> None:
        if isinstance(patterns, str):
            expected = "a list of patterns"
            raise InputError("patterns", expected, f"{shown(patterns)} alone", f"did you mean [{shown(patterns)}]?")
        names = list(PATTERNS if patterns is None else patterns)
        if unknown := [name for name in names if name not in PATTERNS]:
            check_one_of("patterns", unknown[0], PATTERNS)
        if not names or len(set(names)) < len(names):
            raise InputError("patterns", "one or more different patterns", ", ".join(names) or "none")
        check_whole("max_generations", max_generations, 1)
        check_whole("teams", teams, 2, MOST_TEAMS)
        check_whole("chunk", chunk, 1)
        if survivors not in get_args(Survivors):
            raise InputError("survivors", " or ".join(map(repr, get_args(Survivors))), shown(survivors))
        self.patterns, self.max_generations, self.survivors = names, max_generations, survivors
        self.seats, self.chunk = teams, chunk

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {
            "game": CUP,
            "patterns": self.patterns,
            "max_generations": self.max_generations,
            "survivors": self.survivors,
            **({} if self.seats == 2 else {"seats": self.seats}),
            "chunk": self.chunk,
        }

    def packed(self) -> PackedUmpire:
        """See `PortableUmpire.packed`."""
        rules = {name: getattr(self, name) for name in PARAMETERS}
        return partial(CupUmpire, self.patterns, **rules, teams=self.seats, chunk=self.chunk)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; a game does not depend on those beside it."""
        games = [self._start(fixture, seed) for fixture in fixtures]
        ended = simulate(
            [_arranged(game, self.seats) for game in games],
            ROWS,
            COLS,
            max_generations=self.max_generations,
            survivors=self.survivors,
        )
        if finished is not None:
            finished(len(games))
        values_of = zip(
            ended.scores.tolist(),
            ended.generations.tolist(),
            ended.winner.tolist(),
            ended.truncated.tolist(),
            strict=True,
        )
        return [
            _played(fixture, {**game, **dict(zip(ENDED, values, strict=True))})
            for fixture, game, values in zip(fixtures, games, values_of, strict=True)
        ]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        data = json.loads(line)
        start = self._start(fixture, seed)
        if missing := [name for name in (*start, *ENDED) if name not in data]:
            raise InputError("fields", ", ".join(missing), "none")
        if wrong := differences(start, data):
            raise ValueError(wrong)
        return _played(fixture, {name: data[name] for name in (*start, *ENDED)})

    def _start(self, fixture: Fixture, seed: int) -> dict[str, Any]:
        """Return the pattern, which replays keep, the seed of the arrangement, and the rules."""
        number = derive(seed, "pattern", fixture.stage, fixture.game) % len(self.patterns)
        rules = {name: getattr(self, name) for name in PARAMETERS}
        return {"pattern": self.patterns[number], "seed": fixture.derive(seed, "arrangement"), **rules}


def start_of(record: Mapping[str, Any]) -> tuple[list[int], ...]:
    """Return the start of a game from its record, a line of games.jsonl as JSON: the flat cells of `arrange`."""
    return _arranged(record, len(record["scores"]) if "scores" in record else 2)


def _arranged(game: Mapping[str, Any], teams: int) -> tuple[list[int], ...]:
    return arrange(game["pattern"], np.random.default_rng(game["seed"]), teams)


def _played(fixture: Fixture, data: Mapping[str, Any]) -> Played:
    teams = len(fixture.teams)
    try:
        scores = tuple(map(float, data["scores"]))
        winner = (None, *range(teams))[data["winner"]]
        if len(scores) != teams or data["winner"] < 0:
            raise ValueError
    except (IndexError, TypeError, ValueError):
        count = "two" if teams == 2 else str(teams)
        expected = f"{count} scores and a winner from 0 to {teams}"
        raise InputError("scores", expected, f"{shown(data['scores'])} and {shown(data['winner'])}") from None
    return Played(fixture, scores, winner, data, places=() if teams == 2 else places_of(scores))
