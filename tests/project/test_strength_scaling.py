"""The study of what network size, training and search buy: its grid, its ratings, and its page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.agents import strength_scaling
from benchmarks.agents.strength_scaling import Agent, Grid, neighbours, per_doubling, rated

from cellgames.agents.networks.networks import Size
from cellgames.arena.stats.ratings import expected_score

GRID = Grid((Size(4, 1), Size(8, 1)), (200, 400), (2, 4))


def test_neighbours_differ_by_one_level_of_one_axis() -> None:
    pairs = neighbours(strength_scaling.GRID)
    networks, training, search = map(len, strength_scaling.GRID)
    assert (
        len(pairs)
        == len(set(pairs))
        == (
            (networks - 1) * training * search + networks * (training - 1) * search + networks * training * (search - 1)
        )
    )
    assert all(sorted(np.subtract(more, less)) == [0, 0, 1] for more, less in pairs)


def test_ratings_find_the_elo_of_a_doubling() -> None:
    grid = Grid((Size(8, 2), Size(16, 3)), (1000, 2000, 8000), (2, 8, 32))
    worth = (60.0, 40.0, 25.0)  # of a doubling of each axis
    levels = ((1000, 4000), grid.steps, grid.evaluations)

    def elo(agent: Agent) -> float:
        return sum(value * math.log2(axis[place]) for value, axis, place in zip(worth, levels, agent, strict=True))

    shares = [float(expected_score(elo(more) - elo(less))) for more, less in neighbours(grid)]
    ratings = rated(grid, shares, games=400, seed=1)
    for axis, value in enumerate(worth):
        steps, slope = per_doubling(ratings, axis, levels[axis])
        assert len(steps) == len(levels[axis]) - 1
        assert slope[0] == pytest.approx(value, abs=1.5)  # the prior draws all a little to the middle
        assert slope[1] < value < slope[2]
        assert 1 < slope[2] - slope[1] < 40


@pytest.mark.slow
def test_a_small_run_writes_a_page_and_goes_on_from_what_it_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--boards", "3", "--games", "2", "--positions", "20"]
    words += ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    assert strength_scaling.main(words, GRID) == 0
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    first = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert "# How Torus agents scale" in page
    assert np.array(first["boards"]["3"]["errors"]).shape == (2, 2, 2)
    assert len(first["boards"]["3"]["shares"]) == 12
    assert first["parameters"][0] < first["parameters"][1]
    for plot in ("ratings", "errors"):
        assert f"({plot}.png)" in page
        assert (tmp_path / "out" / f"{plot}.png").stat().st_size > 10_000

    def refuse(*_: object) -> float:
        raise AssertionError("it was measured again")

    monkeypatch.setattr(strength_scaling, "_share", refuse)
    monkeypatch.setattr(strength_scaling, "_thrown_away", refuse)
    assert strength_scaling.main(words, GRID) == 0
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == first


@pytest.mark.parametrize("words", [["--games", "3"], ["--positions", "0"], ["--boards", "6"]])
def test_bad_input_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        strength_scaling.main(words)
    assert words[0] in capsys.readouterr().err
