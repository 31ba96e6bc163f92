"""UCT: tree search by upper confidence bounds.

Kocsis, Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006. Letters: see `base`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game

from .base import Search
from .evaluators import Evaluator, PlayoutEvaluator
from .tree import CLOSED, ILLEGAL, OPEN, Tree

__all__ = ["EXPLORATION", "UCTSearch"]

EXPLORATION = 1.0
"""Weight of the bound, for results from -1 to 1."""

_ORDERS = 1021  # orders in which untried edges are tried; a node takes one by its place


class UCTSearch(Search):
    """Takes the edge of the highest upper bound; all edges of a node are tried once, in random order, before any twice.

    Args:
        game: see `Search`.
        simulations: of each search.
        evaluator: judges new nodes; by default one random playout each.
        exploration: weight of the bound.
    """

    def __init__(
        self,
        game: Game[Any],
        simulations: int,
        *,
        evaluator: Evaluator | None = None,
        exploration: float = EXPLORATION,
    ) -> None:
        super().__init__(game, evaluator if evaluator is not None else PlayoutEvaluator(), simulations)
        self.exploration = exploration
        self._orders = torch.zeros((0, 0))

    def _prepare(self, tree: Tree, generator: torch.Generator) -> None:
        orders = torch.rand((_ORDERS, self.edges), generator=generator, device=generator.device)
        self._orders = orders.to(tree.device) + 1e6  # above every bound

    def _choose(self, tree: Tree, nodes: Tensor, number: int, at_root: bool) -> Tensor:
        visits, status = tree.edge_visits[nodes], tree.status[nodes]
        tried = visits.clamp(min=1.0)
        bound = tree.visits[nodes].log().mul_(self.exploration**2)[:, None]
        score = (bound / tried).sqrt_().add_(tree.edge_total[nodes] / tried)
        score = torch.where(visits > 0, score, self._orders[nodes % tree.capacity % _ORDERS])
        # What is certain is not looked at again, unless there is nothing else.
        score = score - (status == CLOSED).float() * 1e3
        return score.masked_fill_(status == ILLEGAL, -torch.inf).argmax(1)

    def _policy(self, tree: Tree) -> Tensor:
        visits = tree.edge_visits[tree.roots]
        legal = (tree.status[tree.roots] != ILLEGAL).float()
        visits = torch.where(visits.sum(1, keepdim=True) > 0, visits, legal)
        return visits / visits.sum(1, keepdim=True)

    def _best(self, tree: Tree) -> Tensor:
        """The edge that was taken most, the better one of two; or one that is certain and better than that."""
        roots = tree.roots
        means, status = tree.means(roots), tree.status[roots]
        visits = tree.edge_visits[roots].masked_fill(status != OPEN, -1.0)
        most = means.masked_fill(visits < visits.amax(1, keepdim=True), -torch.inf).argmax(1, keepdim=True)
        sure = means.masked_fill(status != CLOSED, -torch.inf)
        hope = torch.where(visits.gather(1, most) > 0, means.gather(1, most), -torch.inf)
        best = torch.where(sure.amax(1, keepdim=True) > hope, sure.argmax(1, keepdim=True), most)
        # Nothing was tried, as in a search that had no simulation to spend: any legal edge.
        untried = (hope == -torch.inf) & (sure.amax(1, keepdim=True) == -torch.inf)
        return torch.where(untried, (status != ILLEGAL).int().argmax(1, keepdim=True), best).squeeze(1)
