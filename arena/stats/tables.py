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
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations, repeat
from statistics import median
from typing import NamedTuple, TypeAlias

from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.records.record_lines import LOSSES, Pairing, Record
from cellgames.utils.errors import InputError
from cellgames.utils.statistics import wilson_interval

from .comparisons import PairResult, compare_seats, comparisons, places
from .payoffs import Payoffs, payoffs_of
from .ratings import Ratings, rate

Numbers: TypeAlias = tuple[int, int, int]
"""Start, course and end of a game, as `Store.numbers` has them."""

Lights: TypeAlias = Mapping[int, Record]
"""By end, a record of such a game; games of others are left out."""


class Alike(NamedTuple):
    """Games of two, told by how many are alike.

    Attributes:
        games: A record for each result, and the number of games.
        clusters: The games of a cluster with their numbers, and how many clusters are like it. The record's pairing
            has another number in each.
        courses: A record for each way in which agents sat in games of one sequence of moves, and the number of such
            sequences.
    """

    games: Sequence[tuple[Record, int]]
    clusters: Sequence[tuple[Sequence[tuple[Record, int]], int]]
    courses: Sequence[tuple[Sequence[Record], int]]


def every(numbers: Iterable[Numbers], lights: Lights) -> list[Record]:
    """Return a record of each game; the arguments are those of `alike`."""
    return [_told(lights[end], start, course) for start, course, end in numbers if end in lights]


def alike(numbers: Iterable[Numbers], lights: Lights) -> Alike | list[Record]:
    """Count the games that are alike; games of more than two seats are listed.

    Args:
        numbers: Start, course and end of each game.
        lights: Records of the games to count.
    """
    if any(len(record.agents) != 2 for record in lights.values()):
        return every(numbers, lights)
    pairs = {end: frozenset(record.agents) for end, record in lights.items()}
    games, clusters = Counter[int](), defaultdict[Hashable, Counter[int]](Counter)
    courses = defaultdict[int, set[int]](set)
    for start, course, end in numbers:
        if (pair := pairs.get(end)) is not None:
            games[end] += 1
            clusters[start, pair][end] += 1
            courses[course].add(end)
    grouped = Counter(tuple(sorted(members.items())) for members in clusters.values())
    sequences = Counter(tuple(sorted(ends)) for ends in courses.values())
    return Alike(
        [(_told(lights[end]), number) for end, number in games.items()],
        [
            ([(_told(lights[end], at), n) for end, n in members], number)
            for at, (members, number) in enumerate(grouped.items())
        ],
        [([lights[end] for end in ends], number) for ends, number in sequences.items()],
    )


def _told(record: Record, start: int = 0, course: int = 0) -> Record:
    """Return the record of a game of this start and course, as tables tell games apart."""
    seats = tuple(range(len(record.agents)))
    return replace(record, pairing=Pairing("store", start, seats), moves=(f"{course:x}",))


@dataclass(frozen=True)
class Finish:
    """The finishing places and scores of one side.

    A game that was forfeited counts for those who failed only: with the last place, whatever the scores when it was
    stopped. Without a seat that counts, place and score are NaN.

    Attributes:
        seats: Number of seats; an agent with two seats in a game counts twice.
        first: Seats with the highest score of their game, alone or not.
        alone: Seats with a higher score than all others.
        place: Mean of the places (`places`); the mean over all seats of a game of `P` is (P + 1) / 2.
        score: Mean of the final scores.
    """

    seats: int
    first: int
    alone: int
    place: float
    score: float

    @property
    def first_share(self) -> float:
        """Share of first places, alone or not; NaN without seats."""
        return self.first / self.seats if self.seats else math.nan

    @property
    def alone_share(self) -> float:
        """Share of first places that no other seat has; NaN without seats."""
        return self.alone / self.seats if self.seats else math.nan


_NO_FINISH = Finish(0, 0, 0, math.nan, math.nan)


@dataclass(frozen=True)
class Tally:
    """Comparisons from the view of one side: games of two, or pairs of seats of larger games.

    Attributes:
        games: Number of comparisons.
        wins: Comparisons in which the side is ahead.
        draws: Comparisons in which both are level.
        losses: All others, also games that both lost.
        distinct: Different sequences of moves among the games.
        finish: How the seats of the side finished; without seats for the comparisons of a pair of agents.
    """

    games: int
    wins: int
    draws: int
    losses: int
    distinct: int
    finish: Finish = _NO_FINISH

    @property
    def score(self) -> float:
        """Share of the points: a win 1, a draw 1/2; NaN without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Wilson interval of the score, as if the games were independent; NaN without games."""
        return wilson_interval(self.score, self.games, level)


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

    @property
    def finishes(self) -> dict[str, Finish]:
        """Finishing places of each agent, best agent first."""
        return {standing.agent: standing.tally.finish for standing in self.standings}


def make_tables(
    records: Sequence[Record] | Alike,
    *,
    by_score: bool | None = None,
    anchor: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    void: bool = False,
) -> Tables:
    """Return all tables of the games of a run.

    Args:
        records: In any order; all of one number of seats. `Alike` gives the same tables as all the games.
        by_score: Whether to compare final scores, not outcomes; None for games of more than two.
        anchor: The agent whose rating is 0; None puts the mean of all agents there.
        resamples: For the intervals of ratings, see `ratings.rate`.
        seed: Of the resampling.
        void: Leave out games in which an agent failed, but for `Tables.forfeits`; not for `Alike`.

    Raises:
        ValueError: An agent failed in every game, and such games are left out.
    """
    games = records
    if not isinstance(games, Alike):
        counted = [(record, 1) for record in games if not (void and failed(record))]
        if games and not counted:
            raise InputError("records", "a game to rate", "games in which an agent failed alone, which are void")
        games = Alike(counted, [([one], 1) for one in counted], _courses(record for record, _ in counted))
    played, alike = [record for record, _ in games.games], [number for _, number in games.games]
    seats, courses = range(len(played[0].agents) if played else 0), games.courses
    by_score = len(seats) > 2 if by_score is None else by_score
    results, weights = list[PairResult](), dict[int, int]()
    for cluster, number in games.clusters:
        for record, times in cluster:
            for result in comparisons(record, by_score=by_score):
                results += [result] * times
                weights[result.cluster] = number
    rated = rate(results, weights=weights, anchor=anchor, resamples=resamples, seed=seed, shared_clusters=by_score)
    sides = _Sides(played, alike, courses, by_score)
    order = sorted(range(len(rated.agents)), key=lambda k: (-round(float(rated.elo[k]), 6), rated.agents[k]))
    low, high = ([None if math.isnan(x) else x for x in bounds.tolist()] for bounds in (rated.low, rated.high))
    pairs = sorted({(a, b) for result in results for a, b in permutations(result[:2])})
    return Tables(
        by_score=by_score,
        games=sum(alike),
        distinct=sum(number for _, number in courses),
        standings=tuple(
            Standing(rank, rated.agents[k], float(rated.elo[k]), low[k], high[k], sides.tally(rated.agents[k]))
            for rank, k in enumerate(order, 1)
        ),
        cross={pair: sides.tally(pair) for pair in pairs},
        seats=tuple(sides.tally(seat) for seat in seats),
        agent_seats={
            (a, s): sides.tally((a, s)) for a in rated.agents for s in seats if not by_score or (a, s) in sides
        },
        ratings=rated,
        payoffs=payoffs_of(results, weights=weights),
        forfeits=forfeits(played, alike) if isinstance(records, Alike) else forfeits(records),
        thinking=thinking(played),
        void=void,
    )


def tally(records: Sequence[Record], agent: str) -> Tally:
    """Return the tally of one agent."""
    return _Sides(records, [1] * len(records), _courses(records)).tally(agent)


def _courses(records: Iterable[Record]) -> list[tuple[list[Record], int]]:
    """Return the games of each sequence of moves."""
    found: dict[tuple[str, tuple[str, ...]], list[Record]] = {}
    for record in records:
        found.setdefault((record.position, record.moves), []).append(record)
    return [(games, 1) for games in found.values()]


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

    def most(agent: str) -> str:
        own = reasons[agent]
        late = kinds[agent]["loss on time"]
        counts = {why: late if why.startswith(OUT_OF_TIME) else own[why] for why in own}
        return min(own, key=lambda why: (-counts[why], why), default="failed in the same turn as another")

    return {
        agent: Forfeits(games[agent], most(agent), kinds[agent], sat[agent], others[agent]) for agent in sorted(games)
    }


def thinking(records: Iterable[Record]) -> dict[str, Thinking]:
    """Return the thinking time of each agent in games with a clock, in the order of names; others are absent."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for record in records:
        for agent, moves in zip(record.agents, record.seconds, strict=False):
            seconds[agent] += moves
    return {agent: Thinking(median(moves), max(moves)) for agent, moves in sorted(seconds.items()) if moves}


class _Sides:
    """Comparisons by side: an agent, a seat, an agent in a seat (name, number), or a pair of agents (name, name)."""

    def __init__(
        self,
        records: Sequence[Record],
        alike: Sequence[int],
        courses: Sequence[tuple[Sequence[Record], int]],
        by_score: bool | None = None,
    ) -> None:
        side: Hashable
        self._ends: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
        self._distinct: Counter[Hashable] = Counter()  # sequences of moves
        self._sat: defaultdict[Hashable, list[tuple[Record, int, int]]] = defaultdict(list)
        for same, number in courses:
            there: set[Hashable] = set()
            for agents in {record.agents for record in same}:
                there.update(agents, range(len(agents)), zip(agents, range(len(agents)), strict=True))
                there.update(permutations(dict.fromkeys(agents), 2))
            for side in there:
                self._distinct[side] += number
        for record, number in zip(records, alike, strict=True):
            for seat, agent in enumerate(record.agents):
                for side in (agent, seat, (agent, seat)):
                    self._sat[side].append((record, seat, number))
            for one, other, outcome in compare_seats(record, by_score=by_score):
                level = outcome if outcome in ("draw", "both_lose") else ""
                for seat, against, ahead in ((one, other, "first"), (other, one, "second")):
                    agent, end = record.agents[seat], level or ("win" if outcome == ahead else "loss")
                    for side in (agent, seat, (agent, seat), (agent, record.agents[against])):
                        self._ends[side][end] += number

    def __contains__(self, side: Hashable) -> bool:
        return side in self._distinct

    def tally(self, side: Hashable) -> Tally:
        """Return the tally of a side."""
        ends = self._ends[side]
        games, wins, draws = ends.total(), ends["win"], ends["draw"]
        finish = _finish(self._sat[side]) if side in self._sat else _NO_FINISH
        return Tally(games, wins, draws, games - wins - draws, self._distinct[side], finish)


def _finish(sat: Sequence[tuple[Record, int, int]]) -> Finish:
    """Return the finishes of the seats of these games, each with a number of equal games."""
    seats = first = alone = 0
    place, score = 0.0, Counter[float]()  # halves, whose sum is exact
    for record, seat, number in sat:
        scores, forfeit = record.result.scores, record.result.forfeit
        if forfeit is not None and seat not in forfeit.seats:
            continue
        seats += number
        score[scores[seat]] += number
        if forfeit is not None:
            place += len(scores) * number
            continue
        place += places(scores)[seat] * number
        if scores[seat] == max(scores):
            first += number
            alone += number * (scores.count(scores[seat]) == 1)
    total = sum((Fraction(value) * number for value, number in score.items()), Fraction(0))  # as `math.fsum` rounds
    return Finish(seats, first, alone, place / seats, float(total) / seats) if seats else _NO_FINISH
