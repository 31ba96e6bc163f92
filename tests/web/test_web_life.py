"""Games of Life on the page: shaded cells, the Cup's wide board, films, trial runs and patterns, by clicks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser import click, expect, point
from web_play import on_a_phone, open_game, with_refusals


@on_a_phone
def test_the_board_of_the_cup_scrolls_and_zooms_on_a_phone(p: Any, site: str) -> None:
    open_game(p, site, "toroidal-cup-v0", seat="team_2", seed=4)
    board = "Cellgames.app.game.board"
    assert p.evaluate(f"{board}.scale") >= 5, "cells for a finger"
    assert p.evaluate(f"{board}.x") == 210, "the middle of one's own band"
    box = p.locator("canvas.board-canvas").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    touch = p.context.new_cdp_session(p)

    def send(kind: str, *points: tuple[float, float]) -> None:
        given = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": given})

    send("Start", middle)
    for step in range(1, 9):
        send("Move", (middle[0] - 14 * step, middle[1]))
    send("End")
    assert p.evaluate(f"{board}.x") > 220, "a drag scrolls"
    assert p.evaluate("() => Cellgames.app.game.view.turn") == 0
    before = p.evaluate(f"{board}.scale")
    send("Start", (middle[0] - 30, middle[1]), (middle[0] + 30, middle[1]))
    for step in range(1, 9):
        send("Move", (middle[0] - 30 - 8 * step, middle[1]), (middle[0] + 30 + 8 * step, middle[1]))
    send("End")
    assert p.evaluate(f"{board}.scale") > 1.5 * before, "a pinch zooms"
    p.get_by_role("button", name="Whole board").tap()
    assert p.evaluate(f"{board}.factor") == 1
    p.get_by_role("button", name="Zoom in").tap()
    assert p.evaluate(f"{board}.factor") > 1
    assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


_LIVE = "() => [...Cellgames.planes(Cellgames.app.game.frame).cells].flatMap((code, cell) => (code ? [cell] : []))"
_FILM = "() => { const { film } = Cellgames.app.game; return film && film.frames.length ? film.at : null; }"
_EMPTY = "() => [...Cellgames.app.game.controls.cells()][5]"
_CLOTH = {"height": 24, "width": 24, "generations": 60, "max_rounds": 3}


@pytest.mark.slow
def test_a_film_is_paused_stepped_scrubbed_and_left(p: Any, site: str) -> None:
    open_game(p, site, "cloth-of-gold-small-v0", seed=4, parameters=_CLOTH)
    for turn in range(2):  # a unit in each, until Life runs
        p.wait_for_function("() => Cellgames.app.game.free()")
        click(p, 12 * 24 + 10 if not turn else p.evaluate(_EMPTY))
        p.wait_for_function("() => Cellgames.app.game.free() && Cellgames.app.game.view.controls.left < 10")
        p.get_by_role("button", name="End the turn").click()
    p.wait_for_function(f"() => ({_FILM})() !== null")
    p.get_by_role("button", name="Pause", exact=True).click()
    at = p.evaluate(_FILM)
    assert at < 60
    p.get_by_role("button", name="One generation on").click()
    assert p.evaluate(_FILM) == at + 1
    assert p.locator(".cg-film .cg-count").inner_text() == f"{at + 1} / 60"
    assert f"generation {at + 1} of 60" in p.inner_text(".status")
    p.get_by_role("button", name="One generation back").click()
    p.get_by_role("button", name="One generation back").click()
    assert p.evaluate(_FILM) == max(0, at - 1)
    scrub = p.get_by_label("Generation", exact=True)
    scrub.fill("40")
    assert p.evaluate(_FILM) == 40
    assert not p.evaluate("() => Cellgames.app.game.free()"), "nothing can be placed while a film is shown"
    p.get_by_label("Generations a second").select_option("120")
    p.get_by_role("button", name="Play", exact=True).click()
    p.wait_for_selector(".game[data-state=yours], .game[data-state=done]")
    assert p.locator(".cg-film").count() == 0
    p.get_by_role("button", name="Watch Life again").click()
    p.wait_for_function(f"() => ({_FILM})() === 60")
    assert p.evaluate("() => Cellgames.app.game.film.pace") == 120, "the pace is remembered"
    p.get_by_role("button", name="Back to the game").click()
    p.wait_for_selector(".game[data-state=yours], .game[data-state=done]")


@pytest.mark.slow
@with_refusals
def test_a_trial_run_is_a_film_on_the_board_and_leaves_the_game_as_it_is(p: Any, site: str) -> None:
    begun = open_game(p, site, "cloth-of-gold-small-v0", parameters=_CLOTH)
    assert not p.locator(".trial").is_visible()
    p.get_by_role("button", name="Trial run").click()
    p.wait_for_selector(".notice")
    assert "the world is empty" in p.inner_text(".notice"), "there is nothing to try"
    row = [12 * 24 + 9, 12 * 24 + 10, 12 * 24 + 11]
    for number, cell in enumerate(row, 1):
        click(p, cell)
        p.wait_for_function("(n) => Cellgames.app.game.view.turn === n && Cellgames.app.game.free()", arg=number)
    before = p.request.get(begun).json()
    p.keyboard.press("t")
    p.wait_for_function(f"() => ({_FILM})() > 2")
    assert re.search(r"Trial run, generation \d+ of 60, if nobody places anything more", p.inner_text(".trial"))
    assert "dashed" in p.evaluate("() => getComputedStyle(document.querySelector('.board')).outline")
    p.get_by_label("Generation", exact=True).fill("7")
    assert p.evaluate(_LIVE) == [11 * 24 + 10, 12 * 24 + 10, 13 * 24 + 10], "a blinker"
    p.get_by_role("button", name="Back to the game").click()
    p.wait_for_selector(".game[data-state=yours]")
    assert not p.locator(".trial").is_visible()
    assert p.locator(".status").is_visible()
    assert p.evaluate(_LIVE) == row
    assert p.request.get(begun).json() == before


_OWN = """() => {
  const { cells } = Cellgames.planes(Cellgames.app.game.view.frame);
  return [...cells.keys()].filter((cell) => cells[cell] === 1);
}"""


def shape(cells: list[int], width: int = 24) -> list[tuple[int, int]]:
    """Cells moved to the upper left corner."""
    places = [divmod(cell, width) for cell in cells]
    top, left = (min(axis) for axis in zip(*places, strict=True))
    return sorted((row - top, col - left) for row, col in places)


def test_a_pattern_is_turned_mirrored_and_placed_with_one_click(p: Any, site: str) -> None:
    open_game(p, site, "cloth-of-gold-small-v0", parameters=_CLOTH)
    glider = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 1)]  # of the palette; turned clockwise, then mirrored
    turned = sorted((col, 2 - row) for row, col in glider)
    mirrored = sorted((row, 2 - col) for row, col in turned)
    p.get_by_role("button", name="Glider, 5 units", exact=False).click()
    p.mouse.move(**point(p, 12 * 24 + 12))
    hover = "() => Cellgames.app.game.controls.marks().hover.cells"
    assert shape(p.evaluate(hover)) == glider
    p.keyboard.press("r")
    assert shape(p.evaluate(hover)) == turned
    p.get_by_role("button", name="Mirror").click()
    assert shape(p.evaluate(hover)) == mirrored
    click(p, 12 * 24 + 12)
    p.wait_for_function(f"() => Cellgames.app.game.free() && ({_OWN})().length === 5")
    assert shape(p.evaluate(_OWN)) == mirrored
    assert p.evaluate("() => Cellgames.app.game.moves.length") == 5
    assert not p.evaluate("() => Boolean(Cellgames.app.game.controls.palette.hand)"), "a click is one unit again"
    p.get_by_role("button", name="Block, 4 units").click()
    click(p, 23 * 24 + 23)
    expect(p.locator(".notice")).to_contain_text("leave the board")
    click(p, 2 * 24 + 2)
    expect(p.locator(".notice")).to_contain_text("shown in red")
    p.keyboard.press("Escape")
    assert p.get_by_role("button", name="Block, 4 units").get_attribute("aria-pressed") == "false"
    assert len(p.evaluate(_OWN)) == 5
