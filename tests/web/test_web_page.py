"""The page in a real browser: whole games played by clicking, records watched, the leaderboard read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import READY, click, expect, start
from web_play import open_game, with_refusals
from web_records import recorded

import cellgames
from cellgames.arena import MatchOptions, Store, match
from cellgames.arena.records.record_lines import Record, append

HOSTILE = "<img src=x onerror=document.title='owned'>"

_FREE = "() => Cellgames.app.game.free() || Cellgames.app.game.root.dataset.state === 'done'"  # a click counts
_SEEN = "() => `${Cellgames.app.game.view.epoch}, ${Cellgames.app.game.view.turn}`"
_LEGAL = "() => [...Cellgames.app.game.controls.marks().legal]"


@pytest.fixture(scope="module", autouse=True)
def _run(results: Path) -> None:
    """A run, and a store that has its games."""
    (results / "run").mkdir()
    game = cellgames.make("torus-small-v0", size=3)
    records = [
        one
        for pair in (("random", "greedy"), ("random", "rollout:2"), ("greedy", "rollout:2"))
        for one in match(game, *pair, options=MatchOptions(games=4, opening_plies=2)).records
    ]
    hostile = dataclasses.replace(records[0], agents=(HOSTILE, "random"))
    append(results / "run" / "games.jsonl", [*records, hostile])
    with Store(results.parent / "store.sqlite") as store:
        store.add([*records, hostile], source=("round robin", "run"))


def done(p: Any) -> bool:
    """Whether the game is over; waits until it is the person's turn, or it is."""
    p.wait_for_selector(f"{READY}, .game button:has-text('Skip the animation'):visible")
    if not p.locator(READY).count():
        p.evaluate("() => Cellgames.app.game.skip()")  # an animation that ends before a click would leave no button
        p.wait_for_selector(READY)
    p.wait_for_function(_FREE)
    return bool(p.locator(".game[data-state=done]").count())


@contextmanager
def turn(p: Any) -> Iterator[None]:
    """Wait at the end until the server has answered what was done, and it is the person's turn or the game is over."""
    seen = p.evaluate(_SEEN)
    yield
    p.wait_for_function(f"(seen) => ({_SEEN})() !== seen", arg=seen)
    done(p)


def play(p: Any, cell: int) -> None:
    """Click on a cell where that is a move, and wait for the answers."""
    with turn(p):
        click(p, cell)


def test_torus_is_played_to_the_end_and_kept(p: Any, site: str) -> None:
    start(p, site, "torus-small-v0", "random", Board_size=2, Seed=5)
    first = p.evaluate(_LEGAL)
    assert first == list(range(8))
    play(p, 4)
    moves = p.locator(".moves li")
    expect(moves).to_have_count(2)
    p.reload()
    p.wait_for_selector(".game[data-state=yours]")
    expect(moves).to_have_count(2)  # a game outlives its page
    with turn(p):
        p.click("text=Undo")
    expect(moves).to_have_count(0)
    game = p.url
    p.click("button:has-text('New game')")
    p.wait_for_url(lambda url: url != game)
    p.wait_for_function("() => Cellgames.app.game.view.undone === 0 && Cellgames.app.game.view.turn === 0")
    for number in range(8):
        if done(p):
            break
        legal = p.evaluate(_LEGAL)
        assert len(legal) == 8 - 2 * number
        play(p, legal[(7 * number) % len(legal)])
    assert re.search(r"You (win|lose)", p.inner_text(".status"))
    with p.expect_download() as download:
        p.click("text=Save the record")
    assert Record.from_json(Path(download.value.path()).read_bytes()).agents == ("human", "random")
    p.click("text=Add to the store")
    p.wait_for_selector("text=Added to the store")


def test_the_first_stone_of_hex_is_taken_over(p: Any, site: str) -> None:
    open_game(p, site, "hex-small-v0", seat="white")
    assert len(p.evaluate(_LEGAL)) == 24
    with turn(p):
        p.click("button:has-text('Take over the first stone')")
    assert "swap-pieces" in (p.locator(".moves").text_content() or "")
    assert p.locator("button:has-text('Take over')").is_hidden()


_WITH_BOLTS = """() => {
  const game = Cellgames.app.game, controls = game.controls;
  window.before = [controls.info, controls.legal];
  controls.start({ ...controls.info, bolts: 2 }, Array(513).fill(true));
  controls.enable(true);
  game.act = (action) => { window.acted = action; };
}"""  # no still life has earned any yet


@pytest.mark.slow
def test_wild_cloth_of_gold_shows_land_weather_and_animals(p: Any, site: str) -> None:
    board = {"height": 16, "width": 16, "generations": 4, "max_rounds": 1}
    open_game(p, site, "cloth-of-gold-wild-small-v0", seed=2, parameters=board)
    p.emulate_media(reduced_motion="reduce")
    expect(p.locator("body")).to_contain_text("Weather: calm, water level 64")
    assert p.evaluate("() => Cellgames.app.game.view.frame.animals.length") == 5
    lands = p.evaluate(
        "() => [...new Set(Cellgames.planes(Cellgames.app.game.view.frame).marks)].map((m) => m >> 3 & 7)"
    )
    assert {0, 1, 2, 3} <= set(lands)
    expect(p.locator("button", has_text="Cast a bolt")).to_be_hidden()
    p.evaluate(_WITH_BOLTS)
    p.click("text=Cast a bolt (2 left)")
    p.evaluate("() => Cellgames.app.game.controls.cell(17)")
    assert p.evaluate("() => window.acted") == [256 + 17]
    p.evaluate("() => { delete Cellgames.app.game.act; Cellgames.app.game.controls.start(...window.before); }")
    play(p, p.evaluate(_LEGAL)[0])
    with turn(p):
        p.click("text=End the turn")


@pytest.mark.slow
def test_grid_adaptation_is_played_to_the_end_and_hides_what_is_secret(p: Any, site: str) -> None:
    open_game(p, site, "grid-adaptation-small-v0", seed=6, parameters={"size": 7})
    p.emulate_media(reduced_motion="reduce")
    flipped = False
    while not done(p):
        hidden = p.evaluate("() => Cellgames.app.game.view.frame.infos.sequence")
        assert [value is None for value in hidden] == [False, True, True, True]
        assert p.locator("button:has-text('Submit')").is_disabled() or "watch" in p.inner_text(".controls")
        needed = p.evaluate("() => Cellgames.app.game.controls.needed()")
        for cell in p.evaluate(_LEGAL)[3 : 3 + 5 * needed : 5]:
            click(p, cell)
        if p.get_by_label("also place a reserve tile").is_visible():
            p.get_by_label("also place a reserve tile").check()
            click(p, p.evaluate(_LEGAL)[-1])
        sequence = p.inner_text(".holdings strong")
        if p.get_by_label("Flip a digit").is_visible():
            p.get_by_label("Flip a digit").select_option("1")
            sequence = sequence[:2] + "10"[int(sequence[2])]
            flipped = True
        with turn(p):
            p.click("button:has-text('Submit')")
        if not done(p):
            assert p.locator(".under .key").all_inner_texts() == ["named by you", "new", "died"]
            assert p.evaluate("() => Cellgames.app.game.frame.last.length") >= needed
            assert p.inner_text(".holdings strong") == sequence
    assert flipped
    assert None not in p.evaluate("() => Cellgames.app.game.view.frame.infos.sequence")
    assert p.locator(".under .key").all_inner_texts() == ["placed", "born", "died"]
    assert p.locator("table.players tbody tr").count() == 4


@pytest.mark.slow
def test_words_are_said_and_heard_in_grid_adaptation_with_talk(p: Any, site: str) -> None:
    open_game(p, site, "grid-adaptation-talk-small-v0", seed=6, parameters={"size": 7, "rounds": 1})
    p.emulate_media(reduced_motion="reduce")
    assert "Talk before round 1 of 1" in p.inner_text(".status")
    assert not p.evaluate(_LEGAL)
    p.get_by_label("A word to all").select_option("5")
    with turn(p):
        p.click("button:has-text('Say it')")
    assert p.locator("table.players tbody tr").first.locator(".cg-bubble").inner_text() == "5"
    assert p.locator("table.players .cg-talk").count() == 4
    assert "choose 3 spaces" in p.inner_text(".controls")


def apart(one: Any, other: Any) -> bool:
    """Return True if two boxes on the page do not overlap."""
    sides = (("x", "width"), ("y", "height"))
    return any(a[at] + a[size] <= b[at] for a, b in ((one, other), (other, one)) for at, size in sides)


def test_a_record_is_watched_and_scrubbed_and_hostile_names_are_only_text(p: Any, site: str) -> None:
    p.goto(f"{site}/#/watch")
    p.click("a[title='run/games.jsonl']")
    expect(p.locator("table.list tbody tr")).to_have_count(13)
    assert "<img src=x" in p.content() or "&lt;img" in p.content()
    assert p.locator("main img").count() == 0
    assert p.title() != "owned"
    p.click("text=Game 13")
    slider = p.locator(".cg-viewer input[type=range]")
    slider.wait_for()
    top = int(slider.get_attribute("max") or 0)
    assert top >= 4
    slider.fill(str(top))
    expect(p.locator(".cg-viewer")).to_contain_text(re.compile("win", re.IGNORECASE))
    slider.fill("0")
    assert slider.input_value() == "0"
    p.evaluate("() => Cellgames.app.notice('A notice of some length, which stays for a while on every page.')")
    note, controls = p.locator(".notice").bounding_box(), slider.locator("xpath=..").bounding_box()
    assert apart(note, controls), "a notice covers the controls of a film"
    p.goto(f"{site}/#/watch")
    expect(p.locator(".notice")).to_have_count(0)  # it ends with the view that it speaks of
    p.go_back()
    assert p.locator("main img").count() == 0
    assert p.title() != "owned"
    with p.expect_download() as download:
        p.click("text=Save as HTML")
    assert HOSTILE.encode() not in Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("p", [{"size": (1280, 1600)}], indirect=True)
def test_lists_show_little_boards_and_the_landing_page_a_game_at_play(p: Any, site: str) -> None:
    drawn = (
        "(count) => [...document.querySelectorAll('.little canvas')].filter((one) => one.width > 40).length >= count"
    )
    for view, count in (("watch", 1), ("watch?file=run/games.jsonl", 13), ("watch?list=store", 13), ("play", 6)):
        p.goto(f"{site}/#/{view}")
        p.wait_for_function(drawn, arg=count)
        assert p.evaluate("() => !document.querySelector('.little [role=grid]')"), "pictures say nothing"
    picture = "() => document.querySelector('.card .little canvas').toDataURL()"
    first = p.evaluate(picture)
    p.wait_for_function(f"(first) => ({picture})() !== first", arg=first)


@with_refusals
def test_files_of_ones_own_are_shown_or_refused(p: Any, site: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "mine.jsonl", tmp_path / "bad.jsonl"
    append(good, [recorded("torus-small-v0", size=2)])
    huge = dataclasses.replace(recorded("toroidal-cup-small-v0"), parameters={"rows": 10**9, "cols": 10**9})
    append(bad, [huge])
    p.goto(f"{site}/#/watch")
    p.set_input_files("#record-file", good)
    p.wait_for_selector(".cg-viewer input[type=range]")
    p.goto(f"{site}/#/watch")
    p.wait_for_selector("#record-file")
    p.set_input_files("#record-file", bad)
    p.wait_for_selector(".error")
    assert "rows" in p.inner_text(".error")
    assert not list(tmp_path.glob("*.part"))
