"""`cellgames season`: what people type, what they see, and that nobody sees a traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from arena_runs import content

from cellgames.arena.records.record_lines import read_records
from cellgames.cli.main import main

TORUS = ("season", "torus-v0", "--size", "3")


def test_a_season_writes_everything_and_says_what_to_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        *TORUS,
        *["--teams", "9", "--days", "3", "--seed", "2", "--in-process", "--agents", "random", "arena_bots:First"],
    ]
    assert main(words) == 0
    out, err = capsys.readouterr()
    folder = tmp_path / "results" / "season" / "torus-v0-size=3-teams=9-days=3-seed=2-agents=random_arena_bots_First"
    assert re.search(r"^rank +team +agent +wins +losses +points( +die)?$", out, re.MULTILINE)
    assert len(re.findall(r"^ +\d  [A-Z]\w+ [A-Z]\w+ +(random|arena_bots:First) +\d +\d +\d", out, re.MULTILINE)) == 9
    champion = r"Champion: [A-Z]\w+ [A-Z]\w+, played by (random|arena_bots:First)"
    assert re.search(rf"^Toroidal Cup Series: .* 4, .* \d\n{champion}$", out, re.MULTILINE)
    assert "report.md" in out
    assert f"cellgames replay {folder.relative_to(tmp_path)} " in out.replace("'", "")
    assert re.match(r"3 days: 12 of 12 games, \S+ a second\nAfter days 1 to 3 of 3:\n", err)
    assert "Toroidal Cup Series, game 4:" in err
    assert main(["replay", str(folder / "games.jsonl")]) == 0
    capsys.readouterr()

    before = content(folder)
    games = len(read_records(folder / "games.jsonl").records)
    assert main([*words, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert f"{games} games, {games} of them from before, {games - 12} of them in the playoffs" in out
    assert err == ""
    assert content(folder) == before
    assert main([*words, "--quiet", "--within", "0.9", "--out", str(folder)]) == 2
    assert "holds another season. within: expected 0.5, got 0.9" in capsys.readouterr().err
    assert main([*words, "--quiet", "--within", "0.9", "--out", str(folder), "--no-resume"]) == 0
    assert content(folder)["schedule.json"] != before["schedule.json"]


def test_teams_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{'Old' if n % 2 else 'New'} Team {n},{'random' if n == 3 else ''},{'LM'[n % 2]}" for n in range(8)]
    file = tmp_path / "my teams.csv"
    file.write_text("\n".join(["name,agent,league", *rows]))
    words = [*TORUS, "--teams", str(file), "--in-process", "--agents", "arena_bots:Last", "--days", "1", "--quiet"]
    assert main([*words, "--out", str(tmp_path / "run"), "--chunk", "3", "--opening-plies", "1"]) == 0
    printed = capsys.readouterr().out
    assert re.match(r"L, Even Division\nrank  team +agent ", printed)
    bracket = json.loads((tmp_path / "run" / "bracket.json").read_text())
    assert bracket["agent"] == ("random" if bracket["champion"] == "Old Team 3" else "arena_bots:Last")
    assert f"Champion: {bracket['champion']}, played by {bracket['agent']}\n" in printed
    assert f"**{bracket['champion']}**, played by **" in (tmp_path / "run" / "report.md").read_text()
    settings = json.loads((tmp_path / "run" / "season.json").read_text())
    assert settings["teams"][3] == {"name": "Old Team 3", "league": "M", "division": "Even Division", "agent": "random"}
    assert [team["agent"] for team in settings["teams"]].count("arena_bots:Last") == 7
    assert (settings["chunk"], settings["opening_plies"]) == (3, 1)
