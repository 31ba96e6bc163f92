"""A real browser for tests of pages: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import pytest

FORM = "form.setup[aria-busy=false] button[type=submit]:not(:disabled)"
"""The button of the form of a game when it can be sent."""

READY = ".game[data-state=yours], .game[data-state=done]"
"""A game that awaits the person, or is over."""

DESKTOP = (1280, 800)
PHONE = (390, 844)

_AT = """async ([shown, cell]) => {
  const { board, canvas } = Cellgames.app[shown], point = () => {
    const at = board.cellPoint(cell), box = canvas.getBoundingClientRect();
    return { x: box.left + at.x, y: box.top + at.y };
  };
  for (let at = point(), last; !last || at.x !== last.x || at.y !== last.y; at = point()) {  // until nothing moves
    if ((last = at).y < 0 || at.y > innerHeight) window.scrollBy({ top: at.y - innerHeight / 2, behavior: "instant" });
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  }
  return point();
}"""
_ACT = """() => {
  const { game } = Cellgames.app, { nvec } = game.about;
  let first = 0;
  game.act(nvec.map((count) => {
    const found = game.controls.legal.slice(first, first + count).indexOf(1);
    first += count;
    return found;
  }));
}"""
_WAIT_MS = 30_000  # a machine may be busy; only a test that fails waits so long
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# Each window would load pages for the address bar, which nobody sees, in a second. This replaces Playwright's own list.
_NO_FEATURES = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,AimEnabled,HttpsUpgrades,MediaRouter,PaintHolding"


class Watched(list[str]):
    """What a page has complained about: errors in its console, exceptions, requests that failed or left it."""


def _chromium() -> str:
    path = os.environ.get("CELLGAMES_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("needs Chromium in the PATH, or its path in CELLGAMES_CHROMIUM")
    return path


def choose(p: Any) -> None:
    """Choose the first legal action at the screen's side."""
    p.evaluate(_ACT)


def expect(found: Any) -> Any:
    """Playwright's assertions about a locator, which wait until they hold."""
    driver = importlib.import_module("playwright.sync_api")
    driver.expect.set_options(timeout=_WAIT_MS)
    return driver.expect(found)


_opened = ExitStack()


def browser() -> Any:
    """Playwright's `Browser`, the same one until `close`; skips the test where Playwright or Chromium is missing."""
    if not _launched().is_connected():  # a test has closed it
        close()
    return _launched()


@cache
def _launched() -> Any:
    try:
        driver = importlib.import_module("playwright.sync_api")
    except ImportError:
        pytest.skip("needs Playwright: pip install playwright")
    path = _chromium()
    playwright = _opened.enter_context(driver.sync_playwright())
    words = ["--no-sandbox", "--disable-gpu", f"--disable-features={_NO_FEATURES}"]
    return _opened.enter_context(playwright.chromium.launch(executable_path=path, args=words))


def close() -> None:
    """Close the browser, if it is open: while it is, nothing else in this thread may use asyncio."""
    _launched.cache_clear()
    _opened.close()


def _failed(request: Any) -> list[str]:
    """What to complain about; a request that the page itself has stopped is no failure."""
    return [] if request.failure == "net::ERR_ABORTED" else [f"failed: {request.url[:200]}"]


@contextmanager
def page(
    opened: Any, size: tuple[int, int] = DESKTOP, *, touch: bool = False, dark: bool = False, offline: bool = False
) -> Iterator[tuple[Any, Watched]]:
    """A fresh page (its own cookies and cache) and what it complains about; a test asserts that this is empty.

    The size is that of the window in CSS pixels; a touch screen is twice as dense.
    """
    context = opened.new_context(
        viewport={"width": size[0], "height": size[1]},
        has_touch=touch,
        is_mobile=touch,
        device_scale_factor=2 if touch else 1,
        color_scheme="dark" if dark else "light",
        offline=offline,
    )
    context.set_default_timeout(_WAIT_MS)
    complaints = Watched()
    try:
        shown = context.new_page()
        shown.on("console", lambda message: complaints.extend([message.text] if message.type == "error" else []))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("requestfailed", lambda request: complaints.extend(_failed(request)))
        yield shown, complaints
    finally:
        context.close()


def fill_form(p: Any, site: str, id: str, **settings: object) -> None:
    """Open the form of a game, set its settings by their labels, and wait until it can be sent."""
    p.goto(f"{site}/#/play/{id}")
    p.wait_for_selector(FORM)
    if settings:
        p.click("summary:has-text('Board and seed')")
    for label, value in settings.items():
        box = p.get_by_label(label.replace("_", " "), exact=True)
        box.fill(str(value))
        box.press("Tab")
    p.wait_for_selector(FORM)


def start(p: Any, site: str, id: str, agent: str = "", **settings: object) -> None:
    """Fill the form of a game, choose an agent where one is named, send it, and wait for the person's turn."""
    fill_form(p, site, id, **settings)
    if agent:
        p.select_option("select.agent", agent)
    p.click(FORM)
    p.wait_for_selector(READY)


def point(p: Any, cell: int, shown: str = "game") -> dict[str, float]:
    """Return where a cell is on the screen, scrolled to; `shown` is "game" or "analysis"."""
    return dict(p.evaluate(_AT, [shown, cell]))


def click(p: Any, cell: int, shown: str = "game") -> None:
    """Click on a cell of the board."""
    p.mouse.click(**point(p, cell, shown))
