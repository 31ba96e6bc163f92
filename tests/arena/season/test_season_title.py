"""The title of champion, which passes from season to season of a chain."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from arena_runs import content
from season_coin import Coin, made_up

from cellgames.arena.season import season_reports
from cellgames.arena.season.games import Fixture
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.season import Season, play_season
from cellgames.arena.season.titles.title import Champion, Title, kept_text, season_before
from cellgames.cli.main import main
from cellgames.envs.kernels import compiling
from cellgames.runs.run_folder import RunError

TEAMS = made_up(8)


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(season_reports, "to_png", lambda picture: b"")
    monkeypatch.setattr(compiling, "compiler_found", lambda device: False)


def run(out: Path, seed: int = 0, after: Path | None = None, **options: Any) -> Season:
    asked = SeasonOptions(days=3, seed=seed, after=None if after is None else str(after))
    return play_season(TEAMS, Coin(**options), asked, out=out)


def test_a_champion_keeps_the_title_until_there_is_another_one(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(7)]
    seasons = [run(folders[n], n, folders[n - 1] if n > 1 else None) for n in range(1, 7)]
    champions = [str(season.bracket.champion) for season in seasons]
    assert len(set(champions)) > 1
    for number, season in enumerate(seasons, 1):
        assert [one.team for one in season.title.champions] == champions[: number - 1]
        assert season.title.season == number
    data = json.loads((tmp_path / "3" / "standings.json").read_text())
    assert data["title_holder"] == champions[1]
    lines = [json.loads(line)["season"] for line in (tmp_path / "3" / "games.jsonl").read_text().splitlines()]
    assert all(line.get("holder") == (champions[1] if champions[1] in line["teams"] else None) for line in lines)
    report = (tmp_path / "6" / "report.md").read_text()
    assert all(f"| {number} | {team} | " in report for number, team in enumerate(champions, 1))
    assert kept_text(seasons[5].title, champions[5]) in (tmp_path / "6" / "bracket.svg").read_text()
    assert re.search(rf"^\| \d+ \| {champions[4]} \| .* \| holder \|$", report, re.MULTILINE)
    # The first of a chain is a season like any other.
    assert "title" not in (tmp_path / "1" / "season.json").read_text() + (tmp_path / "1" / "report.md").read_text()


def test_a_stopped_season_of_a_chain_ends_with_the_same_bytes(tmp_path: Path) -> None:
    run(tmp_path / "first")
    run(tmp_path / "whole", 1, tmp_path / "first")
    before = content(tmp_path / "whole")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "season.json").write_bytes(before["season.json"])
    (tmp_path / "cut" / "games.jsonl").write_bytes(before["games.jsonl"][:900])
    run(tmp_path / "cut", 1, tmp_path / "first")
    assert content(tmp_path / "cut") == before
    run(tmp_path / "other", 5)
    with pytest.raises(RunError, match=r"holds another season. title.holder: expected "):
        run(tmp_path / "cut", 1, tmp_path / "other")
    with pytest.raises(RunError, match=r"title.season: expected 2, got None"):
        run(tmp_path / "cut", 1)


def test_reigns_are_counted_from_the_season_of_the_title() -> None:
    champions = [Champion(number, team, 0, "") for number, team in enumerate("abbab", 1)]
    since = [Title(tuple(champions[:number])).since for number in range(1, 6)]
    assert since == [1, 2, 2, 4, 5]
    title = Title(tuple(champions[:3]))
    assert kept_text(title, "b") == "b keeps the title, held since season 2"
    assert kept_text(title, "a") == "a takes the title from b, who had held it since season 2"
    assert Title.from_data(json.loads(json.dumps(title.to_data()))) == title


def test_pictures_and_pages_say_who_holds_the_title() -> None:
    fixture = Fixture("day 1", 1, ("Owls", "Kites"), holder="Kites")
    line = json.dumps(
        {"season": {"stage": "day 1", "game": 1, "attempt": 0, "teams": ["Owls", "Kites"], "holder": "Kites"}}
    )
    assert Fixture.from_json(line) == fixture
    assert fixture.labels == ("Owls", "Kites (title holder)")


def test_the_command_plays_the_next_season(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    rules = ["--days", "3", "--quiet", "--param", "max_generations=20", "--patterns", "randys"]
    tables = ["--param", "teams=3"]
    assert main(["season", "toroidal-cup-v0", *rules, *tables, "--teams", "4", "--seed", "7", "--out", one]) == 0
    champion = json.loads((tmp_path / "one" / "final.json").read_text())["champion"]
    assert f"season toroidal-cup-v0 --after {one} " in capsys.readouterr().out
    assert main(["season", "toroidal-cup-v0", *rules, *tables, "--after", one, "--out", two]) == 0
    settings = [json.loads((tmp_path / name / "season.json").read_text()) for name in ("one", "two")]
    assert settings[0]["teams"] == settings[1]["teams"]
    assert (settings[1]["seed"], settings[1]["title"]["holder"]) == (8, champion)
    out = capsys.readouterr().out
    assert re.search(rf"^ +\d  {champion} .* holder$", out, re.MULTILINE)
    assert re.search(r"^.+ (keeps the title|takes the title from) .*season 1\.$", out, re.MULTILINE)
    page = tmp_path / "page.html"
    game = next(
        number
        for number, line in enumerate((tmp_path / "two" / "games.jsonl").read_text().splitlines(), 1)
        if "holder" in line
    )
    assert main(["replay", two, "--record", str(game), "--out", str(page)]) == 0
    assert ", title holder" in page.read_text()
    for words, message in (
        (["toroidal-cup-v0", "--after", three], "three: expected the folder of a season, got none"),
        (["toroidal-cup-v0", *tables, "--after", one, "--out", one], "a folder of its own, got the folder of this one"),
        (["torus-v0", "--agents", "random", "--teams", "8", "--after", one], "of torus-v0 before, got one of toroidal"),
    ):
        capsys.readouterr()
        assert main(["season", *words, "--quiet", *(["--out", three] if "--out" not in words else [])]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "two" / "final.json").unlink()
    with pytest.raises(RunError, match="has no champion yet"):
        season_before(two)
    (tmp_path / "two" / "final.json").write_text("{}")
    with pytest.raises(RunError, match="files that cannot be read"):
        season_before(two)
