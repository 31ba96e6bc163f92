"""Grid Adaptation as text: actions of seven components, and positions that come back from their line."""

from __future__ import annotations

import numpy as np
import pytest

from cellgames.envs.grid_adaptation.notation import (
    Position,
    action_to_string,
    position_to_string,
    string_to_action,
    string_to_position,
)

FIFTEEN = (15 * 15 + 1,) * 4 + (4, 2, 8 + 1)
NONE, NOBODY = 225, 8


def number(choices: tuple[int, ...]) -> int:
    """Of the action among all combinations."""
    return int(np.ravel_multi_index(choices, FIFTEEN))


@pytest.mark.parametrize(
    ("choices", "name"),
    [
        ((112, NONE, NONE, NONE, 0, 0, NOBODY), "r7c7"),
        ((112, 113, 127, NONE, 0, 0, NOBODY), "r7c7,r7c8,r8c7"),
        ((0, NONE, 224, NONE, 0, 0, NOBODY), "r0c0,none,r14c14"),
        ((NONE, NONE, 1, NONE, 0, 0, NOBODY), "none,none,r0c1"),
        ((112, NONE, NONE, 32, 0, 0, NOBODY), "r7c7+r2c2"),
        ((NONE, NONE, NONE, 32, 0, 1, NOBODY), "none+r2c2/buy"),
        ((112, NONE, NONE, NONE, 1, 0, NOBODY), "r7c7/flip:001"),
        ((112, NONE, NONE, NONE, 2, 0, NOBODY), "r7c7/flip:010"),
        ((112, NONE, NONE, NONE, 3, 0, NOBODY), "r7c7/flip:100"),
        ((NONE, NONE, NONE, NONE, 0, 0, 0), "none/vote:0"),
        ((NONE, NONE, NONE, NONE, 0, 0, 7), "none/vote:7"),
        ((NONE, NONE, NONE, NONE, 0, 0, NOBODY), "none"),
        ((112, 113, 127, 32, 3, 1, 3), "r7c7,r7c8,r8c7+r2c2/flip:100/buy/vote:3"),
    ],
)
def test_an_action_is_named_by_what_is_done(choices: tuple[int, ...], name: str) -> None:
    assert action_to_string(number(choices), FIFTEEN) == name
    assert string_to_action(name, FIFTEEN) == number(choices)


@pytest.mark.parametrize(
    "text",
    [
        *("", "r7", "r7c", "c7r7", "r-1c2", "r07c7", "r15c0", "r0c15", "R7C7", "r7c7 ", "r٧c7", "r7c7\n"),
        *("r7c7,", "r7c7,none", "none,none", "r7c7,r7c8,none", "r1c1,r1c2,r1c3,r1c4", "r1c1,,r1c3"),
        *("+r2c2", "r7c7+", "r7c7+none", "r7c7+r15c0", "r7c7+r1c1+r2c2", "buy", "/buy"),
        *("r7c7/flip:000", "r7c7/flip:110", "r7c7/flip:1", "r7c7/buy/buy", "r7c7/buy/flip:100", "r7c7/vote:3/buy"),
        *("none/vote:8", "none/vote:", "none/vote:-1", "none/vote:10", "none/vote:player_1", "no such action"),
    ],
)
def test_what_names_no_action_is_none(text: str) -> None:
    assert string_to_action(text, FIFTEEN) is None


BOARD = [[-1, -1, 0, -1, -1], [-1] * 5, [7, 7, -1, 5, -1], [-1] * 5, [-1] * 5]
POSITION = Position(
    stage="play",
    turn=3,
    round=4,
    board=BOARD,
    sequence=[5, 0, 3],
    reserves=[3, 0, 1],
    bought=[0, 2, 0],
    garnets=[2, 0, 1000],
    points=[31, 118, 0],
    public=[9, 8, 7, 6, 5, 4, 3, 2],
    tied=[],
    tokens=[0, 0, 0],
    candidate=-1,
)
LINE = (
    "play turn:3 round:4 tiles:2.A2$2H.F! sequences:101,000,011 reserves:3,0,1 bought:0,2,0 garnets:2,0,1000 "
    "points:31,118,0 public:9,8,7,6,5,4,3,2 tied:- tokens:0,0,0 candidate:-"
)


def test_a_position_is_one_line_and_comes_back() -> None:
    assert position_to_string(POSITION) == LINE
    assert string_to_position(LINE, 5, 3) == POSITION
    assert string_to_position(f"  {LINE}\n", 5, 3) == POSITION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("play", "played"),
        ("turn:3", f"turn:{10**9}"),
        ("2H.F", "2H.I"),  # no such sequence
        ("2H.F", "4H.F"),  # too wide
        ("2H.F", "2H.F3$A"),  # too high
        ("!", ""),
        ("101,000,011", "101,000"),  # one player too few
        ("reserves:3,0,1", "reserves:3,0"),
        ("garnets:2,0,1000", "garnets:2,0,-1"),
        ("tied:-", "tied:3"),  # no such seat
        ("tied:-", "tied:1,0"),  # out of order
        ("tied:-", "tied:1,1"),
        ("candidate:-", "candidate:3"),
        ("candidate:-", "candidate:- x"),
    ],
)
def test_what_is_no_position_is_none(old: str, new: str) -> None:
    assert old in LINE
    assert string_to_position(LINE.replace(old, new, 1), 5, 3) is None
