"""A season of bots, on any game of two players or more.

The games of a batch are played at the same time: every bot is asked once a turn about all of its games. Two teams may
share a bot. Games start from random openings; the team with the first seat is the game's first player.

Letters: `B` games, `P` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from cellgames.agents import play_loop as loop
from cellgames.agents.agent_names import split_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match import counter, generator, lengths, openings, records_of
from cellgames.arena.play.match_options import FreeForAllOptions, MatchOptions
from cellgames.arena.play.work_units import Parcel
from cellgames.arena.records.checksums import plain
from cellgames.arena.records.record_lines import Record, traces_of
from cellgames.arena.stats.comparisons import standing_points
from cellgames.envs.core import Game
from cellgames.runs.comparing import differences
from cellgames.utils.errors import InputError, check_whole

from .games import Fixture, Played, places_of
from .teams import Team


class AgentUmpire:
    """The common part of umpires whose games are games of agents.

    Args:
        names: names of the agents that records have, by team.
        identities: identities of the agents by name.
        time_control: the limits of thinking, None without any.
    """

    def __init__(
        self, names: Mapping[str, str], identities: Mapping[str, str], time_control: TimeControl | None
    ) -> None:
        self.names, self.identities, self.time_control = names, identities, time_control

    def seeds(self, fixtures: Sequence[Fixture], seed: int) -> Tensor:
        """Return the seeds of games from the season's, int64 [B]."""
        return torch.tensor([fixture.derive(seed, "game") for fixture in fixtures], device="cpu")

    def play_together(
        self,
        game: Game,
        agents: Mapping[str, AnyAgent],
        fixtures: Sequence[Fixture],
        seed: int,
        finished: Callable[[int], None] | None,
        drawn: Tensor | None = None,
    ) -> list[Record]:
        """Play games of the same shape; an agent's actions depend on the batch, whose first game seeds its generator.

        Args:
            game: the rules.
            agents: by name.
            fixtures: one or more.
            seed: the season's.
            finished: called with the number of games that are over since the last call.
            drawn: openings as of `match.openings`; None for none.
        """
        seated = [tuple(self.names[team] for team in fixture.teams) for fixture in fixtures]
        names, seeds, first = sorted({*chain(*seated)}), self.seeds(fixtures, seed), fixtures[0]
        played = loop.play(
            game,
            [agents[name] for name in names],
            torch.tensor([[names.index(name) for name in own] for own in seated], device="cpu"),
            seeds,
            [generator(first.derive(seed, "agent"), name) for name in names],
            opening=drawn,
            on_turn=None if finished is None else counter(finished),
            forfeits=self.time_control or True,
        )
        openings = [0] * len(fixtures) if drawn is None else lengths(drawn)
        return records_of(game, played, seeds=seeds.tolist(), agents=seated, openings=openings)

    def read_game(self, game: Game, fixture: Fixture, seed: int, line: bytes, **more: Any) -> Played:
        """Return a game that was played before; raise a `ValueError` unless it is this fixture's, with these fields."""
        found = Record.from_json(line)
        wanted = {
            "game": game.id,
            "parameters": plain(game.parameters),
            "seed": fixture.derive(seed, "game"),
            "agents": tuple(self.names[team] for team in fixture.teams),
            **more,
        }
        if wrong := differences(wanted, {name: getattr(found, name) for name in wanted}):
            raise ValueError(wrong)
        return played_game(fixture, found)


def played_game(fixture: Fixture, record: Record) -> Played:
    """Return the game of a fixture from its record."""
    places: tuple[int, ...] = ()
    winners = [seat for seat, outcome in enumerate(record.result.outcome) if outcome == "win"]
    if len(fixture.teams) > 2:
        places = places_of(standing_points(record))
        winners = [seat for seat, place in enumerate(places) if place == 1]
    winner = winners[0] if len(winners) == 1 else None
    return Played(fixture, record.result.scores, winner, record.to_data(), traces_of([record]), places)


class BotUmpire(AgentUmpire):
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
        self.seats = game.info.num_players
        if opening_plies is None:
            opening_plies = (MatchOptions if self.seats == 2 else FreeForAllOptions).opening_plies
        check_whole("opening_plies", opening_plies, 0)
        check_whole("chunk", chunk, 1)
        if without := [team.name for team in teams if not team.agent]:
            raise InputError("agents", "an agent for every team", f"none for {', '.join(without)}", where=game.id)
        self.game, self.opening_plies, self.chunk = game, opening_plies, chunk
        loaded = agents or {}
        # A team's agent by the name that records have; several teams may share one.
        given = {text: (text, text) if text in loaded else split_name(text) for text in (team.agent for team in teams)}
        self._given = {name: loaded.get(name, spec) for name, spec in given.values()}
        if len(self._given) < len(given):
            raise InputError("agents", "agents with different names", ", ".join(given))
        super().__init__(
            {team.name: given[team.agent][0] for team in teams}, identities(self._given, game), time_control
        )
        self._agents = {
            name: load(agent, game, name=name) if isinstance(agent, str) else agent
            for name, agent in self._given.items()
        }

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

    def packed(self) -> Callable[[], BotUmpire]:
        """See `Umpire`.

        Raises:
            ValueError: a game that is not registered, agents that cannot be pickled.
        """
        teams = [Team(team, agent=agent) for team, agent in self.names.items()]
        options = {name: getattr(self, name) for name in ("opening_plies", "chunk", "time_control")}
        return partial(_unpacked, Parcel.pack(self.game, self._given), teams, **options)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`."""
        chance = generator(fixtures[0].derive(seed, "openings"))
        drawn = openings(self.game, self.seeds(fixtures, seed), self.opening_plies, chance)
        records = self.play_together(
            self.game, self._agents, fixtures, seed, finished, drawn if self.opening_plies else None
        )
        return list(map(played_game, fixtures, records))

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        return self.read_game(self.game, fixture, seed, line)


def _unpacked(parcel: Parcel, teams: Sequence[Team], **options: Any) -> BotUmpire:
    game, agents = parcel.unpack()
    return BotUmpire(game, teams, agents=agents, **options)
