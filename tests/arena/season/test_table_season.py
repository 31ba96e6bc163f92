"""Seasons of games of more than two seats: tables, points by places, the final, and that a killed one ends the same."""

from __future__ import annotations

import json
import pickle
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content
from season_coin import Dice

from cellgames.arena.records.store.store import Store
from cellgames.arena.season.cup import CupUmpire, start_of
from cellgames.arena.season.games import places_of
from cellgames.arena.season.playoffs import FINAL
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.season import Season, play_season
from cellgames.arena.season.standings import GameResult, points_of_places, shared_points, standings
from cellgames.arena.season.table_schedule import draw_tables, table_counts
from cellgames.arena.season.teams import Team, generate_names
from cellgames.cli.main import main
from cellgames.cluster.workers import Work

TEAMS = [Team(name) for name in generate_names(9, 0)]


def run(out: Path, umpire: Any = None, *, teams: Sequence[Team] = TEAMS, days: int = 7, **options: Any) -> Season:
    return play_season(teams, umpire or Dice(), SeasonOptions(days=days, **options), out=out)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("count", "seats", "days"), [(9, 4, 5), (16, 4, 15), (20, 8, 11), (8, 8, 7), (13, 3, 49)])
def test_a_schedule_is_fair(count: int, seats: int, days: int) -> None:
    names = generate_names(count, 1)
    schedule = draw_tables(names, seats, days, random.Random(3))
    assert len(schedule.days) == days
    games, held, met = Counter[str](), Counter[tuple[str, int]](), Counter[frozenset[str]]()
    for day in schedule.days:
        assert [len(set(table)) for table in day] == [seats] * (count // seats)
        playing = [team for table in day for team in table]
        assert len(set(playing)) == len(playing)  # one game a day
        games.update(playing)
        held.update((team, seat) for table in day for seat, team in enumerate(table))
        met.update(frozenset(pair) for table in day for pair in combinations(table, 2))
    assert max(games.values()) - min(games[team] for team in names) <= 1
    for team in names:
        each = [held[team, seat] for seat in range(seats)]
        assert max(each) - min(each) <= 1, (team, each)
    pairs = [met[frozenset(pair)] for pair in combinations(names, 2)]
    mean = sum(pairs) / len(pairs)
    assert sum((times - mean) ** 2 for times in pairs) < len(pairs)  # of random tables up to eleven times as much
    counts = table_counts(schedule, names)
    assert counts["meetings"] == (min(pairs), max(pairs))
    assert counts["games"] == (min(games.values()), max(games.values()))
    assert draw_tables(names, seats, days, random.Random(3)) == schedule
    assert draw_tables(names, seats, days, random.Random(4)) != schedule


def test_places_bring_points_and_shared_places_share_them() -> None:
    assert places_of([5, 9, 5, 1]) == (2, 1, 2, 4)
    assert points_of_places((), 4) == (3, 2, 1, 0)
    assert points_of_places((5, 2), 4) == (5, 2, 0, 0)
    assert shared_points((2, 1, 2, 4), (3, 2, 1, 0)) == [1.5, 3, 1.5, 0]
    assert shared_points((1, 1, 1, 1), (1, 0, 0, 0)) == [0.25] * 4
    # With the points of the default a place is worth the teams behind it, and half of those level with it.
    for scores in ((4, 4, 1), (1, 2, 3), (0, 0, 0), (7, 1, 1)):
        behind = [sum((own > s) + (own == s) / 2 for s in scores) - 0.5 for own in scores]
        assert shared_points(places_of(scores), points_of_places((), 3)) == behind


def test_standings_are_by_places_then_scores_then_dice() -> None:
    results = [
        GameResult(("a", "b", "c"), (9, 5, 1), "a", places=(1, 2, 3)),
        GameResult(("b", "c", "d"), (8, 8, 1), None, places=(1, 1, 3)),
        GameResult(("d", "a", "c"), (7, 3, 2), "d", places=(1, 2, 3)),
    ]
    table = standings("abcd", results, lambda team, roll: 7, (2, 1, 0))
    assert [(line.team, line.place_points, line.points, line.wins) for line in table] == [
        ("a", 3, 12, 1),
        ("b", 2.5, 13, 0.5),
        ("d", 2, 8, 1),
        ("c", 1.5, 11, 0.5),
    ]
    die = {"a": 1, "b": 90, "c": 5, "d": 50}
    level = standings("abcd", [], lambda team, roll: die[team], (2, 1, 0))
    assert [(line.team, line.rolls) for line in level] == [("b", (90,)), ("d", (50,)), ("c", (5,)), ("a", (1,))]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return run(tmp_path_factory.mktemp("seasons") / "whole")


def test_the_tables_follow_from_the_games(whole: Season) -> None:
    lines = lines_of(whole.out)
    days = [line for line in lines if line["season"]["stage"].startswith("day")]
    assert [[line["season"]["teams"] for line in days]] == [
        [list(table) for day in whole.schedule.days for table in day]
    ]
    assert all(line["season"]["attempt"] == 0 for line in days)  # who shares a place does not play again
    points = Counter[str]()
    for line in days:
        for seat, (team, own) in enumerate(zip(line["season"]["teams"], line["scores"], strict=True)):
            others = [score for other, score in enumerate(line["scores"]) if other != seat]
            points[team] += sum(2 * (own > score) + (own == score) for score in others)
    data = json.loads((whole.out / "standings.json").read_text())
    assert {line["team"]: 2 * line["place_points"] for line in data["standings"]} == dict(points)
    assert data["finalists"] == [line["team"] for line in data["standings"][:4]]
    assert [line["rank"] for line in data["standings"]] == list(range(1, 10))


def test_the_final_goes_on_until_a_team_has_won_four_games(whole: Season) -> None:
    final = json.loads((whole.out / "final.json").read_text())
    games = [line for line in lines_of(whole.out) if line["season"]["stage"] == FINAL]
    attempts = Counter(line["season"]["game"] for line in games)
    assert [result["attempts"] for result in final["results"]] == [attempts[n] for n in sorted(attempts)]
    assert final["champion"] == whole.bracket.champion == final["results"][-1]["winner"]
    assert max(final["wins"]) == 4
    assert sorted(final["wins"])[-2] < 4
    for number, result in enumerate(final["results"]):
        turn = number % 4
        assert result["teams"] == [*final["teams"][turn:], *final["teams"][:turn]]
        assert result["places"].count(1) == 1 or result["rolls"]
    report = (whole.out / "report.md").read_text()
    assert f"**{whole.bracket.champion}** is the champion of 9 teams after 7 days and 14 games" in report
    assert "3 2 1 0 points" in report
    assert set(content(whole.out)) == {path.name for path in whole.files}


def test_dice_decide_a_final_in_which_nobody_is_first(tmp_path: Path) -> None:
    done = run(tmp_path / "run", Dice(same=True), teams=TEAMS[:5], days=1)
    for result in done.bracket.rounds[0][0].results:
        assert (result.attempts, result.places) == (6, (1, 1, 1, 1))
        best = result.rolls.index(max(result.rolls))
        assert result.winner == result.teams[best]
    assert "dice" in (done.out / "report.md").read_text()


class InLine:
    """A worker that gets and gives everything pickled, at once."""

    def completed(self, work: Work[Any, Any], items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for item in items:
            copied, piece = pickle.loads(pickle.dumps((work, item)))
            yield item, pickle.loads(pickle.dumps(copied.start()(piece)))


def test_a_season_of_the_cup_with_four_teams_a_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Records, workers, replays, and the page of a game."""
    umpire = CupUmpire(["randys", "donutmultums"], max_generations=40, teams=4, chunk=4)
    done = run(tmp_path / "run", umpire, days=3)
    play_season(TEAMS, umpire, SeasonOptions(days=3), out=tmp_path / "workers", workers=InLine())
    assert content(tmp_path / "workers") == content(done.out)
    lines = lines_of(done.out)
    assert {len(line["scores"]) for line in lines} == {4}
    assert all(len(start_of(line)) == 4 and all(start_of(line)) for line in lines[:4])
    assert json.loads((done.out / "season.json").read_text())["seats"] == 4
    file, page = str(done.out / "games.jsonl"), tmp_path / "game.html"
    assert main(["replay", file]) == 0
    assert main(["replay", file, "--record", str(len(lines)), "--out", str(page)]) == 0
    assert all(team in page.read_text() for team in lines[-1]["season"]["teams"])
    changed = (done.out / "games.jsonl").read_text().splitlines()
    changed[0] = changed[0].replace('"winner":', '"winner":1')
    for line, code in ((changed[0], 2), (re.sub(',"checksum":"[^"]*"', "", changed[0]), 1)):
        (tmp_path / "changed.jsonl").write_text("\n".join([line, *changed[1:]]) + "\n")
        assert main(["replay", str(tmp_path / "changed.jsonl")]) == code
    capsys.readouterr()


def test_a_season_of_grid_adaptation_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("--param", "rounds=1", "--param", "size=5", "--param", "players=3", "--param", "flip_rounds=[]")
    words = ["season", "grid-adaptation-v0", *small, "--teams", "7", "--days", "3", "--agents", "random"]
    words += ["--out", "run", "--store", "games.db", "--place-points", "5", "2"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert re.match(r"rank +team +agent +place points +games +wins +points( +die)?\n", out)
    assert re.search(r"^Final Table: \w+ \w+ 4, .*\nChampion: \w+ \w+, played by \w+$", out, re.MULTILINE)
    assert "After days 1 to 3 of 3:\n" in err
    assert json.loads(Path("run/season.json").read_text())["place_points"] == [5, 2, 0]
    assert {line["opening"] for line in lines_of(Path("run"))} == {0}
    games = len(lines_of(Path("run")))
    with Store("games.db", create=False) as store:
        assert len(store) == games
    assert main(["replay", "run"]) == 0
    before = content(Path("run"))
    assert main([*words, "--quiet"]) == 0
    assert f"{games} games, {games} of them from before" in capsys.readouterr().out
    assert content(Path("run")) == before
