"""Live games in a real browser: several people at one screen, agents that are watched, resigning, leaving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import choose, expect, fill_form
from web_play import act, on_a_phone


def begin(p: Any, site: str, id: str, seat: str, agent: str = "random", **settings: int) -> None:
    fill_form(p, site, id, **settings)
    p.get_by_label("Your seat").select_option(label=seat)
    if p.locator("select.agent").count():
        p.select_option("select.agent", agent)


def start(p: Any) -> None:
    p.click("button[type=submit]")
    p.wait_for_selector(".game")


SEVERAL = "several people"


def test_two_people_play_torus_to_the_end_without_an_agent(p: Any, site: str) -> None:
    begin(p, site, "torus-small-v0", SEVERAL, Board_size=2, Seed=1)
    expect(p.locator("select.agent")).to_have_count(0)
    start(p)
    for side in ("Black", "White"):
        assert f"{side} to move" in p.inner_text(".status")
        assert not p.locator(".curtain").is_visible(), "nothing is hidden in this game"
        act(p)
    while act(p):
        pass
    assert "You" not in p.inner_text(".status")
    with p.expect_download() as download:
        p.click("text=Save the record")
    assert json.loads(Path(download.value.path()).read_bytes())["agents"] == ["human", "human"]


@pytest.mark.slow
@on_a_phone
def test_three_people_pass_the_device_and_see_no_secret_of_another(p: Any, site: str) -> None:
    begin(p, site, "grid-adaptation-small-v0", SEVERAL, Seed=3)
    p.get_by_label("Player 3", exact=True).check()
    answers: list[dict[str, Any]] = []

    def keep(answer: Any) -> None:
        if "/api/play/" in answer.url:
            answers.append(answer.json())

    p.on("response", keep)
    start(p)
    own = {}
    for turn in range(2):
        for seat, name in enumerate(("Player 1", "Player 2", "Player 3")):
            button = p.get_by_role("button", name=f"I am {name}", exact=True)
            expect(button).to_be_visible()
            assert p.evaluate("() => Cellgames.app.game.frame") is None
            assert not p.locator("canvas.board-canvas").is_visible()
            assert p.locator("canvas.board-canvas").text_content() == "", "nor may screen readers read it"
            assert (p.locator(".moves").text_content(), p.locator(".people").text_content()) == ("", "Players")
            button.click()
            p.wait_for_selector(".game[data-state=yours]")
            own[seat] = p.evaluate("() => Cellgames.app.game.view.controls.sequence")
            assert p.evaluate("() => Cellgames.app.game.view.seat") == seat
            assert p.locator("canvas.board-canvas").is_visible()
            assert p.evaluate("() => Cellgames.app.game.view.turn") == turn
            choose(p)
            p.wait_for_function("() => Cellgames.app.game.view.curtain !== null")
    assert len(set(own.values())) == 3
    for answer in answers:  # nothing came to the browser that the seat at the screen does not know
        view = answer["view"]
        frames = [frame for event in view["events"] for frame in event["frames"]]
        assert not view["curtain"] or (view["frame"], view["events"]) == (None, [])
        for frame in [*frames, view["frame"]] if view["frame"] else frames:
            for hidden in ("sequence", "points", "garnets"):
                values = frame["infos"].get(hidden) or []
                known = [seat for seat, value in enumerate(values) if value is not None]
                assert known in ([], [view["seat"]])
    p.reload()
    expect(p.get_by_role("button", name="I am Player 1", exact=True)).to_be_visible()


@pytest.mark.slow
def test_agents_pause_and_go_on_by_single_moves_and_think_no_further(p: Any, site: str) -> None:
    begin(p, site, "torus-small-v0", "none: agents play all seats", Board_size=2, Seed=1)
    start(p)
    moves = p.locator(".moves li")
    p.wait_for_selector(".moves li", state="attached")
    p.get_by_role("button", name="Pause").click()
    p.wait_for_function("() => { const { view, bots } = Cellgames.app.game; return !view.thinking && !bots.asking; }")
    count = moves.count()
    p.get_by_role("button", name="One move").click()
    expect(moves).to_have_count(count + 1)
    p.wait_for_timeout(600)
    expect(moves).to_have_count(count + 1)
    served_turn = p.evaluate("async () => (await Cellgames.app.api(Cellgames.app.game.path)).view.turn")
    assert served_turn == count + 1, "the server has played no further than the page has asked"
    p.get_by_label("Speed").select_option("20")
    p.get_by_role("button", name="Play", exact=True).click()
    p.wait_for_selector(".game[data-state=done]")
    assert not p.locator(".bots").is_visible()
