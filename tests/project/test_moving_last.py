"""The study of what moving last gives in Cloth of Gold: its rows, its page, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.agents import moving_last
from benchmarks.agents.moving_last import PLAN, Match

from cellgames.utils.statistics import wilson_interval

TINY = {"height": 20, "width": 20, "generations": 8, "max_rounds": 3}


def test_the_plan_has_the_same_rows_for_both_worlds_and_every_match_once() -> None:
    assert len({match.key for match in PLAN}) == len(PLAN)
    seats = {world: [m.first for m in PLAN if (m.part, m.world) == ("seats", world)] for world in ("small", "full")}
    assert seats["small"] == seats["full"] == ["random", "greedy", "trained", "rollout:16"]
    changed = {world: [set(m.options) for m in PLAN if m.options and m.world == world] for world in ("small", "full")}
    assert changed["small"] == changed["full"]
    assert all(len(names) == 1 for names in changed["small"])  # one at a time


def test_a_row_counts_its_games() -> None:
    row = moving_last.measured(Match("options", "small", "random", "random", 60, TINY), seed=4)
    decided = row["first wins"] + row["last wins"]
    assert decided + row["neither wins"] == row["games"] == 60
    assert row["share"] == row["last wins"] / decided
    assert (row["low"], row["high"]) == wilson_interval(row["share"], decided)
    assert 2 <= row["median rounds"] <= 3
    assert row == moving_last.measured(Match("options", "small", "random", "random", 60, TINY), seed=4)


def test_an_option_mends_if_both_worlds_are_even() -> None:
    def row(world: str, share: float, high: float, **options: Any) -> dict[str, Any]:
        agents = {"part": "options", "world": world, "first": "greedy", "last": "greedy"}
        return {**agents, "options": options, "share": share, "low": 2 * share - high, "high": high}

    rows = [row("small", 0.5, 0.58, win_rule="x"), row("full", 0.7, 0.8, win_rule="x")]
    said = moving_last._verdict(rows)
    assert "no option mends it" in said
    assert "`win_rule=x` comes nearest: `greedy` then wins 50.0 (42.0 to 58.0) % in the small world and 70.0" in said
    rows += [row("small", 0.4, 0.55, max_units=3), row("full", 0.5, 0.59, max_units=3)]
    assert moving_last._verdict(rows) == "With `max_units=3` the share of the last seat stays below 60 %."


def test_rows_that_are_done_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = (
        Match("seats", "small", "random", "random", 30, TINY),
        Match("options", "full", "random", "random", 8, {**TINY, "max_units": 1}),
        Match("agents", "small", "random", "greedy", 8, TINY),
    )
    monkeypatch.setattr(moving_last, "PLAN", plan)
    monkeypatch.setattr(moving_last, "_verdict", lambda rows: "Nothing.")
    line = ["--games", "8", "--seed", "2", "--out", str(tmp_path)]
    assert moving_last.main(line) == 0
    data = json.loads((tmp_path / "report.json").read_text())
    assert [row["games"] for row in data["rows"]] == [8, 8, 8]
    page = (tmp_path / "report.md").read_text()
    assert "# What moving last gives in Cloth of Gold" in page
    assert page.index("## The question") < page.index("## The answer")
    assert (tmp_path / "moving_last.png").exists()
    before = data["rows"]
    monkeypatch.setattr(moving_last, "measured", lambda match, seed, games: pytest.fail("played again"))
    assert moving_last.main(line) == 0
    assert json.loads((tmp_path / "report.json").read_text())["rows"] == before
    with pytest.raises(pytest.fail.Exception, match="played again"):
        moving_last.main([*line[:2], "--seed", "3", *line[4:]])
