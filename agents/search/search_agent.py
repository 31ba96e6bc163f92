"""The agent of a search: it plays what is found, and keeps the parts of trees that the next move can use.

Letters: `L` games to move in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent, PolicyLog, must_start, refuse
from cellgames.agents.networks.saved import search_network
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of

from .gumbel import GumbelSearch
from .tree import CLOSED, Tree
from .tree_search import NetworkEvaluator, Search, SearchResult
from .uct import UCTSearch

_NOISE = 0.5  # of the root's candidates, so that no stored line of moves beats the agent again and again
_NOBODY = -1  # stands for an env of which nothing is kept
_NODES = 8  # of a game's solver for each simulation
_LOOKING = 128  # simulations from which looks at positions are worth their time: results/notes/search.md
_KEPT = 2  # trees are kept of up to so many times the simulations of a search


class _Kept(NamedTuple):
    """The trees that are kept of some environments, int64 [L]."""

    env_ids: Tensor
    tree: Tree


class SearchAgent(BaseAgent):
    """An agent that searches in games in turns, with perfect information and plain actions.

    If the game has a solver (`GamePlugin.search`), it is asked first. A position that it finds won is not searched.

    Args:
        name: as in `Agent`.
        make: makes the search for a game.
        solve: True if the game's solver is asked.

    Attributes:
        policy_log: gets the policy of each search, if it is not None.
    """

    def __init__(self, name: str, make: Callable[[Game], Search], *, solve: bool = True) -> None:
        super().__init__(name)
        self._make, self.solve = make, solve
        self.policy_log: PolicyLog | None = None
        self._search: Search | None = None
        self._kept: list[_Kept] = []

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the game can be searched, and there is what the search needs."""
        refuse(self, game, game.info.search_obstacles)
        if self._search is None or game != self._search.game:
            self._search, self._kept = self._make(game), []

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)
        self._kept = [kept for kept in self._kept if kept.env_ids.device == env_ids.device]
        for kept in self._kept:
            kept.env_ids[torch.isin(kept.env_ids, env_ids)] = _NOBODY
        self._kept = [part for kept in self._kept if (part := _alive(kept)) is not None]

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the moves that a search finds, int64 [L]."""
        result = self.search(state, env_ids, generator)
        if self.policy_log is not None:
            rows = zip(env_ids.tolist(), state.turn.tolist(), result.policies(), strict=True)
            self.policy_log |= {(env_id, turn): policy for env_id, turn, policy in rows}
        return result.chosen

    def search(self, state: State, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        """Return the search's results for positions; the arguments are those of `StateAgent.act_on_state`."""
        if self._search is None:
            raise must_start(self)
        parts = torch.arange(len(env_ids), device=env_ids.device).split(self._search.together(state))
        results = [self._part(self._search, state[part], env_ids[part], generator) for part in parts]
        return results[0] if len(results) == 1 else SearchResult.cat(results)

    def _part(self, search: Search, state: State, env_ids: Tensor, generator: torch.Generator) -> SearchResult:
        if search.game.info.stochastic:  # dice to come are not the true ones
            return search.run(state, generator)
        tree, new = self._continued(search, state, env_ids)
        search.plant(tree, new, state[new], generator)
        lost = self._solve(search, tree)
        result = search.grow(tree, generator)
        if lost.any():
            own = torch.arange(search.players, device=lost.device) == state.current_player[:, None]
            result = replace(result, value=torch.where(lost[:, None], torch.where(own, -1.0, 1.0), result.value))
        self._keep(search, tree, result, env_ids)
        tree.release()
        return result

    def _solve(self, search: Search, tree: Tree) -> Tensor:
        """Resolve the roots that the game's solver finds won; return True where it finds them lost, bool [B]."""
        open_roots = ~tree.of_root(tree.resolved)
        lost = torch.zeros_like(open_roots)
        solve = plugin_of(search.game).hook("solve") if self.solve else None
        if solve is None or tree.actions is not None:
            return lost
        rows = open_roots.nonzero().squeeze(1)
        nodes = tree.roots[rows]
        value, move = solve(search.game, tree.state[nodes], _NODES * search.simulations)
        tree.prove(nodes[value == 1], move[value == 1])
        lost[rows] = value == -1
        return lost

    def _continued(self, search: Search, state: State, env_ids: Tensor) -> tuple[Tree, Tensor]:
        """Return trees with what is known of the positions, and those of them that know nothing, int64."""
        parts = []
        known = torch.zeros_like(env_ids, dtype=torch.bool)
        for kept in self._kept:
            trees, rows = (env_ids[:, None] == kept.env_ids).nonzero().unbind(1)
            kept.env_ids[rows] = _NOBODY
            places = kept.tree.find(rows, state[trees])
            below = kept.tree.below(rows, places.clamp(min=0))
            fits = (places >= 0) & (below.sum(1) <= _KEPT * search.simulations)
            nodes = rows * kept.tree.capacity + places.clamp(min=0)
            lost = kept.tree.resolved[nodes] & (kept.tree.status[nodes] != CLOSED).all(1)
            fits &= ~lost  # which is searched all the same, at a root
            known[trees[fits]] = True
            parts.append((trees[fits], kept.tree, rows[fits], below[fits]))
        self._kept = [part for kept in self._kept if (part := _alive(kept)) is not None]
        most = max((int(below.sum(1).max()) for trees, _, _, below in parts if len(trees)), default=1)
        tree = search.empty(state, most)
        for trees, source, rows, below in parts:
            tree.graft(trees, source, rows, below)
        return tree, (~known).nonzero().squeeze(1)

    def _keep(self, search: Search, tree: Tree, result: SearchResult, env_ids: Tensor) -> None:
        """Remember what lies below the moves that are played."""
        roots = tree.roots
        edges = (result.actions == result.chosen[:, None]).int().argmax(1)
        places = tree.child[roots, edges].long()
        rows = ((places > 0) & ~tree.state.done[roots + places]).nonzero().squeeze(1)
        below = tree.below(rows, places[rows])
        fits = below.sum(1) <= _KEPT * search.simulations
        if fits.any():
            self._kept.append(_Kept(env_ids[rows[fits]], tree.part(rows[fits], below[fits])))


def _alive(kept: _Kept) -> _Kept | None:
    """Return the kept trees without those of many forgotten environments; None if no tree is left."""
    rows = (kept.env_ids != _NOBODY).nonzero().squeeze(1)
    if len(rows) == 0:
        return None
    if 2 * len(rows) > len(kept.env_ids):
        return kept
    below = kept.tree.below(rows, torch.zeros_like(rows))
    return _Kept(kept.env_ids[rows], kept.tree.part(rows, below))


def mcts(simulations: int) -> SearchAgent:
    """Return the agent `mcts:N`: UCT whose simulations end in random playouts."""
    return SearchAgent(f"mcts:{simulations}", lambda game: UCTSearch(game, simulations))


def gumbel_alphazero(simulations: int, path: Path | None = None) -> SearchAgent:
    """Return the agent `gumbel:N`: Gumbel AlphaZero by the network in a file or a run's folder, or a shipped one."""

    def make(game: Game) -> GumbelSearch:
        evaluator = NetworkEvaluator(search_network(game, path), looks=simulations >= _LOOKING)
        return GumbelSearch(game, evaluator, simulations, noise=_NOISE)

    return SearchAgent(f"gumbel:{simulations}", make)
