"""Native code of Torus, and of searches on all boards, against the torch code that it replaces, in every bit."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
import torch
from every_game import generator, play
from native_code import native_library, threads
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.agents.connection.native_trees import ARRAYS, simulate
from cellgames.agents.networks.networks import Size
from cellgames.agents.search import GumbelSearch, NetworkEvaluator, PlayoutEvaluator, SearchResult, UCTSearch
from cellgames.agents.search.tree import Tree
from cellgames.agents.search.tree_search import Evaluation
from cellgames.envs.connection import ConnectionGame, Hex, Y
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.native import without_native
from cellgames.envs.stones.joining import COLOUR
from cellgames.envs.stones.stone_tensors import LOTS
from cellgames.envs.torus import Torus, filling


@cache
def midway(game: Game, plies: int) -> Any:
    state = play(game, game.init(seeds(plies, 24)), plies, plies)
    return state[~state.done]


def positions(size: int, plies: int) -> Any:
    return midway(cellgames.make("torus-v0", size=size), plies)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13, 16])
def test_winners_of_random_games_are_the_same(size: int) -> None:
    native_library()
    for plies in (0, size, size * size // 2, size * size, 2 * size * size - 3):
        state = positions(size, plies)
        lots = torch.randint(LOTS, state.codes.shape, generator=generator(size), dtype=torch.int32)
        stones, player = state.codes & COLOUR, state.current_player
        native = filling.winners(stones, player, lots)
        assert torch.equal(native, filling.winners.reference(stones, player, lots))


@pytest.mark.parametrize("games", [0, 3, 4097])
@pytest.mark.parametrize("count", [1, 4])
def test_winners_in_any_number_on_any_threads(games: int, count: int) -> None:
    native_library()
    stones = torch.randint(3, (18, games), generator=generator(), dtype=torch.int8).t()  # not contiguous
    stones[:, 0] = 0
    player = (torch.arange(2 * games) // 2 % 2)[::2]
    lots = torch.randint(LOTS, (18, games), generator=generator(1), dtype=torch.int32).t()
    with threads(count):
        native = filling.winners(stones, player, lots)
    assert torch.equal(native, filling.winners.reference(stones, player, lots))


class Recorded(PlayoutEvaluator):
    """An evaluator by playouts that writes down the random numbers of each evaluation; one position at a time."""

    def __init__(self, playouts: int) -> None:
        super().__init__(playouts)
        self.lots: list[Tensor] = []

    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        value = super().evaluate(game, state, again := generator.clone_state()).value
        shape = (self.playouts, state.codes.shape[1])  # type: ignore[attr-defined]  # of stones
        self.lots.append(torch.randint(LOTS, shape, generator=generator, dtype=torch.int32))
        assert torch.equal(again.get_state(), generator.get_state())
        return Evaluation(value.new_zeros((1, game.info.num_actions)), value)


def grown(game: Torus | ConnectionGame, state: Any, simulations: int, playouts: int) -> tuple[Tree, Tree]:
    """The tree of a position grown by torch code, and by native code with the same random numbers."""
    native = native_library()
    evaluator, chance = Recorded(playouts), generator(simulations)
    search = UCTSearch(game, simulations, evaluator=evaluator)
    tree = search.empty(state)
    search.plant(tree, torch.zeros(1, dtype=torch.int64), state, chance)
    other, before = copy.deepcopy(tree), len(evaluator.lots)
    search.grow(tree, chance)
    recorded = evaluator.lots[before:]
    lots = torch.stack([*recorded, torch.zeros((playouts, state.codes.shape[1]), dtype=torch.int32)])[None]
    simulate(
        native, game, other, simulations, playouts=playouts, orders=search._orders, weights=search._weights, keys=lots
    )
    return tree, other


GROWN: list[tuple[Torus | ConnectionGame, int, int, int]] = [
    (Torus(2), 2, 40, 1),
    *((Torus(3), plies, 40, 1) for plies in (0, 8)),
    (Torus(5), 20, 30, 4),
    (Torus(8), 70, 30, 1),
    (Torus(16), 200, 12, 1),
    *((Hex(size=4), plies, 34, 2) for plies in (0, 1, 8)),  # at the start, where the second player may swap, and later
    (Hex(size=11, swap=False), 60, 30, 2),
    (Y(size=6), 1, 30, 2),
    (Hex(size=3, tiling="octagons"), 1, 28, 2),
    (Y(size=4, tiling="octagons", swap=False), 8, 40, 2),
]


@pytest.mark.parametrize(("game", "plies", "simulations", "playouts"), GROWN)
def test_trees_grow_alike(game: Torus | ConnectionGame, plies: int, simulations: int, playouts: int) -> None:
    for row in range(min(2, len(midway(game, plies)))):
        tree, other = grown(game, midway(game, plies)[row], simulations, playouts)
        assert int(tree.count[0]) > 1 or bool(tree.resolved[0])
        for name in ARRAYS:
            assert torch.equal(getattr(tree, name), getattr(other, name)), name
        assert tree.state.equal(other.state)


def gumbel(game: Torus | ConnectionGame, simulations: int, noise: float) -> GumbelSearch:
    """A search by a network whose opinions differ a lot from cell to cell."""
    network = network_for(game, game.size, size=Size(channels=8, layers=2), noise=0.3)
    return GumbelSearch(game, NetworkEvaluator(network), simulations, noise=noise)


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize(("game", "plies", "simulations"), [case[:3] for case in GROWN if case[1]])
def test_gumbel_searches_grow_the_same_trees(
    game: Torus | ConnectionGame, plies: int, simulations: int, noise: float
) -> None:
    """Also where a tree of an earlier search grows on; not on the empty board, where equal moves differ by rounding."""
    native_library()
    search, state = gumbel(game, simulations, noise), midway(game, plies)
    assert len(state)

    def grown() -> tuple[Tree, SearchResult, SearchResult]:
        tree, chance = search.empty(state, known=simulations + 1), generator(plies)
        search.plant(tree, torch.arange(len(state)), state, chance)
        return tree, search.grow(tree, chance), search.grow(tree, chance)

    tree, *native = grown()
    with without_native():
        other, *in_torch = grown()
    for name in ARRAYS:
        mine, theirs = getattr(tree, name), getattr(other, name)
        assert torch.allclose(mine, theirs, atol=1e-4) if mine.is_floating_point() else torch.equal(mine, theirs), name
    assert torch.allclose(tree.logits, other.logits, atol=1e-4)
    assert tree.state.equal(other.state)
    for mine, theirs in zip(native, in_torch, strict=True):
        assert torch.equal(mine.visits, theirs.visits)
        assert torch.equal(mine.chosen, theirs.chosen)
        assert mine.lines == theirs.lines
        assert torch.allclose(mine.value, theirs.value, atol=1e-5)


def test_a_gumbel_search_depends_on_neither_threads_nor_company() -> None:
    native_library()
    search, state = gumbel(Torus(4), 40, 0.0), positions(4, 6)
    alone = torch.cat([search.run(state[row : row + 1], generator()).visits for row in range(len(state))])
    for count in (1, 3):
        with threads(count):
            assert torch.equal(search.run(state, generator()).visits, alone)
