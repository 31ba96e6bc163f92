"""Pictures of Life that a browser paints in a second: `python -m benchmarks.arena.page_films`.

Chromium without a window opens the page of a server on this machine and plays films of Life at 60 generations a second:
on a page of play, after the move that lets Life run, and in the viewer of an exported game. What counts are the calls
that paint the board, and how many different generations they painted. A page and its numbers go to
results/benchmarks/web_films.md and web_films.json. Needs Playwright and Chromium.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cellgames
from benchmarks.arena.page_speed import serving
from benchmarks.pages import listed, machine_head, write_page
from cellgames.utils.report.model import Table
from cellgames.utils.report.text import markdown_table

__all__ = ["FILMS", "GOAL", "chromium_path", "main", "measure"]

GOAL = 50
"""Pictures a second, of a film that is played at 60 generations a second."""

FILMS: Mapping[str, tuple[str, dict[str, int | str]]] = {
    "Toroidal Cup, 40 x 280": ("toroidal-cup-v0", {"pattern": "randys"}),
    "Cloth of Gold, 100 x 100": ("cloth-of-gold-v0", {"generations": 500, "max_rounds": 1}),
    "wild Cloth of Gold, 100 x 100": ("cloth-of-gold-wild-v0", {"generations": 500, "max_rounds": 1}),
}
OUT = Path("results/benchmarks")
PACE = 60  # generations a second
_LONGEST = {
    "cloth-of-gold-v0": 490,
    "cloth-of-gold-wild-v0": 490,
}  # generations of a film, where the page offers no more
_SEEDS = 20  # games at most until one is long enough
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

_STARTED = """async ([game, parameters, seat, seed]) => {
  const headers = { "content-type": "application/json" }, body = { game, parameters, seat, agents: ["random"], seed };
  const answer = await fetch("/api/play", { method: "POST", headers, body: JSON.stringify(body) });
  return answer.json();
}"""
_READY = "() => Cellgames.app.game.free() || Cellgames.app.game.film?.frames.length > 0"
_FILM = "() => Cellgames.app.game.film?.frames.length ?? 0"
_MOVE = """() => {
  const game = Cellgames.app.game, { controls } = game, { cells } = Cellgames.planes(game.view.frame);
  const place = controls.info.end === undefined || game.view.frame.left > 4;
  const free = controls.legal.findIndex((legal, at) => legal && !cells[at]); // a unit chosen again is taken back
  game.act([place ? (free < 0 ? controls.legal.indexOf(1) : free) : controls.info.end]);
}"""
_BEGIN = """([viewer, pace]) => {
  const board = viewer ? window.viewer.board : Cellgames.app.game.board;
  const film = viewer ? window.viewer : Cellgames.app.game.film;
  const render = board.render.bind(board);
  window.painted = [];
  board.render = () => {
    const began = performance.now();
    render();
    window.painted.push([began, performance.now() - began, film.at]);
  };
  film.pause();
  film.seek(viewer ? film.frames.findIndex((frame) => frame.life) : 0);
  if (viewer) film.speed = pace / 30;
  else film.pace = pace;
  window.first = film.at;
  film.play();
}"""
_DONE = "(count) => window.painted.length > 0 && window.painted.at(-1)[2] >= window.first + count"


def chromium_path() -> str | None:
    """Return the path of a browser; None lets Playwright take its own."""
    return os.environ.get("CELLGAMES_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


def _played(page: Any, address: str, id: str, parameters: Mapping[str, int | str], length: int) -> str:
    """Play games until the film of one is long enough; return the game's id on the server, its film on the page."""
    seat = cellgames.make(id).info.players[0]
    for seed in range(_SEEDS):
        page.goto(address)
        made = page.evaluate(_STARTED, [id, parameters, seat, seed])
        if "view" not in made:
            raise RuntimeError(f"{id}: {made.get('error')}")
        page.goto(f"{address}/#/game/{made['view']['id']}")
        page.wait_for_selector(".game[data-state=yours]")
        while not page.evaluate(_FILM):
            page.evaluate(_MOVE)
            page.wait_for_function(_READY)
        if page.evaluate(_FILM) > length:
            return str(made["view"]["id"])
    raise RuntimeError(f"{id}: none of {_SEEDS} games has a film of {length} generations")


def _worked(session: Any) -> float:
    """Return the seconds of processor time that all processes of a browser have had."""
    return sum(float(process["cpuTime"]) for process in session.send("SystemInfo.getProcessInfo")["processInfo"])


def _row(page: Any, viewer: bool, length: int) -> dict[str, float]:
    """Play the film that is open, so many generations of it, and return what was painted."""
    session = page.context.browser.new_browser_cdp_session()
    before = _worked(session)
    page.evaluate(_BEGIN, [viewer, PACE])
    page.wait_for_function(_DONE, arg=length, timeout=120_000)
    found, first, worked = page.evaluate("window.painted"), page.evaluate("window.first"), _worked(session) - before
    session.detach()
    painted = [one for one in found if one[2] <= first + length]
    seconds = (painted[-1][0] - painted[0][0]) / 1000
    costs = [cost for _, cost, _ in painted]
    return {
        "generations": len({at for _, _, at in painted}) - 1,
        "painted": len(painted) - 1,
        "seconds": seconds,
        "per_second": (len({at for _, _, at in painted}) - 1) / seconds,
        "paint_ms": statistics.median(costs),
        "paint_p95_ms": statistics.quantiles(costs, n=20)[-1],
        "worked_ms": 1000 * worked / len(found),
    }


def measure(length: int, only: Sequence[str] = tuple(FILMS)) -> list[dict[str, Any]]:
    """Return what was painted of each film, on the page of play and in the viewer.

    Args:
        length: Generations of each film that are played.
        only: Some of `FILMS`.
    """
    from playwright.sync_api import sync_playwright

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as port, sync_playwright() as driver:
        address = f"http://127.0.0.1:{port}"
        browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"])
        for name in only:
            id, parameters = FILMS[name]
            count = min(length, _LONGEST.get(id, length))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            key = _played(page, address, id, parameters, count)
            rows.append({"film": name, "where": "page of play", **_row(page, False, count)})
            page.close()
            # The game has ended with this film, so that its record can be had.
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            file = Path(folder) / "game.html"
            file.write_bytes(page.request.get(f"{address}/api/play/{key}/record.html").body())
            page.goto(file.as_uri())
            page.wait_for_selector("#viewer[data-frame]")
            rows.append(
                {"film": name, "where": "viewer", **_row(page, True, count), "file_kb": file.stat().st_size / 1000}
            )
            page.close()
        rows = [{**row, "browser": browser.version} for row in rows]
        browser.close()
    return rows


def _write(options: argparse.Namespace, rows: Sequence[dict[str, Any]]) -> str:
    """Write the page and its numbers; return the table."""
    columns = ("film", "where", "generations", "seconds", "a second", "ms a painting, median", "95 %", "processor ms")
    lines = [
        [
            *(row["film"], row["where"], str(row["generations"]), f"{row['seconds']:.1f}", f"{row['per_second']:.1f}"),
            *(f"{row['paint_ms']:.1f}", f"{row['paint_p95_ms']:.1f}", f"{row['worked_ms']:.1f}"),
        ]
        for row in rows
    ]
    table = Table("", columns, lines, text=("film", "where"))
    head = {**machine_head(options.command, "playwright"), "Chromium": rows[0]["browser"]}
    page = (
        listed(head),
        "Chromium without a window and without a GPU, 1280 x 800, beside the server on the same machine. Films are "
        f"played at {PACE} generations a second; *a second* counts the different generations that were painted. The "
        f"goal is {GOAL}. A screen of 60 Hz shows 60 at most. *ms a painting* is the time of the board alone, "
        "*processor ms* what all processes of Chromium together needed for a picture, which other work on the machine "
        "disturbs less than the clock.",
        table,
    )
    write_page(
        options.out / "web_films.md", "The page: films of Life", page, {**head, "goal": GOAL, "rows": list(rows)}
    )
    return markdown_table(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.page_films", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only", nargs="+", metavar="FILM", choices=FILMS, default=tuple(FILMS), help="some of the films"
    )
    parser.add_argument("--length", type=int, default=1000, metavar="N", help="generations of each (default 1000)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if not 10 <= options.length <= 1000:
        parser.error("--length must be from 10 to 1000")
    options.command = shlex.join(["python", "-m", "benchmarks.arena.page_films", *given])
    print(_write(options, measure(options.length, options.only)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
