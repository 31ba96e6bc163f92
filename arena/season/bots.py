"""A season of bots, on any game for two players.

The games of a batch are played at the same time: every bot is asked once a turn about all of its games. Two teams may
share a bot. Games start from random openings; the team with the first seat is the game's first player.

Letters: `B` games, `P` seats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cellgames.agents import play_loop as loop
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identity
from cellgames.agents.loading import load
from cellgames.arena.play.match import counter, generator, records_of
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.play.random_openings import lengths, openings
from cellgames.arena.play.work_units import Parcel
from cellgames.arena.records.record_lines import Record, plain
from cellgames.envs.core import Game
from cellgames.envs.kernels.parameters import check_whole
from cellgames.utils.run_folders import differences

from .games import Fixture, PackedUmpire, Played
from .teams import Team

__all__ = ["BotUmpire"]


class BotUmpire:
    """An umpire for teams that are bots.

    Args:
        game: for two players, in turns or all at once.
        teams: all of them; `agent` is a spec for `agents.load`, or a name in `agents`.
        agents: agents that are there already, by name.
        opening_plies: random moves before the agents take over, at most.
        chunk: games played at the same time, about.

    Raises:
        ValueError: a game for another number of players, a team without an agent, a spec that cannot be loaded,
            numbers out of range.
    """

    def __init__(
        self,
        game: Game,
        teams: Sequence[Team],
        *,
        agents: Mapping[str, AnyAgent] | None = None,
        opening_plies: int = MatchOptions.opening_plies,
        chunk: int = 100,
    ) -> None:
        if game.info.num_players != 2:
            raise ValueError(f"a season is for games of two players; {game.id} has {game.info.num_players}")
        check_whole("opening_plies", opening_plies, 0)
        check_whole("chunk", chunk, 1)
        if without := [team.name for team in teams if not team.agent]:
            raise ValueError(f"{game.id}: expected an agent for every team, got none for {', '.join(without)}")
        self.game, self.opening_plies, self.chunk = game, opening_plies, chunk
        self._parameters = plain(game.parameters)
        self._names = {team.name: team.agent for team in teams}
        loaded = agents or {}
        self._teams = tuple(teams)
        self._given = {spec: loaded.get(spec, spec) for spec in dict.fromkeys(self._names.values())}
        self._agents = {
            spec: load(agent, game) if isinstance(agent, str) else agent for spec, agent in self._given.items()
        }
        self._identities = {spec: identity(self._given[spec], game) for spec in sorted(self._agents)}

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {
            "game": self.game.id,
            "parameters": self._parameters,
            "opening_plies": self.opening_plies,
            "chunk": self.chunk,
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
            ValueError: a game that is not registered, agents that cannot be pickled, two of one name.
        """
        names = {spec: agent if isinstance(agent, str) else agent.name for spec, agent in self._given.items()}
        if len(set(names.values())) < len(names):
            raise ValueError(f"workers need agents with different names, got {', '.join(names.values())}")
        parcel = Parcel.pack(self.game, list(self._given.values()))
        return _Packed(parcel, names, self._teams, self.opening_plies, self.chunk)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; what an agent does depends on the batch too, which its first game names."""
        names = sorted({self._names[team] for fixture in fixtures for team in fixture.teams})
        seats = torch.tensor([[names.index(self._names[team]) for team in fixture.teams] for fixture in fixtures])
        seeds = torch.tensor([fixture.derive(seed, "game") for fixture in fixtures])  # [B]
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
            forfeits=True,
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
    """A function that makes a `BotUmpire` in another process; `names` maps the teams' specs to names in the parcel."""

    parcel: Parcel
    names: Mapping[str, str]
    teams: tuple[Team, ...]
    opening_plies: int
    chunk: int

    def __call__(self) -> BotUmpire:
        game, agents = self.parcel.unpack()
        loaded = {spec: agents[name] for spec, name in self.names.items()}
        return BotUmpire(game, self.teams, agents=loaded, opening_plies=self.opening_plies, chunk=self.chunk)


def _played(fixture: Fixture, record: Record) -> Played:
    first, second = record.result.scores
    winners = [seat for seat, outcome in enumerate(record.result.outcome) if outcome == "win"]
    return Played(fixture, (first, second), winners[0] if len(winners) == 1 else None, record.to_data())
