"""Seasons of the Toroidal Cup itself: random arrangements of patterns, and Life."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cellgames.arena import season_reports
from cellgames.arena.season import Season, play_season
from cellgames.arena.season_cup import CupUmpire, start_of
from cellgames.arena.season_games import Fixture, Played, settle
from cellgames.arena.season_teams import Team, generate_names, place
from cellgames.cli import main
from cellgames.envs.core import compiling
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, arrange, simulate

TEAMS = place([Team(name) for name in generate_names(8, 0)])


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pixels, and no compiler: it takes longer than all the games here."""
    monkeypatch.setattr(season_reports, "png", lambda picture: b"")
    monkeypatch.setattr(compiling, "compiler_found", lambda device: False)


def umpire(*patterns: str, **options: Any) -> CupUmpire:
    return CupUmpire(patterns or ("randys", "donutmultums"), **{"max_generations": 40, "compile": "never", **options})


def run(out: Path, *patterns: str, **options: Any) -> Season:
    return play_season(TEAMS, umpire(*patterns, **options), out=out, days=3, seed=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Season:
    """A season that nothing disturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(season_reports, "png", lambda picture: b"")
        return run(tmp_path_factory.mktemp("seasons") / "whole", chunk=4)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def fixtures(count: int) -> list[Fixture]:
    return [Fixture("day 1", number, (TEAMS[0].name, TEAMS[1].name)) for number in range(1, count + 1)]


def test_every_game_can_be_played_again_from_its_record(whole: Season) -> None:
    lines = lines_of(whole.out)
    assert len(lines) == whole.games
    assert {line["pattern"] for line in lines} == {"randys", "donutmultums"}
    assert len({line["seed"] for line in lines}) == len(lines)
    starts = [start_of(line) for line in lines]
    assert starts[0] == arrange(lines[0]["pattern"], np.random.default_rng(lines[0]["seed"]))
    again = simulate(starts, ROWS, COLS, max_generations=40, compile="never")
    assert again.scores.tolist() == [line["scores"] for line in lines]
    assert again.generations.tolist() == [line["generations"] for line in lines]
    assert again.winner.tolist() == [line["winner"] for line in lines]
    assert again.truncated.tolist() == [line["truncated"] for line in lines] == [True] * len(lines)
    # Team 1 has the first seat, and points are live cells.
    points = Counter[str]()
    for line in lines:
        if line["season"]["stage"].startswith("day") and line["winner"]:
            for team, score in zip(line["season"]["teams"], line["scores"], strict=True):
                points[team] += score
    assert {line.team: line.points for line in whole.table} == dict(points)
    settings = json.loads((whole.out / "season.json").read_text())
    assert (settings["game"], settings["patterns"]) == ("toroidal-cup-v0", ["randys", "donutmultums"])
    assert (settings["max_generations"], settings["survivors"]) == (40, "recolour")


def test_a_killed_season_of_the_cup_ends_with_the_same_bytes(tmp_path: Path, whole: Season) -> None:
    before = {path.name: path.read_bytes() for path in whole.out.iterdir()}
    lines = before["games.jsonl"].splitlines(keepends=True)
    (tmp_path / "season.json").write_bytes(before["season.json"])
    (tmp_path / "games.jsonl").write_bytes(b"".join(lines[:18]) + lines[18][:100])  # within the playoffs
    assert 0 < run(tmp_path, chunk=4).played < len(lines) - 12
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_level_games_are_replayed_on_the_same_pattern_with_fresh_arrangements() -> None:
    """After one generation every r-pentomino has six cells, so that nobody leads."""
    played: list[Played] = []

    def play(batch: list[Fixture]) -> list[Played]:
        played.extend(games.play(batch, 0))
        return played[-len(batch) :]

    games = umpire("randys", "donutpi", max_generations=1)
    results = list(settle(fixtures(3), play, 0, dice=True))
    attempts = {number: [one.data for one in played if one.fixture.game == number] for number in (1, 2, 3)}
    for result, records in zip(results, attempts.values(), strict=True):
        assert result.attempts == len(records)
        assert len({record["pattern"] for record in records}) == 1
        assert len({record["seed"] for record in records}) == len(records)
        assert all(record["winner"] == 0 for record in records[:-1])
        assert bool(result.rolls) == (records[-1]["winner"] == 0)
    assert max(map(len, attempts.values())) == 6


def test_patterns_are_drawn_with_equal_chance() -> None:
    games = umpire(*PATTERNS)
    drawn = Counter(games._start(fixture, 0)["pattern"] for fixture in fixtures(1600))
    assert set(drawn) == set(PATTERNS)
    assert 60 < min(drawn.values()) <= max(drawn.values()) < 145  # 100 expected, standard deviation 9.7
    assert CupUmpire().patterns == list(PATTERNS)


def test_a_game_to_its_end() -> None:
    (game,) = CupUmpire(["donutrandom"], compile="never").play(fixtures(1), 1)
    assert game.data["truncated"] is False
    assert game.data["generations"] >= 243
    assert game.winner == int(game.scores[1] > game.scores[0])
    assert game.scores[0] != game.scores[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed: expected [0-9]+, got 1"),
        ({"pattern": "donutmath"}, "pattern: expected (randys|donutmultums), got donutmath"),
        ({"winner": 3}, "expected two scores and a winner from 0 to 2, got .* and 3"),
        ({"scores": [1]}, r"expected two scores and a winner from 0 to 2, got \[1\] and "),
    ],
)
def test_changed_records_are_refused(change: dict[str, Any], message: str) -> None:
    games = umpire()
    (fixture,) = fixtures(1)
    (played,) = games.play([fixture], 0)
    assert games.read(fixture, 0, played.to_json().encode()) == played
    line = json.dumps({**json.loads(played.to_json()), **change})
    with pytest.raises(ValueError, match=message):
        games.read(fixture, 0, line.encode())
    short = {name: value for name, value in json.loads(line).items() if name != "generations"}
    with pytest.raises(ValueError, match="missing fields: generations"):
        games.read(fixture, 0, json.dumps(short).encode())


@pytest.mark.parametrize(
    ("patterns", "options", "message"),
    [
        (["randys", "rnadys"], {}, "unknown pattern 'rnadys'; known: .*randys"),
        (["randys", "randys"], {}, "one or more different patterns, got randys, randys"),
        ([], {}, "one or more different patterns, got none"),
        (None, {"max_generations": 0}, "max_generations must be a whole number of at least 1, got 0"),
        (None, {"chunk": 0.5}, "chunk must be a whole number of at least 1, got 0.5"),
        (None, {"survivors": "die"}, "survivors must be 'recolour' or 'keep', got 'die'"),
    ],
)
def test_settings_that_cannot_be(patterns: list[str] | None, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CupUmpire(patterns, **options)


# ---------------------------------------------------------------- the command


def test_teams_without_agents_play_the_cup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["--game", "toroidal-cup-v0", "--teams", "8", "--days", "1", "--quiet", "--out", str(out)]
    assert main(["season", *words, "--patterns", "donutrandom", "--param", "max_generations=20"]) == 0
    shown = capsys.readouterr().out
    assert "Champion: " in shown
    assert "replay" not in shown.split("Written to")[1]
    assert {line["pattern"] for line in lines_of(out)} == {"donutrandom"}
    settings = json.loads((out / "season.json").read_text())
    assert (settings["max_generations"], len(settings["teams"])) == (20, 8)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--patterns rnadys", "unknown pattern 'rnadys'"),
        ("--opening-plies 2", "--opening-plies is for bots"),
        ("--param stride=2", "teams without agents, --param: "),
        ("--size 4", "teams without agents, --param: "),
        ("--param max_generations=soon", "max_generations must be a whole number of at least 1, got 'soon'"),
    ],
)
def test_errors_of_the_cup(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["season", "--game", "toroidal-cup-v0", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_bots_play_the_cup_by_placing_shapes(tmp_path: Path) -> None:
    """All at once, with chance in the game: the small preset with its shapes."""
    words = ["--game", "toroidal-cup-small-v0", "--param", "max_generations=30", "--teams", "8", "--days", "1"]
    out = tmp_path / "run"
    assert main(["season", *words, "--agents", "random", "--quiet", "--out", str(out)]) == 0
    lines = lines_of(out)
    assert all(" " in move for line in lines for move in line["moves"])
    assert main(["replay", str(out / "games.jsonl")]) == 0
