"""Games that outlive the server, the page and its history, in a real browser."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import FORM, READY, choose, expect, page, start
from waits import until
from web_play import act, open_game
from web_records import SMALLEST

pytest.importorskip("uvicorn", reason="needs uvicorn: pip install cellgames[web]")

GAMES = ("hex-small-v0", "cloth-of-gold-small-v0", "grid-adaptation-small-v0")


@contextmanager
def server(port: int, base: Path) -> Any:
    """The command of the page in a process of its own, which is killed at the end."""
    (base / "results").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "cellgames", "serve", "--port", str(port), "--results", str(base / "results")]
    process = subprocess.Popen(
        [*command, "--store", str(base / "store.sqlite")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def answers() -> bool:
        assert process.poll() is None, "the server has ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        until(answers, 60.0)
        yield
    finally:
        process.kill()
        process.wait()


def test_games_survive_a_kill_of_the_server_and_go_on_to_their_end(chromium: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    site, begun = f"http://127.0.0.1:{port}", {}
    with page(chromium) as (p, _):
        p.emulate_media(reduced_motion="reduce")
        with server(port, tmp_path):
            for id in GAMES:
                open_game(p, site, id, parameters=SMALLEST[id])
                assert act(p)
                p.wait_for_selector(READY)
                begun[p.url] = p.evaluate("() => Cellgames.app.game.moves")
        with server(port, tmp_path):
            p.reload()
            for address, moves in reversed(begun.items()):
                p.goto(address)
                p.wait_for_function("(moves) => `${Cellgames.app.game?.moves}` === `${moves}`", arg=moves)
                assert act(p), "the game was not over"
            while act(p):  # one of them to its end
                pass
            expect(p.locator(".end")).to_contain_text("The game is over")
            p.goto(f"{site}/#/games")
            rows = p.locator("table.games tbody tr")
            expect(rows).to_have_count(len(GAMES))
            expect(rows.filter(has_text="goes on")).to_have_count(len(GAMES) - 1)


def test_history_leads_to_a_game_and_the_landing_page_goes_on_with_it(p: Any, site: str) -> None:
    p.goto(f"{site}/#/play")
    p.wait_for_selector(".cards")
    p.evaluate("() => { location.hash = '#/play/torus-small-v0'; }")
    p.wait_for_selector(FORM)
    p.click("button[type=submit]")
    act(p)
    game = p.url
    p.go_back()
    p.wait_for_selector(FORM)
    assert not p.locator("dialog").count(), "nothing is lost, so nothing is asked"
    p.go_forward()
    p.wait_for_selector(READY)
    assert p.url == game
    assert p.evaluate("() => Cellgames.app.game.view.turn") == 2
    p.go_back()
    p.wait_for_selector(FORM)
    p.go_back()
    expect(p.locator(".go-on canvas")).to_have_count(1)
    p.wait_for_selector(".go-on canvas[width]")
    p.click("a.go-on")
    p.wait_for_selector(READY)
    assert p.url == game
    p.goto(f"{site}/#/games")
    rows = p.locator("table.games tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("goes on")
    p.click("button:has-text('Delete')")
    p.click("dialog button:has-text('Delete')")
    expect(p.locator("main")).to_contain_text("No games yet")


def test_a_second_tab_says_that_the_game_has_gone_on(chromium: Any, site: str) -> None:
    with page(chromium) as (p, _):
        start(p, site, "torus-small-v0")
        other = p.context.new_page()
        other.goto(p.url)
        other.wait_for_selector(READY)
        act(p)
        p.wait_for_selector(READY)
        choose(other)
        expect(other.locator(".notice")).to_contain_text("This game has gone on in another tab.")
        assert other.evaluate("() => Cellgames.app.game.view.turn") == 2
