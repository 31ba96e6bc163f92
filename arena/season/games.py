"""The games of a season: fixtures, results, replays, and the protocol of umpires that play them.

How games are played is up to an `Umpire`: bots on any game of the suite (`BotUmpire`), or random arrangements on
the Toroidal Cup (`cup`). The season knows neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol

import torch
from typing_extensions import override

from cellgames.agents import play_loop as loop
from cellgames.agents.agent_specs import split_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match import GamePlayer, check_record, counter, generator, lengths, openings, records_of
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.play.tournament import Batch, Player
from cellgames.arena.records.record_lines import Record, plain, to_line
from cellgames.envs.core import Game
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError, check_whole, clipped, shown

from .standings import SIDES, Die, GameResult, roll_off
from .teams import Team

REPLAYS = 5
"""The most replays of a game without a winner."""


@dataclass(frozen=True)
class Fixture:
    """A game to be played.

    Attributes:
        stage: the day of the season ("day 7"), or the series (`standings.Series.key`).
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
        season = {name: getattr(self.fixture, name) for name in ("stage", "game", "attempt", "teams")}
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


def attempts(fixtures: Sequence[Fixture], play: Callable[[list[Fixture]], Sequence[Played]]) -> list[Played]:
    """Play games and return all attempts; games without a winner are replayed, all at once."""
    games, left = list[Played](), list(fixtures)
    for attempt in range(1 + REPLAYS):
        if left:
            played = play([replace(fixture, attempt=attempt) for fixture in left])
            games += played
            left = [game.fixture for game in played if game.winner is None]
    return games


def results_of(games: Sequence[Played], seed: int, *, dice: bool) -> Iterator[GameResult]:
    """Yield the results of fixtures from all attempts at their games, of which the last one counts.

    With `dice` a die decides what replays have not; else such a game ends without a winner.
    """
    for last in {replace(game.fixture, attempt=0): game for game in games}.values():
        fixture, teams = last.fixture, last.fixture.teams
        winner = None if last.winner is None else teams[last.winner]
        rolls: tuple[tuple[int, ...], ...] = ()
        if winner is None and dice:
            thrown = dict(roll_off(teams, make_die(seed, fixture.stage, fixture.game)))
            winner, rolls = next(iter(thrown)), tuple(thrown[team] for team in teams)
        yield GameResult(teams, last.scores, winner, 1 + fixture.attempt, rolls)


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
        return attempts(batch.games, lambda fixtures: [get(fixture) for fixture in fixtures])

    @override
    def play(self, batch: Batch[Fixture], finished: Callable[[int], None] | None = None) -> list[Played]:
        def play(fixtures: list[Fixture]) -> list[Played]:  # replays count as one game
            return self.umpire.play(fixtures, self.seed, None if fixtures[0].attempt else finished)

        return attempts(batch.games, play)


def _played(fixture: Fixture, record: Record) -> Played:
    """Return the game of a fixture from its record."""
    outcome = record.result.outcome
    winner = outcome.index("win") if "win" in outcome else None
    return Played(fixture, record.result.scores, winner, record.to_data(), record.traces)


class BotUmpire:
    """An umpire for teams that are bots, on any game of two players.

    The games of a batch are played at the same time, and every bot is asked once a turn about all of its games. Two
    teams may share a bot. Games start from random openings; the team with the first seat is the first player.

    Args:
        game: for two players, in turns or all at once.
        teams: all of them; `agent` is a spec for `agents.load`, also `NAME=SPEC`, or a name in `agents`.
        agents: agents that are there already, by name.
        opening_plies: random moves before the agents take over, at most.
        chunk: games played at the same time, about.
        time_control: the limits of thinking, None without any.

    Raises:
        ValueError: a game for another number of players, a team without an agent, a spec that cannot be loaded,
            numbers out of range.
    """

    def __init__(
        self,
        game: Game,
        teams: Sequence[Team],
        *,
        agents: Mapping[str, str | AnyAgent] | None = None,
        opening_plies: int = MatchOptions.opening_plies,
        chunk: int = 100,
        time_control: TimeControl | None = None,
    ) -> None:
        if (players := game.info.num_players) != 2:
            cause = "cellgames free-for-all ranks agents in games of more" if players > 2 else ""
            raise InputError("game", "two players", players, cause, where=game.id)
        check_whole("opening_plies", opening_plies, 0)
        check_whole("chunk", chunk, 1)
        if without := [team.name for team in teams if not team.agent]:
            raise InputError("agents", "an agent for every team", f"none for {', '.join(without)}", where=game.id)
        self.game, self.opening_plies, self.chunk = game, opening_plies, chunk
        there = agents or {}
        # A team's agent by the name that records have; several teams may share one.
        given = {text: (text, text) if text in there else split_name(text) for text in (team.agent for team in teams)}
        named = {name: there.get(name, spec) for name, spec in given.values()}
        if len(named) < len(given):
            raise InputError("agents", "agents with different names", ", ".join(given))
        self.names, self.time_control = {team.name: given[team.agent][0] for team in teams}, time_control
        self._player = GamePlayer.of(game, named, MatchOptions())  # which loads the agents again in workers
        self.identities = self._player.identities

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {
            "game": self.game.id,
            "parameters": plain(self.game.parameters),
            "opening_plies": self.opening_plies,
            "chunk": self.chunk,
            **({} if self.time_control is None else {"time_control": str(self.time_control)}),
        }

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; an agent's actions depend on the batch, whose first game seeds its generator."""
        seated = [tuple(self.names[team] for team in fixture.teams) for fixture in fixtures]
        names, first = sorted({*chain(*seated)}), fixtures[0]
        seeds = torch.tensor([fixture.derive(seed, "game") for fixture in fixtures], device="cpu")
        drawn = openings(self.game, seeds, self.opening_plies, generator(first.derive(seed, "openings")))
        played = loop.play(
            self.game,
            [self._player.players[name] for name in names],
            torch.tensor([[names.index(name) for name in own] for own in seated], device="cpu"),
            seeds,
            [generator(first.derive(seed, "agent"), name) for name in names],
            opening=drawn if self.opening_plies else None,
            on_turn=None if finished is None else counter(finished),
            forfeits=self.time_control or True,
        )
        records = records_of(self.game, played, seeds=seeds.tolist(), agents=seated, openings=lengths(drawn))
        return list(map(_played, fixtures, records))

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        found, agents = Record.from_json(line), tuple(self.names[team] for team in fixture.teams)
        check_record(found, self.game, seed=fixture.derive(seed, "game"), agents=agents)
        return _played(fixture, found)
