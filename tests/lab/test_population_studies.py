"""The studies of leagues and exploiters: what counts as a difference, and pages of rows that are done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cellgames
from cellgames.agents.loading import load
from cellgames.arena.analyse.agent_games import play_some
from cellgames.lab.studies import cup_designs, grid_league, league, robustness, talk, worth_of_objects
from cellgames.lab.studies.grid_league import MEASURES, differences, measured


def test_a_difference_counts_if_all_seeds_agree_and_exceed_those_between_seeds() -> None:
    def row(alone: float, league: float) -> dict[str, object]:
        tables = {
            role: {name: [value, 0, 0] for name in MEASURES}
            for role, value in (("self-play", alone), ("league", league))
        }
        return {"tables": tables}

    def clear(*pairs: tuple[float, float]) -> bool:
        return differences([row(*pair) for pair in pairs])[0][3]

    assert clear((1.0, 2.0), (1.2, 2.4))
    assert not clear((1.0, 2.0), (2.5, 2.4))  # signs differ
    assert not clear((1.0, 2.0), (2.5, 3.4))  # two seeds of self-play differ more


def test_measures_count_what_players_do() -> None:
    game = cellgames.make("grid-adaptation-small-v0", size=6, rounds=2, flip_rounds=())
    found = measured(game, play_some(game, {"random": load("random", game)}, 8), 0)
    assert list(found) == list(MEASURES)
    assert found["flips"] == [0, 0, 0]
    low, high = found["contested"][1:]
    assert 0 < low < found["contested"][0] < high < 100


def test_the_page_on_robustness_is_written_from_rows_that_are_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        **{"algorithm": "ppo", "steps": 10, "own steps": 1000, "games": 400},
        **{"score": 0.7, "low": 0.6, "high": 0.8},
    }
    rows = [{**row, "game": target.game} for target in robustness.PLAN]
    data = {"share": robustness.SHARE, "version": cellgames.__version__, "rows": rows}
    (tmp_path / "report.json").write_text(json.dumps(data), encoding="utf-8")
    assert robustness.main(["--out", str(tmp_path), "--leagues", str(tmp_path), "--runs", str(tmp_path / "runs")]) == 0
    assert not (tmp_path / "runs").exists()
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| torus-small-v0 | ppo | 10 | 1.0 | 400 | 70.0 (60.0 to 80.0) |" in page
    assert "Exploiters find a hole" in page
    with pytest.raises(SystemExit):
        robustness.main(["--share", "2"])
    assert "--share must be above 0 and at most 1, got 2.0" in capsys.readouterr().err


@pytest.mark.slow
def test_the_study_of_talk_trains_measures_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = {"eval_games": 2, "num_envs": 4, "num_steps": 8, "num_epochs": 1, "channels": 2}
    monkeypatch.setattr(talk, "SHARED", talk.SHARED | quick)
    monkeypatch.setattr(talk, "BOARD", talk.BOARD | {"size": 5, "rounds": 2, "flip_rounds": (2,), "words": 2})
    words = ["--seeds", "2", "--steps", "20", "--games", "20", "--runs", str(tmp_path / "runs"), "--out", str(tmp_path)]
    assert talk.main(words) == 0
    page = (tmp_path / "report.md").read_bytes()
    rows = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["condition"], row["seed"]) for row in rows] == [
        (way, seed) for seed in (0, 1) for way in talk.CONDITIONS
    ]
    assert all(0 < row["values"]["listening"] < 1 and row["values"]["contested"] > 0 for row in rows)
    assert {one["about"] for one in rows[0]["information"]} == {"sequence", "next space", "next flip"}
    assert rows[0]["values"] != rows[2]["values"]  # public and muted
    capsys.readouterr()
    assert talk.main(words) == 0
    assert "'values'" not in capsys.readouterr().out  # nothing is measured again
    assert (tmp_path / "report.md").read_bytes() == page
    with pytest.raises(SystemExit):
        talk.main(["--seeds", "1"])
    assert "--seeds must be at least 2, got 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("study", "name"),
    [
        (grid_league, "seeds"),
        (league, "rounds"),
        (robustness, "grid-steps"),
        (cup_designs, "iterations"),
        (worth_of_objects, "threads"),
    ],
)
def test_numbers_that_measure_nothing_are_refused_at_once(
    study: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        study.main([f"--{name}", "0"])
    assert f"--{name} must be at least 1, got 0" in capsys.readouterr().err


def test_intervals_over_seeds_are_those_of_student_and_welch() -> None:
    assert talk.over_seeds([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx((3, 1.0368, 4.9632), abs=0.01)
    # Variances 2.5 / 5 and 10 / 5 make 5.88 degrees of freedom.
    found = talk.difference([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 6.0, 8.0, 10.0])
    assert found == pytest.approx((-3, -6.888, 0.888), abs=0.05)
