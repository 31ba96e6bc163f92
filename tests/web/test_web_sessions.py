"""Live games without requests: agents that fail or wait, clocks, and games that leave the memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from arena_bots import Raising
from browser import FORM
from refusals import fails, refused
from torch import Tensor
from waits import until
from web_play import on_a_phone, open_game

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.agents.time_control import TimeControl
from cellgames.arena import Record, replay
from cellgames.arena.records.record_lines import Forfeit
from cellgames.web import agent_seats, live_game
from cellgames.web import sessions as web_sessions
from cellgames.web.frames import replay_data
from cellgames.web.live_game import RefusedError, Session
from cellgames.web.sessions import FullError, Sessions

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


@pytest.fixture(autouse=True)
def _own_steps_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is busy with other tests, too."""
    monkeypatch.setattr(live_game, "_OWN_S", 100.0)


def settled(session: Session) -> None:
    """Wait until no agent of a game thinks."""
    until(lambda: not session.thinking)


def session(agent: str | BaseAgent = "greedy", clock: str = "", game: Any = GAME, **more: Any) -> Session:
    """A game of a person in the first seat, and an agent in all others."""
    loaded: Any = load(agent, game) if isinstance(agent, str) else agent
    control = TimeControl.parse(clock) if clock else None
    specs = [None, *["agent"] * (game.info.num_players - 1)]
    return Session(game, specs, lambda spec: loaded, time_control=control, **more)


def test_an_agent_that_fails_forfeits_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAISING", "2")
    one = session(Raising())
    for cell in (17, 16):
        assert not one.done
        one.move([cell], one.view()["turn"])
        settled(one)
    view = one.view()
    assert view["done"]
    assert view["result"]["outcome"] == ["win", "loss"]
    assert view["forfeit"] == "agent as White forfeits: ArithmeticError: on purpose"
    record = one.record()
    assert record.result.forfeit is not None
    assert record.result.forfeit.seat == 1
    assert len(replay(Record.from_json(record.to_json()))) == 4
    assert replay_data(record)["record"]["result"]["forfeit"]
    with fails(RefusedError, cause="the game is over"):
        one.move([15], 3)


def test_an_agent_that_takes_too_long_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent, of the package or not, cannot keep a core busy: the visitor chose board and playouts."""
    monkeypatch.setattr(agent_seats, "MOVE_S", 0.05)
    one = session("gumbel:5000", game=cellgames.make("torus-v0", size=9))
    one.move([0], 0)
    settled(one)
    assert "(agent) lost on time: it took more than 0." in one.view()["forfeit"]


def test_a_session_waits_for_its_agent_and_no_other_session_does() -> None:
    answer = threading.Event()
    one, other = session(Stuck(answer)), session("random")
    one.move([5], 0)
    view = one.view()
    assert (view["thinking"], view["yours"], view["turn"]) == (True, False, 1), "the own stone is there at once"
    with pytest.raises(RefusedError):
        one.move([6], 1)
    with pytest.raises(RefusedError):
        one.undo(one.turn)
    other.move([5], 0)
    settled(other)
    assert other.view()["turn"] == 2
    assert one.thinking
    answer.set()
    settled(one)
    assert one.view()["turn"] == 2
    assert one.view(0, 1)["events"][0]["move"] == "a1"


@mock.patch.object(web_sessions, "_clock")
@mock.patch.multiple(web_sessions, _MOST_KEPT=2, _IDLE_S=100)
def test_few_sessions_are_in_memory_and_the_others_are_read_again(clock: mock.Mock, tmp_path: Path) -> None:
    def restore(saved: Mapping[str, Any]) -> Session:
        return session("random", seed=saved["seed"], saved=saved)

    sessions = Sessions(tmp_path, restore)

    def begin(time: float) -> Session:
        clock.return_value = time
        sessions.make_room()
        one = session("random", asked={"game": "torus-v0"})
        sessions.add(one)
        return one

    first, second = begin(0), begin(1)
    second.move([0], 0)
    settled(second)
    clock.return_value = 2
    assert sessions.get(first.id) is first
    third = begin(2)  # in the place of the second one
    again = sessions.get(second.id)
    assert (len(sessions), again is second) == (2, False)
    assert again.view() | {"events": []} == second.view() | {"events": []}
    assert [event["move"] for event in again.view(0)["events"]] == second.moves
    clock.return_value = 3
    assert sessions.get(third.id) is third
    for clock.return_value, count in ((102.5, 1), (300, 0)):  # the second one was last asked for at 2, the third at 3
        sessions.make_room()
        assert len(sessions) == count
    assert [one["id"] for one in sessions.games([second.id, "x"])] == [second.id]
    assert len(sessions.games()) == 3
    sessions.drop(third.id)
    for id in (third.id, "../" * 4 + "abcd"):
        with pytest.raises(LookupError):
            sessions.get(id)
    path = tmp_path / f"{first.id}.json"
    path.write_bytes(path.read_bytes().replace(b"agent", b"other"))
    with refused("game", where=first.id):
        sessions.get(first.id)
    assert [one["id"] for one in sessions.games()] == [second.id]
    answer = threading.Event()
    for _ in range(2):
        sessions.add(one := session(Stuck(answer)))
        one.move([0], 0)
    with pytest.raises(FullError):
        sessions.make_room()
    answer.set()


@mock.patch.object(web_sessions, "_MOST_KEPT", 1)
def test_a_clock_goes_on_while_its_game_is_out_of_memory_and_a_resignation_is_kept(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, lambda saved: session("random", "60+1", saved=saved))
    one = session("random", "60+1")
    sessions.add(one)
    one.move([0], 0)
    settled(one)
    sessions.make_room()
    time.sleep(0.3)
    again = sessions.get(one.id)
    used = again.saved()["seconds"]
    assert used == one.saved()["seconds"]
    clocks = again.view()["clocks"]
    assert clocks["running"] == 0
    assert clocks["left"][0] <= 61 - used[0][0] - 0.3
    again.resign(0)
    sessions.make_room()
    last = sessions.get(one.id)
    assert last.done
    assert last.record() == again.record()
    assert last.record().result.forfeit == Forfeit(0, "resigned")


@pytest.mark.parametrize(("most", "one"), [(4, 2), (64, 4)])
def test_games_of_agents_alone_leave_room_for_those_of_people_and_of_other_visitors(
    most: int, one: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, answer = ContextVar("VISITOR", default="one"), threading.Event()
    monkeypatch.setattr(web_sessions, "VISITOR", visitor)
    monkeypatch.setattr(web_sessions, "_MOST_KEPT", most)
    sessions = Sessions(tmp_path, lambda saved: pytest.fail("no game is read"))
    for _ in range(one):
        sessions.make_room(agents_alone=True)
        alone = Session(GAME, ["waiting", "waiting"], lambda spec: Stuck(answer))
        sessions.add(alone)
        alone.go(4)
        assert alone.thinking
    with pytest.raises(FullError):
        sessions.make_room(agents_alone=True)
    if most > 4:
        visitor.set("another")
        sessions.make_room(agents_alone=True)
    sessions.make_room()
    answer.set()


def test_both_clocks_run_on_the_server() -> None:
    one = session(clock="600+5")
    first = one.view()["clocks"]
    assert first["running"] == 0
    assert 590 < first["left"][0] <= 600 == first["left"][1]
    one.move([0], 0)
    settled(one)
    second = one.view()["clocks"]
    assert second["running"] == 0
    assert 590 < second["left"][0] <= 605
    assert 600 < second["left"][1] < 605, "the increment is added"
    assert not one.view()["can_undo"]
    with pytest.raises(RefusedError):
        one.undo(one.turn)


def test_a_person_without_time_has_lost_as_soon_as_somebody_looks() -> None:
    one = session(clock="0.1")
    until(lambda: one.done)
    view = one.view()
    assert view["forfeit"].startswith("Black (you) lost on time: thinking took ")
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
    one = session(Stuck(event), clock="1")
    one.move([0], 0)
    settled(one)
    assert one.done
    assert one.view()["forfeit"].startswith("White (agent) lost on time: thinking took ")
    line = one.record().to_json()
    other = session()
    other.move([0], 0)
    settled(other)
    assert other.view()["turn"] == 2
    if event is not None:
        event.set()  # it answers after all
        until(lambda: not one._thinking)
    assert one.record().to_json() == line
    assert live_game._THINKING.acquire(timeout=60), "the place is given back once"


def test_where_all_act_at_once_every_seat_has_a_clock() -> None:
    game: Any = cellgames.make("toroidal-cup-small-v0", teams=3, shapes=3, max_generations=20)
    one = session("random", "600+5", game)
    while not one.done:
        view = one.view()
        offset, choices = 0, []
        mask = game.legal_actions(one.state)[0, 0].tolist()
        for count in game.info.action_nvec:
            choices.append(mask[offset : offset + count].index(True))
            offset += count
        one.move(choices, view["turn"])
        settled(one)
    record = one.record()
    assert [len(own) for own in record.seconds] == [len(record.moves)] * 3
    assert [len(times) for times in replay_data(record)["record"]["seconds"]] == [3] * len(record.moves)


def test_two_people_who_act_at_once_need_no_agent() -> None:
    one = Session(cellgames.make("toroidal-cup-small-v0"), [None, None], load)
    for seat in one.people:
        one.sit(seat, 0)
        one.move([0], 0)
    until(lambda: one.turn == 1)


@pytest.mark.slow
@on_a_phone
def test_a_game_with_a_clock_on_a_phone(p: Any, site: str) -> None:
    p.goto(f"{site}/#/play/torus-small-v0")
    p.wait_for_selector(FORM)
    p.select_option("#field-clock", "180+2")
    p.click("button[type=submit]")
    p.wait_for_selector(".game[data-state=yours] .clock.running strong:has-text('2:')")
    assert p.locator(".clock").count() == 2
    assert p.locator(".clock.running").inner_text().split("\n")[0].strip().startswith("Black (you)")
    assert p.evaluate("() => Cellgames.app.game.about.asked.clock") == "180+2"
    open_game(p, site, "torus-v0", clock="0.5")
    p.wait_for_selector(".game[data-state=done] .status:has-text('Black (you) lost on time')")
    assert p.locator(".clock strong").first.inner_text() == "0:00.0"
    assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off"
