"""Native generations of the Toroidal Cup against those of the rules in torch, in every bit."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.toroidal_cup import colours
from cellgames.envs.toroidal_cup.colours import Rule
from cellgames.envs.toroidal_cup.simulator import Result, run

BOARDS = ((3, 3), (5, 4), (8, 31), (16, 60), (7, 62), (12, 96), (40, 280))


def random_boards(count: int, rows: int, cols: int, teams: int = 2) -> torch.Tensor:
    """Boards on which a half of the cells is live."""
    lots = torch.randint(2 * teams, (count, rows, cols), generator=torch.Generator().manual_seed(rows))
    return torch.where(lots < teams, lots + 1, 0).to(torch.int8)


@pytest.mark.parametrize(("rows", "cols"), BOARDS)
@pytest.mark.parametrize("generations", [1, 5, 48])
def test_generations_and_counts_are_the_same(rows: int, cols: int, generations: int) -> None:
    native = native_library()
    rule = Rule(Grid(rows, cols), 2, "recolour", "never")
    for boards in (1, 8, 13):
        now = planes = rule.pack(random_boards(boards, rows, cols))
        history, expected = [], torch.zeros((generations, 2, boards), dtype=torch.int64)
        step, counter = rule.step(planes, 0), rule.counter(planes, 0)
        for counts in expected.unbind():
            then = torch.empty_like(now)
            step([*now.unbind(), *then.unbind()])
            counter([then, counts])
            history.append(now := then)
        found, mine = torch.full_like(expected, -1), planes.clone()
        rule.play(native, mine, generations, found)
        assert torch.equal(mine, now)
        assert torch.equal(found, expected)
        wait = torch.randint(1, generations + 1, (boards,), generator=torch.Generator().manual_seed(1))
        rule.play(native, mine := planes.clone(), generations, None, wait)
        for board, passed in enumerate(wait.tolist()):
            assert torch.equal(mine[..., board], history[passed - 1][..., board])


def same(one: Result, other: Result) -> bool:
    fields = ("scores", "generations", "winner", "truncated", "board")
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in fields)


@pytest.mark.parametrize(
    ("rows", "cols", "teams", "survivors"),
    [
        (30, 40, 2, "recolour"),
        (30, 40, 3, "recolour"),
        (30, 40, 2, "keep"),
        (12, 64, 2, "recolour"),
        (9, 130, 2, "keep"),
    ],
)
def test_games_are_the_same(
    rows: int, cols: int, teams: int, survivors: colours.Survivors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where native code does not know the rule or the board."""
    native_library()
    board = random_boards(20, rows, cols, teams)

    def played() -> Result:
        return run(
            board, teams, survivors=survivors, max_generations=400, keep=[0, 7, 100], trajectory=True, compile="never"
        )

    native = played()
    monkeypatch.setattr(colours, "library", lambda device: None)
    expected = played()
    assert same(native, expected)
    assert native.boards.keys() == expected.boards.keys()
    assert all(torch.equal(native.boards[at], expected.boards[at]) for at in expected.boards)
    assert native.trajectory is not None
    assert expected.trajectory is not None
    assert torch.equal(native.trajectory, expected.trajectory)


def test_threads_change_nothing() -> None:
    native_library()
    board, before = random_boards(40, 20, 30), torch.get_num_threads()
    results = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        try:
            results.append(run(board, 2, max_generations=300))
        finally:
            torch.set_num_threads(before)
    assert all(same(result, results[0]) for result in results)
