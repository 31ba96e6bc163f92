"""Exported games in a real browser, without a network: what they show, and how one moves about in them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE
from command import Command
from web_records import SMALL, recorded

from cellgames.arena.records.record_lines import Record, append
from cellgames.arena.season.cup import CupRecord, CupUmpire, board_at
from cellgames.arena.season.games import Fixture
from cellgames.envs.toroidal_cup import COLS, PATTERNS, ROWS, Roster
from cellgames.web import limits
from cellgames.web.frames import SCRIPTS, export_html, html_page, replay_data

offline = pytest.mark.parametrize("p", [{"offline": True}], indirect=True, ids=["offline"])

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><!--"


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    return {id: recorded(id) for id in SMALL}


@pytest.fixture(scope="module")
def files(records: dict[str, Record], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {id: folder / f"{id}.html" for id in records}
    for id, record in records.items():
        export_html(record, paths[id])
    return paths


def show(p: Any, path: Path) -> int:
    """Open a file; returns how many frames it has."""
    p.goto(path.as_uri())
    p.wait_for_selector("#viewer[data-frame]")
    return int(p.evaluate("viewer.frames.length"))


def at(p: Any) -> int:
    return int(p.get_attribute("#viewer", "data-frame"))


def test_a_file_holds_all_it_needs_and_fetches_nothing(files: dict[str, Path]) -> None:
    for path in files.values():
        text = path.read_text(encoding="utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r"""(src|href)\s*=\s*["']?\s*(https?:|//)|@import|url\(""", text, re.IGNORECASE)
        assert len(text) < 200_000


@offline
def test_names_cannot_become_markup(p: Any, tmp_path: Path) -> None:
    record = dataclasses.replace(recorded("torus-v0", size=2), agents=(HOSTILE, "& <b>bold</b>"))
    path = tmp_path / "hostile.html"
    export_html(record, path)
    text = path.read_text(encoding="utf-8")
    assert text.count("</script>") == len(SCRIPTS) + 2
    assert "<img" not in text
    assert "<!--" not in text
    show(p, path)
    assert p.locator(".cg-agent").all_text_contents() == [HOSTILE, "& <b>bold</b>"]
    assert p.title().startswith(f"Torus: {HOSTILE}")
    assert p.locator("img").count() == 0


def test_the_command_saves_one_game_of_a_file(
    records: dict[str, Record], tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, page_file = tmp_path / "games.jsonl", tmp_path / "game.html"
    append(file, records.values())
    words = ["replay", file, "--out", page_file]
    assert f"Saved {page_file}" in command([*words, "--record", "1"])
    assert page_file.read_text(encoding="utf-8") == html_page(records["torus-v0"])
    assert f"choose it with --record 1 to {len(records)}" in command.refused(words)
    monkeypatch.setattr(limits, "MOVES", 3)
    assert "expected a record of at most 3 moves" in command.refused([*words, "--record", "1"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "id"),
    [
        ({"offline": True}, "torus-v0"),
        ({"offline": True, "size": PHONE, "touch": True, "dark": True}, "grid-adaptation-v0"),
    ],
    indirect=["p"],
)
def test_a_game_plays_offline(p: Any, files: dict[str, Path], records: dict[str, Record], id: str) -> None:
    record = records[id]
    p.clock.install(time=0)
    count = show(p, files[id])
    assert at(p) == 0
    assert p.evaluate("document.documentElement.scrollWidth <= innerWidth")
    p.evaluate(f"viewer.seek({max(0, count - 9)})")
    p.select_option("select", "8")
    p.clock.pause_at(3600.0)  # a busy machine might else see the game end before it looks
    p.get_by_role("button", name="Play", exact=True).click()
    assert p.get_by_role("button", name="Pause").is_visible()
    p.clock.resume()
    p.wait_for_selector(f'#viewer[data-frame="{count - 1}"]')
    p.get_by_role("button", name="Play", exact=True).wait_for()  # it has stopped by itself
    words = {"win": "wins", "loss": "loses", "draw": "draw"}
    results = p.locator(".cg-result").all_text_contents()
    if record.game == "grid-adaptation-v0":
        assert all(result.startswith("place ") for result in results), "its players have places"
    else:
        assert results == [words[end] for end in record.result.outcome]
    assert p.locator(".cg-moves button").count() == len(record.moves)
    assert p.locator(".cg-moves [aria-current]").get_attribute("data-move") == str(len(record.moves))


@offline
def test_a_game_is_scrubbed_stepped_and_entered_at_any_move(
    p: Any, files: dict[str, Path], records: dict[str, Record]
) -> None:
    record = records["cloth-of-gold-v0"]
    marks, moves = replay_data(record)["marks"], record.moves
    count = show(p, files["cloth-of-gold-v0"])
    assert count == len(marks)
    p.locator("input[type=range]").fill(str(count // 2))
    assert at(p) == count // 2
    for key, frame in [("End", count - 1), ("ArrowLeft", count - 2), ("Home", 0), ("ArrowRight", 1)]:
        p.locator("body").press(key)
        assert at(p) == frame
    for name, frame in [("To the end", count - 1), ("Back", count - 2), ("To the start", 0), ("Forward", 1)]:
        p.get_by_role("button", name=name).click()
        assert at(p) == frame
    move = len(moves) - 3
    p.locator(f'.cg-moves [data-move="{move}"]').click()
    assert at(p) == marks.index(move)
    box = p.locator(".cg-chart").first.bounding_box()
    p.mouse.click(box["x"] + 38 + (box["width"] - 44) * 0.75, box["y"] + 30)
    assert abs(at(p) - 0.75 * (count - 1)) <= 1
    p.locator("body").press("Home")  # far from the end, where it would stop by itself
    p.locator("body").press(" ")
    assert p.get_by_role("button", name="Pause").is_visible()
    p.locator("body").press(" ")
    assert p.get_by_role("button", name="Play", exact=True).is_visible()


@offline
def test_a_cell_of_the_cup_tells_its_player_and_quadrant(p: Any, tmp_path: Path) -> None:
    """The page computes the names that `Roster` gives, of the teams of a season, too."""
    file, path = tmp_path / "games.jsonl", tmp_path / "game.html"
    umpire = CupUmpire(["donutmath"], max_generations=1)
    append(file, umpire.play([Fixture("day 1", 1, ("Owls", "Kites"))], 0))
    record = CupRecord.from_json(file.read_bytes())
    export_html(record, path)
    zones, board = PATTERNS["donutmath"].zones, board_at(record, 0)
    show(p, path)
    for team, name in ((1, "Owls"), (2, "Kites")):
        cells = [(row, col) for row, line in enumerate(board) for col, cell in enumerate(line) if cell == team]
        for row, col in (cells[0], cells[len(cells) // 2], cells[-1]):
            told = p.evaluate(f"() => {{ viewer.seek(0); return viewer.board.about({row * COLS + col}); }}")
            quadrant = zones[(0, 1, 3, 2)[2 * (2 * row >= ROWS) + (2 * col >= COLS)]]
            player = Roster(name, ROWS, COLS).player(row, col)
            assert told == f"{player} of {name}: row {row}, column {col}, {quadrant}"
    assert p.locator(".cg-agent").all_text_contents() == ["Owls", "Kites"]
