"""Files of a finished run that have lost their end, or changed: noticed by whatever reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from arena_runs import content, unsigned
from damage import damaged
from refusals import refused
from season_coin import made_up

import cellgames
from cellgames.arena import BotUmpire, RecordError, RoundRobinOptions, Store, play_season, read_records, round_robin
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.cli.main import main
from cellgames.web.record_library import Library, season_data

GAME = cellgames.make("torus-v0", size=3)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return round_robin(GAME, ["random", "greedy"], RoundRobinOptions(games=8, gif=False), out=tmp_path / "run").out


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))


def test_a_missing_end_is_noticed(run: Path, tmp_path: Path) -> None:
    assert main(["replay", str(run)]) == 0
    cut(run / "games.jsonl")
    assert main(["replay", str(run)]) == 2
    assert main(["leaderboard", "--add", str(run), "--store", str(tmp_path / "store.sqlite")]) == 2
    library = Library(tmp_path)
    for read in (lambda: library.page("run/games.jsonl", 1, 50), lambda: library.record("run/games.jsonl", 1)):
        with refused("run/games.jsonl"):
            read()


def test_settings_that_have_changed_are_noticed(run: Path) -> None:
    settings = json.loads((run / "run.json").read_text())
    for changed in ({**settings, "seed": 1}, {name: settings[name] for name in settings if name != "checksum"}):
        (run / "run.json").write_text(json.dumps(changed))
        with pytest.raises(RecordError):
            read_records(run / "games.jsonl")


def test_a_run_of_an_earlier_version_is_read_and_goes_on(run: Path, tmp_path: Path) -> None:
    before = content(run)
    records = read_records(run / "games.jsonl").records
    unsigned(run / "games.jsonl")
    settings = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({name: settings[name] for name in [*settings][:-2]}))
    assert read_records(run / "games.jsonl").records == records
    assert main(["replay", str(run)]) == 0
    with Store(tmp_path / "store.sqlite") as store:
        assert store.import_run(run) == 8
    assert round_robin(GAME, ["random", "greedy"], RoundRobinOptions(games=8, gif=False), out=run).played == 0
    assert content(run) == before


def test_the_page_shows_no_damaged_season(tmp_path: Path) -> None:
    out, teams = tmp_path / "season", made_up(12, "random", "greedy")
    play_season(teams, BotUmpire(GAME, teams), SeasonOptions(days=1), out=out)
    whole = season_data(Library(tmp_path), "season")
    shown = 0
    for name in ("season.json", "games.jsonl", "standings.json", "schedule.json", "bracket.json"):
        sound = (out / name).read_bytes()
        for seed in range(20):
            (out / name).write_bytes(damaged(sound, seed))
            try:
                shown += season_data(Library(tmp_path), "season") != whole
            except (ValueError, LookupError):
                continue
        (out / name).write_bytes(sound)
    assert shown == 0
