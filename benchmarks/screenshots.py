"""Pictures of the page for the documentation: Chromium without a window looks at a server on this machine.

`python -m benchmarks.pictures` makes them, each light and dark. A picture shows the page at one address, after a few
steps of play. Games have fixed seeds and fixed moves. The values of the analysis board differ a little from run to run,
because a search stops after a time. Needs Playwright and Chromium.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from benchmarks.arena.page_speed import serving
from cellgames.cli.main import main as cellgames

DESKTOP = (1280, 800)
PHONE = (390, 844)
RECORDS = "games.jsonl"
CUP = "cup.jsonl"
SEASON = "season"
QUALITY = 82

_START = """async (body) => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch("/api/play", { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()).view.id;
}"""
_ACT = "(action) => Cellgames.app.game.act([action])"
_LEGAL = "() => [...Cellgames.app.game.controls.legal.entries()].filter(([, free]) => free).map(([action]) => action)"
_FORM = "form.setup[aria-busy=false] button[type=submit]:not(:disabled)"
_SKIP = "button:has-text('Skip the animation'):visible"
_READY = ".game[data-state=yours], .game[data-state=done]"


@dataclass(frozen=True)
class Shot:
    """A picture of the page, which `steps` open at an address; `touch` is a phone, whose screen is twice as dense."""

    steps: Callable[[Any, str], None]
    size: tuple[int, int] = DESKTOP
    touch: bool = False


def _at(path: str, ready: str) -> Callable[[Any, str], None]:
    """Return the steps that open an address and wait for an element."""

    def steps(page: Any, site: str) -> None:
        page.goto(f"{site}/#/{path}")
        page.wait_for_selector(ready)

    return steps


def _ready(page: Any) -> None:
    """Wait until it is the person's turn; animations are skipped."""
    page.wait_for_selector(f"{_READY}, {_SKIP}")
    if not page.locator(_READY).count():
        page.evaluate("() => Cellgames.app.game.skip()")
        page.wait_for_selector(_READY)


def _play(page: Any, site: str, moves: Sequence[int | float], **body: Any) -> None:
    """Start a game and play actions that are still legal, or legal ones by their place among them from 0 to 1."""
    page.goto(site)
    key = page.evaluate(_START, {"parameters": {}, "seed": 7, **body})
    page.goto(f"{site}/#/game/{key}")
    for move in moves:
        _ready(page)
        legal = page.evaluate(_LEGAL)
        action = move if isinstance(move, int) else legal[int(move * len(legal))]
        if action in legal:
            turn = page.evaluate("() => Cellgames.app.game.view.turn")
            page.evaluate(_ACT, action)
            page.wait_for_function("(turn) => Cellgames.app.game.view.turn !== turn", arg=turn)
    _ready(page)


def _torus(page: Any, site: str) -> None:
    game = {"game": "torus-v0", "parameters": {"size": 6}, "seat": "black"}
    _play(page, site, (14, 9, 20, 26, 22), agents=["greedy"], **game)


def _cup(page: Any, site: str) -> None:
    _play(page, site, (0.2, 0.5, 0.8), game="toroidal-cup-v0", seat="team_1", agents=["greedy"])


def _guide(page: Any, site: str) -> None:
    page.goto(f"{site}/#/guide/torus-v0")
    _ready(page)


def _analysis(page: Any, site: str) -> None:
    page.goto(f"{site}/#/analysis?file={RECORDS}&number=1")
    page.wait_for_selector(".faults li button", timeout=120_000)
    page.locator(".faults li button").first.click()
    page.wait_for_timeout(4000)  # the search goes on, ever more exact
    page.evaluate("() => scrollTo(0, 0)")


def _watch(page: Any, site: str) -> None:
    page.goto(f"{site}/#/watch?file={CUP}&number=1")
    page.wait_for_selector(".cg-viewer[data-frame]")
    line = page.locator(".cg-viewer input[type=range]").first
    line.evaluate("(line) => { line.value = 0.3 * line.max; line.dispatchEvent(new Event('input')); }")


def _season(page: Any, site: str) -> None:
    page.goto(f"{site}/#/season?folder={SEASON}")
    page.wait_for_selector(".bracket .round")


SHOTS = {
    "page_levels": Shot(_at("play/torus-small-v0", _FORM), (1280, 640)),
    "page_play": Shot(_torus, (1280, 830)),
    "page_learn": Shot(_at("learn/cloth-of-gold-v0", "canvas")),
    "page_guide": Shot(_guide, (1280, 1010)),
    "page_cup": Shot(_cup, (1280, 690)),
    "page_watch": Shot(_watch, (1280, 900)),
    "page_analysis": Shot(_analysis, (1280, 1040)),
    "page_season": Shot(_season, (1280, 940)),
    "page_phone": Shot(_torus, PHONE, touch=True),
}


def chromium_path() -> str | None:
    """Return the path of a browser; None lets Playwright take its own."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CELLGAMES_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@contextmanager
def _results() -> Iterator[Path]:
    """Yield a folder with a game to analyse and a season."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        game = ["play", "torus-v0", "--size", "6", "--watch", "--agents", "greedy", "trained", "--seed", "1"]
        cup = ["play", "toroidal-cup-small-v0", "--watch", "--agents", "champion", "greedy", "--seed", "1"]
        season = ["season", "torus-small-v0", "--agents", "greedy", "random", "trained", "--teams", "8", "--days", "3"]
        for words in (
            [*game, "--out", str(folder / RECORDS)],
            [*cup, "--out", str(folder / CUP)],
            [*season, "--seed", "1", "--out", str(folder / SEASON), "--no-store"],
        ):
            with redirect_stdout(io.StringIO()):
                code = cellgames(words)
            if code:
                raise SystemExit(code)
        yield folder


def screenshots(names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names of the files and the pictures as WebP: light, and dark with `_dark` at the name's end."""
    from playwright.sync_api import sync_playwright

    with _results() as folder, serving(folder) as port, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"])
        for name in names:
            shot = SHOTS[name]
            for scheme in ("light", "dark"):
                page = browser.new_page(
                    viewport={"width": shot.size[0], "height": shot.size[1]},
                    has_touch=shot.touch,
                    is_mobile=shot.touch,
                    device_scale_factor=2 if shot.touch else 1,
                    color_scheme=scheme,
                    reduced_motion="reduce",
                )
                shot.steps(page, f"http://127.0.0.1:{port}")
                page.wait_for_timeout(500)  # the board's last animation
                yield f"{name}{'_dark' if scheme == 'dark' else ''}", _webp(page.screenshot())
                page.close()
        browser.close()


def _webp(png: bytes) -> bytes:
    """Return a picture as WebP."""
    made = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").save(made, "WEBP", quality=QUALITY, method=6)
    return made.getvalue()
