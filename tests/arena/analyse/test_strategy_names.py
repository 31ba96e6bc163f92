"""Names that matplotlib could take for mathematics: plots show them as they are, and files too."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import pytest
from strategy_records import played

import cellgames
from cellgames.agents import load
from cellgames.arena.analyse.behaviour_section import section as behaviour
from cellgames.arena.analyse.report import analyse_games, write_report
from cellgames.utils.report.files import png
from cellgames.utils.report.model import Plot
from cellgames.utils.report.text import escape

TORUS = cellgames.make("torus-v0", size=3)
NAME = "a$x^$"  # fails as mathematics: nothing is raised


def test_agents_may_have_dollars_in_their_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = {"random": NAME, "greedy": "$b$"}
    records = [
        dataclasses.replace(record, agents=tuple(names[name] for name in record.agents))
        for record in played(TORUS, ["random", "greedy"], 12)
    ]
    agents = {name: load(spec, TORUS) for spec, name in names.items()} | {"c": load("random", TORUS)}
    report = analyse_games(
        TORUS,
        records,
        only=("openings", "places", "behaviour"),
        behaviour=lambda: [behaviour(TORUS, agents, records, positions=5, draws=1)],
    )
    files = write_report(tmp_path / "out", report)
    assert {"places_board_by_agent.png", "behaviour_map.png"} <= {path.name for path in files}
    with (tmp_path / "out" / "places_by_agent.csv").open(encoding="utf-8", newline="") as file:
        assert {row["agent"] for row in csv.DictReader(file)} == {NAME, "$b$"}
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert f"{escape('$b$')} (12), {escape(NAME)} (12)" in page
    assert r"\\$" not in page  # escaped once, for Markdown


def test_ratings_and_payoffs_are_drawn_with_such_names() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from cellgames.utils.report.plots import heat_map, shorten

    assert shorten(NAME) == r"a\$x^\$"
    assert shorten("checkpoint", 6) == "…point"

    def draw(figure: Figure) -> None:
        heat_map(figure, [NAME, "$b$"], [[0.5, 1], [0, 0.5]], [["", ""], ["", ""]], "Score", "games")

    assert png(Plot("scores", "", draw)).startswith(b"\x89PNG")
