"""Native code of Hex and Y against the torch code that it replaces, in every bit."""

from __future__ import annotations

import pytest
import torch
from every_game import generator
from native_code import native_library

from cellgames.agents.search import UCTSearch
from cellgames.envs.connection import ConnectionGame, Hex, Y, filling
from cellgames.envs.connection.game import _put_stones
from cellgames.envs.core import seeds
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


def test_search_finds_the_winning_openings_of_a_small_board() -> None:
    """Known from all games (`test_connection_rules.py`), and with the swap the best first move is one that loses."""
    opening = UCTSearch(Hex(size=3, swap=False), 2000).run(Hex(size=3, swap=False).init(seeds(0, 1)), generator())
    assert Hex(size=3).action_to_string(int(opening.chosen)) in ("c1", "a2", "b2", "c2", "a3")
    game = Hex(size=3)
    for cell, taken in (("b2", True), ("a1", False)):
        state = game.step(game.init(seeds(0, 1)), torch.tensor([game.string_to_action(cell)]))
        chosen = int(UCTSearch(game, 2000).run(state, generator()).chosen)
        assert (chosen == 9) == taken
