"""The matches of a series: players hold garnets of their own at the start, and there are fewer players each time.

A record has its starting position, so it replays like any other. Letters: `B` matches, `P` players.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from cellgames.agents import play_loop as loop
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match import counter, generator, records_of
from cellgames.arena.records.checksums import plain
from cellgames.arena.records.forfeit_log import traces_of
from cellgames.arena.records.record_lines import Record
from cellgames.arena.season.games import Fixture, Played, places_of
from cellgames.arena.stats.deviation import standing_points
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.runs.comparing import differences

from .series_rules import Ending


def _begun(game: GridAdaptation, starts: GridState) -> GridAdaptation:
    """Return the match as one that gives these states first, and then, like all copies by `replace`, new ones."""
    begun, left = copy(game), [starts]
    object.__setattr__(begun, "_init", lambda seeds: left.pop() if left else game._init(seeds))
    return begun


def _starts(game: GridAdaptation, seeds: Tensor, held: Sequence[Sequence[int]]) -> GridState:
    """Return new matches, int64 [B] seeds, whose players hold these garnets, [B][P]."""
    garnets = torch.tensor(held, device=seeds.device)
    return game.init(seeds).replace(garnets=garnets.t().contiguous().t())  # matches innermost


class SeriesUmpire:
    """An umpire for the matches of series (`season.games.AgentUmpire`); a game's number is that of its series.

    Args:
        game: the match with all players.
        agents: specs for `agents.load`, or agents, by the names that records have.
        players: the agent's name of each player. Agents are loaded for matches of each number of players from 2 on.
        time_control: the limits of thinking, None without any.

    Raises:
        ValueError: an agent that cannot be loaded for a match of one of these numbers of players.
    """

    def __init__(
        self,
        game: GridAdaptation,
        agents: Mapping[str, str | AnyAgent],
        players: Mapping[str, str],
        time_control: TimeControl | None = None,
    ) -> None:
        self.chunk = 1  # not used: a series asks for its batches itself
        self._game, self._players, self._time_control = game, players, time_control
        self._identities = identities(agents, game)
        self._games = {count: replace(game, players=count) for count in range(2, game.players + 1)}
        self._agents = {
            count: {
                name: load(agent, match, name=name) if isinstance(agent, str) else agent
                for name, agent in agents.items()
            }
            for count, match in self._games.items()
        }
        self._held: dict[Fixture, tuple[int, ...]] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return {"game": self._game.id, "parameters": plain(self._game.parameters)}

    @property
    def identities(self) -> dict[str, str]:
        """See `AgentUmpire.identities`."""
        return dict(self._identities)

    def records(self, played: Sequence[Played]) -> list[Record]:
        """See `AgentUmpire.records`."""
        return [Record.from_json(match.to_json()) for match in played]

    def agents_of(self, players: Sequence[str]) -> dict[str, AnyAgent]:
        """Return the agents of a match of these players, by the players' names."""
        agents = self._agents[len(players)]
        return {player: agents[self._players[player]] for player in players}

    def expect(self, fixture: Fixture, held: Sequence[int]) -> None:
        """Take the garnets by seat at the start of a match, before it is played or read."""
        self._held[fixture] = tuple(held)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`; all matches have the same number of players."""
        count, first = len(fixtures[0].teams), fixtures[0]
        game, agents = self._games[count], self._agents[count]
        names = sorted({self._players[player] for fixture in fixtures for player in fixture.teams})
        seats = [[names.index(self._players[player]) for player in fixture.teams] for fixture in fixtures]
        seeds = torch.tensor([fixture.derive(seed, "game") for fixture in fixtures], device="cpu")
        starts = _starts(game, seeds, [self._held[fixture] for fixture in fixtures])
        played = loop.play(
            _begun(game, starts),
            [agents[name] for name in names],
            torch.tensor(seats, device="cpu"),
            seeds,
            [generator(first.derive(seed, "agent"), name) for name in names],
            on_turn=None if finished is None else counter(finished),
            forfeits=self._time_control or True,
        )
        chosen = [tuple(self._players[player] for player in fixture.teams) for fixture in fixtures]
        records = records_of(game, played, seeds=seeds.tolist(), agents=chosen, openings=[0] * len(fixtures))
        return [
            _played(fixture, replace(record, position=game.state_to_string(starts[place])))
            for place, (fixture, record) in enumerate(zip(fixtures, records, strict=True))
        ]

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        found, game = Record.from_json(line), self._games[len(fixture.teams)]
        number = fixture.derive(seed, "game")
        start = _starts(game, torch.tensor([number], device="cpu"), [self._held[fixture]])
        wanted = {
            "game": game.id,
            "parameters": plain(game.parameters),
            "seed": number,
            "agents": tuple(self._players[player] for player in fixture.teams),
            "position": game.state_to_string(start),
        }
        if wrong := differences(wanted, {name: getattr(found, name) for name in wanted}):
            raise ValueError(wrong)
        return _played(fixture, found)


def _played(fixture: Fixture, record: Record) -> Played:
    places = places_of(standing_points(record))
    first = [seat for seat, place in enumerate(places) if place == 1]
    winner = first[0] if len(first) == 1 else None
    return Played(fixture, record.result.scores, winner, record.to_data(), traces_of([record]), places)


def ending_of(played: Played, held: Sequence[int]) -> Ending:
    """Return the end of a match.

    Who forfeited leaves in the place of an Elimination Candidate. Such a match has no points and no Tokens, and all
    have the garnets that they held at its start.
    """
    result = played.data["result"]
    if (forfeit := result.get("forfeit")) is not None:
        count = len(held)
        return Ending((0,) * count, (0,) * count, tuple(held), (forfeit["seat"], *forfeit["also"]))
    summary = played.data["summary"]
    return Ending(tuple(result["scores"]), tuple(summary["tokens"]), tuple(summary["garnets"]), (summary["candidate"],))
