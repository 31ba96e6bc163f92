"""An emitter of pyribs for designs of whole numbers, and the archive that it draws parents from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from ribs.archives import ArchiveBase, GridArchive
from ribs.emitters import EmitterBase
from typing_extensions import override

from .design_space import DesignSpace, Ints

__all__ = ["DesignEmitter", "elites_of", "make_archive"]

_FROM_BEST = 0.5  # share of the parents that are drawn from the best tenth of the elites
_NEW = 0.05  # share of a batch that is random


def make_archive(size: int, ranges: Sequence[tuple[float, float]], cells: int) -> GridArchive:
    """Return an empty archive for designs of `size` numbers, with so many cells along each measure."""
    return GridArchive(
        solution_dim=size,
        dims=(cells,) * len(ranges),
        ranges=list(ranges),
        solution_dtype=np.int64,
        objective_dtype=np.float64,
        measures_dtype=np.float64,
        seed=0,
    )


def elites_of(archive: GridArchive) -> Mapping[str, Any]:
    """Return the fields of all elites, the best first; equal ones in the order of cells."""
    data = archive.data()
    order = np.lexsort((data["index"], -data["objective"]))
    return {name: values[order] for name, values in data.items()}


class DesignEmitter(EmitterBase):  # type: ignore[misc]  # pyribs is not typed throughout
    """An emitter that varies elites as the search space says; half of the parents are among the best.

    Attributes:
        generator: of the chance in the next `ask`; whoever asks sets it, so that a run can be continued.
    """

    def __init__(self, archive: ArchiveBase, space: DesignSpace[Any], batch: int) -> None:
        low, high = np.zeros(space.size, np.int64), np.full(space.size, np.iinfo(np.int64).max)
        super().__init__(archive, solution_dim=space.size, bounds=None, lower_bounds=low, upper_bounds=high)
        self._space, self._batch = space, batch
        self.generator = np.random.default_rng(0)

    @override
    def ask(self) -> Ints:
        """Return new designs, int64 [batch, G]."""
        elites, draw = elites_of(self.archive)["solution"], self.generator
        if not len(elites):
            return self._space.random(self._batch, draw)
        fresh = max(1, int(_NEW * self._batch))
        count = self._batch - fresh
        best = max(1, -(-len(elites) // 10))
        among = np.where(draw.random(count) < _FROM_BEST, best, len(elites))
        parents, mates = (elites[(draw.random(count) * most).astype(int)] for most in (among, len(elites)))
        varied = self._space.vary(parents, mates, draw)
        return np.concatenate((varied, self._space.random(fresh, draw)))
