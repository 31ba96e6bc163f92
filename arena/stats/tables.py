"""Tables that follow from a set of games: ratings, a cross table, the seats, finishing places, and forfeits.

Games of two count by their outcome, games of more by the order of their final scores (`comparisons`). Ratings are those
of `ratings`, over all comparisons. Where finishing orders follow the model of Plackett and Luce, any two of them are in
order with the chances of Bradley and Terry, p_i / (p_i + p_j) (Luce 1959, "Individual Choice Behavior"), and breaking
orders into all their pairs estimates the same strengths consistently (Azari Soufiani, Chen, Parkes, Xia 2013,
"Generalized Method-of-Moments for Rank Aggregation", NIPS 26). A fit of whole orders would waste a little less; pairs
take ties at any place, leave out what copies of one agent do to each other, and give numbers on the scale of round
robins. The pairs of a game depend on each other, so the intervals come from resampling whole games.

All numbers are functions of the set of records; the order in which they were played or read does not matter.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations, repeat
from statistics import median
from typing import Any, NamedTuple

from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.records.record_lines import LOSSES, Record
from cellgames.utils.errors import InputError
from cellgames.utils.statistics import wilson_interval

from .payoffs import Payoffs, payoffs_of
from .ratings import PairResult, Ratings, compare_seats, comparisons, opening_of, places, rate

_ENDS = {"first": ("win", "loss"), "second": ("loss", "win"), "draw": ("draw",) * 2, "both_lose": ("loss",) * 2}


class Games(NamedTuple):
    """Games, of which those with the same agents and the same result have one record.

    Attributes:
        records: A record of each kind.
        games: Of each game the start, which games that depend on each other have in common, the course, which tells
            sequences of moves apart, and the place of its record.
    """

    records: Sequence[Record]
    games: Sequence[tuple[int, Hashable, int]]

    @property
    def numbers(self) -> list[int]:
        """Number of games of each record."""
        found = Counter(kind for _, _, kind in self.games)
        return [found[kind] for kind in range(len(self.records))]


def alike(numbers: Iterable[tuple[int, int, int]], lights: Mapping[int, Record]) -> Games:
    """Return the games of a store that are to be counted.

    Args:
        numbers: Start, course and end of each game, as `Store.numbers` has them.
        lights: By end, a record of such a game; games of other ends are left out.
    """
    place = {end: k for k, end in enumerate(lights)}
    games = [(start, course, place[end]) for start, course, end in numbers if end in place]
    return Games([*lights.values()], games)


def _each(records: Sequence[Record], starts: Iterable[int]) -> Games:
    """Return records as games of different kinds."""
    courses = [(record.position, record.moves) for record in records]
    return Games(records, [*zip(starts, courses, range(len(records)), strict=False)])


@dataclass(frozen=True)
class Tally:
    """Comparisons from the view of one side (games of two, or pairs of seats of larger games), and how its seats ended.

    A game that was forfeited counts among the seats of those who failed only: with the last place, whatever the scores
    when it was stopped. Without a seat that counts, place and points are NaN; a pair of agents has none.

    Attributes:
        games: Number of comparisons.
        wins: Comparisons in which the side is ahead.
        draws: Comparisons in which both are level.
        losses: All others, also games that both lost.
        distinct: Different sequences of moves among the games.
        seats: Number of seats; an agent with two seats in a game counts twice.
        first: Seats with the highest score of their game, alone or not.
        alone: Seats with a higher score than all others.
        place: Mean of the places (`places`); the mean over all seats of a game of `P` is (P + 1) / 2.
        points: Mean of the final scores.
    """

    games: int
    wins: int
    draws: int
    losses: int
    distinct: int
    seats: int = 0
    first: int = 0
    alone: int = 0
    place: float = math.nan
    points: float = math.nan

    @property
    def score(self) -> float:
        """Share of the points: a win 1, a draw 1/2; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Wilson interval of the score, as if the games were independent; NaN without games."""
        return wilson_interval(self.score, self.games, level)


_NOTHING = Tally(0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Forfeits:
    """Games that an agent forfeited.

    Attributes:
        games: Number of them.
        reason: The most frequent reason; of equally frequent ones the first in the alphabet. Losses on time count as
            one reason, though each tells other seconds.
        kinds: Number of them by kind (`Forfeit.kind`), without those where another failed first.
        sat: Number of games that it took part in, 0 if it is not known.
        others: By outcome, the games of these in which nobody failed.
    """

    games: int
    reason: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    sat: int = 0
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def on_time(self) -> int:
        """Number of games that it lost on time."""
        return self.kinds.get("loss on time", 0)

    @property
    def failures(self) -> int:
        """Number of games in which it failed: neither resigned nor lost on time."""
        return self.games - sum(self.kinds.get(kind, 0) for kind in LOSSES)


@dataclass(frozen=True)
class Thinking:
    """The time of an agent's moves.

    Attributes:
        median: Of all its moves, in seconds.
        worst: The longest of them, in seconds.
    """

    median: float
    worst: float


@dataclass(frozen=True)
class Standing:
    """One agent's line in the ranking.

    Attributes:
        rank: Place in the ranking, from 1.
        agent: Name.
        elo: Rating.
        low: Lower bound of its interval; None without resamples.
        high: Upper bound of its interval; None without resamples.
        tally: Its comparisons.
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

    Attributes:
        by_score: Whether games are compared by their final scores, not by their outcome.
        games: Number of games.
        distinct: Different sequences of moves among all games.
        standings: The agents, best first.
        cross: By (agent, opponent), the agent's tally, both orders; pairs that did not meet are absent.
        seats: By seat, the tally of whoever sat there.
        agent_seats: By (agent, seat); absent where the agent never sat.
        ratings: The fit behind the standings.
        payoffs: The payoff matrix of the same games.
        forfeits: By agent, of those that forfeited games.
        thinking: By agent, in games with a clock.
        void: Whether games in which an agent failed are left out, but for `forfeits`.
    """

    by_score: bool
    games: int
    distinct: int
    standings: tuple[Standing, ...]
    cross: dict[tuple[str, str], Tally]
    seats: tuple[Tally, ...]
    agent_seats: dict[tuple[str, int], Tally]
    ratings: Ratings
    payoffs: Payoffs
    forfeits: dict[str, Forfeits]
    thinking: dict[str, Thinking] = field(default_factory=dict)
    void: bool = False

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, best first."""
        return tuple(standing.agent for standing in self.standings)


def make_tables(
    records: Sequence[Record] | Games,
    *,
    by_score: bool | None = None,
    anchor: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    void: bool = False,
) -> Tables:
    """Return all tables of the games of a run.

    Args:
        records: In any order; all of one number of seats. `Games` give the same tables as their records one by one.
        by_score: Whether to compare final scores, not outcomes; None for games of more than two.
        anchor: The agent whose rating is 0; None puts the mean of all agents there.
        resamples: For the intervals of ratings, see `ratings.rate`.
        seed: Of the resampling.
        void: Leave out games in which an agent failed, but for `Tables.forfeits`; not for `Games`.

    Raises:
        ValueError: An agent failed in every game, and such games are left out.
    """
    if isinstance(records, Games):
        games = records
    else:
        counted = [record for record in records if not (void and failed(record))]
        if records and not counted:
            raise InputError("records", "a game to rate", "games in which an agent failed alone, which are void")
        games = _each(counted, map(opening_of, counted))
    seats = range(len(games.records[0].agents) if games.records else 0)
    by_score = len(seats) > 2 if by_score is None else by_score
    ends = [[*comparisons(record, 0, by_score=by_score)] for record in games.records]
    pairs = sorted({(a, b) for own in ends for result in own for a, b in permutations(result[:2])})
    results = [PairResult(a, b, start, end) for start, _, kind in games.games for a, b, _, end in ends[kind]]
    rated = rate(results, anchor=anchor, resamples=resamples, seed=seed, shared_clusters=by_score)
    sides, courses = _tallies(games, by_score), {course for _, course, _ in games.games}
    order = sorted(range(len(rated.agents)), key=lambda k: (-round(float(rated.elo[k]), 6), rated.agents[k]))
    low, high = ([None if math.isnan(x) else x for x in bounds.tolist()] for bounds in (rated.low, rated.high))
    return Tables(
        by_score=by_score,
        games=len(games.games),
        distinct=len(courses),
        standings=tuple(
            Standing(rank, rated.agents[k], float(rated.elo[k]), low[k], high[k], sides[rated.agents[k]])
            for rank, k in enumerate(order, 1)
        ),
        cross={pair: sides[pair] for pair in pairs},
        seats=tuple(sides[seat] for seat in seats),
        agent_seats={
            (a, s): sides.get((a, s), _NOTHING) for a in rated.agents for s in seats if not by_score or (a, s) in sides
        },
        ratings=rated,
        payoffs=payoffs_of(results),
        forfeits=forfeits(games.records, games.numbers) if isinstance(records, Games) else forfeits(records),
        thinking=thinking(games.records),
        void=void,
    )


def tally(records: Sequence[Record], agent: str) -> Tally:
    """Return the tally of one agent."""
    return _tallies(_each(records, repeat(0)), None).get(agent, _NOTHING)


def distinct(records: Iterable[Record]) -> int:
    """Return the number of different sequences of moves, whoever made them."""
    return len({(record.position, record.moves) for record in records})


def failed(record: Record) -> bool:
    """Return True for a game that ended because an agent failed."""
    return record.result.forfeit is not None and record.result.forfeit.kind not in LOSSES


def forfeits(
    records: Iterable[Record], alike: Iterable[int] | None = None, *, complete: bool = True
) -> dict[str, Forfeits]:
    """Return the games that each agent forfeited, in the order of names.

    Args:
        records: The games.
        alike: For how many games each record stands; None for one.
        complete: False if games without forfeits are missing.
    """
    games, sat = Counter[str](), Counter[str]()
    reasons, kinds, others = (defaultdict[str, Counter[str]](Counter) for _ in range(3))
    for record, number in zip(records, repeat(1) if alike is None else alike, strict=False):
        sat.update(dict.fromkeys(record.agents, number * complete))
        if complete and not failed(record):
            for agent, outcome in zip(record.agents, record.result.outcome, strict=True):
                others[agent][outcome] += number
        if (forfeit := record.result.forfeit) is not None:
            games.update(dict.fromkeys((record.agents[seat] for seat in forfeit.seats), number))
            # The reason is that of the first seat; of others it is only known that they failed in the same turn.
            agent = record.agents[forfeit.seat]
            reasons[agent][forfeit.reason] += number
            kinds[agent][forfeit.kind] += number

    found = {}
    for agent in sorted(games):
        late = kinds[agent]["loss on time"]
        counts = {why: late if why.startswith(OUT_OF_TIME) else n for why, n in reasons[agent].items()}
        most = min(counts, key=lambda why: (-counts[why], why), default="failed in the same turn as another")
        found[agent] = Forfeits(games[agent], most, kinds[agent], sat[agent], others[agent])
    return found


def thinking(records: Iterable[Record]) -> dict[str, Thinking]:
    """Return the thinking time of each agent in games with a clock, in the order of names; others are absent."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for agent, moves in zip(record.agents, record.seconds, strict=False):
            seconds[agent] += moves
    return {agent: Thinking(median(moves), max(moves)) for agent, moves in sorted(seconds.items()) if moves}


def _tallies(games: Games, by_score: bool | None) -> dict[Hashable, Tally]:
    """Return the tally of each side: an agent, a seat, an agent in a seat (name, number), or a pair of agents."""
    ends, finishes = (defaultdict[Hashable, Counter[Any]](Counter) for _ in range(2))
    courses = Counter[Hashable]()
    sides: list[list[tuple[Hashable, ...]]]
    sides = [[(name, seat, (name, seat)) for seat, name in enumerate(record.agents)] for record in games.records]
    for record, own, number in zip(games.records, sides, games.numbers, strict=True):
        for seat, finish in _finishes(record):
            for side in own[seat]:
                finishes[side][finish] += number
        for one, other, outcome in compare_seats(record, by_score=by_score):
            for seat, against, end in zip((one, other), (other, one), _ENDS[outcome], strict=True):
                for side in (*own[seat], (record.agents[seat], record.agents[against])):
                    ends[side][end] += number
    kinds = defaultdict[Hashable, set[int]](set)
    for _, course, kind in games.games:
        kinds[course].add(kind)
    for same, number in Counter(map(frozenset, kinds.values())).items():
        there = {side for kind in same for seat in sides[kind] for side in seat}
        for agents in {games.records[kind].agents for kind in same}:
            there.update(permutations(dict.fromkeys(agents), 2))
        courses.update(dict.fromkeys(there, number))
    return {
        side: Tally(own.total(), own["win"], own["draw"], own["loss"], number, *_finish(finishes[side]))
        for side, number in courses.items()
        for own in [ends[side]]
    }


def _finishes(record: Record) -> Iterator[tuple[int, tuple[bool, bool, float, float]]]:
    """Yield each seat whose finish counts, and whether it is first, and alone, its place, and its score."""
    scores, forfeit = record.result.scores, record.result.forfeit
    if forfeit is not None:
        yield from ((seat, (False, False, len(scores), scores[seat])) for seat in forfeit.seats)
        return
    for seat, (score, place) in enumerate(zip(scores, places(scores), strict=True)):
        yield seat, (score == max(scores), place == 1, place, score)


def _finish(found: Mapping[tuple[bool, bool, float, float], int]) -> tuple[int, int, int, float, float]:
    """Return the number of seats, first places and lone ones, and the means of places and scores."""
    if not found:
        return 0, 0, 0, math.nan, math.nan
    seats = sum(found.values())
    first, alone, place, score = (
        math.fsum(chain.from_iterable(map(repeat, values, found.values()))) for values in zip(*found, strict=True)
    )
    return seats, int(first), int(alone), place / seats, score / seats
