"""Seasons in the browser: standings, bracket, every game watched; filters of lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import expect
from refusals import refused
from web_play import on_a_phone, with_refusals
from web_records import recorded

from cellgames.cli.main import main
from cellgames.web.record_library import Library, season_data, season_list

RUNS = {
    "cup/first": "season torus-small-v0 --agents greedy random --teams 8 --days 3",
    "patterns": "season toroidal-cup-v0 --patterns donutrandom --param max_generations=12 --teams 8 --days 3",
}
_LINKS = "() => [...document.querySelectorAll('main a[href^=\"#/watch?\"]')].map((link) => link.getAttribute('href'))"


@pytest.fixture(scope="module", autouse=True)
def _runs(results: Path) -> None:
    """A small run of each kind, and beside them what looks like one."""
    for name, line in RUNS.items():
        assert main([*line.split(), "--seed", "1", "--no-store", "--quiet", "--out", str(results / name)]) == 0
    (results / "other").mkdir()
    (results / "other" / "season.json").write_text("[]")


def test_seasons_are_found_and_read_below_the_folder_only(results: Path) -> None:
    library = Library(results)
    listed = season_list(library)
    assert sorted(one["folder"] for one in listed) == sorted(RUNS)
    found = next(one for one in listed if one["folder"] == "cup/first")
    champion = json.loads((results / "cup" / "first" / "bracket.json").read_text())["champion"]
    assert (found["game"], len(found["players"]), found["champion"]) == ("torus-v0", 8, champion)
    season = season_data(library, "cup/first")
    lines = (results / "cup" / "first" / "games.jsonl").read_text().splitlines()
    assert [game["number"] for game in season["games"]] == list(range(1, len(lines) + 1))
    assert season["games"][0]["stage"] == "day 1"
    for name in ("..", "cup/../..", "/etc", "cup\\first"):
        with refused("name"):
            season_data(library, name)
    for name in ("cup", "x" * 600):  # no name of a file is as long as that
        with pytest.raises(LookupError):
            season_data(library, name)
    with refused("other/season.json"):
        season_data(library, "other")


def test_a_damaged_file_hides_no_season(tmp_path: Path) -> None:
    for name, settings in (("whole", '"teams": [1, 2]'), ("torn", '"teams": [1, 2, 3]'), ("other", '"teams": 8')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "season.json").write_text(f'{{"game": "torus-v0", {settings}}}')
        (tmp_path / name / "bracket.json").write_text('{"champion": "Ants"}' if name == "whole" else '{"champion"')
    found = {one["folder"]: (len(one["players"]), one["champion"]) for one in season_list(Library(tmp_path))}
    assert found == {"whole": (2, "Ants"), "torn": (3, None)}


@pytest.mark.slow
@on_a_phone
def test_a_season_shows_its_bracket_and_a_game_of_it_is_watched(p: Any, site: str, results: Path) -> None:
    bracket = json.loads((results / "cup" / "first" / "bracket.json").read_text())
    p.goto(f"{site}/#/seasons")
    p.click("a[title='cup/first']")
    expect(p.locator(".champion")).to_have_text(f"Champion: {bracket['champion']}, played by {bracket['agent']}")
    expect(p.locator(".bracket .round")).to_have_count(3)
    expect(p.locator(".bracket table.series")).to_have_count(len(bracket["series"]))
    last = p.locator(".bracket table.series").last
    assert p.locator(".bracket tr.won th").last.inner_text().endswith(bracket["champion"])
    assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "wide tables scroll inside"
    for width in (1280, 1024, 820):
        p.set_viewport_size({"width": width, "height": 800})
        assert p.evaluate(
            "() => document.querySelector('.bracket').scrollWidth <= document.querySelector('.bracket').clientWidth"
        )
    expect(p.locator("details", has_text="Day 3").locator("li")).to_have_count(4)
    final = bracket["series"][-1]
    expect(last.locator("td a")).to_have_count(2 * len(final["results"]))
    last.locator("td a").first.click()
    p.wait_for_selector(".cg-viewer input[type=range]")
    shown = p.inner_text(".cg-viewer")
    assert "greedy" in shown or "random" in shown


def test_every_game_of_a_run_is_watched_from_its_page(p: Any, site: str, results: Path) -> None:
    p.goto(f"{site}/#/seasons")
    p.click("a[title='patterns']")
    p.wait_for_selector("table.standings")
    links = sorted(set(p.evaluate(_LINKS)))
    games = (results / "patterns" / "games.jsonl").read_text().splitlines()
    assert links == sorted(f"#/watch?file=patterns%2Fgames.jsonl&number={place + 1}" for place in range(len(games)))
    for link in links[::7]:
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


def rows_of(p: Any) -> list[str]:
    """The games that a list shows, without those that could not be read."""
    p.wait_for_selector("form.filters")
    return [row for row in p.locator("table.list tbody tr").all_inner_texts() if "Not a record" not in row]


@pytest.mark.slow
@with_refusals
def test_a_file_of_ones_own_is_filtered_as_a_file_of_the_server_is(p: Any, site: str, results: Path) -> None:
    """A file with a torn line, a forfeit, a resignation and another game."""
    first, *others = (results / "cup" / "first" / "games.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in others[:20]]
    for record, reason in zip(records, ("resigned", "ran out of time: 3 s", "it crashed"), strict=False):
        record["result"]["forfeit"] = {"seat": 0, "reason": reason}
    lines = [*map(json.dumps, records), first[: len(first) // 2], recorded("hex-v0", size=3).to_json()]
    (results / "mixed.jsonl").write_text("\n".join(lines) + "\n")
    found = {}
    for query in ("", "only-agent=RANDOM&only-least=7", "only-result=forfeit", "only-game=hex&only-most=200"):
        p.goto(f"{site}/#/watch?file=mixed.jsonl&{query}")
        p.wait_for_selector(".path:has-text('mixed.jsonl')")
        found[query] = rows_of(p)
        p.goto("about:blank")
    all_games, some, forfeits, others_games = map(len, found.values())
    assert (all_games, forfeits, others_games) == (21, 3, 1)
    assert 3 < some < 21
    p.goto(f"{site}/#/watch")
    p.set_input_files("#record-file", results / "mixed.jsonl")
    assert rows_of(p) == found.pop("")
    for query, rows in found.items():
        p.evaluate("(query) => { location.hash = `#/watch?list=own&${query}`; }", query)
        expect(p.locator("table.list tbody tr")).to_have_count(len(rows))
        assert rows_of(p) == rows, query
