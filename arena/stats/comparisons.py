"""Games as comparisons of two agents each, which ratings, payoffs and tests of an order take.

A game of two is compared by its outcome. A game of more is compared by the order of its final scores, every two seats
of different agents at a time; equal scores are ties, also where the outcome says more: two players who both lose with
the same score are level there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from cellgames.arena.records.record_lines import Record
from cellgames.utils.errors import InputError

Outcome = Literal["first", "second", "draw", "both_lose"]

_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


class PairResult(NamedTuple):
    """The result of one game, or of two seats of a game, between two agents.

    Attributes:
        first: Name of the agent in the earlier seat.
        second: Name of the other agent.
        cluster: Number of a set of games that depend on each other, such as the two games from one opening with seats
            swapped. Numbers are local to the pair, unless `ratings.rate` gets `shared_clusters`.
        outcome: Who won. Where both lose, the game counts as played and leaves the ratings alone.
    """

    first: str
    second: str
    cluster: int
    outcome: Outcome


def comparisons(record: Record, cluster: int | None = None, *, by_score: bool | None = None) -> Iterator[PairResult]:
    """Yield a result for every two seats of different agents in a game.

    Args:
        record: The game.
        cluster: Its cluster; None for its opening in the match or run that it belongs to.
        by_score: Whether to compare final scores, not outcomes; None for games of more than two.

    Raises:
        ValueError: The game has no pairing and `cluster` is None, or it is compared by the outcome and has more than
            two seats.
    """
    cluster = opening_of(record) if cluster is None else cluster
    for one, other, outcome in compare_seats(record, by_score=by_score):
        yield PairResult(record.agents[one], record.agents[other], cluster, outcome)


def opening_of(record: Record) -> int:
    """Return the opening of a game in its run; raise an `InputError` for a game without a pairing."""
    if record.pairing is None:
        raise InputError("records", "a game of a run", f"one of {', '.join(record.agents)} without a pairing")
    return record.pairing.opening


def places(scores: Sequence[float]) -> tuple[float, ...]:
    """Return the place of each seat, 1 the best; seats with equal scores share the mean of the places they take up."""
    return tuple(1 + sum(other > own for other in scores) + (scores.count(own) - 1) / 2 for own in scores)


def standing_points(record: Record) -> list[float]:
    """Return the share of the other seats that each seat finished ahead of, a tie half, from 0 to 1.

    They follow the order of the final scores. Seats that forfeit are behind all others, which are level.
    """
    scores, forfeit = record.result.scores, record.result.forfeit
    if forfeit is not None:
        scores = tuple(float(seat not in forfeit.seats) for seat in range(len(scores)))
    return [(len(scores) - place) / (len(scores) - 1) for place in places(scores)]


def compare_seats(record: Record, *, by_score: bool | None = None) -> Iterator[tuple[int, int, Outcome]]:
    """Yield every two seats of different agents with who of the two is ahead; see `comparisons`.

    By score, who forfeits is behind all others; these are not compared with each other, since their game was stopped.
    """
    agents, result = record.agents, record.result
    by_score = len(agents) > 2 if by_score is None else by_score
    if not by_score:
        if len(agents) != 2:
            raise InputError("records", "a game of two agents", f"one of {', '.join(agents)}")
        first, second = (_POINTS[end] for end in result.outcome)
        if agents[0] != agents[1]:
            level: Outcome = "both_lose" if first == 0 else "draw"
            yield 0, 1, level if first == second else "first" if first > second else "second"
        return
    failed = () if result.forfeit is None else result.forfeit.seats
    merits = [seat not in failed for seat in range(len(agents))] if failed else result.scores
    same: Outcome = "both_lose" if failed else "draw"
    for one, other in combinations(range(len(agents)), 2):
        ours, theirs = merits[one], merits[other]
        if agents[one] != agents[other] and not (failed and ours and theirs):
            yield one, other, same if ours == theirs else "first" if ours > theirs else "second"
