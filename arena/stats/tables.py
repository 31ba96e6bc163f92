"""What follows from a set of games: ratings, a cross table, the seats, and how many games differ.

All numbers are functions of the set of records; the order in which they were played or read does not matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellgames.arena.records.record_lines import Outcome, Record

from . import ratings
from .payoffs import Payoffs, payoffs_of

__all__ = [
    "Forfeits",
    "Standing",
    "Tables",
    "Tally",
    "distinct",
    "forfeits",
    "make_tables",
    "pair_result",
    "ranked",
    "tally",
]

_POINTS: dict[Outcome, float] = {"win": 1.0, "draw": 0.5, "loss": 0.0}


@dataclass(frozen=True)
class Tally:
    """Games of one side.

    losses:   also games that both lost.
    distinct: different sequences of moves among the games.
    """

    games: int
    wins: int
    draws: int
    losses: int
    distinct: int

    @property
    def score(self) -> float:
        """Share of the points: a win 1, a draw 1/2; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the score, as if the games were independent; NaN without games."""
        if not self.games:
            return math.nan, math.nan
        return ratings.win_probability_interval(self.wins, self.draws, self.games, level)


@dataclass(frozen=True)
class Forfeits:
    """Games that an agent forfeited, because it failed to act.

    games:  how many; each is a loss.
    reason: the most frequent one, of equally frequent ones the first by its letters.
    """

    games: int
    reason: str


@dataclass(frozen=True)
class Standing:
    """One agent's line: its rank (from 1), rating with interval, and games.

    low, high are None without resamples.
    """

    rank: int
    agent: str
    elo: float
    low: float | None
    high: float | None
    tally: Tally


@dataclass(frozen=True)
class Tables:
    """All tables of a set of games.

    standings: best first.
    cross:     by (agent, opponent), the agent's tally, both orders; pairs that did not meet are absent.
    seats:     by seat, the tally of whoever sat there.
    agent_seats: by (agent, seat).
    distinct:  different sequences of moves among all games.
    ratings:   the fit behind the standings.
    payoffs:   the matrix of the same games.
    forfeits:  by agent, of those that forfeited games.
    """

    games: int
    distinct: int
    standings: tuple[Standing, ...]
    cross: dict[tuple[str, str], Tally]
    seats: tuple[Tally, ...]
    agent_seats: dict[tuple[str, int], Tally]
    ratings: ratings.Ratings
    payoffs: Payoffs
    forfeits: dict[str, Forfeits]

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(standing.agent for standing in self.standings)


def distinct(records: Iterable[Record]) -> int:
    """How many different sequences of moves there are, whoever made them."""
    return len({(record.position, record.moves) for record in records})


def forfeits(records: Iterable[Record]) -> dict[str, Forfeits]:
    """By agent, in the order of their names, the games that it forfeited; agents without any are absent."""
    games: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for record in records:
        if (forfeit := record.result.forfeit) is not None:
            games.update({record.agents[seat] for seat in forfeit.seats})
            # The reason is that of the first seat; of others it is only known that they failed in the same turn.
            reasons.setdefault(record.agents[forfeit.seat], Counter())[forfeit.reason] += 1
    return {agent: Forfeits(games[agent], _usual(reasons.get(agent))) for agent in sorted(games)}


def _usual(found: Counter[str] | None) -> str:
    """The most frequent reason."""
    if not found:
        return "failed in the same turn as another"
    return min(found, key=lambda reason: (-found[reason], reason))


def tally(records: Iterable[Record], agent: str) -> Tally:
    """The games of an agent, from its side."""
    played = [record for record in records if agent in record.agents]
    return _tally(played, [record.agents.index(agent) for record in played])


def _tally(records: Sequence[Record], seats: Sequence[int]) -> Tally:
    """From the side of one seat in each game."""
    ends = [record.result.outcome[seat] for record, seat in zip(records, seats, strict=True)]
    return Tally(len(ends), ends.count("win"), ends.count("draw"), ends.count("loss"), distinct(records))


def pair_result(record: Record) -> ratings.PairResult:
    """A game of two as `ratings.rate` takes it; the opening is the cluster.

    Raises:
        ValueError: the game has another number of players, or belongs to no match.
    """
    if len(record.agents) != 2 or record.pairing is None:
        raise ValueError(
            f"expected a game of two agents in a match, got agents {list(record.agents)}"
            f"{'' if record.pairing else ' and no pairing'}"
        )
    first, second = record.result.outcome
    outcome: ratings.Outcome
    if first == second:
        outcome = "draw" if first == "draw" else "both_lose"
    else:
        outcome = "first" if _POINTS[first] > _POINTS[second] else "second"
    return ratings.PairResult(*record.agents, record.pairing.opening, outcome)


def ranked(rated: ratings.Ratings, tallies: Mapping[str, Tally]) -> tuple[Standing, ...]:
    """The agents with their tallies, best first; equal ratings by name."""
    order = sorted(range(len(rated.agents)), key=lambda k: (-round(float(rated.elo[k]), 6), rated.agents[k]))
    low, high = ([None if math.isnan(x) else x for x in bounds.tolist()] for bounds in (rated.low, rated.high))
    return tuple(
        Standing(rank, rated.agents[k], float(rated.elo[k]), low[k], high[k], tallies[rated.agents[k]])
        for rank, k in enumerate(order, 1)
    )


def make_tables(
    records: Sequence[Record], *, anchor: str | None = None, resamples: int = 1000, seed: int = 0
) -> Tables:
    """All tables of games of two agents.

    Args:
        records: in any order.
        anchor: the agent whose rating is 0; None puts the mean of all agents there.
        resamples: for the intervals of ratings, see `ratings.rate`.
        seed: of the resampling.
    """
    results = [pair_result(record) for record in records]
    rated = ratings.rate(results, anchor=anchor, resamples=resamples, seed=seed)
    met: dict[tuple[str, str], list[Record]] = {}
    sat: dict[tuple[str, int], list[Record]] = {}
    for record in records:
        for seat, agent in enumerate(record.agents):
            met.setdefault((agent, record.agents[1 - seat]), []).append(record)
            sat.setdefault((agent, seat), []).append(record)
    return Tables(
        games=len(records),
        distinct=distinct(records),
        standings=ranked(rated, {agent: tally(records, agent) for agent in rated.agents}),
        cross={pair: tally(games, pair[0]) for pair, games in sorted(met.items())},
        seats=tuple(_tally(records, [seat] * len(records)) for seat in range(2)),
        agent_seats={key: _tally(games, [key[1]] * len(games)) for key, games in sorted(sat.items())},
        ratings=rated,
        payoffs=payoffs_of(results),
        forfeits=forfeits(records),
    )
