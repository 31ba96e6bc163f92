"""Search trees of many games at once, held in tensors.

The layout is that of mctx (DeepMind): arrays over nodes, and what a choice looks at beside its node, an entry an edge.
Here a value is a vector over players, since a player may move several times in a row and all may lose; nodes whose
result is certain are marked (MCTS-Solver: Winands, Björnsson, Saito, "Monte-Carlo tree search solver", 2008); and a
part of a tree can be kept for the next move.

Letters: `B` trees, `M` nodes that a tree has room for, `E` edges of a node, `P` players, `L` some of the nodes.
A node's number is `tree * M + place`; place 0 is the root, and parents stand before their children.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import State

ILLEGAL, OPEN, CLOSED = 0, 1, 2  # of an edge: closed is legal, and what it leads to is certain

_COMPARED_NOT = ("seed", "rewards")  # fields by which equal positions may differ

_LARGEST_SPARE = 1 << 28  # bytes
_SPARE: list[list[Tensor]] = []  # the memory of the last tree that was released; new memory costs half of a search


class Tree:
    """The search trees of `B` games.

    Args:
        like: positions of the kind that the nodes hold.
        trees: `B`.
        capacity: `M`.
        edges: `E`.
        players: `P`.
        named: True if edges stand for some actions only.
        reuse: True to take over the memory of the last tree that was released.

    Attributes:
        state:        the positions, `B M` of them.
        count:        int64 [B], nodes in use.
        parent:       int32 [B M], the place of the node's parent.
        parent_edge:  int32 [B M], the edge that leads here.
        mover:        int64 [B M], the player to move.
        visits:       float32 [B M]: the node's own value, and every simulation that came to it afterwards.
        total:        float32 [B M, P], of the results of these, from -1 to 1.
        raw:          float32 [B M, P], its own value.
        resolved:     bool [B M], the result is certain.
        worth:        float32 [B M, P], that result, where it is.
        whole:        bool [B M], there is an edge for every legal action that is not known to be useless.
        child:        int32 [B M, E], the place of the node that an edge leads to; 0 for none yet.
        edge_visits:  float32 [B M, E], simulations that went that way.
        edge_total:   float32 [B M, E], of their results for the mover; exact where the edge is closed.
        status:       int8 [B M, E], ILLEGAL (or useless: it loses, or others are as good), OPEN or CLOSED.
        logits:       float32 [B M, E], of the prior.
        actions:      int32 [B M, E], the action of an edge; None where edges are actions.
    """

    def __init__(
        self, like: State, trees: int, capacity: int, edges: int, players: int, *, named: bool, reuse: bool = False
    ) -> None:
        nodes, device = trees * capacity, like.device
        self.trees, self.capacity, self.edges = trees, capacity, edges
        spare: list[Tensor] = []
        if reuse and device.type == "cpu":
            with suppress(IndexError):
                spare = _SPARE.pop()  # which belongs to this tree alone then
        self._memory, self._arrays = list[Tensor](), list[Tensor]()

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            whole, place = (nodes, *shape), len(self._memory)
            if place < len(spare) and spare[place].dtype == dtype and spare[place].numel() >= math.prod(whole):
                self._memory.append(spare[place])
                self._arrays.append(spare[place][: math.prod(whole)].zero_().view(whole))
            else:
                self._memory.append(torch.zeros(math.prod(whole), dtype=dtype, device=device))
                self._arrays.append(self._memory[-1].view(whole))
            return self._arrays[-1]

        self.state: Any = like.map(lambda field: zeros(*field.shape[1:], dtype=field.dtype))
        self.count = torch.zeros(trees, dtype=torch.int64, device=device)
        self.parent, self.parent_edge = zeros(dtype=torch.int32), zeros(dtype=torch.int32)
        self.mover = zeros(dtype=torch.int64)
        self.visits = zeros()
        self.total, self.raw, self.worth = zeros(players), zeros(players), zeros(players)
        self.resolved, self.whole = zeros(dtype=torch.bool), zeros(dtype=torch.bool)
        self.child = zeros(edges, dtype=torch.int32)
        self.edge_visits, self.edge_total, self.logits = zeros(edges), zeros(edges), zeros(edges)
        self.status = zeros(edges, dtype=torch.int8)
        self.actions = zeros(edges, dtype=torch.int32) if named else None

    def release(self) -> None:
        """Leave the memory to the next tree that reuses some; this one is of no use any more."""
        memory, cpu = self._memory, self.device.type == "cpu"
        vars(self).clear()
        if cpu and sum(array.nbytes for array in memory) <= _LARGEST_SPARE:
            _SPARE[:] = [memory]

    @property
    def device(self) -> torch.device:
        """Return the device of the tensors."""
        return self.visits.device

    @property
    def roots(self) -> Tensor:
        """Return the numbers of the roots, int64 [B]."""
        return torch.arange(0, self.trees * self.capacity, self.capacity, device=self.device)

    def of_root(self, numbers: Tensor) -> Tensor:
        """Return the roots' entries, [B, ...], of an array over nodes."""
        return numbers[:: self.capacity]

    def action(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Return the actions, int64 [L], that edges int64 [L] of nodes stand for."""
        return edges if self.actions is None else self.actions[nodes, edges].long()

    def child_of(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """Return the numbers of the nodes that edges lead to, int64 [L]; the tree's root for new edges."""
        return nodes - nodes % self.capacity + self.child[nodes, edges]

    def add(self, trees: Tensor, state: State, mask: Tensor, logits: Tensor, value: Tensor, resolved: Tensor) -> Tensor:
        """Put a node into some trees, not yet below another, and return their numbers, int64 [L].

        Args:
            trees: int64 [L], each once.
            state: the positions, `L`.
            mask: bool [L, A], legal actions, or those worth an edge.
            logits: float [L, A], of the prior; where a node has fewer edges than there are actions, those with the
                highest are kept.
            value: float [L, P], the value of the position, or how the game ends.
            resolved: bool [L], whether it ends so for certain.
        """
        place = self.count[trees]
        nodes = trees * self.capacity + place
        self.count[trees] = place + 1
        for field, new in zip(self.state.tensors(), state.tensors(), strict=True):
            field[nodes] = new
        self.whole[nodes] = True
        if self.actions is not None:
            order = logits.masked_fill(~mask, -torch.inf).topk(self.edges, dim=1).indices
            self.whole[nodes] = mask.sum(1) <= self.edges
            self.actions[nodes] = order.int()
            logits, mask = logits.gather(1, order), mask.gather(1, order)
        self.status[nodes] = mask.to(torch.int8)
        self.logits[nodes] = logits.float()
        self.mover[nodes] = state.current_player
        self.raw[nodes] = self.total[nodes] = self.worth[nodes] = value
        self.visits[nodes] = 1.0
        self.resolved[nodes] = resolved
        return nodes

    def decide(self, nodes: Tensor, wins: Tensor) -> None:
        """Close the edges of nodes, just added as resolved, by which their movers win at once: bool [L, A]."""
        if self.actions is not None:
            wins = wins.gather(1, self.actions[nodes].long())
        self.status[nodes] = torch.where(wins, CLOSED, self.status[nodes]).to(torch.int8)
        self.edge_visits[nodes] = self.edge_total[nodes] = wins.float()

    def prove(self, nodes: Tensor, edges: Tensor) -> None:
        """Resolve nodes, in a game for two, by edges that are known to win: int64 [L] both."""
        wins = torch.zeros_like(self.status[nodes], dtype=torch.bool)
        self.decide(nodes, wins.scatter(1, edges[:, None], True))
        mine = torch.arange(self.worth.shape[1], device=self.device) == self.mover[nodes, None]
        self.worth[nodes] = 2.0 * mine.float() - 1.0
        self.resolved[nodes] = True

    def hang(self, nodes: Tensor, parents: Tensor, edges: Tensor) -> None:
        """Let edges int64 [L] of `parents` lead to `nodes`, int64 [L] both."""
        self.parent[nodes] = (parents % self.capacity).int()
        self.parent_edge[nodes] = edges.int()
        self.child[parents, edges] = (nodes % self.capacity).int()

    def credit(self, nodes: Tensor, edges: Tensor, value: Tensor) -> None:
        """Count a result, float [L, P], for edges of nodes through which simulations went; each node once."""
        self.visits[nodes] += 1.0
        self.total[nodes] += value
        self.edge_visits[nodes, edges] += 1.0
        self.edge_total[nodes, edges] += value.gather(1, self.mover[nodes, None]).squeeze(1)

    def resolve(self, nodes: Tensor) -> None:
        """Tell the parents of nodes that have been resolved, and theirs; at most one node of a tree.

        A parent is resolved if its mover wins by one of its edges, or if all of them are: then it takes the best.
        """
        nodes = nodes[nodes % self.capacity > 0]
        while len(nodes):
            parents = nodes - nodes % self.capacity + self.parent[nodes]
            edges, mover = self.parent_edge[nodes].long(), self.mover[parents, None]
            result = self.worth[nodes]
            own = result.gather(1, mover).squeeze(1)
            self.status[parents, edges] = CLOSED
            self.edge_total[parents, edges] = own * self.edge_visits[parents, edges]
            settled = (self.status[parents] != OPEN).all(1) & self.whole[parents]
            best = self.means(parents).argmax(1)
            best = torch.where(own >= 1.0, edges, best)
            found = ((own >= 1.0) | settled) & ~self.resolved[parents]
            nodes = parents[found]
            self.worth[nodes] = self.worth[self.child_of(nodes, best[found])]
            self.resolved[nodes] = True
            nodes = nodes[nodes % self.capacity > 0]

    def means(self, nodes: Tensor) -> Tensor:
        """Return the mean result of every edge for the mover, float [L, E]; -inf where it was never taken."""
        visits = self.edge_visits[nodes]
        return (self.edge_total[nodes] / visits).masked_fill(visits == 0, -torch.inf)

    # --- what is kept for the next move ---------------------------------------------------------------------------

    def find(self, rows: Tensor, state: State) -> Tensor:
        """Return the place in trees `rows`, int64 [L], of a node with the same position as in `state`; else -1.

        Of several the one that was visited most.
        """
        places = torch.arange(self.capacity, device=self.device)
        used = places < self.count[rows, None]
        same_turn = self.state.turn.view(self.trees, -1)[rows] == state.turn[:, None]
        wanted, place = (used & same_turn).nonzero().unbind(1)
        nodes = rows[wanted] * self.capacity + place
        same = torch.ones_like(wanted, dtype=torch.bool)
        names = self.state.__dataclass_fields__
        for name, held, asked in zip(names, self.state.tensors(), state.tensors(), strict=True):
            if name not in _COMPARED_NOT:
                same &= (held[nodes] == asked[wanted])[:, None].flatten(1).all(1)
        order = self.visits[nodes].long() * self.capacity + place
        best = torch.full_like(rows, -1).scatter_reduce(0, wanted[same], order[same], "amax")
        return torch.where(best >= 0, best % self.capacity, -1)

    def below(self, rows: Tensor, places: Tensor) -> Tensor:
        """Return True for nodes of trees `rows` that are at `places` or below them, int64 [L] both: bool [L, M]."""
        parent = self.parent.view(self.trees, -1)[rows].long()
        place = torch.arange(self.capacity, device=self.device)
        usable = (place < self.count[rows, None]) & (place > 0)
        found = place == places[:, None]
        while True:
            further = found | (found.gather(1, parent) & usable)
            if torch.equal(further, found):
                return found
            found = further

    def part(self, rows: Tensor, below: Tensor) -> Tree:
        """Return parts of trees `rows`, given by `below`, as trees of their own with no room for more."""
        capacity, players, named = int(below.sum(1).max()), self.total.shape[1], self.actions is not None
        new = Tree(self.state[:0], len(rows), capacity, self.edges, players, named=named)
        new.graft(torch.arange(len(rows), device=rows.device), self, rows, below)
        return new

    def graft(self, trees: Tensor, source: Tree, rows: Tensor, below: Tensor) -> None:
        """Fill empty trees, int64 [L], with parts of the trees `rows` of another, given by its `below`, bool [L, M]."""
        number = below.cumsum(1) - 1  # the new place of each
        one, old = below.nonzero().unbind(1)
        place = number[one, old]
        origin, target = rows[one] * source.capacity + old, trees[one] * self.capacity + place
        for mine, theirs in zip(self._arrays, source._arrays, strict=True):
            mine[target] = theirs[origin]
        self.count[trees] = below.sum(1)
        child = self.child[target].long()
        self.child[target] = torch.where(child > 0, number[one[:, None], child], 0).int()
        parent = number[one, self.parent[target].long()]
        self.parent[target] = torch.where(place > 0, parent, 0).int()
