"""Rosters of teams and quadrants of the field: who lives where, and what pictures and texts show of it."""

from __future__ import annotations

import numpy as np
import pytest

from cellgames.envs.core.drawing import Text
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, Roster, arrange
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.roster import FIRST_NAMES, LAST_NAMES, held_by_quadrant
from cellgames.envs.toroidal_cup.simulator import boards


@pytest.mark.parametrize(("rows", "cols"), [(ROWS, COLS), (160, 170)])
def test_every_square_has_a_player_of_its_own(rows: int, cols: int) -> None:
    """27,200 squares are more than there are names without a numeral."""
    owls, kites = Roster("Owls", rows, cols), Roster("Kites", rows, cols)
    names = [owls.player(row, col) for row in range(rows) for col in range(cols)]
    assert len(set(names)) == rows * cols
    assert owls.player(rows + 1, -1) == owls.player(1, cols - 1)
    assert sum(owls.player(0, col) == kites.player(0, col) for col in range(cols)) < 5
    assert owls.names >= rows * cols
    assert len(set(FIRST_NAMES)) * len(set(LAST_NAMES)) == len(FIRST_NAMES) * len(LAST_NAMES) == 26_624


def test_quadrants_go_clockwise_from_the_upper_left() -> None:
    zones = PATTERNS["donutrandom"].zones
    assert [zone.split()[0] for zone in zones] == ["northwest", "northeast", "southeast", "southwest"]
    board = boards([arrange("donutrandom", np.random.default_rng(0))], ROWS, COLS)[0].numpy()
    counted = [[0] * 2 for _ in range(4)]
    for row, col in np.argwhere(board).tolist():
        counted[(0, 1, 3, 2)[2 * (2 * row >= ROWS) + (2 * col >= COLS)]][board[row, col] - 1] += 1
    assert held_by_quadrant(board, 2) == counted
    assert sum(map(sum, counted)) == 1344


def test_pictures_and_texts_show_quadrants_and_players() -> None:
    board = np.zeros((8, 12), np.int8)
    board[5, 9], board[7, 1] = 1, 1
    zones = ("cha-cha", "scuffle", "kerfuffle", "tussle")
    plain = drawn.View(board, ("Owls", "Kites"), "a game", ("", ""), queues=((), ()))
    view = drawn.View(**{**vars(plain), "zones": zones})
    player = Roster("Owls", 8, 12).player(5, 9)
    lines = [
        "quadrants: cha-cha 0:0, scuffle 0:0, kerfuffle 1:0, tussle 1:0",
        f"topmost players: 1 {player} in r5c9, 2 nobody",
    ]
    assert view.lines() == [*plain.lines(), *lines]
    assert drawn.text(view).splitlines()[3:5] == lines
    assert [shape.text for shape in drawn.draw(view).shapes if isinstance(shape, Text)][3:5] == lines
