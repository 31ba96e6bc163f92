"""Tables as files: what programs parse, what people read, and pictures that open."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from arena_runs import PLOTS, block, csv_rows
from store_games import game

from cellgames.arena.records.record_lines import Outcome
from cellgames.arena.report.rating_tables import REPORT_FILES, notes, run_report
from cellgames.arena.stats.tables import Tables, make_tables
from cellgames.utils.progress import progress
from cellgames.utils.report.model import write_report

PLAYERS = ("black", "white")
FILES = [name for name in REPORT_FILES if name != "order.csv"]
RUN: dict[str, Any] = {
    "game": "torus-v0",
    "parameters": {"size": 3},
    "agents": ["a", "b,c", "d|e"],
    "games_per_pair": 4,
    "seed": 0,
    "opening_plies": 2,
    "chunk": 25,
    "version": "1.2",
}
ENDS: dict[tuple[str, str], list[tuple[Outcome, Outcome]]] = {
    ("a", "b,c"): [("win", "loss"), ("loss", "win"), ("draw", "draw"), ("win", "loss")],
    ("a", "d|e"): [("win", "loss"), ("loss", "win"), ("win", "loss"), ("loss", "win")],
    ("b,c", "d|e"): [("loss", "loss"), ("win", "loss"), ("win", "loss"), ("loss", "win")],
}


def make(ends: dict[tuple[str, str], list[tuple[Outcome, Outcome]]]) -> Tables:
    """Each pair's games as the agents in the seats end them; seats alternate, `a` begins."""
    records = [
        game(number, pair if number % 2 == 0 else pair[::-1], outcome, moves=(*pair, f"{number}"))
        for pair, results in ends.items()
        for number, outcome in enumerate(results)
    ]
    return make_tables(records, resamples=50)


TABLES = make(ENDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    written = write_report(path, run_report(TABLES, RUN, PLAYERS))
    assert [file.name for file in written] == FILES
    return path


def ends(row: dict[str, str]) -> list[int]:
    return [int(row[name]) for name in ("wins", "draws", "losses")]


def test_csv_files_hold_the_numbers(folder: Path) -> None:
    ratings = csv_rows(folder / "ratings.csv")
    assert [(row["rank"], row["agent"]) for row in ratings] == [("1", "a"), ("2", "b,c"), ("3", "d|e")]
    assert {row["games"] for row in ratings} == {"8"}
    # Two wins, a draw and a loss against b,c; four wins against d|e. A game of the other two was lost by both.
    assert [ends(row) for row in ratings] == [[6, 1, 1], [3, 1, 4], [1, 0, 7]]
    assert float(ratings[0]["score"]) == pytest.approx(6.5 / 8, abs=1e-4)
    assert all(float(row["elo_low"]) <= float(row["elo"]) <= float(row["elo_high"]) for row in ratings)
    pairs = {(row["agent"], row["opponent"]): row for row in csv_rows(folder / "pairs.csv")}
    assert len(pairs) == 6
    assert ends(pairs["a", "b,c"]) == ends(pairs["b,c", "a"])[::-1] == [2, 1, 1]
    assert ends(pairs["b,c", "d|e"]) == [2, 0, 2]
    assert ends(pairs["d|e", "b,c"]) == [1, 0, 3]
    assert {row["distinct"] for row in pairs.values()} == {"4"}
    cross = {row["agent"]: row for row in csv_rows(folder / "cross_table.csv")}
    assert cross["a"]["a"] == ""
    assert cross["a"]["d|e"] == pairs["a", "d|e"]["score"] == "1.0000"
    assert cross["d|e"]["b,c"] == pairs["d|e", "b,c"]["score"]
    seats = {(row["agent"], row["seat"]): ends(row) for row in csv_rows(folder / "seats.csv")}
    assert len(seats) == 8
    assert (seats["all", "black"], seats["all", "white"]) == ([6, 1, 5], [4, 1, 7])
    assert seats["a", "black"] == [3, 1, 0]


def test_the_page_has_all_tables_and_links_the_plots(folder: Path) -> None:
    text = (folder / "report.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert [line.split("|")[1:4] for line in lines if "4-0-0" in line] == [[" a ", "  ", " 62.5 (2-1-1) "]]
    assert sum(line.startswith("| d\\|e |") for line in lines) == 3  # results, averages, seats
    assert "size=3; 4 games a pair from 2 random openings of 2 plies" in text
    assert "12 of 12 games differ" in text
    for name in ("ratings.png", "cross_table.png"):
        assert f"]({name})" in text


def test_without_matplotlib_the_rest_is_written_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block(monkeypatch, *PLOTS)
    (tmp_path / "ratings.png").write_text("of an older run")
    said: list[str] = []
    written = write_report(tmp_path, run_report(TABLES, RUN, PLAYERS), said.append, outdated=REPORT_FILES)
    assert [path.name for path in written] == [name for name in FILES if not name.endswith((".png", ".svg"))]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in written)
    assert len(said) == 1
    assert 'pip install "cellgames[render]"' in said[0]
    assert "png" not in (tmp_path / "report.md").read_text()


def test_notes_warn_of_what_the_numbers_cannot_say() -> None:
    assert len(notes(TABLES)) == 1
    swept = notes(make({("a", "b"): [("win", "loss"), ("loss", "win")]}))
    assert [note[:20] for note in swept[1:3]] == ["a won every game: th", "b lost every game: t"]
    apart = notes(make({("a", "b"): [("win", "loss")], ("c", "d"): [("draw", "draw")]}))
    assert "do not compare: a, b | c, d." in apart[-1]
    same = make({("a", "b"): [("win", "loss"), ("loss", "win")] * 3})
    assert "Only 2 of 6 games differ" in notes(Tables(**{**vars(same), "distinct": 2}))[-1]


def test_progress_in_plain_lines_and_as_a_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress(10, done=4, label="x", every_s=0) as finished:
        finished(3)
        finished(3)
    first, last = capsys.readouterr().err.splitlines()
    assert first.startswith("x: 7 of 10 games, ")
    assert first.endswith(" s left")
    assert last.startswith("x: 10 of 10 games, ")
    with progress(10, label="x", every_s=1000) as finished:
        finished(3)
    with progress(10, shown=False) as finished:
        finished(10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress(10, done=4, label="x") as finished:
        finished(6)
    assert "10/10" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with progress(10, label="x") as finished:
        finished(10)
    assert "x: 10 of 10 games" in capsys.readouterr().err
