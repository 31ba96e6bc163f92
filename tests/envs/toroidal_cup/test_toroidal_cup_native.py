"""Native games of the Toroidal Cup against those in torch code, in every bit of every result."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library, threads
from torch import Tensor

from cellgames.envs.native import without_native
from cellgames.envs.toroidal_cup.simulator import Result, Survivors, run

LONGEST = 300
KEEP = [0, 1, 29, 30, 31, 100, 243, 244, 299, 300, 400]


def random_boards(count: int, rows: int, cols: int, teams: int = 2) -> Tensor:
    """Boards of several densities, an empty one, one with a single team and one where the teams are level."""
    generator = torch.Generator().manual_seed(rows * 1000 + cols)
    lots = torch.rand((count, rows, cols), generator=generator)
    team = torch.randint(1, teams + 1, lots.shape, generator=generator)
    density = torch.tensor([0.35, 0.1, 0.6, 0.3, 1.0, 0.0])[torch.arange(count) % 6]
    board = torch.where(lots < density[:, None, None], team, 0).to(torch.int8)
    board[3::7] = board[3::7].clamp(max=1)
    if rows >= 6 and cols >= 8:
        board[6::7] = 0
        board[6::7, :2, :2], board[6::7, 3:5, 4:6] = 1, 2
    return board


def same(one: Result, other: Result) -> bool:
    fields = ("scores", "generations", "winner", "truncated", "board")
    if not all(torch.equal(getattr(one, name), getattr(other, name)) for name in fields):
        return False
    kept = one.boards.keys() == other.boards.keys()
    kept = kept and all(torch.equal(one.boards[at], other.boards[at]) for at in one.boards)
    if one.trajectory is None or other.trajectory is None:
        return kept and one.trajectory is other.trajectory
    return kept and torch.equal(one.trajectory, other.trajectory)


def in_torch(board: Tensor, teams: int, survivors: Survivors = "recolour", most: int = LONGEST) -> Result:
    with without_native():
        return run(board, teams, survivors=survivors, max_generations=most, keep=KEEP, trajectory=True)


@pytest.mark.parametrize(
    ("games", "rows", "cols", "teams", "most", "survivors"),
    [
        *((21, rows, cols, 2, LONGEST, "recolour") for rows, cols in ((3, 3), (7, 9), (7, 63), (9, 64), (4, 125))),
        *((games, 20, 30, 2, LONGEST, "recolour") for games in (0, 3, 129)),
        (13, 14, 70, 2, LONGEST, "keep"),
        (13, 14, 70, 3, LONGEST, "recolour"),
        (13, 14, 70, 5, 20, "recolour"),
        (13, 14, 70, 9, 3, "keep"),  # more teams than native code knows
    ],
)
def test_games_of_all_kinds_are_the_same(
    games: int, rows: int, cols: int, teams: int, most: int, survivors: Survivors
) -> None:
    native_library()
    board = random_boards(games, rows, cols, teams)
    expected = in_torch(board, teams, survivors, most)
    for count in (1, 3):
        with threads(count):
            result = run(board, teams, survivors=survivors, max_generations=most, keep=KEEP, trajectory=True)
            assert same(result, expected)


def test_each_instruction_set_gives_the_same() -> None:
    """Also those that this processor does not choose by itself."""
    native = native_library()
    board, teams = random_boards(11, 12, 96), random_boards(11, 12, 30, 3)
    expected, others = in_torch(board, 2), in_torch(teams, 3, "keep")
    try:
        for most in range(3):
            native.cellgames_instruction_set(most)
            assert same(run(board, 2, max_generations=LONGEST, keep=KEEP, trajectory=True), expected)
            result = run(teams, 3, survivors="keep", max_generations=LONGEST, keep=KEEP, trajectory=True)
            assert same(result, others)
    finally:
        native.cellgames_instruction_set(3)


def test_boards_may_be_views_of_any_kind() -> None:
    native_library()
    board = random_boards(20, 24, 20)
    views = [board[::4].mT, board[::8, 1::2, 3:].long(), board[:1].expand(5, -1, -1)]
    for view in views:
        before = view.clone()
        assert same(run(view, 2, max_generations=LONGEST, keep=KEEP, trajectory=True), in_torch(before, 2))
        assert torch.equal(view, before)
