"""Games of Life on the page: shaded cells, the Cup's wide board, films, trial runs and patterns, by clicks."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import DESKTOP, PHONE, expect, page
from web_server import served

_MADE = """async ([game, parameters, seat, agents, seed]) => {
  const headers = { "content-type": "application/json" }, body = { game, parameters, seat, agents, seed };
  return (await fetch("/api/play", { method: "POST", headers, body: JSON.stringify(body) })).json();
}"""
_AT = """(cell) => {
  const { board, canvas } = Cellgames.app.game, at = board.cellPoint(cell), box = canvas.getBoundingClientRect();
  return { x: box.left + at.x, y: box.top + at.y };
}"""
_COLOUR = """(cell) => {
  const { board, canvas } = Cellgames.app.game, at = board.cellPoint(cell), dpr = devicePixelRatio;
  const [x, y] = [at.x * dpr - 1, at.y * dpr - 1].map(Math.round);
  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data];
}"""
_DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page."""
    with served(tmp_path_factory.mktemp("life")) as address:
        yield address


def start(p: Any, site: str, id: str, seat: str, agents: list[str], seed: int = 4, **parameters: object) -> str:
    """Open a new game, and return its address below `/api`."""
    p.goto(site)
    made = p.evaluate(_MADE, [id, parameters, seat, agents, seed])
    p.goto(f"{site}/#/game/{made['view']['id']}")
    p.wait_for_selector(".game[data-state=yours]")
    return f"{site}/api/play/{made['view']['id']}"


def click(p: Any, cell: int) -> None:
    """Click on a cell of the board."""
    at = p.evaluate(_AT, cell)
    p.mouse.click(at["x"], at["y"])


def drawn(p: Any) -> None:
    """Wait until the board has been painted."""
    p.evaluate(_DRAWN)


def test_cells_where_no_unit_may_be_placed_are_shaded(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "cloth-of-gold-v0", "player_a", ["random"])
        drawn(p)
        free, far = 50 * 100 + 52, 90 * 100 + 10
        light = p.evaluate(_COLOUR, far)
        assert p.evaluate(_COLOUR, free) == light, "the first unit may go anywhere"
        click(p, 50 * 100 + 50)
        p.wait_for_function("() => Cellgames.app.game.view.turn === 1 && Cellgames.app.game.free()")
        drawn(p)
        legal = set(p.evaluate("() => [...Cellgames.app.game.controls.cells()]"))
        assert free in legal
        assert far not in legal
        shaded = p.evaluate(_COLOUR, far)
        assert all(1 < before - after < 90 for before, after in zip(light[:3], shaded[:3], strict=True)), "a calm tint"
        assert p.evaluate(_COLOUR, 10 * 100 + 90) == shaded
        assert p.evaluate(_COLOUR, free) != shaded
        assert not complaints


def test_the_board_of_the_cup_fills_the_width_of_a_screen(chromium: Any, site: str) -> None:
    for width in (1280, 1920):
        with page(chromium, (width, 900)) as (p, complaints):
            start(p, site, "toroidal-cup-v0", "team_2", ["random"])
            box = p.locator("canvas.board-canvas").bounding_box()
            assert box["width"] > 0.96 * width
            assert p.evaluate("() => Cellgames.app.game.board.factor") == 1
            assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
            assert not complaints


def test_the_board_of_the_cup_scrolls_and_zooms_on_a_phone(chromium: Any, site: str) -> None:
    with page(chromium, PHONE, touch=True) as (p, complaints):
        start(p, site, "toroidal-cup-v0", "team_2", ["random"])
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
        assert not complaints


# ---------------------------------------------------------------- films

_FILM = "() => { const { film } = Cellgames.app.game; return film && film.frames.length ? film.at : null; }"
_EMPTY = "() => [...Cellgames.app.game.controls.cells()][5]"
_CLOTH = {"height": 24, "width": 24, "generations": 60, "max_rounds": 3}


def end_turn(p: Any) -> None:
    """End the turn by its button, when it may be ended."""
    p.wait_for_selector(".game[data-state=yours]")
    p.get_by_role("button", name="End the turn").click()


def film_begins(p: Any) -> None:
    """Place a unit in each turn, and play until Life runs."""
    for turn in range(2):
        p.wait_for_function("() => Cellgames.app.game.free()")
        click(p, 12 * 24 + 10 if not turn else p.evaluate(_EMPTY))
        p.wait_for_function("() => Cellgames.app.game.free() && Cellgames.app.game.view.frame.left < 10")
        end_turn(p)
    p.wait_for_function(f"() => ({_FILM})() !== null")


def test_a_film_is_paused_stepped_scrubbed_and_left(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        film_begins(p)
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
        assert not complaints


def test_a_film_shows_each_generation_once_and_any_of_them_at_a_jump(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        begun = start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        p.evaluate("() => localStorage.setItem('cellgames.pace', '60')")
        p.evaluate("""() => {
            const game = Cellgames.app.game, draw = game.board.draw.bind(game.board);
            window.shown = [];
            game.board.draw = (frame, options) => {
              if (game.film) window.shown.push(game.film.at);
              draw(frame, options);
            };
        }""")
        film_begins(p)
        p.wait_for_selector(".game[data-state=yours], .game[data-state=done]")
        shown = [at for at in p.evaluate("window.shown") if at >= 0]
        assert sorted(set(shown)) == list(range(61))
        assert shown == sorted(shown)
        events = p.request.get(f"{begun}?epoch=0&since=0").json()["view"]["events"]
        film = next(event["film"] for event in events if event["film"])
        flat = np.frombuffer(gzip.decompress(base64.b64decode(film["data"])), np.uint8)
        boards = np.bitwise_xor.accumulate(flat.reshape(film["count"], film["planes"], film["cells"]), 0)
        order = [60, 0, 31, 30, 32, 59, 1, 60]
        found = p.evaluate(
            """async (order) => {
              const frames = await Cellgames.unpack(Cellgames.app.game.watched);
              return order.map((i) => Cellgames.planes(frames[i])).map(({ cells, marks }) => [[...cells], [...marks]]);
            }""",
            order,
        )
        assert found == [boards[at].tolist() for at in order]
        assert not complaints


# Every kind of cell and mark in every neighbourhood, then some of the cells change. It returns the share of the numbers
# of pixels that differ. Shapes are sparse, because browsers smooth a path of thousands of strokes in another way.
_RANDOM = """([share]) => {
  const { board, frame } = Cellgames.app.game, { canvas } = board, { cells, marks } = Cellgames.planes(frame);
  const { sprites } = board.painter, { legal, shown } = board;
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  const made = [new Uint8Array(cells.length), new Uint8Array(cells.length)];
  const painted = (how) => {
    board.painter.sprites = how;
    board.draw({ ...frame, last: [], planes: { cells: made[0], marks: made[1] } }, {});
    board.render();
    return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  };
  const found = [];
  for (const part of [1, share]) {
    for (let at = 0; at < cells.length; at++) {
      if (random(1000) < 1000 * part) [made[0][at], made[1][at]] = [random(20) ? 0 : random(5), random(8)];
    }
    const [fast, slow] = [painted(sprites), painted(null)];
    found.push(fast.reduce((many, value, i) => many + (Math.abs(value - slow[i]) > 24), 0) / fast.length);
  }
  board.painter.sprites = sprites;
  return { found, colours: new Set(painted(sprites)).size, used: sprites.sprites.size };
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_many_small_cells_look_the_same_as_sprites_and_as_shapes(chromium: Any, site: str, dark: bool) -> None:
    with page(chromium, DESKTOP, dark=dark) as (p, complaints):
        start(p, site, "cloth-of-gold-v0", "player_a", ["random"])
        drawn(p)
        seen = p.evaluate(_RANDOM, [0.05])
        assert seen["used"] > 100, "the board was put together from sprites"
        assert seen["colours"] > 20
        assert max(seen["found"]) < 0.001
        assert not complaints


def test_the_numbers_around_a_board_stay_when_only_the_board_is_painted_again(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"])
        drawn(p)
        seen = p.evaluate("""() => {
          const { board } = Cellgames.app.game, picture = () => { board.render(); return board.canvas.toDataURL(); };
          const again = picture();
          board.around = null; // all is painted
          const whole = picture();
          board.wipe();
          const wiped = board.canvas.toDataURL();
          return { same: again === whole, empty: wiped !== whole, back: picture() === whole };
        }""")
        assert seen == {"same": True, "empty": True, "back": True}
        assert not complaints


# ---------------------------------------------------------------- trial runs


def test_a_trial_run_is_a_film_on_the_board_and_leaves_the_game_as_it_is(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        begun = start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        assert not p.locator(".trial").is_visible()
        p.get_by_role("button", name="Trial run").click()
        p.wait_for_selector(".notice")
        assert "the world is empty" in p.inner_text(".notice"), "there is nothing to try"
        for number, cell in enumerate((12 * 24 + 9, 12 * 24 + 10, 12 * 24 + 11)):
            click(p, cell)
            p.wait_for_function(
                "(n) => Cellgames.app.game.view.turn === n && Cellgames.app.game.free()", arg=number + 1
            )
        before = p.request.get(begun).json()
        p.keyboard.press("t")
        p.wait_for_function(f"() => ({_FILM})() > 2")
        assert re.search(r"Trial run, generation \d+ of 60, if nobody places anything more", p.inner_text(".trial"))
        assert "dashed" in p.evaluate("() => getComputedStyle(document.querySelector('.board')).outline")
        p.get_by_label("Generation", exact=True).fill("7")
        cells = p.evaluate("() => [...Cellgames.planes(Cellgames.app.game.frame).cells]")
        assert [cell for cell, code in enumerate(cells) if code] == [11 * 24 + 10, 12 * 24 + 10, 13 * 24 + 10], (
            "a blinker"
        )
        p.get_by_role("button", name="Back to the game").click()
        p.wait_for_selector(".game[data-state=yours]")
        assert not p.locator(".trial").is_visible()
        assert p.locator(".status").is_visible()
        cells = p.evaluate("() => [...Cellgames.planes(Cellgames.app.game.frame).cells]")
        assert [cell for cell, code in enumerate(cells) if code] == [12 * 24 + 9, 12 * 24 + 10, 12 * 24 + 11]
        assert p.request.get(begun).json() == before
        assert [text for text in complaints if "409" not in text] == []


def test_a_trial_run_of_the_cup_has_the_shape_where_it_would_be_placed(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "toroidal-cup-small-v0", "team_1", ["random"], max_generations=40)
        cell = p.evaluate("() => [...Cellgames.app.game.controls.marks().legal][9]")
        at = p.evaluate(_AT, cell)
        p.mouse.move(at["x"], at["y"])
        shape = p.evaluate("() => Cellgames.app.game.controls.marks().hover.cells.sort((a, b) => a - b)")
        p.keyboard.press("t")
        p.wait_for_function(f"() => ({_FILM})() !== null")
        p.get_by_label("Generation", exact=True).fill("0")
        cells = p.evaluate("() => [...Cellgames.planes(Cellgames.app.game.frame).cells]")
        assert [cell for cell, code in enumerate(cells) if code] == shape
        p.keyboard.press("Escape")
        p.wait_for_selector(".game[data-state=yours]")
        assert p.evaluate("() => Cellgames.app.game.view.turn") == 0
        start(p, site, "torus-small-v0", "black", ["random"])
        assert not p.get_by_role("button", name="Trial run").is_visible()
        assert not complaints


# ---------------------------------------------------------------- patterns

_OWN = """() => {
  const { cells } = Cellgames.planes(Cellgames.app.game.view.frame);
  return [...cells.keys()].filter((cell) => cells[cell] === 1);
}"""


def shape(cells: list[int], width: int = 24) -> list[tuple[int, int]]:
    """Cells moved to the upper left corner."""
    places = [divmod(cell, width) for cell in cells]
    top, left = (min(axis) for axis in zip(*places, strict=True))
    return sorted((row - top, col - left) for row, col in places)


def units_placed(p: Any, count: int) -> None:
    """Wait until so many own units stand on the board, and the person may go on."""
    p.wait_for_function(f"(n) => Cellgames.app.game.free() && ({_OWN})().length === n", arg=count)


def test_a_pattern_is_turned_mirrored_and_placed_with_one_click(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        glider = [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 2),
            (2, 1),
        ]  # of the palette; turned clockwise, then left and right exchanged
        turned = sorted((col, 2 - row) for row, col in glider)
        mirrored = sorted((row, 2 - col) for row, col in turned)
        p.get_by_role("button", name="Glider, 5 units", exact=False).click()
        at = p.evaluate(_AT, 12 * 24 + 12)
        p.mouse.move(at["x"], at["y"])
        hover = "() => Cellgames.app.game.controls.marks().hover.cells"
        assert shape(p.evaluate(hover)) == glider
        p.keyboard.press("r")
        assert shape(p.evaluate(hover)) == turned
        p.get_by_role("button", name="Mirror").click()
        assert shape(p.evaluate(hover)) == mirrored
        p.mouse.click(at["x"], at["y"])
        units_placed(p, 5)
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
        assert not complaints


def test_a_pattern_that_takes_several_turns_stays_marked_until_it_is_built(chromium: Any, site: str) -> None:
    with page(chromium, DESKTOP) as (p, complaints):
        start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        p.emulate_media(reduced_motion="reduce")
        p.get_by_role("button", name="Pentadecathlon, 12 units").click()
        click(p, 12 * 24 + 12)
        units_placed(p, 10)
        expect(p.locator(".controls")).to_contain_text("2 units of the pattern are still to be placed")
        missing = sorted(set(p.evaluate("() => Cellgames.app.game.controls.marks().ghost")) - set(p.evaluate(_OWN)))
        assert len(missing) == 2
        drawn(p)
        end_turn(p)
        p.wait_for_function("() => Cellgames.app.game.free() && Cellgames.app.game.frame.round === 1")
        expect(p.locator(".controls")).to_contain_text("2 units of the pattern are still to be placed")
        p.get_by_role("button", name="Place what is marked").click()
        units_placed(p, 12)
        assert set(missing) <= set(p.evaluate(_OWN))
        expect(p.get_by_role("button", name="Place what is marked")).to_be_hidden()
        assert p.evaluate("() => Cellgames.app.game.controls.palette.ghost.length") == 0
        assert not complaints


def test_a_pattern_is_placed_by_taps_on_a_phone(chromium: Any, site: str) -> None:
    with page(chromium, PHONE, touch=True) as (p, complaints):
        start(p, site, "cloth-of-gold-small-v0", "player_a", ["random"], **_CLOTH)
        p.locator("summary", has_text="Patterns").tap()
        p.get_by_role("button", name="R-pentomino, 5 units").tap()
        p.evaluate("() => scrollTo({ top: 0, behavior: 'instant' })")
        at = p.evaluate(_AT, 12 * 24 + 12)
        p.touchscreen.tap(at["x"], at["y"])
        assert p.evaluate(_OWN) == []
        p.get_by_role("button", name="Turn ↻").tap()
        p.get_by_role("button", name="Place it here").tap()
        units_placed(p, 5)
        assert shape(p.evaluate(_OWN)) == sorted(
            (col, 2 - row) for row, col in [(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)]
        )
        assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert not complaints
