"""Native code of Hex and Y against the torch code that it replaces, in every bit."""

from __future__ import annotations

import copy

import pytest
import torch
from native_code import native_library

from cellgames.agents.connection.native_trees import ARRAYS, simulate
from cellgames.agents.search import PlayoutEvaluator, UCTSearch
from cellgames.agents.search.evaluators import Evaluation
from cellgames.envs.connection import ConnectionGame, ConnectionState, Hex, Y, filling
from cellgames.envs.connection.game import _put_stones
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.native import without_native
from cellgames.envs.stones.stone_tensors import LOTS

BOARDS: list[ConnectionGame] = [
    Hex(size=2),
    Hex(size=4),
    Hex(size=11, swap=False),
    Y(size=6),
    Hex(size=3, tiling="octagons"),
    Y(size=4, tiling="octagons", swap=False),
]
every_board = pytest.mark.parametrize("game", BOARDS, ids=lambda game: f"{game.title}-{game.tiling}-{game.size}")


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def midway(game: ConnectionGame, plies: int, games: int = 16) -> ConnectionState:
    """Unfinished games after random moves."""
    state, random = game.init(seeds(plies, games)), generator(plies)
    for _ in range(plies):
        state = game.step(state, game.random_actions(state, random), checked=False)
    return state[~state.done]


@every_board
def test_whole_games_are_the_same(game: ConnectionGame) -> None:
    """Moves, winners, swaps, and the winners of random fillings on the way."""
    native_library()
    state, random = game.init(seeds(1, 24)), generator(1)
    for turn in range(game.info.max_turns):
        actions = game.random_actions(state, random)
        if turn == 1 and game.swap:
            actions[::2] = game.layout.cells
        with without_native():
            expected = game.step(state, actions)
        stones = state.codes & 3
        lots = torch.randint(LOTS, stones.shape, generator=random, dtype=torch.int32)
        given = (stones, state.current_player, lots, game.shape, game.tiling, game.size)
        assert torch.equal(filling.winners(*given), filling.winners.reference(*given))
        state = game.step(state, actions)
        assert state.equal(expected)
    assert state.done.all()


def test_an_action_off_the_board_writes_nowhere_else() -> None:
    native_library()
    codes = torch.zeros((3, 9), dtype=torch.int32)
    cell, player = torch.tensor([-5, 10**12, 4]), torch.zeros(3, dtype=torch.int64)
    after, won = _put_stones(codes, cell, player, "rhombus", "hexagons", 3)
    assert after.count_nonzero(1).tolist() == [1, 1, 1]
    assert not won.any()
    assert not codes.any()


class Recorded(PlayoutEvaluator):
    """An evaluator by playouts that writes down the random numbers of each evaluation; one position at a time."""

    def __init__(self, playouts: int) -> None:
        super().__init__(playouts)
        self.lots: list[torch.Tensor] = []

    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Evaluation:
        assert isinstance(game, ConnectionGame)
        value = super().evaluate(game, state, again := generator.clone_state()).value
        shape = (self.playouts, game.layout.cells)
        self.lots.append(torch.randint(LOTS, shape, generator=generator, dtype=torch.int32))
        assert torch.equal(again.get_state(), generator.get_state())
        return Evaluation(value.new_zeros((1, game.info.num_actions)), value)


@every_board
def test_trees_grow_alike(game: ConnectionGame) -> None:
    """At the start, where the second player may swap, and later."""
    native, playouts = native_library(), 2
    for plies in (0, 1, game.layout.cells // 2):
        for state in [midway(game, plies)[row : row + 1] for row in range(1)]:
            if not len(state):
                continue
            simulations = min(2 * game.info.num_actions, 60)
            evaluator, chance = Recorded(playouts), generator(plies)
            search = UCTSearch(game, simulations, evaluator=evaluator)
            tree = search.empty(state)
            search.plant(tree, torch.zeros(1, dtype=torch.int64), state, chance)
            other, before = copy.deepcopy(tree), len(evaluator.lots)
            search.grow(tree, chance)
            lots = [*evaluator.lots[before:], torch.zeros((playouts, game.layout.cells), dtype=torch.int32)]
            simulate(
                native,
                game,
                other,
                simulations,
                playouts=playouts,
                orders=search._orders,
                weights=search._weights,
                keys=torch.zeros(1, dtype=torch.int64),
                lots=torch.stack(lots)[None],
            )
            for name in ARRAYS:
                assert torch.equal(getattr(tree, name), getattr(other, name)), name
            assert tree.state.equal(other.state)


def test_search_finds_the_winning_openings_of_a_small_board() -> None:
    """Known from all games (`test_connection_rules.py`), and with the swap the best first move is one that loses."""
    opening = UCTSearch(Hex(size=3, swap=False), 2000).run(Hex(size=3, swap=False).init(seeds(0, 1)), generator())
    assert Hex(size=3).action_to_string(int(opening.chosen)) in ("c1", "a2", "b2", "c2", "a3")
    game = Hex(size=3)
    for cell, taken in (("b2", True), ("a1", False)):
        state = game.step(game.init(seeds(0, 1)), torch.tensor([game.string_to_action(cell)]))
        chosen = int(UCTSearch(game, 2000).run(state, generator()).chosen)
        assert (chosen == 9) == taken
