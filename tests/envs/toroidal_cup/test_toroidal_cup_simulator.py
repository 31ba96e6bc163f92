"""Cup games from start to end: against the slow reference, in batches of any width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from life_reference import Board, Game, board_of, boards_tensor, drawn, history, live_cells, soup, until_the_end
from torch import Tensor

from cellgames.envs.native import without_native
from cellgames.envs.toroidal_cup import Result, simulate
from cellgames.envs.toroidal_cup.simulator import Survivors, boards, run

LONGEST = 450


@pytest.fixture(params=["native", "torch"])
def either_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let native code run, if it is built, and then torch code."""
    with without_native() if request.param == "torch" else nullcontext():
        yield


Family = tuple[int, int, int, Survivors, range]  # rows, cols, teams, survivors, seeds of the soups
FAMILIES: list[Family] = [
    (12, 20, 2, "recolour", range(10)),
    (16, 64, 2, "recolour", range(2)),
    (9, 13, 3, "recolour", range(6)),
    (11, 65, 3, "recolour", range(2)),
    (13, 22, 4, "keep", range(10)),
    (15, 33, 2, "keep", range(13, 16)),
]
QUICK = (FAMILIES[1], FAMILIES[2], FAMILIES[5])
every_family = pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=[] if family in QUICK else pytest.mark.slow) for family in FAMILIES],
    ids=lambda f: "-".join(map(str, f[:4])),
)


@cache
def soups(rows: int, cols: int, teams: int, survivors: Survivors, seeds: range) -> tuple[Tensor, list[list[Board]]]:
    """Starts, int8 [B, rows, cols], and the boards of their generations up to LONGEST by the reference."""
    start = torch.cat([soup(rows, cols, 0.35, teams=teams, seed=seed) for seed in seeds])
    return start, [history(live_cells(board), rows, cols, LONGEST, survivors) for board in start]


def check(result: Result, games: Sequence[Game], keep: Sequence[int] = ()) -> None:
    batch, rows, cols = result.board.shape
    assert result.scores.tolist() == [game.counts[-1] for game in games]
    assert result.generations.tolist() == [len(game.counts) - 1 for game in games]
    assert result.winner.tolist() == [game.winner for game in games]
    assert result.truncated.tolist() == [game.truncated for game in games]
    assert torch.equal(result.board.cpu(), boards_tensor([game.boards[-1] for game in games], rows, cols))
    assert list(result.boards) == sorted(keep)
    for at, kept in result.boards.items():
        seen = [game.boards[min(at, len(game.boards) - 1)] for game in games]
        assert torch.equal(kept.cpu(), boards_tensor(seen, rows, cols)), at
    if result.trajectory is not None:
        longest = max(len(game.counts) for game in games)
        padded = [game.counts + [game.counts[-1]] * (longest - len(game.counts)) for game in games]
        assert result.trajectory.dtype == torch.int32
        assert result.trajectory.tolist() == padded
    assert len(games) == batch


def same(a: Result, b: Result) -> bool:
    for name in ("scores", "generations", "winner", "truncated", "board"):
        if not torch.equal(getattr(a, name), getattr(b, name)):
            return False
    return a.boards.keys() == b.boards.keys() and all(torch.equal(a.boards[at], b.boards[at]) for at in a.boards)


@pytest.mark.usefixtures("either_code")
@every_family
def test_games_are_those_of_the_reference(family: Family) -> None:
    start, histories = soups(*family)
    games = [until_the_end(past, family[2]) for past in histories]
    keep = [0, 1, 5, 23, 24, 25, 48, 100, 243, 250, 264, 400, LONGEST, 9999]
    result = run(start, family[2], max_generations=LONGEST, survivors=family[3], keep=reversed(keep), trajectory=True)
    check(result, games, keep)
    assert result.scores.dtype == result.generations.dtype == result.winner.dtype == torch.int64
    assert result.board.dtype == torch.int8


@pytest.mark.usefixtures("either_code")
@pytest.mark.parametrize("most", [1, 24, 25, 243, 265])
def test_games_are_cut_off_at_exactly_the_most_generations(most: int) -> None:
    start, histories = soups(*FAMILIES[0])
    games = [until_the_end(past[: most + 1], 2) for past in histories[:4]]
    result = run(start[:4], 2, max_generations=most, keep=[most - 1, most, most + 1], trajectory=True)
    check(result, games, [most - 1, most, most + 1])
    assert result.truncated.all() == (most < 243)


@pytest.mark.usefixtures("either_code")
def test_games_end_as_the_tolerance_says() -> None:
    start, histories = soups(*FAMILIES[0])
    ends = []
    for tolerance in (1e-15, 2e-6, 1.7e-4, 3e-3):
        games = [until_the_end(past, 2, tolerance) for past in histories]
        result = run(start, 2, max_generations=LONGEST, tolerance=tolerance, trajectory=True)
        check(result, games)
        ends.append(int(result.generations.sum()))
    assert ends == sorted(ends, reverse=True)
    assert len(set(ends)) > 2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_family
def test_games_on_a_gpu_are_those_of_the_reference(family: Family) -> None:
    start, histories = soups(*family)
    games = [until_the_end(past, family[2]) for past in histories]
    result = run(start.cuda(), family[2], max_generations=LONGEST, survivors=family[3], keep=[30], trajectory=True)
    assert result.board.is_cuda
    check(result, games, [30])


def block(row: int, col: int, cols: int = 20) -> list[int]:
    return [r * cols + c for r in (row, row + 1) for c in (col, col + 1)]


@pytest.mark.usefixtures("either_code")
def test_level_and_empty_games_never_end() -> None:
    starts: list[list[list[int]]] = [
        [[], []],
        [[5], [100]],
        [block(2, 2), block(7, 12)],
        [block(2, 2), block(2, 7) + block(7, 12)],
    ]
    result = simulate(starts, 12, 20, max_generations=600, trajectory=True)
    assert result.scores.tolist() == [[0, 0], [0, 0], [4, 4], [4, 8]]
    assert result.generations.tolist() == [600, 600, 600, 243]
    assert result.winner.tolist() == [0, 0, 0, 2]
    assert result.truncated.tolist() == [True, True, True, False]
    assert result.trajectory is not None
    assert result.trajectory.shape == (4, 601, 2)
    assert result.trajectory[1].tolist() == [[1, 1]] + [[0, 0]] * 600


@pytest.mark.usefixtures("either_code")
def test_half_the_cells_are_no_victory_until_the_game_is_cut_off() -> None:
    two = block(2, 2) + block(2, 6)
    result = simulate([[two, block(7, 2), block(7, 6)], [two, two[:0], block(7, 6)]], 12, 20, max_generations=500)
    assert result.generations.tolist() == [500, 243]
    assert result.truncated.tolist() == [True, False]
    assert result.winner.tolist() == [1, 1]


@pytest.mark.parametrize(("survivors", "expected"), [("recolour", "bb"), ("keep", "ab")])
def test_survivors_take_the_majoritys_colour_or_keep_their_own(survivors: Survivors, expected: str) -> None:
    start = drawn(".....\n.ab..\n.bb..\n.....\n.....", "ab")
    result = run(boards_tensor([start], 6, 7), 2, max_generations=2, survivors=survivors)
    assert live_cells(result.board[0]) == drawn(f".....\n.{expected}..\n.bb..\n.....\n.....", "ab")


def test_starts_are_lists_of_cells_of_any_kind_and_order() -> None:
    first, second = block(1, 1, 8), [36, 37, 43, 46, 52, 53]
    kinds: list[list[Any]] = [
        [first, second],
        [tuple(reversed(first)), set(second)],
        [np.array(first), torch.tensor(second)],
        [iter(first), (cell for cell in second)],
        [first * 2, second + second[:2]],  # a cell may be named twice
    ]
    packed = boards(kinds, 8, 8)
    assert packed.dtype == torch.int8
    assert all(live_cells(board) == board_of([first, second], 8) for board in packed)
    result = simulate([[first, second]], 8, 8, keep=[0, 3])
    assert same(result, run(packed[:1], 2, keep=[0, 3]))
    assert same(result, run(packed[:1].long(), 2, keep=[0, 3]))
    assert result.winner.tolist() == [2]


@pytest.mark.usefixtures("either_code")
def test_no_games_have_no_results() -> None:
    for result in (simulate([], 6, 8, keep=[3], trajectory=True), run(torch.zeros(0, 6, 8).char(), 2, keep=[3])):
        assert result.scores.shape == (0, 2)
        assert result.generations.shape == result.winner.shape == result.truncated.shape == (0,)
        assert result.board.shape == result.boards[3].shape == (0, 6, 8)
    assert simulate([], 6, 8, trajectory=True).trajectory is not None
