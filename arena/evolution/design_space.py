"""The interface of what can be evolved: designs of one kind, their variation, their matches and their measures.

Letters: `N` designs, `G` numbers of a design, `M` matches, `D` measures.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["DesignSpace", "Floats", "Ints", "Measure", "Played"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Pool = TypeVar("Pool")


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
        points: float64 [N, M], 1 for a win, 0.5 for a draw, 0 for a loss.
        lead: float64 [N, M], from -1 to 1: the lead as a share of all live cells in the end.
    """

    points: Floats
    lead: Floats

    @property
    def fitness(self) -> Floats:
        """Return the mean of the points and the share of the cells, float64 [N, M], from 0 to 1."""
        return (self.points + (1 + self.lead) / 2) / 2


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

    @abstractmethod
    def play(self, designs: Ints, opponents: Pool, *, short: bool = False) -> Played:
        """Play every design against every opponent; `short` stops games early and judges by the lead then."""

    @abstractmethod
    def to_data(self, design: Ints) -> dict[str, Any]:
        """Return a design [G] for JSON, as the agent of the game reads it."""

    @abstractmethod
    def lines(self, design: Ints) -> list[str]:
        """Return a design [G] as lines of text, for the report."""

    @abstractmethod
    def distance(self, designs: Ints, others: Ints) -> Floats:
        """Return how different designs are, float64 [N, N'], from 0 (the same) to 1."""
