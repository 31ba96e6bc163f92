"""Openings, up to symmetry, and their scores.

Steps that were forced, as matches force their first moves at random, are counted apart from those that agents chose:
what follows a forced opening says how good the position is, whoever likes it; what agents choose says what they like.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.statistics import wilson_interval

from .reader import Opening, Reader, make_reader, read_all
from .record_groups import scores

__all__ = ["Branch", "Openings", "find_openings"]


@dataclass(frozen=True)
class Branch:
    """Openings that begin with the same steps.

    Attributes:
        steps: The common steps; the last one is the branch's own.
        seat: Seat that makes the last step, -1 if not always the same.
        forced: True if nobody chose the last step.
        times: Number of times that it was made.
        score: Mean score of those who made it (`record_groups.scores`).
        low: Lower end of the score's 95 % interval (Wilson), as if the times were independent.
        high: Its upper end.
        usual: Mean score of the same agents against the same opponents in the same seats, whatever they opened with; in
            games for more than two, of the same agents.
        agents: Number of times that each agent chose it; empty if it was forced.
    """

    steps: tuple[str, ...]
    seat: int
    forced: bool
    times: int
    score: float
    low: float
    high: float
    usual: float
    agents: Mapping[str, int]

    @property
    def name(self) -> str:
        """All steps."""
        return ", ".join(self.steps)


@dataclass(frozen=True)
class Openings:
    """All openings of some games.

    Attributes:
        branches: A tree in depth-first order, siblings by how often they were made; those of the same steps are two
            where they were forced in some games and chosen in others.
        firsts: The first step that was chosen, whatever was forced before it, by its steps.
        openings: Number of openings.
        forced: Number of openings that begin with forced steps.
    """

    branches: tuple[Branch, ...]
    firsts: tuple[Branch, ...]
    openings: int
    forced: int


@dataclass
class _Count:
    """A branch that is being counted."""

    seats: set[int] = field(default_factory=set)
    scores: list[float] = field(default_factory=list)
    usual: list[float] = field(default_factory=list)
    agents: Counter[str] = field(default_factory=Counter)


_Key = tuple[tuple[str, ...], bool]


def find_openings(game: Game, records: Sequence[Record], reader: Reader | None = None) -> Openings:
    """Count the openings of games.

    Args:
        game: The game with its parameters.
        records: The games; those that began from a position of their own have no opening.
        reader: The reader of the game; None for its usual one.
    """
    reader = make_reader(game) if reader is None else reader
    usual = _usual(records)
    counts: dict[_Key, _Count] = defaultdict(_Count)
    firsts: set[_Key] = set()
    read = forced = 0
    for record, openings in zip(records, read_all(game, records, reader.openings), strict=True):
        fared = scores(record)
        for opening in openings:
            read, forced = read + 1, forced + (opening.forced > 0)
            firsts |= _count(counts, opening, record, fared, usual)
    order = sorted(counts, key=lambda key: _place(key, counts))
    found = {key: _branch(key, counts[key]) for key in order}
    by_times = sorted((found[key] for key in order if key in firsts), key=lambda branch: -branch.times)
    return Openings(tuple(found.values()), tuple(by_times), read, forced)


def _count(
    counts: dict[_Key, _Count],
    opening: Opening,
    record: Record,
    fared: Sequence[float],
    usual: Mapping[tuple[str, ...], float],
) -> set[_Key]:
    """Count one opening; return the key of its first step of choice, if there is one."""
    first = set()
    for depth, seat in enumerate(opening.seats, 1):
        chosen = depth > opening.forced
        key = opening.steps[:depth], not chosen
        count = counts[key]
        count.seats.add(seat)
        count.scores.append(fared[seat])
        count.usual.append(usual[_who(record, seat)])
        if chosen:
            count.agents[record.agents[seat]] += 1
            if depth == opening.forced + 1:
                first.add(key)
    return first


def _who(record: Record, seat: int) -> tuple[str, ...]:
    """Return the key of a usual score: the agent, and in games for two the opponent and the seat."""
    agent = record.agents[seat]
    return (agent, record.agents[1 - seat], str(seat)) if len(record.agents) == 2 else (agent,)


def _usual(records: Sequence[Record]) -> dict[tuple[str, ...], float]:
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for record in records:
        for seat, score in enumerate(scores(record)):
            found[_who(record, seat)].append(score)
    return {who: math.fsum(values) / len(values) for who, values in found.items()}


def _place(key: _Key, counts: Mapping[_Key, _Count]) -> tuple[list[tuple[int, str]], bool]:
    """Return the sort key of a branch: after its parent, among its siblings by how often they were made."""
    steps, forced = key
    place = []
    for depth in range(1, len(steps) + 1):
        both = [counts.get((steps[:depth], by_force)) for by_force in (True, False)]
        place.append((-sum(len(count.scores) for count in both if count is not None), steps[depth - 1]))
    return place, not forced


def _branch(key: _Key, count: _Count) -> Branch:
    times, points = len(count.scores), math.fsum(count.scores)
    low, high = wilson_interval(points / times, times)
    seat = next(iter(count.seats)) if len(count.seats) == 1 else -1
    usual = math.fsum(count.usual) / times
    agents = dict(sorted(count.agents.items(), key=lambda item: (-item[1], item[0])))
    return Branch(key[0], seat, key[1], times, points / times, low, high, usual, agents)
