"""A best response to a frozen agent by tree search, in games for two in turns with perfect information.

The tree is the search's own decision tree: where the other player moves, AGENT is asked and its answer is taken, so
nothing is assumed to be played that the agent does not play. New nodes are valued by a game that AGENT plays to its end
in all seats; for a search by its network, if it has one, or by random playouts. (Timbers and others, "Approximate
exploitability: learning a best response", IJCAI 2022, search in this way with a learned value; in games of perfect
information the information sets of arXiv 2004.09677 are positions.)

Letters: `L` positions, `D` nodes that simulations are at, `X` positions to value, `P` players, `E` edges.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent
from cellgames.agents.playouts import play_out
from cellgames.agents.search.tree import Tree
from cellgames.agents.search.tree_search import Evaluation
from cellgames.agents.search.uct import UCTSearch
from cellgames.agents.selection import select
from cellgames.envs.core import Game, State

_WIDTH = 1.5  # moves that are tried, for each square root of the visits
_ASKED = 16  # times in a position; later answers are drawn out of these and of what was drawn


def _ask(agent: AnyAgent, game: Game, state: State, generator: torch.Generator) -> Tensor:
    """Return the moves of an agent in positions that go on, int64 [L]; it begins anew in each."""
    env_ids = torch.arange(len(state), device=state.device)
    agent.start(game, state.current_player, env_ids)
    return select(agent, game, state, env_ids, generator)


class OwnPlay:
    """An evaluator by a game that an agent plays to its end in all seats; see `Evaluator`."""

    def __init__(self, agent: AnyAgent) -> None:
        self._agent = agent

    def evaluate(self, game: Game, state: Any, generator: torch.Generator) -> Evaluation:
        """Evaluate `X` unfinished games."""

        def turn(state: State, places: Tensor) -> State:
            rows = (~state.done).nonzero().squeeze(1)
            actions = torch.zeros(len(state), dtype=torch.int64, device=state.device)
            actions[rows] = _ask(self._agent, game, state[rows], generator)
            firsts.append(actions)
            after: State = game.step(state, actions, checked=False)
            return after

        firsts = list[Tensor]()
        value = play_out(game, state, turn).float()
        logits = value.new_zeros((len(state), game.info.num_actions))
        return Evaluation(logits.scatter(1, firsts[0][:, None], 1.0), value)


class Response(UCTSearch):
    """UCT in which the player who does not move at the root is a frozen agent."""

    def __init__(self, game: Game, simulations: int, evaluator: Any, agent: AnyAgent) -> None:
        super().__init__(game, simulations, evaluator=evaluator)
        self._agent, self._generator = agent, torch.Generator()

    @override
    def _native(self, tree: Tree) -> None:
        return None

    @override
    def _prepare(self, tree: Tree, generator: torch.Generator) -> None:
        super()._prepare(tree, generator)
        self._generator = generator

    @override
    def _add(self, tree: Tree, trees: Tensor, state: State, generator: torch.Generator) -> Tensor:
        # Without decisive moves, which the agent may overlook.
        rows, value = (~state.done).nonzero().squeeze(1), self.game.outcome(state).float()
        logits = torch.zeros((len(state), self.game.info.num_actions), dtype=torch.float32, device=state.device)
        if len(rows):
            logits[rows], value[rows] = self.evaluator.evaluate(self.game, state[rows], generator)[:2]
        nodes = tree.add(trees, state, self.game.legal_actions(state), logits, value, state.done)
        tree.whole[nodes] = False  # only a move of one's own that wins settles anything
        return nodes

    @override
    def _choose(self, tree: Tree, nodes: Tensor, number: int, at_root: bool) -> Tensor:
        edges = super()._choose(tree, nodes, number, at_root)
        rows = (~self._own(tree, nodes)).nonzero().squeeze(1)
        if len(rows):
            edges[rows] = self._answers(tree, nodes[rows])
        return edges

    @override
    def _untried(self, tree: Tree, nodes: Tensor) -> Tensor:
        # The agent's own move first; then others in random order, the more the more often the node was visited.
        few = (tree.edge_visits[nodes] > 0).sum(1) < _WIDTH * tree.visits[nodes].sqrt()
        order = super()._untried(tree, nodes) + tree.logits[nodes]
        return torch.where(few[:, None], order, -torch.inf)

    @override
    def _resolve(self, tree: Tree, nodes: Tensor) -> None:
        above = nodes - nodes % tree.capacity + tree.parent[nodes]
        tree.resolve(nodes[self._own(tree, above)])

    def _own(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return True where the player who moves at the root moves, bool [D]."""
        return tree.mover[nodes] == tree.mover[nodes - nodes % tree.capacity]

    def _answers(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return the edges that the agent takes, int64 [D]; it is asked some times, then its answers are drawn from."""
        visits = tree.edge_visits[nodes]
        known = visits.sum(1) >= _ASKED
        edges = torch.zeros_like(nodes)
        if known.any():
            drawn = torch.multinomial(visits[known].cpu(), 1, generator=self._generator).squeeze(1)
            edges[known] = drawn.to(edges.device)
        asked = (~known).nonzero().squeeze(1)
        if len(asked):
            edges[asked] = self._asked(tree, nodes[asked])
        return edges

    def _asked(self, tree: Tree, nodes: Tensor) -> Tensor:
        """Return the edges of answers for which the agent is asked now, int64 [D]."""
        return _ask(self._agent, self.game, tree.state[nodes], self._generator)
