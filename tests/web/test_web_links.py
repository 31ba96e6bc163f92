"""Games of two people by link, in two browsers."""

from __future__ import annotations

from typing import Any

from browser import PHONE, expect, fill_form, page
from web_play import act


def begin(p: Any, site: str, id: str, clock: str = "", **settings: object) -> str:
    """Begin a game of two people by link; return the other one's address."""
    fill_form(p, site, id, **settings)
    p.get_by_label("Your seat").select_option("*")
    p.get_by_label("each at a screen of their own, by link").check()
    p.get_by_label("Clock").select_option(clock)
    p.click("button[type=submit]")
    p.wait_for_selector(".invitation input")
    return str(p.locator(".invitation input").first.input_value())


def test_two_browsers_play_one_game_with_clocks_to_its_end(chromium: Any, site: str) -> None:
    with page(chromium) as (one, complaints), page(chromium, PHONE, touch=True) as (other, more):
        link = begin(one, site, "torus-small-v0", "180+2", Board_size=2)
        assert one.evaluate("() => Cellgames.app.game.view.clocks.running") is None, "the other one has not come yet"
        other.goto(link)
        other.wait_for_selector(".game")
        assert not other.locator(".invitation").count()
        expect(other.locator(".status")).to_contain_text("Waiting for Black")
        other.wait_for_function("() => Cellgames.app.game.view.clocks.running === 0")
        assert other.evaluate("() => Cellgames.app.game.view.legal") is None
        act(one)
        expect(one.locator(".status")).to_contain_text("Waiting for White")
        act(other)
        one.wait_for_selector(".game[data-state=yours]")
        assert one.evaluate("() => Cellgames.app.game.view.turn") == 2
        other.reload()
        while act(one) and act(other):
            pass
        one.wait_for_selector(".game[data-state=done]")
        other.wait_for_selector(".game[data-state=done]")
        assert {one.inner_text(".status")[:8], other.inner_text(".status")[:8]} == {"You win.", "You lose"}
        assert not complaints
        assert not more


def test_choices_at_the_same_time_stay_secret_and_a_seat_cannot_be_guessed(chromium: Any, site: str) -> None:
    with page(chromium) as (one, _), page(chromium) as (other, _):
        link = begin(one, site, "grid-adaptation-small-v0")
        other.goto(link)
        act(other)  # in any order
        expect(other.locator(".status")).to_contain_text("Waiting for the others")
        known = [p.evaluate("() => Cellgames.app.game.view.frame.infos.sequence") for p in (one, other)]
        assert [[seat for seat, value in enumerate(own) if value is not None] for own in known] == [[0], [1]]
        act(one)
        for p in (one, other):
            p.wait_for_function("() => Cellgames.app.game.view.turn === 1")
        id = link.rpartition("/")[2].partition(".")[0]
        for address in (id, f"{id}.{'A' * 16}"):
            answer = one.request.get(f"{site}/api/play/{address}")
            assert answer.status == 404
        refused = other.request.delete(f"{site}/api/play/{link.rpartition('/')[2]}")
        assert refused.status == 409
        own = one.evaluate("() => Cellgames.app.game.path")
        assert one.request.post(f"{site}{own}/undo", data={"turn": 0}).status == 409
        assert one.request.delete(f"{site}{own}").status == 204
        assert other.request.get(f"{site}/api/play/{link.rpartition('/')[2]}").status == 404
