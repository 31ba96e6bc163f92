"""Round robins until the order is certain: the choice of pairs that get more games, and the end.

After the first games of all pairs come rounds. In each, every two neighbours in the ranking whose order is not certain
(`order`) get one chunk of games, of that pair of agents whose games narrow their difference most; mostly it is their
own. The rounds follow from the games before them, so a run that is killed and continued ends the same. They end when
all neighbours are certain, or when the next chunk would exceed the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.stats.comparisons import comparisons
from cellgames.arena.stats.order import Adjacency, Evidence, adjacencies
from cellgames.utils.errors import InputError

from .match import batch_of, both_seats, match_id
from .match_options import RoundRobinOptions
from .tournament import Batch

TIMES = 10
"""The budget, unless another is asked for, in first games of all pairs."""


class UntilCertain:
    """The chunks after the first ones, as a function of the games before them.

    Args:
        names: names of the agents, sorted.
        options: options of the run; `games` are the first ones of each pair, and the budget None is `TIMES` of them.
        plan: their batches.
        seats: number of seats of the game.

    Raises:
        ValueError: first games that are no whole chunks, or more of them than the budget allows.
    """

    def __init__(
        self, names: Sequence[str], options: RoundRobinOptions, plan: Sequence[Batch[Pairing]], seats: int = 2
    ) -> None:
        self._names, self._options, self._seats = tuple(names), options, seats
        self._per_chunk = 2 * options.chunk
        self._first_games = sum(len(batch.games) for batch in plan)
        self._first: Evidence | None = None
        if options.games % self._per_chunk:
            expected = f"games a pair in multiples of {self._per_chunk}, twice the chunk (--chunk)"
            raise InputError("until the order is certain, games are added by whole chunks", expected, options.games)
        self.budget = TIMES * self._first_games if options.budget is None else options.budget
        if self.budget < self._first_games:
            raise InputError("budget", f"at least {self._first_games}, the first games of all pairs", self.budget)
        self._pairs = {match_id(*pair): pair for pair in combinations(self._names, 2)}

    def knows(self, pairing: Pairing) -> bool:
        """Return True if a game may come after the first ones."""
        start = pairing.opening - pairing.opening % self._options.chunk
        within = self._first_games + 2 * start - self._options.games + self._per_chunk <= self.budget
        return pairing.match in self._pairs and 2 * start >= self._options.games and within

    def more(self, records: Sequence[Record]) -> list[Batch[Pairing]]:
        """Return the next batches in the order of the file, none when the run is complete."""
        evidence, batches = self._evidence(records), dict[str, Batch[Pairing]]()
        room = (self.budget - len(records)) // self._per_chunk
        place = {name: k for k, name in enumerate(evidence.agents)}
        for pair in adjacencies(evidence, self._at_first(records)):
            if pair.certain or len(batches) >= room:
                continue
            one, other = sorted(evidence.best_pair(pair.better, pair.worse, self._per_chunk))
            start = int(evidence.played[place[one], place[other]]) // 2
            openings = range(start, start + self._options.chunk)
            pairings = both_seats(one, other, openings, self._seats, self._options.seed)
            batches[match_id(one, other)] = batch_of((one, other), pairings)
        return [*batches.values()]

    def order(self, records: Sequence[Record]) -> tuple[Adjacency, ...]:
        """Return the certainty of the order of neighbours after all games, which come in their order."""
        return tuple(adjacencies(self._evidence(records), self._at_first(records)))

    def _evidence(self, records: Sequence[Record]) -> Evidence:
        return Evidence((result for record in records for result in comparisons(record)), self._names)

    def _at_first(self, records: Sequence[Record]) -> Evidence:
        if self._first is None:
            self._first = self._evidence(records[: self._first_games])
        return self._first
