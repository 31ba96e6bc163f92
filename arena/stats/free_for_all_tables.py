"""What follows from games of any number of seats: ratings, finishing places, and how the seats fare.

A game is finished in the order of its final scores (`Result.scores`). Equal scores are ties, also where the outcome
says more: two players who both lose with the same score are level here.

Ratings are those of `ratings`, Bradley-Terry with ties after Davidson, over all pairs of seats that different agents
hold. Where finishing orders follow the model of Plackett and Luce, any two of them are in order with the chances of
Bradley and Terry, p_i / (p_i + p_j) (Luce 1959, "Individual Choice Behavior"), and breaking orders into all their
pairs estimates the same strengths consistently (Azari Soufiani, Chen, Parkes, Xia 2013, "Generalized
Method-of-Moments for Rank Aggregation", NIPS 26). A fit of whole orders would waste a little less; pairs take ties at
any place, leave out what copies of one agent do to each other, and give numbers on the scale of round robins. The
pairs of a game depend on each other, so the intervals come from resampling whole games.

All numbers are functions of the set of records; the order in which they were played or read does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cellgames.arena.records.record_lines import Record

from . import ratings
from .payoffs import Payoffs, by_order, payoffs_of
from .tables import Forfeits, Standing, Tally, distinct, forfeits, ranked

__all__ = ["Finish", "FreeForAllTables", "comparisons", "make_tables", "places"]


@dataclass(frozen=True)
class Finish:
    """How the seats of one side finished.

    A game that was forfeited counts for those who failed only: with the last place, whatever the scores when it was
    stopped. Without a seat that counts, place and score are NaN.

    seats: how many; an agent with two seats in a game counts twice.
    first: of them with the highest score of their game, alone or not.
    alone: of them with a higher score than all others.
    place: mean of the places (`places`); the mean over all seats of a game of `P` is (P + 1) / 2.
    score: mean of the final scores.
    """

    seats: int
    first: int
    alone: int
    place: float
    score: float


@dataclass(frozen=True)
class FreeForAllTables:
    """All tables of a set of games.

    distinct:  different sequences of moves among all games.
    standings: best first; a tally counts the pairs of seats in which the agent finished ahead of another one (a win),
               level or behind.
    finishes:  by agent.
    cross:     by (agent, opponent), the agent's tally of pairs, both orders; agents that did not meet are absent.
    seats:     by seat, of whoever sat there.
    agent_seats: by (agent, seat); absent where the agent never sat.
    ratings:   the fit behind the standings.
    payoffs:   the matrix of the same games.
    forfeits:  by agent, of those that forfeited games.
    """

    games: int
    distinct: int
    standings: tuple[Standing, ...]
    finishes: dict[str, Finish]
    cross: dict[tuple[str, str], Tally]
    seats: tuple[Finish, ...]
    agent_seats: dict[tuple[str, int], Finish]
    ratings: ratings.Ratings
    payoffs: Payoffs
    forfeits: dict[str, Forfeits]

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(standing.agent for standing in self.standings)


def places(scores: Sequence[float]) -> tuple[float, ...]:
    """The place of each seat, 1 the best; seats with equal scores share the mean of the places that they take up."""
    return tuple(_place(scores, own) for own in scores)


def _place(scores: Sequence[float], own: float) -> float:
    """Of a seat with this score; see `places`."""
    return 1 + sum(other > own for other in scores) + (scores.count(own) - 1) / 2


def comparisons(record: Record) -> Iterator[ratings.PairResult]:
    """Every two seats of different agents in a game, as `ratings.rate` takes them; the game is the cluster.

    Raises:
        ValueError: the game belongs to no run.
    """
    if record.pairing is None:
        raise ValueError(f"expected a game of a run, got one of {', '.join(record.agents)} without a pairing")
    yield from by_order(record, record.pairing.opening)


def make_tables(
    records: Sequence[Record], *, anchor: str | None = None, resamples: int = 1000, seed: int = 0
) -> FreeForAllTables:
    """All tables of the games of a run.

    Args:
        records: in any order; all of one number of seats.
        anchor: the agent whose rating is 0; None puts the mean of all agents there.
        resamples: for the intervals of ratings, see `ratings.rate`.
        seed: of the resampling.
    """
    results = [result for record in records for result in comparisons(record)]
    rated = ratings.rate(results, anchor=anchor, resamples=resamples, seed=seed, shared_clusters=True)
    sat: dict[str, list[tuple[Record, int]]] = {agent: [] for agent in rated.agents}
    for record in records:
        for seat, agent in enumerate(record.agents):
            sat[agent].append((record, seat))
    seats = range(len(records[0].agents))
    return FreeForAllTables(
        games=len(records),
        distinct=distinct(records),
        standings=ranked(
            rated,
            {
                agent: _tally([r for r in results if agent in r[:2]], agent, [record for record, _ in sat[agent]])
                for agent in rated.agents
            },
        ),
        finishes={agent: _finish(own) for agent, own in sat.items()},
        cross=_cross(results, records),
        seats=tuple(_finish([(record, seat) for record in records]) for seat in seats),
        agent_seats={
            (agent, seat): _finish(there)
            for agent, own in sat.items()
            for seat in seats
            if (there := [(record, place) for record, place in own if place == seat])
        },
        ratings=rated,
        payoffs=payoffs_of(results),
        forfeits=forfeits(records),
    )


def _finish(sat: Sequence[tuple[Record, int]]) -> Finish:
    """Of the seats in these games."""
    ended = [(record.result.scores, seat) for record, seat in sat if record.result.forfeit is None]
    failed = [
        (record.result.scores, seat)
        for record, seat in sat
        if record.result.forfeit is not None and seat in record.result.forfeit.seats
    ]
    first = [scores.count(scores[seat]) for scores, seat in ended if scores[seat] == max(scores)]
    seats = len(ended) + len(failed)
    place = math.fsum(_place(scores, scores[seat]) for scores, seat in ended) + sum(len(scores) for scores, _ in failed)
    score = math.fsum(scores[seat] for scores, seat in ended + failed)
    return Finish(
        seats=seats,
        first=len(first),
        alone=first.count(1),
        place=place / seats if seats else math.nan,
        score=score / seats if seats else math.nan,
    )


def _tally(results: Sequence[ratings.PairResult], agent: str, records: Sequence[Record]) -> Tally:
    """Pairs of seats from the agent's side, and how many of the games differ."""
    level = sum(result.outcome == "draw" for result in results)
    ahead = sum(result.outcome == ("first" if result.first == agent else "second") for result in results)
    return Tally(len(results), ahead, level, len(results) - ahead - level, distinct(records))


def _cross(results: Sequence[ratings.PairResult], records: Sequence[Record]) -> dict[tuple[str, str], Tally]:
    """By (agent, opponent), in order."""
    met: dict[tuple[str, str], list[ratings.PairResult]] = {}
    for result in results:
        for pair in ((result.first, result.second), (result.second, result.first)):
            met.setdefault(pair, []).append(result)
    return {
        pair: _tally(found, pair[0], [record for record in records if {*pair} <= {*record.agents}])
        for pair, found in sorted(met.items())
    }
