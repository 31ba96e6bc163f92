"""A season of bots, on any game of two players.

The games of a batch are played at the same time: every bot is asked once a turn about all of its games. Two teams may
share a bot. Games start from random openings; the team with the first seat is the game's first player.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import torch
from typing_extensions import override

from cellgames.agents import play_loop as loop
from cellgames.agents.agent_specs import split_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import identities, load
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match import counter, generator, lengths, openings, records_of
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.checksums import plain
from cellgames.arena.records.record_lines import Record, traces_of
from cellgames.envs.core import Game
from cellgames.runs.run_folder import check_agents, differences
from cellgames.utils.errors import InputError, check_whole

from .games import Fixture, Played
from .teams import Team


def _played(fixture: Fixture, record: Record) -> Played:
    """Return the game of a fixture from its record."""
    outcome = record.result.outcome
    winner = outcome.index("win") if "win" in outcome else None
    return Played(fixture, record.result.scores, winner, record.to_data(), traces_of([record]))


class BotUmpire:
    """An umpire for teams that are bots.

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
        loaded = agents or {}
        # A team's agent by the name that records have; several teams may share one.
        given = {text: (text, text) if text in loaded else split_name(text) for text in (team.agent for team in teams)}
        self._given = {name: loaded.get(name, spec) for name, spec in given.values()}
        if len(self._given) < len(given):
            raise InputError("agents", "agents with different names", ", ".join(given))
        self.names, self.time_control = {team.name: given[team.agent][0] for team in teams}, time_control
        self.identities = identities(self._given, game)
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

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        options = {name: getattr(self, name) for name in ("opening_plies", "chunk", "time_control")}
        teams = [Team(team, agent=agent) for team, agent in self.names.items()]
        return _arrived, (self.game, teams, {**options, "agents": self._given}, self.identities)

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
            [self._agents[name] for name in names],
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
        found = Record.from_json(line)
        wanted = {
            "game": self.game.id,
            "parameters": plain(self.game.parameters),
            "seed": fixture.derive(seed, "game"),
            "agents": tuple(self.names[team] for team in fixture.teams),
        }
        if wrong := differences(wanted, {name: getattr(found, name) for name in wanted}):
            raise ValueError(wrong)
        return _played(fixture, found)


def _arrived(game: Game, teams: Sequence[Team], options: dict[str, Any], known: Mapping[str, str]) -> BotUmpire:
    """Return the umpire in a worker, which loads the agents that are specs."""
    umpire = BotUmpire(game, teams, **options)
    check_agents("this run", known, umpire.identities)
    return umpire
