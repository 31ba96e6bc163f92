"""Trees of games in which all players act at once.

A node has some actions of each player (its candidates), and a child for every joint action that was tried.

Letters: `T` trees, `N` nodes of all trees, `P` players, `K` candidates of a player, `D` nodes that simulations are at.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import State


class JointTree:
    """Trees that grow at the same time; the nodes of tree `t` are `t * capacity` and those that follow.

    Args:
        like: a state of the games, of which one is kept for each node.
        trees: `T`.
        capacity: nodes of a tree.
        players: `P`.
        width: `K`.

    Attributes:
        state: states of `N` games.
        count: int64 [T], nodes of each tree so far.
        actions: int64 [N, P, K], the candidates, -1 for none.
        visits: float [N, P, K], simulations that took a candidate.
        totals: float [N, P, K], the sums of their results for the player.
        regret: float [N, P, K], the regrets of candidates, for searches by regret matching.
        strategy: float [N, P, K], the weighted sum of the strategies of a node's visits.
        value: float [N, P], a node's evaluation, or its result if the game is over.
        node_visits: float [N], simulations through a node, the first included.
        node_totals: float [N, P], the sums of their results.
    """

    def __init__(self, like: State, trees: int, capacity: int, players: int, width: int) -> None:
        nodes, device = trees * capacity, like.device

        def zeros(*shape: int) -> Tensor:
            return torch.zeros((nodes, *shape), dtype=torch.float32, device=device)

        self.trees, self.capacity, self.players, self.width, self.device = trees, capacity, players, width, device
        self.state: State = like.map(lambda field: field.new_zeros((nodes, *field.shape[1:])))
        self.count = torch.zeros(trees, dtype=torch.int64, device=device)
        self.actions = torch.full((nodes, players, width), -1, dtype=torch.int64, device=device)
        self.visits, self.totals, self.regret, self.strategy = (zeros(players, width) for _ in range(4))
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
        """Put one node into each of some trees, and return their numbers, int64 [D].

        Args:
            trees: int64 [D], different ones.
            state: `D` games.
            actions: int64 [D, P, K], the candidates.
            value: float [D, P].
            above: the nodes above, int64 [D], and the joint action that leads from there, int64 [D, P], as places of
                candidates; None for roots.
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
