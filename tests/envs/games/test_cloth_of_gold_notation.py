"""Cloth of Gold as text: actions, and positions that come back from their line."""

from __future__ import annotations

import pytest

from cellgames.envs.cloth_of_gold import ClothOfGold
from cellgames.envs.cloth_of_gold.notation import Position, position_to_string, string_to_position
from cellgames.envs.core import GameError

BOARD = [[0, 0, 0, 0, 4], [0, 2, 2, 2, 0], [1, 1, 0, 0, 3], [0, 0, 0, 0, 0]]
POSITION = Position(0, 3, 2, 12, [(2, 0), (2, 1)], BOARD, 57)
LINE = "move:a turn:57 round:3 acts:2 score:+12 placed:r2c0,r2c1 board:4.D$.3B$2A2.C!"


def test_an_action_is_named_by_row_and_column_or_end() -> None:
    game = ClothOfGold(height=20, width=40)
    assert game.action_to_string(12 * 40 + 34) == "r12c34"
    assert game.action_to_string(20 * 40) == "end"
    for height, width in ((8, 8), (8, 40), (256, 9)):
        game = ClothOfGold(height=height, width=width)
        names = [game.action_to_string(action) for action in range(height * width + 1)]
        assert names[:2] == ["r0c0", "r0c1"]
        assert [game.string_to_action(name) for name in names] == list(range(height * width + 1))


@pytest.mark.parametrize(
    "text", ["", "End", "end ", "r12", "c3r4", "r-1c2", "r01c2", "r1c2 ", "r1c2/0", "R1C2", "r٣c1", "r8c0", "r0c40"]
)
def test_what_names_no_action_is_refused(text: str) -> None:
    with pytest.raises(GameError):
        ClothOfGold(height=8, width=40).string_to_action(text)


def test_a_position_is_one_line_and_comes_back() -> None:
    assert position_to_string(POSITION) == LINE
    assert string_to_position(LINE, 4, 5) == POSITION


def test_the_empty_board_and_finished_games() -> None:
    start = Position(0, 0, 0, 0, [], [[0] * 8] * 8)
    assert position_to_string(start) == "move:a turn:0 round:0 acts:0 score:+0 placed:- board:!"
    assert string_to_position(position_to_string(start), 8, 8) == start
    for stage in ("over", "cut"):
        end = Position(1, 20, 0, -7, [], BOARD, 900, stage)
        assert position_to_string(end).startswith(f"{stage}:b turn:900 round:20 acts:0 score:-7 placed:- board:")
        assert string_to_position(position_to_string(end), 4, 5) == end


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("move:a", "move:c"),
        ("turn:57", f"turn:{10**7}"),
        ("score:+12", "score:12"),
        ("placed:r2c0,r2c1", "placed:r2c0,r2c0"),  # twice
        ("placed:r2c0,r2c1", "placed:r2c2"),  # an empty cell
        ("placed:r2c0,r2c1", "placed:r1c1"),  # a unit of b
        ("placed:r2c0,r2c1", "placed:r4c0"),  # off the board
        ("move:a", "move:b"),  # whose units these are not
        ("4.D", "4.E"),  # no such state
        ("4.D", "5.D"),  # too wide
        ("!", "$$A!"),  # too high
        ("!", "! x"),
    ],
)
def test_what_is_no_position_is_none(old: str, new: str) -> None:
    assert old in LINE
    assert string_to_position(LINE.replace(old, new), 4, 5) is None
