"""Clocks on the page: both sides think on the server's time, and who runs out of it has lost."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import torch
from browser import FORM, PHONE, page
from refusals import fails
from torch import Tensor

import cellgames
from cellgames.agents import AnyAgent, BaseAgent, load
from cellgames.agents.time_control import TimeControl
from cellgames.arena import Record, replay
from cellgames.web import agent_seats, live_game
from cellgames.web.frames import replay_data
from cellgames.web.live_game import RefusedError, Session

GAME = cellgames.make("torus-v0", size=3)


class Stuck(BaseAgent):
    """An agent that loops, or waits where it cannot be interrupted on a thread of the page."""

    def __init__(self, event: threading.Event | None = None) -> None:
        super().__init__("stuck")
        self.event = event

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        while self.event is None:
            pass
        self.event.wait()
        return action_mask.int().argmax(1)


def session(agent: str | Stuck = "greedy", clock: str = "600+5", game: Any = GAME) -> Session:
    specs = [None, *["agent"] * (game.info.num_players - 1)]
    loaded: AnyAgent = load(agent, game) if isinstance(agent, str) else agent
    return Session(game, specs, lambda spec: loaded, time_control=TimeControl.parse(clock))


def until(known: Any) -> None:
    end = time.monotonic() + 60
    while not known():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_both_clocks_run_on_the_server() -> None:
    one = session()
    first = one.view()["clocks"]
    assert first["running"] == 0
    assert 590 < first["left"][0] <= 600 == first["left"][1]
    one.move([0], 0)
    until(lambda: not one.thinking)
    second = one.view()["clocks"]
    assert second["running"] == 0
    assert 590 < second["left"][0] <= 605
    assert 600 < second["left"][1] < 605, "the increment is added"
    assert not one.view()["can_undo"]
    with pytest.raises(RefusedError):
        one.undo()


def test_a_person_without_time_has_lost_as_soon_as_somebody_looks() -> None:
    one = session(clock="0.1")
    until(lambda: one.done)
    view = one.view()
    assert view["forfeit"].startswith("Black (you) lost on time: thinking took 0.")
    assert (view["yours"], view["clocks"]) == (False, {"left": [0.0, 0.1], "running": None})
    with fails(RefusedError, cause="the game is over"):
        one.move([0], 0)
    record = Record.from_json(one.record().to_json())
    assert record.result.outcome == ("loss", "win")
    assert record.seconds[0][0] > 0.1
    assert record.seconds[1] == ()
    assert len(replay(record)) == 1


def test_a_move_that_comes_too_late_is_not_played() -> None:
    one = session(clock="0.05")
    assert one._clocks is not None
    one._clocks.running = (0, 0, time.perf_counter() - 1)
    with fails(RefusedError, cause="the game is over"):
        one.move([0], 0)
    assert one.view()["turn"] == 0


@pytest.mark.parametrize("interruptible", [True, False])
def test_an_agent_that_does_not_answer_loses_and_takes_nobodys_place(
    interruptible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_game, "_THINKING", threading.BoundedSemaphore(1))
    monkeypatch.setattr(live_game, "_LATE_S", 0.1)
    monkeypatch.setattr(agent_seats, "MOVE_S", 1.5)
    event = None if interruptible else threading.Event()
    one = session(Stuck(event), clock="0.5")
    one.move([0], 0)
    until(lambda: not one.thinking)
    assert one.done
    assert one.view()["forfeit"].startswith("White (agent) lost on time: thinking took 0.")
    line = one.record().to_json()
    other = session()
    other.move([0], 0)
    until(lambda: not other.thinking)
    assert other.view()["turn"] == 2
    if event is not None:
        event.set()  # it answers after all
        until(lambda: not one._thinking)
    assert one.record().to_json() == line
    assert live_game._THINKING.acquire(timeout=60), "the place is given back once"


def test_where_all_act_at_once_every_seat_has_a_clock() -> None:
    game: Any = cellgames.make("toroidal-cup-small-v0", teams=3)
    one = session("random", game=game)
    while not one.done:
        view = one.view()
        offset, choices = 0, []
        mask = game.legal_actions(one.state)[0, 0].tolist()
        for count in game.info.action_nvec:
            choices.append(mask[offset : offset + count].index(True))
            offset += count
        one.move(choices, view["turn"])
        until(lambda: not one.thinking)
    record = one.record()
    assert [len(own) for own in record.seconds] == [len(record.moves)] * 3
    assert [len(times) for times in replay_data(record)["record"]["seconds"]] == [3] * len(record.moves)


@pytest.mark.slow
def test_a_game_with_a_clock_on_a_phone(site: str, chromium: Any) -> None:
    with page(chromium, PHONE, touch=True, dark=True) as (p, complaints):
        p.goto(f"{site}/#/play/torus-small-v0")
        p.wait_for_selector(FORM)
        p.select_option("#field-clock", "180+2")
        p.click("button[type=submit]")
        p.wait_for_selector(".game[data-state=yours] .clock.running strong:has-text('2:')")
        assert p.locator(".clock").count() == 2
        assert p.locator(".clock.running").inner_text().split("\n")[0].strip().startswith("Black (you)")
        asked = p.evaluate("() => Cellgames.app.game.about.asked")
        assert asked["clock"] == "180+2"
        wish = {"game": "torus-v0", "seat": "black", "agents": ["random"], "clock": "0.5"}
        made = p.evaluate("(wish) => Cellgames.app.api('/api/play', wish)", wish)
        p.goto(f"{site}/#/game/{made['view']['id']}")
        p.wait_for_selector(".game[data-state=done] .status:has-text('Black (you) lost on time')")
        assert p.locator(".clock strong").first.inner_text() == "0:00.0"
        wide = p.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
        assert wide, "nothing is cut off"
        assert not complaints
