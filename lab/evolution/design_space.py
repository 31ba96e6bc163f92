"""The interface of what can be evolved: designs of one kind, their variation, their matches and their measures.

Letters: `N` designs, `G` numbers of a design, `M` matches, `D` measures, `B` games.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from cellgames.runs.workers import completed

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Pool = TypeVar("Pool")

_TOGETHER = 2048  # games in memory at a time, and those that a worker plays


@dataclass(frozen=True)
class Measure:
    """A number by which an archive tells designs apart.

    Attributes:
        name: one word.
        summary: its definition in one line.
    """

    name: str
    summary: str


@dataclass(frozen=True)
class Played:
    """Results of designs against opponents.

    Attributes:
        points: float64 [N, M] or [B], 1 for a win, 0.5 for a draw, 0 for a loss.
        lead: float64, of the same shape, from -1 to 1: the lead as a share of all live cells in the end.
    """

    points: Floats
    lead: Floats

    @property
    def fitness(self) -> Floats:
        """Return the mean of the points and the share of the cells, float64, from 0 to 1."""
        return (self.points + (1 + self.lead) / 2) / 2


@dataclass(frozen=True)
class _Games:
    """Games of designs against opponents, which are played at the same time.

    Attributes:
        number: number of these games among all that were asked for.
        designs: int64 [N, G].
        opponents: a pool of M opponents.
        games: numbers of the games, design * M + opponent: int64 [B].
        short: True to stop games early.
    """

    number: int
    designs: Ints
    opponents: Any
    games: Ints
    short: bool


class DesignSpace(ABC, Generic[Pool]):
    """The designs of one family: plans for the same task, such as 8 r-pentominoes on one board.

    Designs are whole numbers [N, G]. Opponents come in pools, which the space makes itself: arrangements of an agent,
    or a former champion. All chance comes from generators that are passed in.
    """

    name: str
    """The name of the family, which files have, too."""

    size: int
    """The length `G` of a design."""

    measures: Sequence[Measure]
    """All that `describe` returns, in that order."""

    versions: int
    """The number of different games that one design can play against another one."""

    sharing: int = 1
    """The number of families, this one included, that share the iterations of a round."""

    opponents: type[Any]
    """The dataclass of arrays of a pool."""

    playing: str
    """A sentence of the report on how `champion` plays the designs."""

    meeting: str
    """A sentence of the report on the games against agents by which designs are judged."""

    alone_generations: int
    """The generations for which `alone` lets designs live."""

    wrap: bool
    """True if worlds are tori."""

    @abstractmethod
    def random(self, count: int, generator: np.random.Generator) -> Ints:
        """Return random legal designs, [N, G]."""

    @abstractmethod
    def vary(self, parents: Ints, mates: Ints, generator: np.random.Generator) -> Ints:
        """Return a legal variation of each parent, [N, G]; `mates` [N, G] are other designs to cross over with."""

    @abstractmethod
    def describe(self, designs: Ints) -> Floats:
        """Return the measures of designs, [N, D]."""

    @abstractmethod
    def alone(self, designs: Ints) -> npt.NDArray[np.bool_]:
        """Return the boards on which designs have lived without an opponent for a while, bool [N, H, W]."""

    @abstractmethod
    def pool(self, agent: str, count: int, seed: int) -> Pool:
        """Return opponents that an agent makes, by its spec."""

    @abstractmethod
    def champion_pool(self, design: Ints, count: int, generator: np.random.Generator) -> Pool:
        """Return opponents that play a design [G], every version of it if `count` is `versions`."""

    @abstractmethod
    def draw(self, pool: Pool, count: int, generator: np.random.Generator) -> Pool:
        """Return some opponents of a pool at random, in seats and versions at random."""

    @abstractmethod
    def joined(self, pools: Sequence[Pool]) -> Pool:
        """Return the opponents of several pools in one."""

    def play(self, designs: Ints, opponents: Pool, *, short: bool = False, workers: Executor | None = None) -> Played:
        """Play every design against every opponent.

        Args:
            designs: int64 [N, G].
            opponents: M of them.
            short: True to stop games early and judge by the lead then.
            workers: play the games, with the same result; None for this process.

        Raises:
            WorkerError: a worker ended while it played.
        """
        matches = len(opponents)  # type: ignore[arg-type]  # all pools have a length
        every = np.arange(len(designs) * matches)
        parts = [
            _Games(number, designs, opponents, games, short)
            for number, games in enumerate(np.array_split(every, -(-len(every) // _TOGETHER) or 1))
        ]
        if workers is None:
            played = [self._play_part(part) for part in parts]
        else:
            done = {part.number: found for part, found in completed(workers, self._work, parts)}
            played = [done[part.number] for part in parts]
        points, lead = (
            np.concatenate([getattr(found, name) for found in played]).reshape(len(designs), matches)
            for name in ("points", "lead")
        )
        return Played(points, lead)

    def _play_part(self, part: _Games) -> Played:
        matches = len(part.opponents)
        return self.play_games(
            part.designs[part.games // matches], part.opponents, part.games % matches, short=part.short
        )

    @cached_property
    def _work(self) -> Callable[[_Games], Played]:
        """The work of `play`: a copy without tables, which are large and made again by each worker."""
        return dataclasses.replace(self)._play_part  # type: ignore[type-var]  # all spaces are dataclasses

    @abstractmethod
    def play_games(self, designs: Ints, opponents: Pool, match: Ints, *, short: bool) -> Played:
        """Return the results of games, [B], of designs [B, G] against the opponents of these numbers, int64 [B]."""

    @abstractmethod
    def to_data(self, design: Ints) -> dict[str, Any]:
        """Return a design [G] for JSON, as the agent of the game reads it."""

    @abstractmethod
    def lines(self, design: Ints) -> list[str]:
        """Return a design [G] as lines of text, for the report."""

    @abstractmethod
    def distance(self, designs: Ints, others: Ints) -> Floats:
        """Return the distances of designs, float64 [N, N'], from 0 (equal) to 1."""
