"""The result of a search.

Letters: `L` positions, `E` edges of a root, `A` actions, `P` players.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class SearchResult:
    """The results of searches of `L` positions.

    Attributes:
        actions: int64 [L, E], actions of the edges, -1 for no edge; moves that are seen to lose at once have none.
        visits: int64 [L, E], simulations that went that way; 1 for each move that wins at once, which need none.
        values: float [L, E], their mean result for the player to move, from -1 to 1; NaN without a visit. In a
            result without simulations, values that are known without them.
        policy: float [L, E], chances that the search would give the edges; they add up to 1.
        value: float [L, P], what each player can expect, from -1 to 1.
        chosen: int64 [L], the action to play.
        lines: for each position the moves that the search expects, beginning with `chosen`.
    """

    actions: Tensor
    visits: Tensor
    values: Tensor
    policy: Tensor
    value: Tensor
    chosen: Tensor
    lines: list[list[int]]

    def dense(self, numbers: Tensor, actions: int, fill: float = 0.0) -> Tensor:
        """Return numbers of edges, [L, E], as numbers of all actions, [L, A]; `fill` for those without an edge."""
        out = numbers.new_full((len(numbers), actions + 1), fill)
        return out.scatter(1, torch.where(self.actions >= 0, self.actions, actions), numbers)[:, :actions]

    def policies(self) -> list[dict[int, float]]:
        """Return the policy of each position: the probability of each action that has some."""
        rows = zip(self.actions.tolist(), self.policy.tolist(), strict=True)
        return [
            {action: chance for action, chance in zip(actions, chances, strict=True) if action >= 0 and chance > 0}
            for actions, chances in rows
        ]

    @staticmethod
    def cat(results: list[SearchResult]) -> SearchResult:
        """Return the results of several searches as one; all have the same number of edges."""
        names = ("actions", "visits", "values", "policy", "value", "chosen")
        joined = {name: torch.cat([getattr(result, name) for result in results]) for name in names}
        return SearchResult(**joined, lines=[line for result in results for line in result.lines])
