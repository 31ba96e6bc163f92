"""What the hands do: taps on a phone, hints, a game again, watched agents, and numbers that a machine can serve."""

from __future__ import annotations

from typing import Any

import pytest
from browser import FORM, READY, click, expect, point, start
from life_reference import Cell, next_cells
from web_play import on_a_phone

import cellgames
from cellgames.web import catalog
from cellgames.web.views import view_of

_MOVES = "() => Cellgames.app.game.moves.length"


@on_a_phone
def test_hex_is_played_by_touch_without_a_wrong_move(p: Any, site: str) -> None:
    start(p, site, "hex-v0")
    assert p.evaluate("() => Cellgames.app.game.board.scale < 30")
    place = p.get_by_role("button", name="Place", exact=True)
    for cell in (60, 61):  # the finger has missed
        at = point(p, cell)
        p.touchscreen.tap(at["x"], at["y"])
        expect(place).to_be_enabled()
        assert p.evaluate(_MOVES) == 0
    at = point(p, 60)
    p.touchscreen.tap(at["x"], at["y"])
    assert p.evaluate(_MOVES) == 0
    place.tap()
    p.wait_for_function("() => Cellgames.app.game.moves.length >= 2")
    assert p.evaluate("() => Cellgames.app.game.moves[0]") == cellgames.make("hex-v0").action_to_string(60)
    p.wait_for_selector(READY)
    p.get_by_label("confirm each tap").uncheck()
    free = p.evaluate("() => [...Cellgames.app.game.controls.cells()][0]")
    before = p.evaluate(_MOVES)
    at = point(p, free)
    p.touchscreen.tap(at["x"], at["y"])
    p.wait_for_function("(before) => Cellgames.app.game.moves.length > before", arg=before)
    p.reload()
    p.wait_for_selector(READY)
    assert not p.get_by_label("confirm each tap").is_checked(), "the browser keeps the choice"
    start(p, site, "cloth-of-gold-v0")
    assert p.evaluate("() => Cellgames.app.game.board.scale >= 14"), "small cells begin as large as a finger needs"


def test_a_hint_is_marked_and_the_game_is_played_again_with_seats_swapped(p: Any, site: str) -> None:
    start(p, site, "torus-small-v0", Board_size=3)
    p.click("button:has-text('Hint')")
    expect(p.locator(".notice")).to_contain_text("suggests")
    hinted = p.evaluate("() => Cellgames.app.game.guide()[0]")
    assert isinstance(hinted, int)
    click(p, hinted)
    p.wait_for_function("() => Cellgames.app.game.moves.length >= 2")
    assert p.evaluate("() => Cellgames.app.game.guide()") is None
    p.wait_for_selector(READY)
    p.click("button:has-text('Resign')")
    p.click("dialog button:has-text('Play on')")
    assert p.locator(".game[data-state=yours]").count()
    p.click("button:has-text('Resign')")
    p.click("dialog button:has-text('Resign')")
    expect(p.locator(".status")).to_have_text("Black resigned.")
    expect(p.locator(".result").first).to_have_text("loses")
    p.click("text=Watch it again")
    p.locator(".cg-viewer input[type=range]").press("End")
    expect(p.locator(".cg-viewer")).to_contain_text("Black resigned.")
    p.go_back()
    again = p.locator(".end .buttons > *").first
    expect(again).to_have_text("Play again")
    expect(p.get_by_role("button", name="Undo")).to_be_hidden()
    names = p.evaluate("() => Cellgames.app.game.about.names")
    again.click()
    p.wait_for_function("() => Cellgames.app.game.about.people[0] === 1")
    assert p.evaluate("() => Cellgames.app.game.about.names") == names[::-1]


def test_watching_agents_offers_no_move(p: Any, site: str) -> None:
    p.goto(f"{site}/#/play/cloth-of-gold-small-v0")
    p.wait_for_selector(FORM)
    p.get_by_label("Your seat").select_option("")
    expect(p.locator(".rival label")).to_have_text("Agent in all seats")
    p.get_by_label("a different agent for each seat").check()
    assert p.locator(".rival label").all_inner_texts() == ["Agent as Player A", "Agent as Player B"]
    p.click(FORM)
    p.wait_for_selector(".bots")
    for words in ("End the turn", "Hint", "Undo"):
        expect(p.get_by_role("button", name=words)).to_be_hidden()
    expect(p.locator(".palette")).to_be_hidden()


def test_the_form_offers_as_many_playouts_as_there_is_time_for(
    p: Any, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "MOVE_S", 1e-3)
    catalog.most_playouts.cache_clear()
    p.goto(f"{site}/#/play/y-v0")
    p.wait_for_selector(FORM)
    p.locator("select.agent").select_option("gumbel")
    number = p.get_by_label("Playouts a move")
    p.wait_for_function("() => document.querySelector('.rival input').max < 32")
    assert int(number.input_value()) == int(str(number.get_attribute("max"))) >= 1
    hints = " ".join(p.locator(".rival .hint").all_inner_texts())
    assert "FILE" not in hints
    catalog.most_playouts.cache_clear()


OFFERED = {
    group["group"]: {one["name"]: {(row, col) for row, col in one["cells"]} for one in group["patterns"]}
    for group in view_of(cellgames.make("cloth-of-gold-v0")).patterns()
}
SIZE = 700
PERIODS = {
    **dict.fromkeys(OFFERED["Still lifes"], 1),
    **{"blinker": 2, "toad": 2, "beacon": 2, "clock": 2, "figure eight": 8, "pentadecathlon": 15, "pulsar": 3},
    **dict.fromkeys(OFFERED["Spaceships"], 4),
}
FEWEST = {"blinker": 3, "figure eight": 12, "pentadecathlon": 12, "pulsar": 48, "glider": 5}


def lived(cells: set[Cell], generations: int) -> set[Cell]:
    """A pattern in the middle of an empty board, so many generations later; its own box began at (0, 0)."""
    now = {(row + SIZE // 2, col + SIZE // 2) for row, col in cells}
    for _ in range(generations):
        now = next_cells(now, SIZE, SIZE)
    return {(row - SIZE // 2, col - SIZE // 2) for row, col in now}


@pytest.mark.parametrize("group", ["Still lifes", "Oscillators", "Spaceships"])
def test_patterns_come_back_after_their_periods(group: str) -> None:
    for name, cells in OFFERED[group].items():
        later = [lived(cells, generations) for generations in range(1, PERIODS[name] + 1)]
        corners = [[min(axis) for axis in zip(*form, strict=True)] for form in later]
        forms = [
            {(row - top, col - left) for row, col in form} for form, (top, left) in zip(later, corners, strict=True)
        ]
        assert forms.index(cells) == PERIODS[name] - 1, name
        assert (later[-1] == cells) == (group != "Spaceships"), name
        assert len(cells) == FEWEST.get(name, len(cells))


@pytest.mark.parametrize(("name", "generations", "left"), [("die hard", 130, 0), ("Pi-heptomino", 173, 55)])
def test_methuselahs_leave_as_many_cells_as_they_are_known_to(name: str, generations: int, left: int) -> None:
    assert len(lived(OFFERED["Methuselahs"][name], generations)) == left
