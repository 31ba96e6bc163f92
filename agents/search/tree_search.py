"""The base class of tree searches: evaluators, roots, simulations, results. Each search chooses its edges itself.

Letters: `L` positions, a tree each; `E` edges of a node, `P` players, `D` nodes that simulations are at, `A` actions,
`X` positions to evaluate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor

from cellgames.agents.networks.networks import Network
from cellgames.agents.playouts import outcomes
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import check_at_least

from .tree import CLOSED, ILLEGAL, Tree


class Proved(NamedTuple):
    """Certain facts about `X` positions.

    Attributes:
        result: int64 [X], 1 where the player to move wins, -1 where it loses, 0 where that is open.
        move: int64 [X], a move that wins; -1 where none is known.
        worth: bool [X, A], False for moves that are useless in positions that are open: they lose, or others that stay
            are as good.
    """

    result: Tensor
    move: Tensor
    worth: Tensor


def look_at(game: Game, state: Any) -> Proved | None:
    """Return the facts that `look` of `GamePlugin.search` proves about `X` unfinished games; None without any."""
    look = plugin_of(game).hook("look")
    return None if look is None else look(game, state)


class Evaluation(NamedTuple):
    """The evaluation of `X` positions.

    Attributes:
        logits: float [X, A], of a prior over actions; illegal ones count for nothing. Where all players act at once,
            those of each player, float [X, P, A].
        value: float [X, P], what each player can expect, from -1 to 1.
        proved: certain facts about the positions; None for nothing.
    """

    logits: Tensor
    value: Tensor
    proved: Proved | None = None


class Evaluator(Protocol):
    """An evaluator of positions."""

    def evaluate(self, game: Game, state: Any, generator: torch.Generator) -> Evaluation:
        """Evaluate `X` unfinished games; the generator is consumed."""


class PlayoutEvaluator:
    """An evaluator by the mean of random playouts, which prefers no action.

    Args:
        playouts: from each position.
    """

    def __init__(self, playouts: int = 1) -> None:
        check_at_least(1, playouts=playouts)
        self.playouts = playouts

    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        """Evaluate positions, as `Evaluator` does."""
        rows = torch.arange(len(state), device=state.device).repeat_interleave(self.playouts)
        many = state if self.playouts == 1 else state[rows]
        value = outcomes(game, many, generator).float().unflatten(0, (len(state), self.playouts)).mean(1)
        players = (game.info.num_players,) * game.info.simultaneous
        return Evaluation(value.new_zeros((len(state), *players, game.info.num_actions)), value)


class NetworkEvaluator:
    """An evaluator by a network, which goes to the device of the positions.

    Args:
        network: the game's. In zero-sum games for two in turns its value is the mover's, and the opponent's is the
            opposite; in others each player's own view is evaluated.
        looks: True to take a look at each position, too (`look_at`).
    """

    def __init__(self, network: Network, *, looks: bool = False) -> None:
        self.network, self.looks = network, looks

    @torch.no_grad()
    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        """Evaluate positions, as `Evaluator` does."""
        info, mover = game.info, state.current_player
        if self.network.training:  # asking is quicker than setting every layer
            self.network.eval()
        if info.zero_sum and info.num_players == 2 and not info.simultaneous:
            logits, own = self._ask(game, state, mover)
            proved = look_at(game, state) if self.looks else None
            if proved is not None:
                own = torch.where(proved.result == 0, own, proved.result.float())
            first = torch.where(mover == 0, own, -own)
            return Evaluation(logits, torch.stack((first, -first), 1), proved)
        views = [self._ask(game, state, torch.full_like(mover, seat)) for seat in range(info.num_players)]
        logits, value = (torch.stack(parts, 1) for parts in zip(*views, strict=True))
        if not info.simultaneous:
            logits = logits[torch.arange(len(mover), device=mover.device), mover]
        return Evaluation(logits, value)

    def _ask(self, game: Game, state: State, seat: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [X, A] and the seat's value [X]."""
        if next(self.network.parameters()).device != state.device:
            self.network.to(state.device)
        logits, value, _ = self.network(game.observe(state, seat))
        return logits.float(), value.float().clamp(-1.0, 1.0)


@dataclass(frozen=True)
class SearchResult:
    """The results of searches of `L` positions.

    Attributes:
        actions: int64 [L, E], actions of the edges, -1 for no edge; moves that are known to be useless have none.
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
    lines: list[list[int]] = field(default_factory=list)

    def dense(self, numbers: Tensor, actions: int) -> Tensor:
        """Return numbers of edges, [..., E], as numbers of all actions, [..., A]; 0 for those without an edge."""
        out = numbers.new_zeros((*numbers.shape[:-1], actions + 1))
        return out.scatter(-1, torch.where(self.actions >= 0, self.actions, actions), numbers)[..., :actions]

    def policies(self) -> list[dict[int, float]]:
        """Return the policy of each position: the probability of each action that has some."""
        rows = zip(self.actions.tolist(), self.policy.tolist(), strict=True)
        return [
            {action: chance for action, chance in zip(actions, chances, strict=True) if action >= 0 and chance > 0}
            for actions, chances in rows
        ]

    @classmethod
    def cat(cls, results: Sequence[Self]) -> Self:
        """Return the results of several searches as one; all have the same number of edges."""
        names = ("actions", "visits", "values", "policy", "value", "chosen")
        joined = {name: torch.cat([getattr(result, name) for result in results]) for name in names}
        return cls(**joined, lines=[line for result in results for line in result.lines])


DENSE = 512
"""The most actions of a game whose nodes have an edge for each."""

WIDTH = 64
"""Edges of a node in games with more actions: those with the best prior."""

_BYTES = 1 << 30  # of trees that grow at the same time, about
_SURE = 100.0  # the prior's logit of a decisive move
_LINE = 12  # moves of a principal line, at most


class Search(ABC):
    """A search of many positions at the same time, each with its own tree.

    Args:
        game: in turns, with perfect information and plain actions.
        evaluator: evaluates new nodes.
        simulations: simulations of each search.
    """

    def __init__(self, game: Game, evaluator: Evaluator, simulations: int) -> None:
        check_at_least(1, simulations=simulations)
        self.game, self.evaluator, self.simulations = game, evaluator, simulations
        self.players, actions = game.info.num_players, game.info.num_actions
        self.edges = actions if actions <= DENSE else WIDTH

    def run(self, state: State, generator: torch.Generator) -> SearchResult:
        """Search positions.

        Args:
            state: `L` unfinished games.
            generator: consumed.
        """
        tree = self.empty(state)
        self.plant(tree, torch.arange(len(state), device=state.device), state, generator)
        result = self.grow(tree, generator)
        tree.release()
        return result

    def together(self, state: State) -> int:
        """Return the number of trees of positions like these that memory allows at the same time."""
        node = sum(field.element_size() * math.prod(field.shape[1:]) for field in state.tensors())
        nodes = 2 * self.simulations + 1  # with what is kept of an earlier search, as a rule
        return max(1, _BYTES // (nodes * (node + 20 * self.edges)))

    def empty(self, state: State, known: int = 1) -> Tree:
        """Return empty trees, one for each of `L` games, with room for `known` nodes and a search's simulations."""
        named = self.edges < self.game.info.num_actions
        return Tree(state[:0], len(state), self.simulations + known, self.edges, self.players, named=named, reuse=True)

    def plant(self, tree: Tree, trees: Tensor, state: State, generator: torch.Generator) -> None:
        """Put roots into trees, int64 [L]: unfinished games `state`."""
        if len(trees):
            self._add(tree, trees, state, generator)

    def grow(self, tree: Tree, generator: torch.Generator) -> SearchResult:
        """Add the simulations of a search to trees with room for them, and return what is found."""
        self._prepare(tree, generator)
        for number in range(self.simulations):
            if not self._simulate(tree, number, generator):
                break
        return self._result(tree)

    @abstractmethod
    def _prepare(self, tree: Tree, generator: torch.Generator) -> None:
        """Draw what chance a search needs."""

    @abstractmethod
    def _choose(self, tree: Tree, nodes: Tensor, number: int, at_root: bool) -> Tensor:
        """Return the legal edges, int64 [D], that simulation `number` takes from nodes int64 [D]."""

    @abstractmethod
    def _policy(self, tree: Tree) -> Tensor:
        """Return the policy that the search found, float [L, E]."""

    @abstractmethod
    def _best(self, tree: Tree) -> Tensor:
        """Return the edge to play, int64 [L]; another rule decides where the root is resolved."""

    def _simulate(self, tree: Tree, number: int, generator: torch.Generator) -> bool:
        """Run a simulation in every tree whose root is not resolved; return False if all roots are resolved."""
        trees = (~tree.of_root(tree.resolved)).nonzero().squeeze(1)
        if len(trees) == 0:
            return False
        value = torch.zeros((tree.trees, self.players), device=tree.device, dtype=torch.float32)
        path, leaves = self._descend(tree, trees, number)
        trees, nodes, edges, child = leaves
        known = child % tree.capacity > 0
        if known.any():  # it came to a node that is resolved
            value[trees[known]] = tree.worth[child[known]]
            tree.visits[child[known]] += 1.0
            tree.total[child[known]] += value[trees[known]]
        grown, nodes, edges = trees[~known], nodes[~known], edges[~known]
        new = grown
        if len(grown):
            actions = tree.action(nodes, edges)
            after = self.game.step(tree.state[nodes], actions, checked=False)
            new = self._add(tree, grown, after, generator)
            tree.hang(new, nodes, edges)
            value[grown] = tree.raw[new]
        walkers, nodes, edges = (torch.cat(part) for part in zip(*path, strict=True))
        tree.credit(nodes, edges, value[walkers])
        self._resolve(tree, new[tree.resolved[new]])
        return True

    def _resolve(self, tree: Tree, nodes: Tensor) -> None:
        """Tell what lies above new nodes, int64 [D], that they are resolved."""
        tree.resolve(nodes)

    def _descend(
        self, tree: Tree, trees: Tensor, number: int
    ) -> tuple[list[tuple[Tensor, Tensor, Tensor]], tuple[Tensor, ...]]:
        """Return a simulation's path to new or resolved nodes, (trees, nodes, edges) of every depth, and its ends."""
        nodes = trees * tree.capacity
        path, ends = list[tuple[Tensor, Tensor, Tensor]](), list[tuple[Tensor, ...]]()
        while len(trees):
            edges = self._choose(tree, nodes, number, not path)
            path.append((trees, nodes, edges))
            child = tree.child_of(nodes, edges)
            stops = (child % tree.capacity == 0) | tree.resolved[child]
            ends.append(tuple(part[stops] for part in (trees, nodes, edges, child)))
            trees, nodes = trees[~stops], child[~stops]
        return path, tuple(torch.cat(part) for part in zip(*ends, strict=True))

    def _add(self, tree: Tree, trees: Tensor, state: State, generator: torch.Generator) -> Tensor:
        """Evaluate positions, put them into trees and return the nodes' numbers.

        If the game can tell, a node is resolved without a search where the mover can win at once, or cannot keep the
        opponent from doing so; else it has edges only for moves that do (decisive and anti-decisive moves: Teytaud,
        Teytaud, "On the huge benefit of decisive moves in Monte-Carlo tree search algorithms", CIG 2010). Facts that
        the evaluator proves count in the same ways.
        """
        game, done, mask = self.game, state.done, self.game.legal_actions(state)
        logits = torch.zeros(mask.shape, device=state.device, dtype=torch.float32)
        value = game.outcome(state).float()
        wins, defends = game.winning_actions(state), game.defending_actions(state)
        won = torch.zeros_like(done) if wins is None else wins.any(1)
        lost = torch.zeros_like(done) if defends is None else ~(defends.any(1) | won | done)
        if defends is not None:
            mask = torch.where((won | lost)[:, None], mask, defends)
            if lost.any():  # of what no longer helps, what would hinder most
                threats = game.winning_actions(state, 1 - state.current_player)
                mask = mask if threats is None else torch.where(lost[:, None], threats, mask)
        own = won.float() - lost.float()
        mine = torch.arange(self.players, device=state.device) == state.current_player[:, None]
        value = value + torch.where(mine, own[:, None], -own[:, None])
        asked, proved = ~(done | won | lost), None
        rows = asked.nonzero().squeeze(1)
        if len(rows) == len(asked):
            logits, value, proved = Evaluation(*self.evaluator.evaluate(game, state, generator))
        elif len(rows):
            logits[rows], value[rows], proved = Evaluation(*self.evaluator.evaluate(game, state[rows], generator))
        if wins is not None:
            logits = logits.masked_fill(wins, _SURE)
        nodes = tree.add(trees, state, mask, logits, value, ~asked)
        if wins is not None:
            tree.decide(nodes[won], wins[won])
        if proved is not None and tree.actions is None:
            self._learn(tree, nodes[rows], proved)
        return nodes

    def _learn(self, tree: Tree, nodes: Tensor, proved: Proved) -> None:
        """Resolve new nodes by certain facts about them, and leave out useless edges."""
        status = tree.status[nodes]
        left = (status != ILLEGAL) & proved.worth
        tree.status[nodes] = status.where(left | ~left.any(1, keepdim=True), ILLEGAL)
        won, lost = proved.result == 1, proved.result == -1
        tree.prove(nodes[won], proved.move[won])
        # A root that is lost is searched all the same, for moves against which it is hard to win.
        tree.resolved[nodes[lost & (nodes % tree.capacity > 0)]] = True

    def _result(self, tree: Tree) -> SearchResult:
        roots = tree.roots
        visits = tree.edge_visits[roots]
        legal = tree.status[roots] != ILLEGAL
        edge = self._edge(tree)
        mean = tree.total[roots] / tree.visits[roots, None]
        every = torch.arange(self.edges, device=tree.device)
        actions = every.expand(len(roots), -1) if tree.actions is None else tree.actions[roots].long()
        return SearchResult(
            actions=torch.where(legal, actions, -1),
            visits=visits.long(),
            values=torch.where(visits > 0, tree.edge_total[roots] / visits, torch.nan),
            policy=self._policy(tree),
            value=torch.where(tree.resolved[roots, None], tree.worth[roots], mean),
            chosen=tree.action(roots, edge),
            lines=self._lines(tree, edge),
        )

    def _edge(self, tree: Tree) -> Tensor:
        """Return the edge to play, int64 [L]: where the result is certain, one that leads to it."""
        roots = tree.roots
        mover = tree.of_root(tree.mover)[:, None]
        sure = tree.status[roots] == CLOSED
        means = tree.means(roots)
        hoped = tree.worth[roots].gather(1, mover)
        reaches = sure & (means >= hoped) & tree.resolved[roots, None]
        # Of the ways to a certain result the one that was looked at most.
        certain = torch.where(reaches, tree.edge_visits[roots], -1.0)
        return torch.where(reaches.any(1), certain.argmax(1), self._best(tree))

    def _lines(self, tree: Tree, edge: Tensor) -> list[list[int]]:
        """Return the moves that were looked at most in each tree."""
        nodes, lines = tree.roots, [list[int]() for _ in range(tree.trees)]
        trees = torch.arange(tree.trees, device=tree.device)
        for _ in range(_LINE):
            for row, action in zip(trees.tolist(), tree.action(nodes, edge).tolist(), strict=True):
                lines[row].append(action)
            child = tree.child_of(nodes, edge)
            seen = tree.edge_visits[child]
            goes_on = (child % tree.capacity > 0) & (seen.amax(1) > 0)
            trees, nodes, seen = trees[goes_on], child[goes_on], seen[goes_on]
            if len(trees) == 0:
                break
            best = tree.means(nodes).masked_fill(seen < seen.amax(1, keepdim=True), -torch.inf)
            edge = best.argmax(1)
        return lines
