"""Seasons of the Toroidal Cup itself: random arrangements of patterns, and Life."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cellgames.arena import Season, SeasonOptions, Team, assign_divisions, generate_names, play_season
from cellgames.arena.formats import rle_to_board
from cellgames.arena.season.cup import CupRecord, CupUmpire, start_of
from cellgames.arena.season.games import Fixture, Played, attempts, results_of
from cellgames.cli.main import main
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, arrange, simulate
from cellgames.envs.toroidal_cup.simulator import boards

TEAMS = assign_divisions([Team(name) for name in generate_names(8, 0)])


def umpire(*patterns: str, **options: Any) -> CupUmpire:
    return CupUmpire(patterns or ("randys", "donutmultums"), **{"max_generations": 40, **options})


def run(out: Path, *patterns: str, **options: Any) -> Season:
    return play_season(TEAMS, umpire(*patterns, **options), SeasonOptions(days=3, seed=3), out=out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Season:
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
    again = simulate(starts, ROWS, COLS, max_generations=40)
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


def test_level_games_are_replayed_on_the_same_pattern_with_fresh_arrangements() -> None:
    """After one generation every r-pentomino has six cells, so that nobody leads."""
    played: list[Played] = []

    def play(batch: list[Fixture]) -> list[Played]:
        played.extend(games.play(batch, 0))
        return played[-len(batch) :]

    games = umpire("randys", "donutpi", max_generations=1)
    results = list(results_of(fixtures(3), attempts(fixtures(3), play), 0, dice=True))
    tried = {number: [one.data for one in played if one.fixture.game == number] for number in (1, 2, 3)}
    for result, records in zip(results, tried.values(), strict=True):
        assert result.attempts == len(records)
        assert len({record["pattern"] for record in records}) == 1
        assert len({record["seed"] for record in records}) == len(records)
        assert all(record["winner"] == 0 for record in records[:-1])
        assert bool(result.rolls) == (records[-1]["winner"] == 0)
    assert max(map(len, tried.values())) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1, 2]}, r"the result differs: scores recorded 1/2, replayed \d+/\d+$"),
        ({"generations": 39}, "the result differs: generations recorded 39, replayed 40$"),
        ({"winner": 0}, "the result differs: winner recorded 0, replayed [12]$"),
        ({"truncated": False}, "the result differs: truncated recorded False, replayed True$"),
        ({"max_generations": 39}, "the result differs: scores recorded .*; generations recorded 40, replayed 39"),
        ({"seed": 5}, "the result differs: scores recorded "),
        ({"pattern": "donutpie"}, "pattern: expected one of .*donutpi.*, got 'donutpie'"),
        ({"survivors": "die"}, "survivors: expected one of recolour, keep, got 'die'"),
        ({"scores": [1, 2, 3]}, "expected two scores, got 3"),
        ({"scores": [1.5, 2]}, "scores: expected a list of whole numbers, got "),
        ({"seed": -1}, "seed: expected a whole number from 0 to "),
        ({"season": {"stage": "day 1"}}, "expected a game of a season, got "),
    ],
)
def test_replay_fails_loudly_on_a_changed_record(
    change: dict[str, Any], message: str, tmp_path: Path, whole: Season, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, *_ = lines_of(whole.out)
    file = tmp_path / "games.jsonl"
    file.write_text("\n".join(map(json.dumps, ({**first}, {**second, **change}))) + "\n")
    reads = message.startswith("the result")
    assert main(["replay", str(file)]) == (1 if reads else 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(message, err.rstrip(), re.DOTALL)
    assert ("game 2: " in err) if reads else ("line 2" in err)
    if reads:
        assert main(["replay", str(file), "--record", "1"]) == 0


def test_replay_checks_all_games_and_shows_one(
    tmp_path: Path, whole: Season, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(whole.out / "games.jsonl")
    assert main(["replay", file]) == 0
    same = "played again with the recorded scores, generations and winners."
    assert capsys.readouterr().out == f"All {whole.games} games were {same}\n"
    assert main(["replay", file, "--show"]) == 2
    assert "--show: expected one game" in capsys.readouterr().err
    assert main(["replay", file, "--record", "3", "--show"]) == 0
    out = capsys.readouterr().out
    line = lines_of(whole.out)[2]
    start, end, said = out.split("\n\n")
    assert start.startswith(f"{PATTERNS[line['pattern']].title}, day 1, game 3: generation 0\n")
    assert said == f"The game was {same}\n"
    for shown, scores in ((start, map(len, start_of(line))), (end, line["scores"])):
        for number, (team, score) in enumerate(zip(line["season"]["teams"], scores, strict=True), 1):
            assert f"\n{number} {team}: {score} cells, " in shown


def test_replay_makes_an_animation_of_life_from_any_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Porchlights have no shapes that teams could place, so that only seasons of the Cup play them."""
    image = pytest.importorskip("PIL.Image")
    (game,) = umpire("porchlights", max_generations=12).play(fixtures(1), 0)
    file = tmp_path / "games.jsonl"
    file.write_text(game.to_json() + "\n")
    assert main(["replay", str(file), "--out", str(tmp_path / "game.gif")]) == 0
    assert f"Saved {tmp_path / 'game.gif'}" in capsys.readouterr().out
    with image.open(tmp_path / "game.gif") as gif:
        assert gif.n_frames == 13
        assert gif.info["duration"] == 60
        gif.seek(12)
        assert gif.info["duration"] == 3000


def test_teams_without_agents_play_the_cup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["toroidal-cup-v0", "--teams", "8", "--days", "1", "--quiet", "--out", str(out)]
    assert main(["season", *words, "--patterns", "donutrandom", "--param", "max_generations=20"]) == 0
    shown = capsys.readouterr().out
    assert "Champion: " in shown
    games = len(lines_of(out))
    assert f"replay {out} --record {games} --out" in shown.split("Written to")[1]
    assert {line["pattern"] for line in lines_of(out)} == {"donutrandom"}
    settings = json.loads((out / "season.json").read_text())
    assert (settings["max_generations"], len(settings["teams"])) == (20, 8)


def test_boards_are_exported_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The games have no moves; a board of Life is all that another program can take."""
    folder, out = tmp_path / "season", tmp_path / "board.rle"
    run(folder, chunk=4)
    record = CupRecord.from_json((folder / "games.jsonl").read_bytes().splitlines()[1])
    words = ["export", str(folder), "--record", "2", "--out", str(out)]
    assert main([*words, "--format", "rle", "--all-states", "--generation", "0"]) == 0
    assert rle_to_board(out.read_text()) == boards([start_of(vars(record))], ROWS, COLS)[0].tolist()
    assert main([*words, "--format", "rle", "--all-states"]) == 0
    cells = np.array(rle_to_board(out.read_text()))
    assert [int((cells == team).sum()) for team in (1, 2)] == list(record.scores)
    out.unlink()
    capsys.readouterr()
    for more, reason in (
        (["--format", "parquet"], "--format: expected rle"),
        (["--format", "rle", "--turn", "1"], "have no moves"),
        (["--format", "rle", "--generation", "41"], "expected a generation from 0 to 40, got 41"),
    ):
        assert main([*words, *more]) == 2
        assert reason in " ".join(capsys.readouterr().err.split())
    assert not out.exists()
