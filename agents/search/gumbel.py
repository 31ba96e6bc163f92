"""Gumbel AlphaZero search: few simulations that improve a policy all the same.

Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", ICLR 2022. The root's candidates
are drawn without repetition by Gumbel noise and halved by results (sections 2 to 4); inside, choices follow the
improved policy without chance (section 5). Letters: see `tree_search`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.networks.networks import gumbel
from cellgames.envs.core import Game
from cellgames.envs.native import library
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import check_at_least

from .tree import ILLEGAL, Tree
from .tree_search import Evaluator, NetworkEvaluator, Search, SearchResult

_CONSIDERED = 16  # candidates at the root by default, at most
_VISITS, _SCALE = 50.0, 1.0  # of sigma, c_visit and c_scale in section 3.3, for results from 0 to 1
_FAR = 1e9


class Roots(NamedTuple):
    """The roots of a search.

    Attributes:
        wish: float32 [B, E], the logits of their edges with noise, -inf for what is not legal.
        before: float32 [B, E], the visits of their edges from an earlier search.
        plan: float32 [B, simulations], the visits of the edge that each simulation takes.
    """

    wish: Tensor
    before: Tensor
    plan: Tensor


class GumbelSearch(Search):
    """The search of Gumbel AlphaZero; the module has its sources.

    Args:
        game: see `Search`.
        evaluator: evaluates new nodes, with a prior.
        simulations: simulations of each search.
        considered: candidates at the root, at most; by default the square root of the simulations, at most 16.
        noise: 1 draws candidates by chance, as training wants it; 0 takes those of the best prior.
        scale: how much results count beside the prior.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        simulations: int,
        *,
        considered: int | None = None,
        noise: float = 0.0,
        scale: float = _SCALE,
    ) -> None:
        super().__init__(game, evaluator, simulations)
        if considered is None:  # with more, few simulations go to each, and in Hex and Torus it plays worse
            considered = min(_CONSIDERED, math.isqrt(simulations))
        check_at_least(1, considered=considered)
        self.considered, self.noise, self.scale = min(considered, simulations), noise, scale
        table = [considered_visits(count, simulations) for count in range(self.considered + 1)]
        self._table = torch.tensor(table, dtype=torch.float32, device="cpu")

    @override
    def grow(self, tree: Tree, generator: torch.Generator) -> SearchResult:
        simulate, native = plugin_of(self.game).hook("native_gumbel"), library(tree.device)
        if simulate is None or native is None or not isinstance(self.evaluator, NetworkEvaluator):
            return super().grow(tree, generator)
        self._prepare(tree, generator)
        evaluate = partial(self.evaluator.evaluate, self.game, generator=generator)
        simulate(native, self.game, tree, evaluate, self._roots, scale=self.scale, width=self.considered)
        return self._result(tree)

    def _prepare(self, tree: Tree, generator: torch.Generator) -> None:
        """Draw the noise of the roots, and note the visits that their edges have from an earlier search."""
        roots = tree.roots
        legal = tree.status[roots] != ILLEGAL
        wish = tree.logits[roots] - tree.logits[roots].amax(1, keepdim=True)
        if self.noise:
            wish = wish + self.noise * gumbel(wish, generator)
        wish.masked_fill_(~legal, -torch.inf)
        plan = self._table.to(tree.device)[legal.sum(1).clamp(max=self.considered)]
        self._roots = Roots(wish, tree.edge_visits[roots].clone(), plan)

    def _choose(self, tree: Tree, nodes: Tensor, number: int, at_root: bool) -> Tensor:
        if at_root:
            trees = nodes // tree.capacity
            visits = tree.edge_visits[nodes] - self._roots.before[trees]
            score = self._roots.wish[trees] + self._sigma(tree, nodes)
            return self._of_plan(score, visits, self._roots.plan[trees, number]).argmax(1)
        visits, legal = tree.edge_visits[nodes], tree.status[nodes] != ILLEGAL
        share = visits / (1.0 + visits.sum(1, keepdim=True))
        return (self._improved(tree, nodes) - share).masked_fill_(~legal, -torch.inf).argmax(1)

    @staticmethod
    def _of_plan(score: Tensor, visits: Tensor, planned: Tensor) -> Tensor:
        """Return scores, [L, E], far below for edges whose visits are not those planned, [L]."""
        return torch.where(visits == planned[:, None], score, score - _FAR)

    def _sigma(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return float [D, E], to be added to logits: results of edges by (8), by (10) for edges without results."""
        visits, logits, legal = tree.edge_visits[nodes], tree.logits[nodes], tree.status[nodes] != ILLEGAL
        prior = logits.masked_fill(~legal, -torch.inf).softmax(1)
        tried = visits > 0
        mean = torch.where(tried, tree.edge_total[nodes] / visits.clamp(min=1.0), 0.0)
        share, count = torch.where(tried, prior, 0.0), visits.sum(1, keepdim=True)
        weighed = (share * mean).sum(1, keepdim=True) / share.sum(1, keepdim=True).clamp(min=1e-9)
        raw = tree.raw[nodes].gather(1, tree.mover[nodes, None])
        mixed = (raw + count * weighed) / (1.0 + count)
        complete = torch.where(tried, mean, mixed)
        return (_VISITS + visits.amax(1, keepdim=True)) * self.scale * 0.5 * (complete + 1.0)

    def _improved(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return float [D, E], the improved policy; (11)."""
        legal = tree.status[nodes] != ILLEGAL
        logits = (tree.logits[nodes] + self._sigma(tree, nodes)).masked_fill(~legal, -torch.inf)
        return logits.softmax(1)

    def _policy(self, tree: Tree) -> Tensor:
        return self._improved(tree, tree.roots)

    def _best(self, tree: Tree) -> Tensor:
        """Return the edge of the best score among those that were taken most."""
        visits = tree.edge_visits[tree.roots] - self._roots.before
        score = self._roots.wish + self._sigma(tree, tree.roots)
        return self._of_plan(score, visits, visits.amax(1)).argmax(1)


def considered_visits(candidates: int, simulations: int) -> list[int]:
    """Return the visits of the candidate that each simulation takes: sequential halving, as mctx unrolls it."""
    if candidates <= 1:
        return list(range(simulations))
    rounds, left = math.ceil(math.log2(candidates)), candidates
    visits, plan = [0] * candidates, list[int]()
    while len(plan) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            plan += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return plan[:simulations]
