"""A match: two agents, random openings, each opening played in both seats.

Chance is derived, not consumed: every generator is seeded by a hash of (seed, match, chunk, role). A chunk of
openings is one batched call of `agents.play`, so its games are the same whatever was played before or beside
it. All matches with the same seed and schedule use the same openings and the same seeds of games.

Letters: `B` games (two an opening), `P` players.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

import cellgames
from cellgames.agents import play as loop
from cellgames.agents.base import AnyAgent
from cellgames.agents.registry import load
from cellgames.envs.core import Game, State
from cellgames.envs.core.parameters import check_whole

from .defaults import CHUNK, GAMES, OPENING_PLIES
from .openings import lengths, match_openings
from .records import Pairing, Record
from .replays import result
from .tables import Tally, tally

__all__ = [
    "MatchResult",
    "Schedule",
    "counter",
    "derive",
    "entrants",
    "generator",
    "match",
    "match_id",
    "play_chunk",
    "record",
]


def derive(*parts: str | int) -> int:
    """A seed from 0 to 2^63 - 1: the first 63 bits of BLAKE2b over the parts as a JSON list."""
    digest = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


@dataclass(frozen=True)
class Schedule:
    """What is played in every match of a run.

    Attributes:
        games: in a match; even, since each opening is played in both seats.
        seed: all chance of the run follows from it.
        opening_plies: random moves before the agents take over, at most.
        chunk: openings played side by side, and kept or lost together when a run is interrupted. Part of what
            the games depend on.
    """

    games: int = GAMES
    seed: int = 0
    opening_plies: int = OPENING_PLIES
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        for name, low in (("games", 2), ("opening_plies", 0), ("chunk", 1)):
            check_whole(name, getattr(self, name), low)
        check_whole("seed", self.seed)
        if self.games % 2:
            raise ValueError(f"games must be even, since each opening is played in both seats; got {self.games}")

    def chunks(self) -> list[range]:
        """The numbers of the openings of each chunk; only the last one may be short."""
        openings = self.games // 2
        return [range(start, min(start + self.chunk, openings)) for start in range(0, openings, self.chunk)]


def match_id(first: str, second: str) -> str:
    """The same for both orders."""
    return " vs ".join(sorted((first, second)))


def entrants(game: Game[Any], agents: Sequence[str | AnyAgent]) -> dict[str, AnyAgent]:
    """Agents by name; specs are loaded.

    Raises:
        ValueError: fewer than two, two of one name, a spec that cannot be loaded, a game not for two players.
    """
    if game.info.num_players != 2:
        raise ValueError(f"matches are for games of two players; {game.id} has {game.info.num_players}")
    names = [agent if isinstance(agent, str) else agent.name for agent in agents]
    if len(names) < 2:
        raise ValueError(f"expected at least two agents, got {', '.join(names) or 'none'}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"expected agents with different names, got more than one {', '.join(twice)}")
    return {
        name: load(agent, game) if isinstance(agent, str) else agent for name, agent in zip(names, agents, strict=True)
    }


def play_chunk(
    game: Game[Any],
    agents: dict[str, AnyAgent],
    schedule: Schedule,
    openings: range,
    finished: Callable[[int], None] | None = None,
) -> list[Record]:
    """The games of a chunk, by opening; of each opening first the one that agent 0 of the match id begins.

    Args:
        game: the rules.
        agents: two, by name, in any order.
        schedule: of the match.
        openings: one of `schedule.chunks()`.
        finished: called after each turn with the number of games that it ended.
    """
    names = sorted(agents)
    number, id = openings.start // schedule.chunk, match_id(*names)
    order = torch.tensor([[0, 1], [1, 0]])
    seats = order.repeat(len(openings), 1)  # [B, P]
    # Always drawn for a whole chunk: a match that is continued keeps its openings.
    whole = range(openings.start, openings.start + schedule.chunk)
    all_seeds = torch.tensor([derive(schedule.seed, "game", opening) for opening in whole])
    seeds = all_seeds[: len(openings)]
    drawn = match_openings(game, all_seeds, schedule.opening_plies, generator(schedule.seed, "openings", number))
    forced = lengths(drawn)
    played = loop.play(
        game,
        [agents[name] for name in names],
        seats,
        seeds.repeat_interleave(2),
        [generator(schedule.seed, "agent", id, number, name) for name in names],
        opening=drawn[: len(openings)].repeat_interleave(2, dim=0) if schedule.opening_plies else None,
        on_turn=None if finished is None else counter(finished),
    )
    return [
        record(
            game,
            played,
            lane,
            seed=int(seeds[lane // 2]),
            agents=tuple(names[seat] for seat in seats[lane].tolist()),
            opening=forced[lane // 2],
            pairing=Pairing(id, openings[lane // 2], tuple(seats[lane].tolist())),
        )
        for lane in range(len(seats))
    ]


def record(
    game: Game[Any],
    played: loop.Played,
    lane: int,
    *,
    seed: int,
    agents: tuple[str, ...],
    opening: int,
    pairing: Pairing | None = None,
) -> Record:
    """One of the games that were played; the keywords are the record's."""
    return Record(
        game=game.id,
        version=cellgames.__version__,
        parameters=game.parameters,
        seed=seed,
        agents=agents,
        opening=opening,
        moves=tuple(loop.moves(game, played, lane)),
        result=result(game, played.state, lane),
        pairing=pairing,
        story=game.story(played.state[lane]),
    )


def counter(finished: Callable[[int], None]) -> Callable[[int, State], None]:
    """For `play`'s `on_turn`: tells how many more games are over."""
    before = 0

    def count(turn: int, state: State) -> None:
        nonlocal before
        over = int(state.over.sum())
        finished(over - before)
        before = over

    return count


def generator(*parts: str | int) -> torch.Generator:
    """A new one, with a seed from `derive`."""
    return torch.Generator().manual_seed(derive(*parts))


@dataclass(frozen=True)
class MatchResult:
    """A match as its first agent sees it.

    agents:  first and second.
    records: of all games.
    tally:   wins, draws and losses of the first agent, and how many games differ.
    """

    agents: tuple[str, str]
    records: tuple[Record, ...]
    tally: Tally

    @property
    def score(self) -> float:
        """The first agent's share: a win 1, a draw 1/2."""
        return self.tally.score

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Of the score, as if the games were independent (`ratings.win_probability_interval`)."""
        return self.tally.interval(level)

    def __str__(self) -> str:
        low, high = self.interval()
        t = self.tally
        return (
            f"{self.agents[0]} scores {self.score:.1%} against {self.agents[1]} (95 % interval {low:.1%} to "
            f"{high:.1%}): {t.wins} wins, {t.draws} draws, {t.losses} losses; "
            f"{t.distinct} of {t.games} games differ"
        )


def match(
    game: Game[Any],
    first: str | AnyAgent,
    second: str | AnyAgent,
    *,
    games: int = GAMES,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    chunk: int = CHUNK,
) -> MatchResult:
    """Play a match; see `Schedule` for the numbers.

    The games are those that a round robin with these agents and numbers plays, and in whichever order the
    agents are given.

    Args:
        game: for two players.
        first: an agent, or a spec for `agents.load`.
        second: another one, with another name.
        games: even.
        seed: all chance of the match follows from it.
        opening_plies: random moves before the agents take over, at most.
        chunk: openings played side by side.
    """
    agents = entrants(game, [first, second])
    schedule = Schedule(games, seed, opening_plies, chunk)
    records = tuple(record for part in _parts(game, agents, schedule) for record in part)
    one, two = agents
    return MatchResult((one, two), records, tally(records, one))


def _parts(game: Game[Any], agents: dict[str, AnyAgent], schedule: Schedule) -> Iterator[list[Record]]:
    for openings in schedule.chunks():
        yield play_chunk(game, agents, schedule, openings)
