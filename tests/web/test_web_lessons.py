"""How to play: the lessons' positions, and guided games played to their ends by clicks alone in a real browser."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from browser import PHONE, READY, click, point
from waits import until

import cellgames
from cellgames.agents.loading import load
from cellgames.agents.play_loop import parse_moves
from cellgames.web.lessons import GuidedGame, lesson_of
from cellgames.web.live_game import RefusedError

GAMES = ("torus-v0", "cloth-of-gold-v0", "grid-adaptation-v0", "toroidal-cup-v0", "hex-v0", "y-v0")

_NEXT = """() => {
  const { game } = Cellgames.app, { lesson } = game.view;
  const legal = [...(game.controls.marks().legal || [])];
  return { cells: game.lesson.cells, free: lesson.free && legal, mark: game.view.turn };
}"""


@pytest.mark.parametrize("id", GAMES)
def test_the_positions_of_a_lesson_are_played_by_the_game(id: str) -> None:
    lesson = lesson_of(id)
    assert lesson.game == id
    data = lesson.to_data()
    boards = [board for part in data["parts"] for board in part["boards"]]
    assert boards
    assert all(board["caption"].endswith(".") and board["frame"]["cells"] for board in boards)
    for part, shown in zip(lesson.parts, data["parts"], strict=True):
        for board, drawn in zip(part[2], shown["boards"], strict=True):
            game = cellgames.make(id, **board.parameters)
            assert drawn["frame"]["turn"] == len(board.moves.split(" | " if game.info.simultaneous else None))
            assert bool(drawn["marked"]) == bool(board.marked)
    assert lesson.guide.next in cellgames.envs.registry.REGISTRY
    assert lesson_of(lesson.guide.next) is lesson, "a preset has the lesson of its game"


def test_a_guided_game_takes_what_the_lesson_asks_for_in_any_order() -> None:
    game = GuidedGame(lesson_of("cloth-of-gold-v0"), load)
    asked = game.view()["lesson"]
    assert (asked["step"], asked["of"], asked["press"]) == (0, 6, [])
    block = [3 * 18 + 3, 3 * 18 + 4, 4 * 18 + 3, 4 * 18 + 4]
    assert asked["cells"] == block
    with pytest.raises(RefusedError):
        game.move([0], 0)
    game.move([block[2]], 0)
    assert game.view()["lesson"]["cells"] == [block[0], block[1], block[3]]
    with pytest.raises(RefusedError):
        game.move([block[2]], 1)  # to take it back is legal
    game.undo(1)
    assert game.view()["lesson"]["cells"] == block


def play_to_the_end(p: Any, id: str) -> None:
    """Do what the lesson frames, or anything where it leaves the choice."""
    for _ in range(60):
        p.wait_for_selector(f"{READY}, button:has-text('Skip the animation'):visible")
        if p.locator("button:has-text('Skip the animation')").is_visible():
            p.evaluate("() => Cellgames.app.game.skip()")
            continue
        if p.locator(".game[data-state=done]").count():
            return
        told = p.evaluate(_NEXT)
        turn = p.locator(".controls button.guided:has-text('Turn')")
        if turn.count():
            turn.click()
        cell, *_ = told["cells"] or told["free"]
        if id == "toroidal-cup-v0":
            p.touchscreen.tap(**point(p, cell))
            p.locator(".controls button:has-text('Place it here')").click()
        else:
            click(p, cell)
        p.wait_for_function("(mark) => Cellgames.app.game.view.turn !== mark", arg=told["mark"])
    raise AssertionError("the lesson does not come to an end")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "id"),
    [({}, "torus-v0"), ({"size": PHONE, "touch": True, "dark": True}, "toroidal-cup-v0")],
    indirect=["p"],
    ids=["torus", "cup"],
)
def test_a_guided_game_is_played_to_its_end_by_clicks(p: Any, site: str, id: str) -> None:
    p.goto(f"{site}/#/learn/{id}")
    p.wait_for_selector(".lesson canvas")
    assert p.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    p.locator("a:has-text('Play a guided first game')").first.click()
    p.wait_for_selector(".lesson-panel")
    assert "step 1 of" in p.inner_text(".lesson-count")
    assert p.locator(".cg-goal").count() == 1
    play_to_the_end(p, id)
    lesson = lesson_of(id)
    assert p.inner_text(".lesson-text") == lesson.guide.end
    assert re.search(r"You (win|lose|take place)|draw", p.inner_text(".status"))
    p.click("text=Play your first own game")
    p.wait_for_function("() => Cellgames.app.game && !Cellgames.app.game.view.lesson")
    assert p.locator(".lesson-panel").count() == 0


def test_a_lesson_is_left_and_taken_up_again(p: Any, site: str) -> None:
    p.goto(site)
    p.click("text=Learn in a minute")
    p.wait_for_selector(".lesson-panel")
    click(p, p.evaluate("() => Cellgames.app.game.lesson.cells[0]"))
    p.wait_for_selector(".lesson-count:has-text('step 2')")
    p.click("text=Leave the lesson")
    p.locator("a:has-text('Go on with your guided game')").first.click()
    p.wait_for_selector(".lesson-count:has-text('step 2')")
    p.reload()
    p.wait_for_selector(".lesson-count:has-text('step 2')")
    p.goto(f"{site}/#/learn/torus-v0")
    p.locator("button:has-text('Begin it again')").first.click()
    p.wait_for_selector(".lesson-count:has-text('step 1')")


def played(id: str) -> list[Any]:
    """The views before each move of a guided game that is played as it asks, and the last one."""
    game, views = GuidedGame(lesson_of(id), load), []
    for _ in range(40):
        until(lambda: not game.thinking)
        views.append(view := game.view())
        if view["done"]:
            return views
        asked = " ".join(step.moves for step in game._lesson.guide.steps).split()[len(game._actions())]
        joint = " ".join([asked] * game.game.info.num_players) if game.game.info.simultaneous else asked
        action = parse_moves(game.game, [joint], {})[0].tolist()
        first = action[0] if game.game.info.simultaneous else action
        game.move(first if isinstance(first, list) else [first], view["turn"])
    raise AssertionError("the lesson does not come to an end")


def test_guided_games_go_as_their_texts_say() -> None:
    cloth = played("cloth-of-gold-v0")
    assert "it led by 5 a round ago and by 1 now" in cloth[-1]["frame"]["status"]
    assert cloth[-1]["result"]["outcome"] == ["win", "loss"]
    assert next(view["frame"]["infos"]["units"] for view in cloth if view["lesson"]["step"] == 4) == [8, 3]
    for id in ("torus-v0", "hex-v0", "y-v0"):
        assert played(id)[-1]["result"]["outcome"] == ["win", "loss"]
    for view in played("grid-adaptation-v0")[1:3]:  # the block of the first round stays, and a tile alone does not
        cells = base64.b64decode(view["frame"]["cells"])
        assert all(cells[row * 7 + col] for row in (0, 1) for col in (5, 6))
        assert not cells[6 * 7]
