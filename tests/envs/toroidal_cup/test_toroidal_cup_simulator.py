"""Cup games from start to end: against the slow reference, in batches of any width, in native code and in torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from learner_play import same
from life_reference import Board, Game, board_of, boards_tensor, ends, history, live_cells, share, soup, until_the_end
from native_code import native_library, threads
from torch import Tensor

from cellgames.envs.native import without_native
from cellgames.envs.toroidal_cup import Result, simulate
from cellgames.envs.toroidal_cup.simulator import FIRST_END, HISTORY, Survivors, boards, ended, run, shares

LONGEST = 450


@pytest.fixture(params=["native", "torch"])
def either_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let native code run, if it is built, and then torch code."""
    with without_native() if request.param == "torch" else nullcontext():
        yield


Family = tuple[int, int, int, Survivors, range]  # rows, cols, teams, survivors, seeds of the soups
FAMILIES: list[Family] = [
    (12, 20, 2, "recolour", range(6)),
    (16, 64, 2, "recolour", range(2)),
    (9, 13, 3, "recolour", range(3)),
    (11, 65, 3, "recolour", range(2)),
    (13, 22, 4, "keep", range(10)),
    (15, 33, 2, "keep", range(13, 15)),
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
@pytest.mark.parametrize("most", [1, 25, 243, 265])
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
    for tolerance in (1e-15, 1.7e-4, 3e-3):
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


def watched(counts: Tensor, tolerance: float = 1e-12) -> Tensor:
    """Where trajectories [G, W, k], of generations 1 to G, fulfil the rule from generation 243 on: bool [G, W]."""
    found = torch.zeros(counts.shape[:2], dtype=torch.bool)
    percentages = shares(counts)
    for now in range(FIRST_END, len(counts) + 1):
        found[now - 1] = ended(counts[now - 1], percentages[now - HISTORY : now], tolerance)
    return found


def by_the_words(counts: Tensor, tolerance: float = 1e-12) -> Tensor:
    """The same, slowly."""
    found = torch.zeros(counts.shape[:2], dtype=torch.bool)
    for slot, trajectory in enumerate(counts.unbind(1)):
        teams = [[0] * counts.shape[2], *trajectory.tolist()]
        percentages = [share(n) for n in teams]
        for generation in range(1, len(teams)):
            found[generation - 1, slot] = ends(percentages, generation, teams[generation], tolerance)
    return found


def trajectories(generations: int, num_slots: int, teams: int, most: int, seed: int) -> Tensor:
    """Live cells int64 [G, W, k] as games have them: wild at first, then periodic, with a glitch now and then.

    Neighbouring cells of a period are often as close as counts can be, or different counts of the same share.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    size = draw(most - 8, num_slots, 1, 1) // teams // 4 + 2
    table = (size * torch.rand(num_slots, 1, teams, generator=generator)).long() + draw(3, num_slots, 240, teams)
    table *= torch.tensor([1, 1, 2, 3])[draw(4, num_slots, 240, 1)]  # the same share
    table[:: teams + 2, :, 1:] = 0  # one team alone
    period = torch.tensor([1, 1, 2, 3, 4, 5, 7, 8, 11, 15, 30, 60, 240])[draw(13, num_slots)]
    at = torch.arange(generations)[:, None] % period
    calm = table[torch.arange(num_slots), at]
    wild = draw(most // teams, generations, num_slots, teams)
    counts = torch.where((torch.arange(generations)[:, None] < draw(350, num_slots) - 50)[..., None], wild, calm)
    glitch = torch.rand(generations, num_slots, 1, generator=generator) < 0.002
    counts = (counts + glitch * (draw(3, generations, num_slots, teams) - 1)).clamp(min=0)
    counts[..., 0].clamp_(min=1)  # an empty board would stay empty
    return counts


@pytest.mark.parametrize(("teams", "tolerance"), [(2, 1.7e-5), (3, 1e-12)])
def test_the_end_is_by_the_rules_words(teams: int, tolerance: float) -> None:
    counts = trajectories(480, 12, teams, 60 if tolerance < 1e-6 else 2000, teams)
    expected = by_the_words(counts, tolerance)
    assert torch.equal(watched(counts, tolerance), expected)
    assert 0.02 < expected[FIRST_END - 1 :].double().mean() < 0.98


def test_shares_are_exact_whatever_torchs_default_type() -> None:
    cells = [(3, 1), (0, 0), (1, 2), (7, 0), (671_089, 5), (9_999_999, 3), (1, 2**40 + 1)]
    exact = [float(Fraction(100 * max(c), sum(c))) if sum(c) else 0.0 for c in cells]
    assert shares(torch.tensor(cells)).tolist() == exact
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float16)
        assert shares(torch.tensor(cells)).tolist() == exact
    finally:
        torch.set_default_dtype(before)
    assert shares(torch.tensor(cells)).dtype == torch.float64


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


def played(board: Tensor, teams: int = 2, survivors: Survivors = "recolour", most: int = 300) -> Result:
    keep = [0, 1, 29, 30, 31, 100, 243, 244, 299, 300, 400]
    return run(board, teams, survivors=survivors, max_generations=most, keep=keep, trajectory=True)


@pytest.mark.parametrize(
    ("games", "rows", "cols", "teams", "most", "survivors"),
    [
        *((21, rows, cols, 2, 300, "recolour") for rows, cols in ((3, 3), (7, 9), (7, 63), (9, 64), (4, 125))),
        *((games, 20, 30, 2, 300, "recolour") for games in (0, 3, 129)),
        (13, 14, 70, 2, 300, "keep"),
        (13, 14, 70, 3, 300, "recolour"),
        (13, 14, 70, 5, 20, "recolour"),
        (13, 14, 70, 9, 3, "keep"),  # more teams than native code knows
    ],
)
def test_native_games_are_those_of_torch_code(
    games: int, rows: int, cols: int, teams: int, most: int, survivors: Survivors
) -> None:
    native_library()
    board = random_boards(games, rows, cols, teams)
    with without_native():
        expected = played(board, teams, survivors, most)
    for count in (1, 3):
        with threads(count):
            assert same(played(board, teams, survivors, most), expected)


def test_each_instruction_set_gives_the_same() -> None:
    """Also those that this processor does not choose by itself."""
    native = native_library()
    starts: list[tuple[Tensor, int, Survivors]] = [
        (random_boards(11, 12, 96), 2, "recolour"),
        (random_boards(11, 12, 30, 3), 3, "keep"),
    ]
    with without_native():
        expected = [played(*start) for start in starts]
    try:
        for most in range(3):
            native.cellgames_instruction_set(most)
            assert all(same(played(*start), result) for start, result in zip(starts, expected, strict=True))
    finally:
        native.cellgames_instruction_set(3)


def test_boards_may_be_views_of_any_kind() -> None:
    native_library()
    board = random_boards(20, 24, 20)
    for view in (board[::4].mT, board[::8, 1::2, 3:].long(), board[:1].expand(5, -1, -1)):
        before = view.clone()
        with without_native():
            expected = played(before)
        assert same(played(view), expected)
        assert torch.equal(view, before)
