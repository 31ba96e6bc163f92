"""The benchmark of counterfactual replays: its measure, its worths on planted boards, and its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellgames.lab.life.census import census
from cellgames.lab.studies.worth_of_objects import Moment, Worths, area_under_curve, main, measure_worths


def test_the_area_under_the_curve_counts_pairs() -> None:
    scores, won = np.array([3.0, 1.0, 2.0, 2.0]), np.array([True, False, True, False])
    pairs = [(3, 1), (3, 2), (2, 1), (2, 2)]
    assert area_under_curve(scores, won) == sum(1.0 if a > b else 0.5 for a, b in pairs) / 4
    assert area_under_curve(-scores, ~won) == area_under_curve(scores, won)


def test_objects_that_meet_nobody_are_worth_their_cells() -> None:
    """Blocks keep their four cells; what dies at once is worth nothing."""
    board = np.zeros((2, 40, 280), np.int8)
    for game, (row, col, team) in ((0, (5, 20, 1)), (0, (20, 200, 2)), (1, (9, 60, 1)), (1, (9, 220, 2))):
        board[game, row : row + 2, col : col + 2] = team
        board[game, row + 12, col] = team  # dies of loneliness
    found = census(board > 0, owners=board.astype(np.int64))
    moment = Moment(board, np.array([600, 600]), np.array([True, False]), found, np.zeros(2))
    worths = measure_worths(moment)
    assert worths == Worths(1.0, (1.0, 1.0), 0.0, (0.0, 0.0), 8)
    assert worths.predict(moment).tolist() == [0, 0]
    uneven = Worths(1.0, (1.0, 1.0), -2.0, (0.0, 0.0), 8).predict(moment)
    assert uneven.tolist() == [0, 0], "both teams have as much of each"


@pytest.mark.slow
def test_the_page_has_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--games", "8", "--generation", "240", "--rounds", "2", "--threads", "1"]
    assert main([*words, "--out", str(tmp_path / "worth.md")]) == 0
    assert "1,000 replays of a whole game on the board of 40 x 280" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"worth.md", "worth.json"}
