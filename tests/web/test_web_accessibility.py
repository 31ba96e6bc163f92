"""The page for people who do not see it, do not use a mouse, enlarge it or want no movement; its weight; who is asked.

`axe` is Deque's checker of accessibility rules, which the package axe-playwright-python carries.
"""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, FORM, PHONE, READY, expect, page
from web_play import on_a_phone, open_game
from web_records import SMALL, recorded

import cellgames
from cellgames.arena import MatchOptions, Store, match
from cellgames.arena.records.record_lines import append
from cellgames.cli.main import main

GAMES = {
    "torus-small-v0": {},
    "hex-small-v0": {},
    "cloth-of-gold-small-v0": {},
    "grid-adaptation-small-v0": {},
    "toroidal-cup-small-v0": {"max_generations": 20},
}
PAGES = ["play", "play/torus-small-v0", "play/cloth-of-gold-v0", "watch", "watch?file=games.jsonl", "leaderboard"]
PAGES += ["seasons", "season?folder=cup"]
PAGES += ["learn/torus-v0", "learn/grid-adaptation-v0", "guide/cloth-of-gold-v0"]
PAGES += ["analysis", "analysis/torus-small-v0", "analysis?file=games.jsonl&number=1"]

_VIOLATIONS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ id, impact }) => ["serious", "critical"].includes(impact) || id === "page-has-heading-one")
    .flatMap(({ id, nodes }) => nodes.slice(0, 4).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.any.map((one) => one.message).join("; ").slice(0, 200)}`));
}"""  # noqa: E501


@pytest.fixture(scope="module", autouse=True)
def _games(results: Path) -> None:
    records = [recorded(id) for id in SMALL]
    game = cellgames.make("torus-small-v0", size=3)
    pairs = combinations(("random", "greedy", "rollout:2"), 2)
    records += [one for pair in pairs for one in match(game, *pair, options=MatchOptions(games=2)).records]
    append(results / "games.jsonl", records)
    with Store(results.parent / "store.sqlite") as store:
        store.add(records, source=("round robin", "run"))


def tree(p: Any) -> list[dict[str, Any]]:
    """The accessibility tree that the browser gives to screen readers, without nodes that it hides from them."""
    nodes = p.context.new_cdp_session(p).send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def named(nodes: list[dict[str, Any]], role: str) -> list[str]:
    """The names of the nodes of a role."""
    return [node["name"]["value"] for node in nodes if node["role"]["value"] == role]


def findings(p: Any) -> list[str]:
    """What axe calls serious or critical."""
    if not p.evaluate("() => 'axe' in window"):
        pytest.importorskip("axe_playwright_python", reason="needs axe: pip install axe-playwright-python")
        p.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    return list(p.evaluate(_VIOLATIONS))


def reach(p: Any, selector: str) -> None:
    """Go to an element by the Tab key, and see that every stop on the way shows its focus."""
    for _ in range(60):
        p.keyboard.press("Tab")
        at = p.evaluate("""() => {
          const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
          const seen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
          return [document.activeElement.outerHTML.slice(0, 120), seen];
        }""")
        assert at[1], at[0]
        if p.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not come to {selector}")


def test_a_game_is_begun_and_played_by_the_keyboard_alone_and_read_by_a_screen_reader(p: Any, site: str) -> None:
    p.goto(f"{site}/#/play/torus-small-v0")
    p.wait_for_selector(FORM)
    reach(p, "form.setup button[type=submit]")
    p.keyboard.press("Enter")
    p.wait_for_selector(READY)
    nodes = tree(p)
    assert [name.startswith("Torus: ") for name in named(nodes, "grid")] == [True]
    cells = named(nodes, "gridcell")
    assert len(cells) == 50
    assert "a1: free, you can play here" in cells
    assert len(named(nodes, "row")) >= 5
    reach(p, "canvas.board-canvas")
    p.keyboard.press("ArrowRight")
    at = p.evaluate("() => Cellgames.app.game.board.cursor")
    p.keyboard.press("Enter")
    p.wait_for_function("() => Cellgames.app.game.moves.length === 2 && Cellgames.app.game.free()")
    expect(p.locator("[aria-live=polite].cg-sr").first).to_have_text(re.compile(r"White played [a-e][1-5]\+?\."))
    name = p.evaluate("(cell) => Cellgames.app.game.layout.names[cell]", at)
    p.wait_for_function("() => document.querySelector('canvas.board-canvas').textContent.includes('White stone')")
    cells = named(tree(p), "gridcell")
    assert f"{name}: Black stone" in cells
    assert [cell.partition(": ")[2] for cell in cells].count("White stone, last move") == 1


@pytest.mark.slow
def test_of_a_large_board_the_part_around_the_cursor_is_read(p: Any, site: str) -> None:
    rows, cols = 40, 280
    open_game(p, site, "toroidal-cup-v0")
    board = p.locator("canvas.board-canvas")
    assert (board.get_attribute("aria-rowcount"), board.get_attribute("aria-colcount")) == (f"{rows}", f"{cols}")
    board.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
        p.keyboard.press(key)
    cell = p.evaluate("() => Cellgames.app.game.board.cursor")
    read = p.locator(f"#{board.get_attribute('aria-activedescendant')}")
    assert re.match(rf"row {cell // cols}, column {cell % cols}: empty", read.text_content() or "")
    assert read.get_attribute("aria-colindex") == f"{cell % cols + 1}"
    for _ in range(30):
        p.keyboard.press("ArrowDown")
    cell = p.evaluate("() => Cellgames.app.game.board.cursor")
    held = named(tree(p), "gridcell")
    assert any(name.startswith(f"row {cell // cols}, column {cell % cols}:") for name in held)
    assert 100 < len(held) <= 600


@on_a_phone
def test_axe_finds_nothing_serious_in_a_game_and_notices_a_fault(p: Any, site: str) -> None:
    open_game(p, site, "torus-small-v0")
    assert findings(p) == []
    p.evaluate("() => document.querySelector('.status').style.setProperty('color', 'rgba(128, 128, 128, 0.4)')")
    assert any("color-contrast" in one for one in findings(p))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop", "phone"])
def test_axe_finds_nothing_serious(chromium: Any, site: str, results: Path, size: tuple[int, int], dark: bool) -> None:
    found: dict[str, list[str]] = {}
    if not (results / "cup").exists():
        season = "season torus-small-v0 --agents greedy random --teams 8 --days 3 --seed 1 --no-store --out"
        assert main([*season.split(), str(results / "cup")]) == 0
    with page(chromium, size, touch=size == PHONE, dark=dark) as (p, complaints):
        for route in PAGES:
            p.goto(f"{site}/#/{route}")
            p.wait_for_selector("main .loading", state="detached")
            found[route] = findings(p)
        for id, parameters in GAMES.items():
            open_game(p, site, id, parameters=parameters)
            found[id] = findings(p)
        open_game(p, site, "torus-small-v0", seat=None, parameters={"size": 2})
        p.get_by_label("Speed", exact=True).select_option("20")
        p.wait_for_selector(".game[data-state=done]")
        found["done"] = findings(p)
        for number in range(1, len(SMALL) + 1):
            p.goto(f"{site}/#/watch?file=games.jsonl&number={number}")
            p.wait_for_selector(f".path:has-text('game {number}')")
            p.wait_for_selector(".cg-viewer[data-frame]")
            found[f"record {number}"] = findings(p)
        assert all("/api/analysis" in one for one in complaints), complaints  # stopped when one leaves
    assert not {name: some for name, some in found.items() if some}
