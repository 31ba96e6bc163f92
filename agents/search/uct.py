"""UCT: tree search by upper confidence bounds.

Kocsis, Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006. Letters: see `tree_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game
from cellgames.envs.native import library
from cellgames.envs.registry import plugin_of

from .tree import CLOSED, ILLEGAL, OPEN, Tree
from .tree_search import Evaluator, PlayoutEvaluator, Search, SearchResult

EXPLORATION = 0.45
"""Weight of the bound, for results from -1 to 1 that are means of `PLAYOUTS`; chosen on Torus of size 3, solved."""

PLAYOUTS = 4
"""Random playouts of a simulation."""

_ABOVE = 100.0  # every bound, and small enough that chance is not rounded away
_ORDERS = 1021  # orders in which untried edges are tried; a node takes one by its place
_UNINTERRUPTED = 1 << 16  # simulations of native code, after which Ctrl-C is noticed


class UCTSearch(Search):
    """A search that takes the edge of the highest upper bound; all edges are tried once, in random order, at first.

    Args:
        game: see `Search`.
        simulations: simulations of each search.
        evaluator: evaluates new nodes; by default the mean of some random playouts.
    """

    def __init__(self, game: Game, simulations: int, *, evaluator: Evaluator | None = None) -> None:
        super().__init__(game, evaluator if evaluator is not None else PlayoutEvaluator(PLAYOUTS), simulations)
        self._orders = self._weights = torch.zeros((0, 0), dtype=torch.float32, device="cpu")

    @override
    def grow(self, tree: Tree, generator: torch.Generator) -> SearchResult:
        simulate = self._native(tree)
        if simulate is None:
            return super().grow(tree, generator)
        self._prepare(tree, generator)
        keys = torch.randint(1 << 62, (tree.trees,), generator=generator, device=generator.device).to(tree.device)
        left = self.simulations
        while left and not tree.of_root(tree.resolved).all():
            now = min(left, max(1, _UNINTERRUPTED // tree.trees))
            simulate(tree, now, orders=self._orders, weights=self._weights, keys=keys)
            left -= now
        return self._result(tree)

    def _native(self, tree: Tree) -> Callable[..., None] | None:
        """Return the function that adds simulations by native code, if the game, evaluator and device have one."""
        if type(self.evaluator) is not PlayoutEvaluator or (native := library(tree.device)) is None:
            return None
        simulate = plugin_of(self.game).hook("native_uct")
        return simulate and partial(simulate, native, self.game, playouts=self.evaluator.playouts)

    def _prepare(self, tree: Tree, generator: torch.Generator) -> None:
        orders = torch.rand((_ORDERS, self.edges), generator=generator, device=generator.device, dtype=torch.float32)
        self._orders = orders.to(tree.device) + _ABOVE
        most = int(tree.of_root(tree.visits).max()) + self.simulations + 1
        visits = torch.arange(most + 1, device=tree.device).clamp(min=1)
        self._weights = EXPLORATION**2 * visits.float().log()

    def _choose(self, tree: Tree, nodes: Tensor, number: int, at_root: bool) -> Tensor:
        visits, status = tree.edge_visits[nodes], tree.status[nodes]
        tried, weight = visits.clamp(min=1.0), self._weights[tree.visits[nodes].long()]
        bound = tree.edge_total[nodes] / tried + (weight[:, None] / tried).sqrt()  # its weight is squared
        score = torch.where(visits > 0, bound, self._untried(tree, nodes))
        # What is certain is not looked at again, unless there is nothing else.
        score = torch.where(status == CLOSED, score - 10 * _ABOVE, score)
        return torch.where(status == ILLEGAL, -torch.inf, score).argmax(1)

    def _untried(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return the scores of edges that were never taken, float [D, E]: above every bound, in random order."""
        return self._orders[nodes % tree.capacity % _ORDERS]

    def _policy(self, tree: Tree) -> Tensor:
        visits = tree.edge_visits[tree.roots]
        legal = (tree.status[tree.roots] != ILLEGAL).float()
        visits = torch.where(visits.sum(1, keepdim=True) > 0, visits, legal)
        return visits / visits.sum(1, keepdim=True)

    def _best(self, tree: Tree) -> Tensor:
        """Return the edge that was taken most, the better one of two; or one that is certain and better than that."""
        roots = tree.roots
        means, status = tree.means(roots), tree.status[roots]
        visits = tree.edge_visits[roots].masked_fill(status != OPEN, -1.0)
        most = means.masked_fill(visits < visits.amax(1, keepdim=True), -torch.inf).argmax(1, keepdim=True)
        sure = means.masked_fill(status != CLOSED, -torch.inf)
        hope = torch.where(visits.gather(1, most) > 0, means.gather(1, most), -torch.inf)
        best = torch.where(sure.amax(1, keepdim=True) > hope, sure.argmax(1, keepdim=True), most)
        # Nothing was tried, as where all is lost: any legal edge.
        untried = (hope == -torch.inf) & (sure.amax(1, keepdim=True) == -torch.inf)
        some = self._orders[:1].masked_fill(status == ILLEGAL, -torch.inf).argmax(1, keepdim=True)
        return torch.where(untried, some, best).squeeze(1)
