"""Seasons in the browser: standings, schedule and bracket, every game watched by a click; filters of lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, PHONE, browser, expect, page
from web_server import served

from cellgames.cli.main import main
from cellgames.web.record_library import Library
from cellgames.web.season_folders import season_data, season_list


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a season of eight teams, and beside it what looks like one."""
    folder = tmp_path_factory.mktemp("seasons")
    agents = ["--agents", "greedy", "random"]
    options = ["--teams", "8", "--days", "3", "--seed", "1", "--out", str(folder / "cup" / "first")]
    assert main(["season", "torus-small-v0", *agents, *options, "--no-store"]) == 0
    (folder / "other").mkdir()
    (folder / "other" / "season.json").write_text("[]")
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


def test_seasons_are_found_and_read_below_the_folder_only(results: Path) -> None:
    library = Library(results)
    (found,) = season_list(library)
    champion = json.loads((results / "cup" / "first" / "bracket.json").read_text())["champion"]
    assert (found["folder"], found["kind"], found["game"]) == ("cup/first", "season", "torus-v0")
    assert (found["players"], found["champion"]) == (8, champion)
    season = season_data(library, "cup/first")
    lines = (results / "cup" / "first" / "games.jsonl").read_text().splitlines()
    assert [game["number"] for game in season["games"]] == list(range(1, len(lines) + 1))
    assert season["games"][0]["stage"] == "day 1"
    for name in ("..", "cup/../..", "/etc", "cup\\first"):
        with pytest.raises(ValueError, match="below the results folder"):
            season_data(library, name)
    with pytest.raises(LookupError):
        season_data(library, "cup")
    with pytest.raises(ValueError, match="JSON object"):
        season_data(library, "other")


def test_a_damaged_file_hides_no_season(tmp_path: Path) -> None:
    for name, settings in (("whole", '"teams": [1, 2]'), ("torn", '"teams": [1, 2, 3]'), ("other", '"teams": 8')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "season.json").write_text(f'{{"game": "torus-v0", {settings}}}')
        (tmp_path / name / "bracket.json").write_text('{"champion": "Ants"}' if name == "whole" else '{"champion"')
    found = {one["folder"]: (one["players"], one["champion"]) for one in season_list(Library(tmp_path))}
    assert found == {"whole": (2, "Ants"), "torn": (3, None)}


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_a_season_shows_its_bracket_and_a_game_of_it_is_watched(
    chromium: Any, site: str, results: Path, size: tuple[int, int]
) -> None:
    bracket = json.loads((results / "cup" / "first" / "bracket.json").read_text())
    with page(chromium, size) as (p, complaints):
        p.goto(f"{site}/#/seasons")
        p.click("a:has-text('cup/first')")
        expect(p.locator(".champion")).to_have_text(f"Champion: {bracket['champion']}")
        expect(p.locator(".bracket .round")).to_have_count(3)
        expect(p.locator(".bracket table.series")).to_have_count(len(bracket["series"]))
        last = p.locator(".bracket table.series").last
        assert p.locator(".bracket tr.won th").last.inner_text().endswith(bracket["champion"])
        assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "wide tables scroll inside"
        expect(p.locator("details", has_text="Day 3").locator("li")).to_have_count(4)
        final = bracket["series"][-1]
        expect(last.locator("td a")).to_have_count(2 * len(final["results"]))
        last.locator("td a").first.click()
        p.wait_for_selector(".cg-viewer input[type=range]")
        shown = p.inner_text(".cg-viewer")
        assert "greedy" in shown or "random" in shown
        assert not complaints


def test_a_list_is_filtered_and_the_address_keeps_the_filter(chromium: Any, site: str, results: Path) -> None:
    records = [json.loads(line) for line in (results / "cup" / "first" / "games.jsonl").read_text().splitlines()]
    long = sorted(record["result"]["turns"] for record in records)[len(records) // 2]
    fits = [one for one in records if "random" in one["agents"] and one["result"]["turns"] >= long]
    assert 0 < len(fits) < len(records)
    with page(chromium, PHONE) as (p, complaints):
        p.goto(f"{site}/#/watch?file=cup%2Ffirst%2Fgames.jsonl")
        rows = p.locator("table.list tbody tr")
        expect(rows).to_have_count(min(50, len(records)))
        p.get_by_label("Agent").fill("RANDOM")
        p.get_by_label("Turns from").fill(str(long))
        p.click("button:has-text('Filter')")
        expect(rows).to_have_count(len(fits))
        p.reload()
        expect(rows).to_have_count(len(fits))
        assert p.get_by_label("Agent").input_value() == "RANDOM"
        assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        p.get_by_label("Result").select_option("draw")
        p.click("button:has-text('Filter')")
        expect(p.locator("main")).to_contain_text("No game fits.")
        assert not complaints
