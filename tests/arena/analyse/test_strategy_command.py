"""`cellgames analyse` of games: what people type, what they see, and what is written."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path

import pytest
from command import Command
from strategy_records import a_game, played

import cellgames
from cellgames.agents import load
from cellgames.arena.analyse.reader import agents_of, grouped, read_paths
from cellgames.arena.analyse.report import FORMAT, analyse_games, write_report
from cellgames.arena.play.evaluation import play_some
from cellgames.arena.records.record_lines import Forfeit, Outcome, Record, append
from cellgames.envs.core import Game
from cellgames.utils.report.model import Section, Table

TORUS = cellgames.make("torus-v0", size=3)
GRID = cellgames.make("grid-adaptation-small-v0")
LEVEL: tuple[Outcome, ...] = ("draw",) * 4
GAMES = played(TORUS, ["random", "greedy"], 12)
QUICK = ("openings", "places")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "round-robin" / "games.jsonl"
    path.parent.mkdir()
    append(path, GAMES)
    return path


def test_records_come_from_files_and_folders_and_are_grouped_by_their_rules(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    small = played(cellgames.make("torus-v0", size=2), ["random"], 3)
    append(other, [*small, *GAMES[:2]])
    groups = grouped(read_paths([file.parent, other]))
    assert [(str(group.game), len(group.records)) for group in groups] == [("Torus(size=3)", 14), ("Torus(size=2)", 3)]
    assert agents_of(groups[0].records) == ("greedy", "random")


def test_games_that_ended_by_a_forfeit_are_left_out() -> None:
    lost = dataclasses.replace(GAMES[0], result=dataclasses.replace(GAMES[0].result, forfeit=Forfeit(0, "asleep")))
    group = grouped([lost, *GAMES[1:]])[0]
    assert (len(group.records), group.forfeited) == (11, 1)


def test_tables_hold_all_rows_and_the_page_the_first_ones(tmp_path: Path) -> None:
    table = Table("numbers", ("name", "value"), [(f"a|{n}", None if n == 1 else n) for n in range(30)], shown=3)
    report = analyse_games(TORUS, GAMES, only=QUICK[:1])
    write_report(tmp_path / "out", dataclasses.replace(report, parts=(Section("Numbers", ("Some.", table)),)))
    rows = list(csv.reader((tmp_path / "out" / "numbers.csv").open()))
    assert len(rows) == 31
    assert rows[2] == ["a|1", ""]
    page = (tmp_path / "out" / "report.md").read_text()
    assert "| a\\|2 | 2 |" in page
    assert "a\\|3" not in page
    assert "The first 3 of 30 rows" in page


def test_files_of_an_earlier_report_go_and_others_stay(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_report(out, analyse_games(TORUS, GAMES, only=QUICK))
    (out / "mine.csv").write_text("kept")
    assert (out / "places.csv").exists()
    write_report(out, analyse_games(TORUS, GAMES, only=("openings",)))
    assert not (out / "places.csv").exists()
    assert (out / "mine.csv").exists()
    assert (out / "openings.csv").exists()


def test_pairs_play_matches_and_one_agent_plays_itself() -> None:
    agents = {name: load(name, TORUS) for name in ("greedy", "random")}
    records = play_some(TORUS, agents, 4, seed=1)
    assert [record.agents for record in records] == [("greedy", "random"), ("random", "greedy")] * 2
    assert {record.opening for record in records} == {2}
    alone = play_some(TORUS, {"random": agents["random"]}, 3, plies=0)
    assert [(record.agents, record.opening) for record in alone] == [(("random", "random"), 0)] * 3
    assert play_some(TORUS, agents, 4, seed=1) == records != play_some(TORUS, agents, 4, seed=2)


def test_the_command_says_what_was_found_and_where_it_is(file: Path, command: Command) -> None:
    said = command(["analyse", file.parent, "--only", *QUICK])
    assert "How Torus was played: 12 games" in said
    assert "Openings\n--------\n" in said
    assert "Where agents place" in said
    assert "`" not in said
    out = Path("results", "analyse", "torus-v0-size=3-round-robin")
    assert f"Written to {out}" in said
    assert (out / "report.md").read_text().startswith("# How Torus was played")


@pytest.mark.parametrize(
    ("game", "more"),
    [(TORUS, []), (cellgames.make("grid-adaptation-small-v0", rounds=2), ["Who profits from whom"])],
    ids=["torus", "grid"],
)
def test_all_parts_that_suit_the_game_are_there_unless_some_are_chosen(
    game: Game, more: list[str], command: Command
) -> None:
    append("games.jsonl", played(game, ["random"], 4))
    (report,) = json.loads(command("analyse --records games.jsonl --json --out out"))["reports"]
    titles = [section["title"] for section in report["sections"]]
    assert titles[:2] == ["Openings", "Where agents place"]
    assert {*more} <= {*titles[2:]}
    assert bool(titles[2:]) == bool(more)
    for section in report["sections"]:
        assert all(Path("out", name).is_file() for name in section["tables"])


def test_json_has_a_fixed_form(file: Path, command: Command) -> None:
    words = f"analyse --records {file} --only openings behaviour --agents random greedy --positions 20 --quiet"
    (report,) = json.loads(command(f"{words} --json --out out"))["reports"]
    assert (report.pop("folder"), report["format"], report["games"]) == ("out", FORMAT, 12)
    assert json.loads(Path("out/report.json").read_text()) == report
    openings, behaviour = report["sections"]
    assert set(openings) == {"title", "text", "data", "tables", "plots"}
    branch = "steps by forced times score low high usual agents"
    assert set(openings["data"]["branches"][0]) == set(branch.split())
    assert (behaviour["data"]["agents"], behaviour["data"]["positions"]) == (["random", "greedy"], 20)
    assert behaviour["data"]["distance"][0][0] == 0 < behaviour["data"]["distance"][0][1] <= 1


def test_several_kinds_of_games_get_a_folder_each_or_one_is_chosen(file: Path, command: Command) -> None:
    append(file, played(cellgames.make("torus-v0", size=2), ["random"], 3))
    words = f"--records {file} --only openings --out"
    command(f"analyse {words} out")
    assert {path.name for path in Path("out").iterdir()} == {"torus-v0-size=2", "torus-v0-size=3"}
    reports = json.loads(command(f"analyse torus-v0 --size 2 --json {words} one"))["reports"]
    assert [report["games"] for report in reports] == [3]
    assert json.loads(Path("one", "report.json").read_text())["games"] == 3


@pytest.mark.parametrize(
    ("part", "records", "message"),
    [
        ("openings", [GAMES[0], dataclasses.replace(GAMES[0], moves=("a1", "z99"))], "game 2 of Torus(size=3): "),
        ("places", [a_game(GRID, ["r0c0 none r99c0 none"], "wxyz", LEVEL)], "of GridAdaptation(size=9"),
        ("openings", [a_game(GRID, ["none none none none none"], "wxyz", LEVEL)], "4 actions in a turn, got 5"),
    ],
    ids=["cell", "tile", "seats"],
)
def test_moves_of_no_game_are_told_in_one_line(
    part: str, records: list[Record], message: str, command: Command
) -> None:
    append("games.jsonl", records)
    assert message in command.refused(f"analyse --records games.jsonl --only {part}")
