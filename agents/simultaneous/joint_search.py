"""Regret matching plus where all players act at once: in matrix games, and at every node of a tree (SM-MCTS).

Tammelin, "Solving large imperfect information games using CFR+", 2014; Hart, Mas-Colell, "A simple adaptive procedure
leading to correlated equilibrium", 2000; Lanctot, Lisy, Winands, "Monte Carlo tree search in simultaneous move games
with applications to Goofspiel", 2014; Bosansky, Lisy, Lanctot, Cermak, Winands, "Algorithms for computing strategies in
two-player simultaneous move games", Artificial Intelligence 237, 2016. A node has some actions of each player (its
candidates), and a child for every joint action that was tried.

Letters: `L` matrix games with `R` actions of the row player and `C` of the column player, or positions with a tree
each; `T` trees, `N` nodes of all trees, `P` players, `K` candidates of a player, `D` nodes that simulations are at, `A`
actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.agents.networks.networks import gumbel
from cellgames.agents.search import Evaluator, PlayoutEvaluator, SearchResult
from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError, check_at_least


def solve_matrix(payoff: Tensor, iterations: int = 500) -> tuple[Tensor, Tensor]:
    """Return approximate equilibria of zero-sum matrix games.

    The players take turns in adjusting to the other's latest strategy, and the result is the mean of their
    strategies, later ones counting more.

    Args:
        payoff: float [L, R, C], gains of the row player and losses of the column player.
        iterations: adjustments of each player.

    Returns:
        The probabilities of the row player, float [L, R], and of the column player, float [L, C].
    """
    payoff = payoff.float()
    row_regret, column_regret = torch.zeros_like(payoff[:, :, 0]), torch.zeros_like(payoff[:, 0])
    row_sum, column_sum = torch.zeros_like(row_regret), torch.zeros_like(column_regret)
    row, column = matched(row_regret), matched(column_regret)
    for iteration in range(1, iterations + 1):
        gain = torch.bmm(payoff, column[:, :, None]).squeeze(2)
        row_regret, row = _adjusted(row_regret, row, gain)
        gain = -torch.bmm(row[:, None], payoff).squeeze(1)
        column_regret, column = _adjusted(column_regret, column, gain)
        row_sum += iteration * row
        column_sum += iteration * column
    return row_sum / row_sum.sum(1, keepdim=True), column_sum / column_sum.sum(1, keepdim=True)


def matched(regret: Tensor, available: Tensor | None = None) -> Tensor:
    """Return the strategy of regret matching, float [..., K]: actions in proportion to their positive regrets.

    Where no regret is positive, all actions are equally likely; `available`, bool [..., K], leaves out others.
    """
    known = torch.ones_like(regret, dtype=torch.bool) if available is None else available
    positive = torch.where(known, regret, 0.0).clamp(min=0.0)
    total = positive.sum(-1, keepdim=True)
    uniform = known.to(regret.dtype)
    uniform = uniform / uniform.sum(-1, keepdim=True).clamp(min=1.0)
    return torch.where(total > 0, positive / total.clamp(min=1e-30), uniform)


def _adjusted(regret: Tensor, strategy: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
    """Return regrets, float [L, K], after gains against the other's strategy, and the strategy that follows."""
    regret = (regret + gain - (strategy * gain).sum(1, keepdim=True)).clamp(min=0.0)
    return regret, matched(regret)


class JointTree:
    """Trees that grow at the same time; the nodes of tree `t` are `t * capacity` and those that follow."""

    def __init__(self, like: State, trees: int, capacity: int, players: int, width: int) -> None:
        nodes, device = trees * capacity, like.device

        def zeros(*shape: int) -> Tensor:
            return torch.zeros((nodes, *shape), dtype=torch.float32, device=device)

        self.trees, self.capacity, self.players, self.width, self.device = trees, capacity, players, width, device
        self.state: State = like.map(lambda field: field.new_zeros((nodes, *field.shape[1:])))  # of `N` games
        self.count = torch.zeros(trees, dtype=torch.int64, device=device)  # nodes of each tree so far
        # [N, P, K]: candidates, -1 for none; simulations that took each, sums of their results, regrets, and sums of
        # the strategies, weighted by visits.
        self.actions = torch.full((nodes, players, width), -1, dtype=torch.int64, device=device)
        self.visits, self.totals, self.regret, self.strategy = (zeros(players, width) for _ in range(4))
        # [N, P]: evaluations, or results of games that are over, and sums of results; [N]: simulations through nodes.
        self.value, self.node_totals, self.node_visits = zeros(players), zeros(players), zeros()
        self._keys = torch.full((trees, capacity), -1, dtype=torch.int64, device=device)  # parent and joint action
        self._places = width ** torch.arange(players, device=device)

    @property
    def roots(self) -> Tensor:
        """The root of each tree, int64 [T]."""
        return torch.arange(self.trees, device=self.device) * self.capacity

    def add(
        self, trees: Tensor, state: State, actions: Tensor, value: Tensor, above: tuple[Tensor, Tensor] | None = None
    ) -> Tensor:
        """Put a node into each of some trees, int64 [D], all different, and return their numbers, int64 [D].

        Candidates are int64 [D, P, K], values float [D, P]. Below others these are `above`, int64 [D], and the joint
        actions that lead from there, int64 [D, P], as places of candidates; None stands for roots.
        """
        place = self.count[trees]
        nodes = trees * self.capacity + place
        self.count[trees] += 1
        for own, new in zip(self.state.tensors(), state.tensors(), strict=True):
            own[nodes] = new
        self.actions[nodes], self.value[nodes] = actions, value
        self.node_visits[nodes], self.node_totals[nodes] = 1.0, value
        if above is not None:
            self._keys[trees, place] = self._key(*above)
        return nodes

    def find(self, nodes: Tensor, joint: Tensor) -> Tensor:
        """Return the children of nodes, int64 [D], for joint actions, int64 [D, Q, P]: int64 [D, Q], -1 for none."""
        trees = nodes // self.capacity
        same = self._keys[trees][:, None] == self._key(nodes[:, None], joint)[..., None]
        return torch.where(same.any(2), trees[:, None] * self.capacity + same.int().argmax(2), -1)

    def _key(self, nodes: Tensor, joint: Tensor) -> Tensor:
        key: Tensor = nodes % self.capacity * self.width**self.players + (joint * self._places).sum(-1)
        return key

    def credit(self, nodes: Tensor, joint: Tensor, result: Tensor) -> None:
        """Count a simulation that went from nodes, int64 [D], by joint actions, [D, P], to results, float [D, P]."""
        player = torch.arange(self.players, device=self.device)
        self.node_visits[nodes] += 1.0
        self.node_totals[nodes] += result
        self.visits[nodes[:, None], player, joint] += 1.0
        self.totals[nodes[:, None], player, joint] += result


WIDTH = 16
"""Candidates of a player at a node, at most, by default."""
EXPLORATION = 0.1
"""Share of the simulations that take a random candidate."""


@dataclass(frozen=True)
class JointResult(SearchResult):
    """The results of searches of `L` positions in which all players act at once; they have no lines.

    Attributes:
        actions: int64 [L, P, K], the candidates of each player, -1 for none.
        visits: int64 [L, P, K], simulations that took each.
        values: float [L, P, K], their mean result for the player, from -1 to 1; NaN without a visit.
        policy: float [L, P, K], the mixed strategy of each player.
        value: float [L, P], what each player can expect.
        chosen: int64 [L, P], actions drawn from the mixed strategies.
    """


class RegretMatching:
    """A search by regret matching plus of many positions at the same time, each with its own tree.

    Its mixed strategies approach an equilibrium. A node's strategy takes candidates in proportion to their regrets: the
    candidate's payoff minus that of the played one, summed over simulations, but never less than 0. A candidate's
    payoff is the mean below the joint action in question; if that was never tried, the candidate's own mean; if it was
    not tried either, the node's. The result is the mean of the strategies, later ones counting more. A share of the
    simulations, `EXPLORATION`, takes a random candidate.

    A simulation ends at a joint action that its node has not tried yet, and evaluates the position after it. It so
    takes positions as they are: hidden information must have been guessed before (`GamePlugin.search`).

    Args:
        game: all players act at once, with actions of one component.
        simulations: simulations of each search.
        evaluator: evaluates new nodes; by default one random playout each.
        width: candidates of a player at a node. If it has more actions, they are drawn by the evaluator's logits.
    """

    def __init__(self, game: Game, simulations: int, *, evaluator: Evaluator | None = None, width: int = WIDTH) -> None:
        check_at_least(1, simulations=simulations, width=width)
        if not game.info.simultaneous or len(game.info.action_nvec) > 1:
            raise InputError("game", "a game in which all players act at once, with actions of one component", game.id)
        self.game, self.simulations = game, simulations
        self.evaluator: Evaluator = PlayoutEvaluator() if evaluator is None else evaluator
        self.players, self.width = game.info.num_players, min(width, game.info.num_actions)
        if (simulations + 1) * self.width**self.players >= 1 << 62:
            raise InputError("width", f"fewer than {width} candidates for {self.players} players")

    def run(self, state: State, generator: torch.Generator) -> JointResult:
        """Search `L` unfinished games; the generator is consumed."""
        tree = JointTree(state, len(state), self.simulations + 1, self.players, self.width)
        self._add(tree, torch.arange(len(state), device=state.device), state, generator)
        for _ in range(self.simulations):
            self._simulate(tree, generator)
        return self._result(tree, generator)

    def _choose(self, tree: JointTree, nodes: Tensor, generator: torch.Generator) -> Tensor:
        """Return the candidates that a simulation takes from nodes, int64 [D] to [D, P]."""
        available = tree.actions[nodes] >= 0
        strategy = matched(tree.regret[nodes], available)
        tree.strategy[nodes] += strategy * tree.node_visits[nodes, None, None]
        any_one = matched(torch.zeros_like(strategy), available)
        return _drawn((1 - EXPLORATION) * strategy + EXPLORATION * any_one, generator)

    def _learn(self, tree: JointTree, nodes: Tensor, joint: Tensor, result: Tensor) -> None:
        """Add the result, float [D, P], of joint actions, int64 [D, P], to the regrets; before the tree counts it."""
        places = torch.arange(self.width, device=tree.device)
        mean = (tree.node_totals[nodes] / tree.node_visits[nodes, None])[:, :, None]
        visits = tree.visits[nodes]
        gain = torch.where(visits > 0, tree.totals[nodes] / visits.clamp(min=1.0), mean)  # [D, P, K]
        for player in range(self.players):
            instead = joint[:, None].repeat(1, self.width, 1)
            instead[:, :, player] = places
            child = tree.find(nodes, instead)
            known = tree.node_totals[child, player] / tree.node_visits[child].clamp(min=1.0)
            gain[:, player] = torch.where(child >= 0, known, gain[:, player])
        gain.scatter_(2, joint[:, :, None], result[:, :, None])
        more = torch.where(tree.actions[nodes] >= 0, gain - result[:, :, None], 0.0)
        tree.regret[nodes] = (tree.regret[nodes] + more).clamp(min=0.0)

    def _simulate(self, tree: JointTree, generator: torch.Generator) -> None:
        """Run a simulation in every tree."""
        nodes = tree.roots
        result = torch.zeros((tree.trees, self.players), dtype=torch.float32, device=tree.device)
        path: list[tuple[Tensor, Tensor]] = []
        while len(nodes):
            joint = self._choose(tree, nodes, generator)
            path.append((nodes, joint))
            child = tree.find(nodes, joint[:, None]).squeeze(1)
            new = child < 0
            if new.any():
                above, taken = nodes[new], joint[new]
                after = self.game.step(tree.state[above], _actions(tree, above, taken), checked=False)
                child[new] = self._add(tree, above // tree.capacity, after, generator, (above, taken))
            over = tree.state.done[child]
            ends = new | over
            result[child[ends] // tree.capacity] = tree.value[child[ends]]
            seen = child[over & ~new]
            tree.node_visits[seen] += 1.0
            tree.node_totals[seen] += tree.value[seen]
            nodes = child[~ends]
        for nodes, joint in reversed(path):
            of_nodes = result[nodes // tree.capacity]
            self._learn(tree, nodes, joint, of_nodes)
            tree.credit(nodes, joint, of_nodes)

    def _add(
        self,
        tree: JointTree,
        trees: Tensor,
        state: State,
        generator: torch.Generator,
        above: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Evaluate positions, put them into trees and return the nodes' numbers."""
        game, done = self.game, state.done
        mask = game.legal_actions(state)
        value = game.outcome(state).float()
        logits = torch.zeros(mask.shape, dtype=torch.float32, device=state.device)
        rows = (~done).nonzero().squeeze(1)
        if len(rows):
            part = state if len(rows) == len(done) else state[rows]
            logits[rows], value[rows] = self.evaluator.evaluate(game, part, generator)[:2]
        return tree.add(trees, state, self._candidates(logits, mask, generator), value, above)

    def _candidates(self, logits: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
        """Return legal actions, int64 [D, P, K], -1 where there are fewer; all of them, or drawn by the logits."""
        if self.width < mask.shape[2]:
            logits = logits + gumbel(logits, generator)
        found = logits.masked_fill(~mask, -torch.inf).topk(self.width, dim=2)
        return torch.where(found.values > -torch.inf, found.indices, -1)

    def _result(self, tree: JointTree, generator: torch.Generator) -> JointResult:
        roots = tree.roots
        visits, strategy = tree.visits[roots], tree.strategy[roots]
        policy = strategy / strategy.sum(2, keepdim=True)
        return JointResult(
            actions=tree.actions[roots],
            visits=visits.long(),
            values=torch.where(visits > 0, tree.totals[roots] / visits, torch.nan),
            policy=policy,
            value=tree.node_totals[roots] / tree.node_visits[roots, None],
            chosen=_actions(tree, roots, _drawn(policy, generator)),
        )


def _drawn(strategies: Tensor, generator: torch.Generator) -> Tensor:
    """Return a candidate of each player, int64 [D, P], drawn from mixed strategies, float [D, P, K]."""
    drawn = torch.multinomial(strategies.flatten(0, 1).to(generator.device), 1, generator=generator)
    return drawn.to(strategies.device).view(strategies.shape[:2])


def _actions(tree: JointTree, nodes: Tensor, joint: Tensor) -> Tensor:
    """Return the actions that candidates stand for, int64 [D, P]."""
    return tree.actions[nodes].gather(2, joint[:, :, None]).squeeze(2)
