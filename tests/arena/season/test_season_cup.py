"""Seasons of the Toroidal Cup itself: random arrangements of patterns, and Life."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from refusals import refused
from season_coin import made_up

from cellgames.arena import Season, SeasonOptions, play_season
from cellgames.arena.formats import rle_to_board
from cellgames.arena.season.cup import CupRecord, CupUmpire, start_of, verify
from cellgames.arena.season.games import Fixture, Played, attempts, results_of
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, arrange
from cellgames.envs.toroidal_cup.simulator import boards

TEAMS = made_up(8)


def umpire(*patterns: str, **options: Any) -> CupUmpire:
    return CupUmpire(patterns or ("randys", "donutmultums"), **{"max_generations": 40, **options})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Season:
    return play_season(TEAMS, umpire(chunk=4), SeasonOptions(days=3, seed=3), out=tmp_path_factory.mktemp("seasons"))


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def fixtures(count: int) -> list[Fixture]:
    return [Fixture("day 1", number, (TEAMS[0].name, TEAMS[1].name)) for number in range(1, count + 1)]


def test_games_are_arrangements_of_seeds_of_their_own(whole: Season) -> None:
    lines = lines_of(whole.out)
    assert len(lines) == whole.games
    assert {line["pattern"] for line in lines} == {"randys", "donutmultums"}
    assert len({line["seed"] for line in lines}) == len(lines)
    assert {(line["max_generations"], line["truncated"]) for line in lines} == {(40, True)}
    assert start_of(lines[0]) == arrange(lines[0]["pattern"], np.random.default_rng(lines[0]["seed"]))
    settings = json.loads((whole.out / "season.json").read_text())
    assert (settings["game"], settings["patterns"]) == ("toroidal-cup-v0", ["randys", "donutmultums"])
    assert (settings["max_generations"], settings["survivors"]) == (40, "recolour")


def test_level_games_are_replayed_on_the_same_pattern_with_fresh_arrangements() -> None:
    """After one generation every r-pentomino has six cells, so that nobody leads."""
    played: list[Played] = []
    games = umpire("randys", "donutpi", max_generations=1)

    def play(batch: list[Fixture]) -> list[Played]:
        played.extend(games.play(batch, 0))
        return played[-len(batch) :]

    results = list(results_of(attempts(fixtures(3), play), 0, dice=True))
    tried = {number: [one.data for one in played if one.fixture.game == number] for number in (1, 2, 3)}
    for result, records in zip(results, tried.values(), strict=True):
        assert result.attempts == len(records)
        assert len({record["pattern"] for record in records}) == 1
        assert len({record["seed"] for record in records}) == len(records)
        assert all(record["winner"] == 0 for record in records[:-1])
        assert bool(result.rolls) == (records[-1]["winner"] == 0)
    assert max(map(len, tried.values())) == 6


@pytest.mark.parametrize(
    ("change", "name"),
    [
        *(({"scores": (1, 2)}, "scores"), ({"generations": 39}, "generations"), ({"winner": 0}, "winner")),
        *(({"truncated": False}, "truncated"), ({"max_generations": 39}, "scores"), ({"seed": 5}, "scores")),
    ],
)
def test_a_changed_record_does_not_replay(change: dict[str, Any], name: str, whole: Season) -> None:
    first, second, *_ = map(CupRecord.from_json, (whole.out / "games.jsonl").read_bytes().splitlines())
    ((number, error),) = verify([first, replace(second, **change)])
    assert (number, error.cause.startswith(f"the result differs: {name} recorded")) == (1, True)


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"pattern": "donutpie"}, "pattern"),
        ({"survivors": "die"}, "survivors"),
        ({"scores": [1, 2, 3]}, "scores"),
        ({"scores": [1.5, 2]}, "scores"),
        ({"seed": -1}, "seed"),
        ({"season": {"stage": "day 1"}}, ""),
    ],
)
def test_other_lines_are_refused(change: dict[str, Any], parameter: str, whole: Season) -> None:
    with refused(parameter):
        CupRecord.from_json(json.dumps({**lines_of(whole.out)[0], **change}))


def test_replay_names_the_game_that_was_changed(tmp_path: Path, whole: Season, command: Command) -> None:
    first, second, *_ = lines_of(whole.out)
    file = tmp_path / "games.jsonl"
    for change, code, said in (({"winner": 0}, 1, "game 2: "), ({"seed": -1}, 2, "line 2")):
        file.write_text("\n".join(map(json.dumps, (first, {**second, **change}))) + "\n")
        assert said in command.refused(["replay", file], code)
        command(["replay", file, "--record", 1], code=0 if code == 1 else 2)


def test_replay_checks_all_games_and_shows_one(whole: Season, command: Command) -> None:
    same = "played again with the recorded scores, generations and winners."
    assert command(["replay", whole.out]) == f"All {whole.games} games were {same}\n"
    assert "--show: expected one game" in command.refused(["replay", whole.out, "--show"])
    start, end, said = command(["replay", whole.out, "--record", 3, "--show"]).split("\n\n")
    assert said == f"The game was {same}\n"
    line = lines_of(whole.out)[2]
    assert start.startswith(f"{PATTERNS[line['pattern']].title}, day 1, game 3: generation 0\n")
    for number, (team, cells) in enumerate(zip(line["season"]["teams"], start_of(line), strict=True), 1):
        assert f"\n{number} {team}: {len(cells)} cells, " in start
        assert f"\n{number} {team}: {line['scores'][number - 1]} cells, " in end


def test_replay_makes_an_animation_of_life_from_any_start(tmp_path: Path, command: Command) -> None:
    """Porchlights have no shapes that teams could place, so that only seasons of the Cup play them."""
    image = pytest.importorskip("PIL.Image")
    (game,) = umpire("porchlights", max_generations=4).play(fixtures(1), 0)
    file, gif = tmp_path / "games.jsonl", tmp_path / "game.gif"
    file.write_text(game.to_json() + "\n")
    assert f"Saved {gif}" in command(["replay", file, "--out", gif])
    with image.open(gif) as shown:
        assert (shown.n_frames, shown.info["duration"]) == (5, 60)
        shown.seek(4)
        assert shown.info["duration"] == 3000


def test_teams_without_agents_play_the_cup(tmp_path: Path, command: Command) -> None:
    words = "season toroidal-cup-v0 --teams 8 --days 1 --quiet --patterns donutrandom --param max_generations=20"
    said = command(f"{words} --out {tmp_path / 'run'}")
    games = lines_of(tmp_path / "run")
    assert f"replay {tmp_path / 'run'} --record {len(games)} --out" in said.split("Written to")[1]
    assert {(line["pattern"], line["max_generations"]) for line in games} == {("donutrandom", 20)}
    assert len({team for line in games for team in line["season"]["teams"]}) == 8


def test_boards_are_exported_and_nothing_else(tmp_path: Path, whole: Season, command: Command) -> None:
    """The games have no moves; a board of Life is all that another program can take."""
    out = tmp_path / "board.rle"
    record = CupRecord.from_json((whole.out / "games.jsonl").read_bytes().splitlines()[1])
    words = f"export {whole.out} --record 2 --out {out}"
    command(f"{words} --format rle --all-states --generation 0")
    assert rle_to_board(out.read_text()) == boards([start_of(vars(record))], ROWS, COLS)[0].tolist()
    command(f"{words} --format rle --all-states")
    cells = np.array(rle_to_board(out.read_text()))
    assert [int((cells == team).sum()) for team in (1, 2)] == list(record.scores)
    out.unlink()
    for more, reason in (
        ("--format parquet", "--format: expected rle"),
        ("--format rle --turn 1", "have no moves"),
        ("--format rle --generation 41", "expected a generation from 0 to 40, got 41"),
    ):
        assert reason in command.refused(f"{words} {more}")
    assert not out.exists()
