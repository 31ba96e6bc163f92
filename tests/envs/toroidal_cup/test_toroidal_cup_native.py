"""Native games of the Toroidal Cup against those in torch code, in every bit of every result."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import fields
from typing import Any

import pytest
import torch
from native_code import native_library
from torch import Tensor

from cellgames.envs.native import without_native
from cellgames.envs.toroidal_cup.game import ToroidalCup
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


SHAPES = [(3, 3), (7, 9), (7, 63), (9, 64), (4, 125), (40, 280)]


@pytest.mark.parametrize(("rows", "cols"), SHAPES)
def test_games_of_all_shapes_are_the_same(rows: int, cols: int) -> None:
    native_library()
    board = random_boards(21 if rows * cols < 2000 else 9, rows, cols)
    expected = in_torch(board, 2)
    assert same(run(board, 2, max_generations=LONGEST, keep=KEEP, trajectory=True), expected)
    assert len(expected.generations.unique()) > 1 or cols < 5


@pytest.mark.parametrize(
    ("teams", "most", "survivors"),
    [
        (2, LONGEST, "keep"),
        (3, LONGEST, "recolour"),
        (5, 20, "recolour"),
        (9, 3, "keep"),
    ],
)
def test_games_of_more_teams_and_colours_that_stay_are_the_same(teams: int, most: int, survivors: Survivors) -> None:
    """Nine teams are more than native code knows."""
    native_library()
    board = random_boards(13, 14, 70, teams)
    expected = in_torch(board, teams, survivors, most)
    result = run(board, teams, survivors=survivors, max_generations=most, keep=KEEP, trajectory=True)
    assert same(result, expected)


@pytest.mark.parametrize("games", [0, 3, 129])
def test_batches_of_all_sizes_and_any_threads_are_the_same(games: int) -> None:
    native_library()
    board, before = random_boards(games, 20, 30), torch.get_num_threads()
    expected = in_torch(board, 2)
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            assert same(run(board, 2, max_generations=LONGEST, keep=KEEP, trajectory=True), expected)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("tolerance", [1.7e-5, 0.9])
def test_the_end_is_the_same_with_any_tolerance(tolerance: float) -> None:
    """Large ones compare averages, whose last bits depend on the order of their sums."""
    native_library()
    board = random_boards(30, 16, 16)
    with without_native():
        expected = run(board, 2, max_generations=1000, tolerance=tolerance)
    assert same(run(board, 2, max_generations=1000, tolerance=tolerance), expected)
    assert (expected.generations < 1000).any()


@pytest.mark.parametrize("most", range(3))
def test_each_instruction_set_gives_the_same(most: int) -> None:
    """Also those that this processor does not choose by itself."""
    native = native_library()
    board, teams = random_boards(11, 12, 96), random_boards(11, 12, 30, 3)
    expected, others = in_torch(board, 2), in_torch(teams, 3, "keep")
    native.cellgames_instruction_set(most)
    try:
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


STEPS: dict[str, dict[str, Any]] = {
    "small": {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 300},
    "three teams of all patterns": {"rows": 40, "cols": 220, "teams": 3, "shapes": 4, "max_generations": 20},
    "many positions": {"rows": 30, "cols": 260, "stride": 1, "pattern": "donutmethuselahs", "max_generations": 8},
    "a seam": {
        "rows": 22,
        "cols": 62,
        "stride": 5,
        "pattern": "randys",
        "shapes": 1,
        "survivors": "keep",
        "max_generations": 300,
    },
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("count", [1, 11])
def test_vectors_play_the_same_games(name: str, count: int) -> None:
    """Steps with new games, masks and observations, of random and of given actions."""
    native_library()
    game, lots = ToroidalCup(**STEPS[name]), [torch.Generator().manual_seed(2) for _ in range(2)]
    vectors = game.vector(count, observe=torch.float32), game.vector(count, observe=torch.int8)
    chance, ended = torch.Generator().manual_seed(3), 0
    for turn in range(2 * game.info.max_turns + 2):
        given = None
        if turn % 2:
            weights = vectors[0].legal_actions.float().flatten(0, 1)
            given = torch.multinomial(weights, 1, generator=chance).view(count, game.teams)
        steps = []
        for vector, lot in zip(vectors, lots, strict=True):
            with nullcontext() if vector is vectors[0] else without_native():
                steps.append(vector.step_random(lot) if given is None else vector.step(given))
        with without_native():
            seen, mask = vectors[1].observation, vectors[1].legal_actions
        for one, two in ((*steps,), (vectors[0].state, vectors[1].state)):
            for field in fields(one):
                a, b = getattr(one, field.name), getattr(two, field.name)
                assert a.dtype == b.dtype, (turn, field.name)
                assert torch.equal(a, b), (turn, field.name)
        assert torch.equal(vectors[0].legal_actions, mask), turn
        assert torch.equal(vectors[0].observation, seen.float()), turn
        for seat in range(game.teams):
            assert torch.equal(game.observe(vectors[0].state, seat), seen[:, seat]), turn
        ended += int(steps[0].done.sum())
    assert [vector.backend for vector in vectors] == ["native", "eager"]
    assert ended > count


def test_an_unchecked_action_off_the_board_writes_nowhere_else() -> None:
    native_library()
    vector = ToroidalCup(**STEPS["small"]).vector(2)
    vector.step(torch.tensor([[1 << 40, 7], [-(1 << 31), 0]]), checked=False)
    assert vector.state.start.count_nonzero() == 20
