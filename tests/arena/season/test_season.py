"""Seasons: what they play, what they leave, and that a killed one ends as if nothing had happened."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import Command
from season_coin import Coin, made_up

from cellgames.arena import Season, SeasonOptions, assign_divisions, play_season
from cellgames.arena.season.games import REPLAYS
from cellgames.arena.season.standings import SIDES

TEAMS = made_up(9)


def run(out: Path, coin: Coin) -> Season:
    return play_season(TEAMS, coin, SeasonOptions(days=5), out=out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("seasons"), Coin(30)).out


def test_days_are_played_in_even_batches(tmp_path: Path) -> None:
    """9 teams: 4 games a day; 5 days of about 10 games are 2 + 3 days."""
    coin = Coin(level=0, chunk=10)
    done = run(tmp_path / "run", coin)
    assert coin.batches[:2] == [8, 12]
    # Then the series of a round side by side, one game each at a time.
    games = [max(len(series.results) for series in number) for number in done.bracket.rounds]
    batches = coin.batches[2:]
    assert len(batches) == sum(games)
    assert batches[:3] == [4, 4, 4]
    assert batches[-games[-1] :] == [1] * games[-1]


def test_the_table_follows_from_the_games(whole: Path) -> None:
    """The files are counted anew, with nothing but the lines of the games."""
    last: dict[tuple[str, int], dict[str, Any]] = {}
    for line in (whole / "games.jsonl").read_text().splitlines():
        game = json.loads(line)
        if game["season"]["stage"].startswith("day"):
            last[game["season"]["stage"], game["season"]["game"]] = game
    halves, points = Counter[str](), Counter[str]()
    for game in last.values():
        for seat, team in enumerate(game["season"]["teams"]):
            halves[team] += {None: 1, seat: 2}.get(game["winner"], 0)
            points[team] += game["scores"][seat]
    table = json.loads((whole / "standings.json").read_text())["standings"]
    assert {line["team"] for line in table} == {team.name for team in TEAMS}
    assert all((2 * one["wins"], one["points"]) == (halves[one["team"]], points[one["team"]]) for one in table)
    merits = [(line["wins"], line["points"], line["rolls"]) for line in table]
    assert merits == sorted(merits, reverse=True)


def test_the_bracket_on_file_is_the_playoffs(whole: Path) -> None:
    data = json.loads((whole / "bracket.json").read_text())
    assert data["seeds"] == json.loads((whole / "standings.json").read_text())["seeds"]
    assert [series["best_of"] for series in data["series"]] == [5, 5, 5, 5, 5, 5, 7]
    for series in data["series"]:
        assert max(series["wins"]) == 1 + series["best_of"] // 2
        assert series["results"][-1]["winner"] == series["winner"]
        assert all(sorted(game["teams"]) == sorted(series["teams"]) for game in series["results"])
    assert data["champion"] == data["series"][-1]["winner"]


def test_names_are_words_and_no_markdown_and_one_is_singular(tmp_path: Path) -> None:
    teams = [replace(team, name=f"*{team.name[0]}* <b>|_{number}_") for number, team in enumerate(TEAMS[:8])]
    leagues = {TEAMS[0].league: "[North](x)", TEAMS[-1].league: "#South"}
    teams = [replace(team, league=list(leagues.values())[number // 4]) for number, team in enumerate(teams)]
    play_season(
        assign_divisions([replace(team, division="") for team in teams]), Coin(), SeasonOptions(days=1), out=tmp_path
    )
    report = (tmp_path / "report.md").read_text()
    plain = re.sub(r"\\.", "", report)  # what is escaped
    links = ("](season.json)", "](schedule.json)", "](games.jsonl)", "](standings.json)")
    assert re.findall(r"\]\([^)]*\)", plain) == list(links)
    assert not re.search(r"<|_\d|\d_|(?<!\*)\*(?!\*)", plain)
    assert len({line.count("|") for line in plain.splitlines() if line.startswith("| rank")}) == 1
    assert not re.search(r"\b1 (games|days)\b", report)


def test_a_season_in_which_nobody_ever_wins(tmp_path: Path) -> None:
    coin = Coin(level=100, chunk=100)
    done = run(tmp_path / "run", coin)
    assert coin.batches[: 1 + REPLAYS] == [20] * (1 + REPLAYS)
    assert {line.wins / line.games for line in done.table} == {0.5}
    series = [one for number in done.bracket.rounds for one in number]
    results = [result for one in series for result in one.results]
    assert all(result.rolls and result.attempts == 6 for result in results)
    assert all(1 <= roll <= SIDES for result in results for pair in result.rolls for roll in pair)
    data = json.loads((done.out / "bracket.json").read_text())
    assert [list(map(list, r.rolls)) for r in results] == [g["rolls"] for s in data["series"] for g in s["results"]]
    report = (done.out / "report.md").read_text()
    assert f"(replays: 5; dice {results[0].teams[0]} {results[0].rolls[0][0]}" in report


def test_a_season_writes_everything_and_says_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    words = "season torus-v0 --size 3 --teams 9 --days 3 --seed 2 --in-process --agents random arena_bots:First"
    out, err = command.both(words)
    folder = Path("results", "season", "torus-v0-size=3-teams=9-days=3-seed=2-agents=random_arena_bots_First")
    assert re.search(r"^rank +team +agent +wins +losses +points( +die)?$", out, re.MULTILINE)
    assert len(re.findall(r"^ +\d  [A-Z]\w+ [A-Z]\w+ +(random|arena_bots:First) +\d +\d +\d", out, re.MULTILINE)) == 9
    champion = r"Champion: [A-Z]\w+ [A-Z]\w+, played by (random|arena_bots:First)"
    assert re.search(rf"^Toroidal Cup Series: .* 4, .* \d\n{champion}$", out, re.MULTILINE)
    assert "report.md" in out
    assert f"cellgames replay {folder} " in out.replace("'", "")
    assert re.match(r"3 days: 12 of 12 games, \S+ a second\nAfter days 1 to 3 of 3:\n", err)
    assert "Toroidal Cup Series, game 4:" in err
    command(["replay", folder])


def test_teams_from_a_file(tmp_path: Path, command: Command) -> None:
    rows = [f"{'Old' if n % 2 else 'New'} Team {n},{'random' if n == 3 else ''},{'LM'[n % 2]}" for n in range(8)]
    file, out = tmp_path / "my teams.csv", tmp_path / "run"
    file.write_text("\n".join(["name,agent,league", *rows]))
    words = "season torus-v0 --size 3 --days 1 --chunk 3 --opening-plies 1 --quiet --in-process"
    printed = command(f"{words} --agents arena_bots:Last --teams '{file}' --out {out}")
    assert re.match(r"L, Even Division\nrank  team +agent ", printed)
    bracket = json.loads((out / "bracket.json").read_text())
    assert bracket["agent"] == ("random" if bracket["champion"] == "Old Team 3" else "arena_bots:Last")
    assert f"Champion: {bracket['champion']}, played by {bracket['agent']}\n" in printed
    assert f"**{bracket['champion']}**, played by **" in (out / "report.md").read_text()
    settings = json.loads((out / "season.json").read_text())
    assert settings["teams"][3] == {"name": "Old Team 3", "league": "M", "division": "Even Division", "agent": "random"}
    assert [team["agent"] for team in settings["teams"]].count("arena_bots:Last") == 7
    assert (settings["chunk"], settings["opening_plies"]) == (3, 1)
