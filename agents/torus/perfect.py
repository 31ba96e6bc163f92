"""`perfect`: Torus by what is solved: boards of size 2 to 5.

Letters: `L` games, `N` cells.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent
from cellgames.agents.connection.solving import native_problem
from cellgames.agents.playouts.random_agent import random_actions
from cellgames.envs.core import Game
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.threats import winning_cells
from cellgames.utils.errors import InputError

from .greedy import TorusGreedy
from .proof_search import ProofSearch

PERFECT_SIZES = (2, 3, 4, 5)
"""The boards on which `perfect` plays."""

_OPENINGS = Path(__file__).with_name("openings_5.npz")
"""Solved positions of size 5 that take long, written by `ProofSearch.save`."""

_NODES = 400_000  # searched at most for a winner at size 5, some seconds
_DISTANCE_NODES = 20_000  # then for each number of stones
_MEMORY = {2: 1 << 16, 3: 1 << 22, 4: 1 << 24, 5: 1 << 25}


class TorusPerfect(GameAgent[Torus]):
    """An agent that wins every position that can be won, at once if one stone does it.

    Up to size 4 it plays by distance: it wins as soon as possible and loses as late as possible. A move takes
    milliseconds, and up to two seconds with one or two stones on a board of size 4. Among equal moves it chooses at
    random.

    At size 5 it has the opening in a file and solves the rest within seconds, by up to 400,000 nodes a move. It wins
    from its first stone on an octagon, and as White if Black begins on a square. It plays by distance, too, as far as
    some more nodes tell it; else it takes the winning move that it knows, and in lost positions moves as `greedy` does.
    In positions with few stones that best play does not lead to, the search may not end; then it plays the most
    promising move.
    """

    name = "perfect"
    plays = Torus

    @override
    def check_game(self, game: Game) -> None:
        sizes = "2 to 5"
        if not isinstance(game, Torus):
            raise InputError(f"agent {self.name!r}", f"torus-v0 of size {sizes}", game.id)
        if game.size not in PERFECT_SIZES:
            raise InputError(f"agent {self.name!r}", f"a size that is solved, {sizes}", game.size)
        if problem := native_problem():
            raise ValueError(f"agent {self.name!r} needs the native library, but {problem}")

    def act_on_state(self, state: TorusState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the best moves, int64 [L]."""
        legal = state.codes == 0
        choice = self._solved(state).to(state.device)
        lost = ~choice.any(1)
        immediate = winning_cells(state.codes, state.losing, state.current_player) & legal
        choice = torch.where(immediate.any(1, keepdim=True), immediate, torch.where(lost[:, None], legal, choice))
        actions = random_actions(choice, choice.shape[1:], generator)
        if not lost.any():
            return actions
        observation = self.game.observe(state, state.current_player)
        return torch.where(lost, TorusGreedy().act(observation, legal, env_ids, generator), actions)

    def values(self, state: TorusState, nodes: int) -> Tensor:
        """Return 1 where the player to move wins unfinished positions, -1 where it loses, 0 if open, int64 [L]."""
        search = _search(self.game.size)
        search.clear()
        if self.game.size == 5:
            search.add(_openings())
        return search.solve(state, nodes).long()

    def _solved(self, state: TorusState) -> Tensor:
        """Return moves to choose from, bool [L, N]; none in lost positions of unknown distance."""
        search = _search(self.game.size)
        if self.game.size <= 4:
            return search.distances(state)[1]
        choice = torch.zeros(state.codes.shape, dtype=torch.bool, device="cpu")
        for place in range(len(state)):
            search.clear()  # so that a move does not depend on other games
            search.add(_openings())
            one = state[place : place + 1]
            found = next(search.search(one, slice_nodes=_NODES))
            choice[place, found.move] = found.move >= 0
            if found.value and (best := search.distances(one, nodes=_DISTANCE_NODES)[1]).any():
                choice[place] = best[0]
        return choice


@cache
def _search(size: int) -> ProofSearch:
    return ProofSearch(size, memory=_MEMORY[size])


@cache
def _openings() -> Tensor:
    """Return the solved positions of the file."""
    search = ProofSearch(5, memory=_MEMORY[5])
    search.load(_OPENINGS)
    return search.entries()
