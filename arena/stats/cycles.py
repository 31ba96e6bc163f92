"""Rings of agents each of which beats the next: a beats b beats c beats a.

An arrow leads from an agent to another that it beats with certainty: the interval of its score lies above one half. A
ring that can be cut short by an arrow across it holds a shorter one, so the shortest tell all: those without chords.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from cellgames.utils.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .payoffs import Payoffs


@dataclass(frozen=True)
class Cycle:
    """A ring in which each agent beats the next one, the last the first.

    Attributes:
        agents: Three agents or more; the first by name begins.
        scores: Score of each agent against the next.
        lows: Lower bounds of those scores, all above 1/2.
    """

    agents: tuple[str, ...]
    scores: tuple[float, ...]
    lows: tuple[float, ...]

    @property
    def weakest(self) -> float:
        """Smallest of the scores; rings are ordered by it."""
        return min(self.scores)

    def __str__(self) -> str:
        arrows = "".join(
            f" beats {other} {100 * score:.0f} %"
            for other, score in zip((*self.agents[1:], self.agents[0]), self.scores, strict=True)
        )
        return self.agents[0] + arrows


def cycles(payoffs: Payoffs, level: float = 0.95, *, longest: int = 6, most: int = 10_000) -> tuple[Cycle, ...]:
    """Return all rings without chords, the shortest first, of one length those with the best weakest link first.

    Args:
        payoffs: the matrix.
        level: level of the intervals, pair by pair. A pair without difference is taken for one with an arrow in a share
            `1 - level` of cases; a false ring needs a false arrow beside true ones that fit.
        longest: largest number of agents in a ring.
        most: largest number of rings to look at; a field of `most` stronger rings needs no more.

    Raises:
        ValueError: a level or a length out of range.
    """
    if longest < 3:
        raise InputError("longest", "rings of 3 agents or more", f"longest={longest}")
    low = payoffs.interval(level)[0]
    arrows = low > 0.5
    found = []
    for ring in islice(_rings(arrows, longest), most):
        start = ring.index(min(ring))
        ring = [*ring[start:], *ring[:start]]
        links = list(pairwise([*ring, ring[0]]))
        found.append(
            Cycle(
                tuple(payoffs.agents[k] for k in ring),
                tuple(float(payoffs.score[link]) for link in links),
                tuple(float(low[link]) for link in links),
            )
        )
    return tuple(sorted(found, key=lambda cycle: (len(cycle.agents), -cycle.weakest, cycle.agents)))


def _rings(arrows: NDArray[np.bool_], longest: int) -> Iterator[list[int]]:
    """Yield rings without chords."""
    import networkx  # type: ignore[import-untyped]  # it has no types of its own

    graph = networkx.DiGraph(np.argwhere(arrows).tolist())
    yield from networkx.chordless_cycles(graph, length_bound=longest)
