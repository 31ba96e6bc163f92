"""A season of bots, on any game of two players or more.

The games of a batch are played at the same time: every bot is asked once a turn about all of its games. Two teams may
share a bot. Games start from random openings; the team with the first seat is the game's first player.

Letters: `B` games, `P` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from cellgames.agents import play_loop as loop
from cellgames.agents.agent_names import split_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match import counter, generator, records_of
from cellgames.arena.play.match_options import FreeForAllOptions, MatchOptions
from cellgames.arena.play.random_openings import lengths, openings
from cellgames.arena.play.work_units import Parcel
from cellgames.arena.records.checksums import plain
from cellgames.arena.records.forfeit_log import traces_of
from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.deviation import standing_points
from cellgames.envs.core import Game
from cellgames.runs.comparing import differences
from cellgames.utils.errors import InputError, check_whole

from .games import Fixture, PackedUmpire, Played, places_of
from .teams import Team


class BotUmpire:
    """An umpire for teams that are bots.

    Args:
        game: for two players or more, in turns or all at once.
        teams: all of them; `agent` is a spec for `agents.load`, also `NAME=SPEC`, or a name in `agents`.
        agents: agents that are there already, by name.
        opening_plies: random moves before the agents take over, at most; None for those of matches in games for two,
            and for none in games of more seats, as in free-for-all games.
        chunk: games played at the same time, about.
        time_control: the limits of thinking, None without any.

    Raises:
        ValueError: a game for one player, a team without an agent, a spec that cannot be loaded,
            numbers out of range.
    """

    def __init__(
        self,
        game: Game,
        teams: Sequence[Team],
        *,
        agents: Mapping[str, AnyAgent] | None = None,
        opening_plies: int | None = None,
        chunk: int = 100,
        time_control: TimeControl | None = None,
    ) -> None:
        if game.info.num_players < 2:
            raise InputError("game", "two players or more", game.info.num_players, where=game.id)
        if opening_plies is None:
            kind = MatchOptions if game.info.num_players == 2 else FreeForAllOptions
            opening_plies = kind.opening_plies
        check_whole("opening_plies", opening_plies, 0)
        check_whole("chunk", chunk, 1)
        if without := [team.name for team in teams if not team.agent]:
            raise InputError("agents", "an agent for every team", f"none for {', '.join(without)}", where=game.id)
        self.game, self.opening_plies, self.chunk, self.time_control = game, opening_plies, chunk, time_control
        self.seats = game.info.num_players
        self._parameters = plain(game.parameters)
        loaded = agents or {}
        self._teams = tuple(teams)
        # A team's agent by the name that records have; several teams may share one.
        texts = list(dict.fromkeys(team.agent for team in teams))
        given = {text: (text, text) if text in loaded else split_name(text) for text in texts}
        self._names = {team.name: given[team.agent][0] for team in teams}
        self._given = {name: loaded.get(name, spec) for name, spec in given.values()}
        if len(self._given) < len(given):
            raise InputError("agents", "agents with different names", ", ".join(given))
        self._agents = {
            name: load(agent, game, name=name) if isinstance(agent, str) else agent
            for name, agent in self._given.items()
        }
        self._identities = identities(self._given, game)

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {
            "game": self.game.id,
            "parameters": self._parameters,
            "opening_plies": self.opening_plies,
            "chunk": self.chunk,
            **({} if self.time_control is None else {"time_control": str(self.time_control)}),
        }

    @property
    def identities(self) -> dict[str, str]:
        """See `AgentUmpire.identities`."""
        return dict(self._identities)

    def records(self, played: Sequence[Played]) -> list[Record]:
        """See `AgentUmpire.records`."""
        return [Record.from_json(game.to_json()) for game in played]

    def packed(self) -> PackedUmpire:
        """See `PortableUmpire.packed`.

        Raises:
            ValueError: a game that is not registered, agents that cannot be pickled.
        """
        parcel = Parcel.pack(self.game, self._given)
        teams = tuple(replace(team, agent=self._names[team.name]) for team in self._teams)
        return _Packed(parcel, teams, self.opening_plies, self.chunk, self.time_control)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; an agent's actions depend on the batch too, whose first game seeds its generator."""
        names = sorted({self._names[team] for fixture in fixtures for team in fixture.teams})
        seats = torch.tensor(
            [[names.index(self._names[team]) for team in fixture.teams] for fixture in fixtures], device="cpu"
        )
        seeds = torch.tensor([fixture.derive(seed, "game") for fixture in fixtures], device="cpu")  # [B]
        first = fixtures[0]
        drawn = openings(self.game, seeds, self.opening_plies, generator(first.derive(seed, "openings")))
        played = loop.play(
            self.game,
            [self._agents[name] for name in names],
            seats,
            seeds,
            [generator(first.derive(seed, "agent"), name) for name in names],
            opening=drawn if self.opening_plies else None,
            on_turn=None if finished is None else counter(finished),
            forfeits=self.time_control or True,
        )
        agents = [tuple(self._names[team] for team in fixture.teams) for fixture in fixtures]
        records = records_of(self.game, played, seeds=seeds.tolist(), agents=agents, openings=lengths(drawn))
        return [_played(fixture, record) for fixture, record in zip(fixtures, records, strict=True)]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        found = Record.from_json(line)
        wanted = {
            "game": self.game.id,
            "parameters": self._parameters,
            "seed": fixture.derive(seed, "game"),
            "agents": tuple(self._names[team] for team in fixture.teams),
        }
        if wrong := differences(wanted, {name: getattr(found, name) for name in wanted}):
            raise ValueError(wrong)
        return _played(fixture, found)


@dataclass(frozen=True)
class _Packed:
    """A function that makes a `BotUmpire` in another process; the agents of teams are names in the parcel."""

    parcel: Parcel
    teams: tuple[Team, ...]
    opening_plies: int
    chunk: int
    time_control: TimeControl | None

    def __call__(self) -> BotUmpire:
        game, agents = self.parcel.unpack()
        return BotUmpire(
            game,
            self.teams,
            agents=agents,
            opening_plies=self.opening_plies,
            chunk=self.chunk,
            time_control=self.time_control,
        )


def _played(fixture: Fixture, record: Record) -> Played:
    places: tuple[int, ...] = ()
    winners = [seat for seat, outcome in enumerate(record.result.outcome) if outcome == "win"]
    if len(fixture.teams) > 2:
        places = places_of(standing_points(record))
        winners = [seat for seat, place in enumerate(places) if place == 1]
    winner = winners[0] if len(winners) == 1 else None
    return Played(fixture, record.result.scores, winner, record.to_data(), traces_of([record]), places)
