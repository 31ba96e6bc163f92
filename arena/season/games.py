"""The games of a season: fixtures, results, replays, and the protocol of umpires that play them.

How games are played is up to an `Umpire`: bots on any game of the suite (`bots`), or random arrangements on
the Toroidal Cup (`cup`). The season knows neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from typing_extensions import override

from cellgames.arena.play.tournament import Batch, Player
from cellgames.arena.records.record_lines import Record, to_line
from cellgames.arena.records.store import AnyStore, feeding
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.files import PathLike

from .standings import SIDES, Die, GameResult, roll_off

REPLAYS = 5
"""The most replays of a game without a winner."""


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    Attributes:
        stage: the day of the season ("day 7"), or the series (`playoffs.Series.key`).
        game: its number in the stage, from 1.
        teams: in the order of their seats.
        attempt: 0, or the number of the replay.
    """

    stage: str
    game: int
    teams: tuple[str, str]
    attempt: int = 0

    def derive(self, seed: int, purpose: str) -> int:
        """Return a seed for this game from the season's; every attempt has another one."""
        return derive(seed, purpose, self.stage, self.game, self.attempt)

    @classmethod
    def from_json(cls, line: str | bytes) -> Fixture:
        """Return the fixture of a line of games.jsonl; raise a `ValueError` if it holds no game of a season."""
        try:
            season = json.loads(line)["season"]
            first, second = map(str, season["teams"])
            return cls(str(season["stage"]), int(season["game"]), (first, second), int(season["attempt"]))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
            why = f"{type(error).__name__}: {clipped(str(error))}"
            raise InputError("", "a game of a season", f"{shown(line)} ({why})") from None

    @property
    def occasion(self) -> str:
        """Return stage, number and attempt of the game, without the teams."""
        return f"{self.stage}, game {self.game}" + (f", replay {self.attempt}" if self.attempt else "")

    def __str__(self) -> str:
        return f"{self.occasion}: {' v '.join(self.teams)}"


@dataclass(frozen=True)
class Played:
    """A finished game.

    Attributes:
        scores: score by seat, the game's own measure.
        winner: a seat, or None for a game that nobody won.
        data: data by which the umpire plays it again, and its end; the rest of its line in games.jsonl.
        traces: agents that raised errors in it, and the traces (`log_forfeits`); no part of the line.
    """

    fixture: Fixture
    scores: tuple[float, ...]
    winner: int | None
    data: Mapping[str, Any]
    traces: Sequence[tuple[str, str]] = field(default=(), compare=False, repr=False)

    def to_json(self) -> str:
        """Return one line, without the newline."""
        fixture = self.fixture
        season = {
            "stage": fixture.stage,
            "game": fixture.game,
            "attempt": fixture.attempt,
            "teams": fixture.teams,
        }
        return to_line({"season": season, **self.data})


class Umpire(Protocol):
    """The protocol of umpires, which play the games of a season.

    `chunk` is about how many games are played at the same time, saved together, and lost together by a kill. An umpire
    may have `identities` of agents by name (`agents.loading`), by which its games are games of agents, which the store
    takes. It is pickled for workers.
    """

    chunk: int

    @property
    def settings(self) -> dict[str, Any]:
        """Return all that the games depend on besides teams, seed and schedule, as season.json shows it."""

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """Play games; the same ones with the same seed end the same.

        Args:
            fixtures: one or more.
            seed: the season's.
            finished: called with the number of games that are over since the last call.
        """

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """Return a game that was played before, from its line.

        Raises:
            ValueError: the line is no game, or not of this fixture; the message says why.
        """


def make_die(seed: int, *occasion: str | int) -> Die:
    """Return a die whose rolls follow from the season's seed."""
    return lambda team, number: 1 + derive(seed, "die", *occasion, team, number) % SIDES


def attempts(
    fixtures: Sequence[Fixture], play: Callable[[list[Fixture]], Sequence[Played]], replays: int = REPLAYS
) -> list[Played]:
    """Play games and return all attempts; games without a winner are replayed, all at once."""
    games, left = list[Played](), list(fixtures)
    for attempt in range(1 + replays):
        if left:
            played = play([replace(fixture, attempt=attempt) for fixture in left])
            games += played
            left = [fixture for fixture, game in zip(left, played, strict=True) if game.winner is None]
    return games


def results_of(fixtures: Sequence[Fixture], games: Sequence[Played], seed: int, *, dice: bool) -> Iterator[GameResult]:
    """Yield the results of fixtures from all attempts at their games, of which the last one counts.

    With `dice` a die decides what replays have not; else such a game ends without a winner.
    """
    ended = {replace(game.fixture, attempt=0): game for game in games}
    for fixture in fixtures:
        last = ended[fixture]
        teams = fixture.teams
        winner = None if last.winner is None else teams[last.winner]
        rolls: tuple[tuple[int, ...], ...] = ()
        if winner is None and dice:
            thrown = dict(roll_off(teams, make_die(seed, fixture.stage, fixture.game)))
            winner, rolls = next(iter(thrown)), tuple(thrown[team] for team in teams)
        yield GameResult(teams, last.scores, winner, 1 + last.fixture.attempt, rolls)


Keep: TypeAlias = Callable[[Sequence[Played]], None]
"""A function that gets every batch of games when it is in the file."""


@contextmanager
def feeding_games(
    store: AnyStore, folder: PathLike, umpire: Umpire, warn: Callable[[str], None]
) -> Iterator[tuple[Keep, list[Record]]]:
    """Yield a function that adds games to the store, and the list to which it adds those to report.

    Games to report have clocks or forfeits. Without agents the function does nothing.
    """
    noted: list[Record] = []
    known: Mapping[str, str] | None = getattr(umpire, "identities", None)
    if known is None:
        yield lambda played: None, noted
        return
    with feeding(store, "season", folder, known, warn) as keep:

        def keep_all(played: Sequence[Played]) -> None:
            records = [Record.from_json(game.to_json()) for game in played]
            noted.extend(record for record in records if record.result.forfeit is not None or record.seconds)
            keep(records)

        yield keep_all, noted


@dataclass(frozen=True)
class UmpirePlayer(Player[Fixture, Played]):
    """A player of fixtures.

    Attributes:
        umpire: plays the games.
        seed: the season's.
    """

    umpire: Umpire
    seed: int

    @override
    def parse(self, line: bytes) -> tuple[Fixture, bytes]:
        return Fixture.from_json(line), line

    @override
    def key(self, game: Played) -> Fixture:
        return game.fixture

    @override
    def first(self, key: Fixture) -> Fixture:
        return replace(key, attempt=0)

    @override
    def read(self, batch: Batch[Fixture], key: Fixture, parsed: bytes) -> Played:
        return self.umpire.read(key, self.seed, parsed)

    @override
    def collect(self, batch: Batch[Fixture], get: Callable[[Fixture], Played]) -> list[Played]:
        return attempts(batch.games, lambda fixtures: [get(fixture) for fixture in fixtures], batch.replays)

    @override
    def play(self, batch: Batch[Fixture], finished: Callable[[int], None] | None = None) -> list[Played]:
        def play(fixtures: list[Fixture]) -> list[Played]:  # replays count as one game
            return self.umpire.play(fixtures, self.seed, None if fixtures[0].attempt else finished)

        return attempts(batch.games, play, batch.replays)

    @override
    def traces(self, games: Sequence[Played]) -> list[tuple[str, str]]:
        return [trace for game in games for trace in game.traces]
