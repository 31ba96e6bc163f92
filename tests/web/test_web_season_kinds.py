"""Seasons of the Cup, of tables and series in the browser: standings, the end, and every game watched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, browser, expect, page
from web_server import served

from cellgames.arena.season import season_reports
from cellgames.cli.main import main

RUNS = {
    "cup-of-patterns": "season toroidal-cup-v0 --patterns donutrandom --param max_generations=12 --teams 8 --days 3",
    "cup-of-bots": "season toroidal-cup-small-v0 --param max_generations=12 --agents random --teams 8 --days 3",
    "cup-of-four": "season toroidal-cup-v0 --param teams=4 --param max_generations=12 --teams 8 --days 3",
    "tables": "season grid-adaptation-small-v0 --agents random greedy --teams 8 --days 3",
    "series": "series grid-adaptation-small-v0 --agents random greedy --series 2",
}

_LINKS = "() => [...document.querySelectorAll('main a[href^=\"#/watch?\"]')].map((link) => link.getAttribute('href'))"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small run of each kind."""
    folder = tmp_path_factory.mktemp("kinds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(season_reports, "to_png", lambda picture: b"")
        for name, line in RUNS.items():
            assert main([*line.split(), "--seed", "2", "--no-store", "--quiet", "--out", str(folder / name)]) == 0
    return folder


@pytest.fixture(scope="module")
def site(results: Path) -> Iterator[str]:
    """The address of the page."""
    with served(results) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    with browser() as opened:
        yield opened


def opened(p: Any, site: str, name: str) -> None:
    """Go to a run as a visitor does."""
    p.goto(f"{site}/#/seasons")
    p.click(f"a:has-text('{name}')")
    p.wait_for_selector("table.standings")


@pytest.mark.parametrize("name", RUNS)
def test_every_game_of_a_run_is_watched_from_its_page(chromium: Any, site: str, results: Path, name: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        opened(p, site, name)
        links = sorted(set(p.evaluate(_LINKS)))
        games = (results / name / "games.jsonl").read_text().splitlines()
        assert links == sorted(f"#/watch?file={name}%2Fgames.jsonl&number={place + 1}" for place in range(len(games)))
        for link in links[:: 1 if len(links) < 20 else 5]:
            answer = p.request.get(f"{site}/api/records/replay?{link.partition('?')[2]}")
            assert answer.ok, answer.text()
        shown = p.locator("details[open] a").first
        names = shown.inner_text()
        shown.click()
        p.wait_for_selector(".cg-viewer input[type=range]")
        slider = p.locator(".cg-viewer input[type=range]").first
        slider.fill(str(slider.get_attribute("max")))
        record = json.loads(games[0])
        assert record["season"]["teams"][0] in names
        expect(p.locator(".cg-viewer")).to_contain_text(record.get("agents", record["season"]["teams"])[0])
        assert not complaints


@pytest.mark.parametrize("name", ["cup-of-patterns", "cup-of-bots"])
def test_a_season_of_the_cup_has_standings_and_a_bracket(chromium: Any, site: str, results: Path, name: str) -> None:
    bracket = json.loads((results / name / "bracket.json").read_text())
    lines = json.loads((results / name / "standings.json").read_text())["standings"]
    with page(chromium, DESKTOP) as (p, complaints):
        opened(p, site, name)
        expect(p.locator(".champion")).to_have_text(f"Champion: {bracket['champion']}")
        expect(p.locator(".bracket table.series")).to_have_count(len(bracket["series"]))
        rows = p.locator("table.standings tbody tr")
        assert rows.count() == len(lines) == 8
        leader = next(line for line in lines if line["rank"] == 1)
        assert leader["team"] in {row.locator("th").inner_text() for row in rows.all() if row.inner_text()[0] == "1"}
        assert not complaints


@pytest.mark.parametrize("name", ["tables", "cup-of-four"])
def test_a_season_of_tables_shows_its_final_table(chromium: Any, site: str, results: Path, name: str) -> None:
    final = json.loads((results / name / "final.json").read_text())
    with page(chromium, DESKTOP) as (p, complaints):
        opened(p, site, name)
        panel = p.locator("section", has=p.locator("h2:has-text('Final table')"))
        expect(panel.locator(".champion")).to_have_text(f"Champion: {final['champion']}")
        assert panel.locator("tbody th").all_inner_texts() == final["teams"]
        winner = panel.locator("tbody tr").nth(final["teams"].index(final["champion"]))
        assert winner.locator("td").first.inner_text() == str(max(final["wins"]))
        assert winner.locator("b").count() == max(final["wins"])
        result = final["results"][-1]
        cell = winner.locator("td a").last
        assert cell.inner_text() == f"{result['scores'][result['teams'].index(final['champion'])]:g}"
        cell.click()
        p.wait_for_selector(".cg-viewer input[type=range]")
        assert not complaints


def test_a_series_shows_the_order_of_each_and_its_matches(chromium: Any, site: str, results: Path) -> None:
    series = json.loads((results / "series" / "standings.json").read_text())["series"]
    with page(chromium, DESKTOP) as (p, complaints):
        opened(p, site, "series")
        assert p.locator("table.standings").count() == len(series) == 2
        for one, panel in zip(series, p.locator("section:has(table.standings)").all(), strict=True):
            assert panel.locator("h2").inner_text() == f"Series {one['series']}"
            assert panel.locator(".champion").inner_text() == f"Winner: {one['order'][0]['name']}"
            assert panel.locator("tbody th").all_inner_texts() == [player["name"] for player in one["order"]]
        matches = p.locator("details", has_text="Match 1").locator("li")
        assert [text.split(" series ")[-1] for text in matches.all_text_contents()] == ["1", "2"]
        assert not complaints
