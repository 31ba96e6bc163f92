"""The analysis board in a real browser: mistakes found, variations kept, positions set up, links opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import browser
import pytest
import torch
from browser import FORM, expect
from web_play import with_refusals
from web_records import RACE, recorded

import cellgames
from cellgames.agents.cloth_of_gold.greedy import winning_turn
from cellgames.arena import MatchOptions, Store, after_moves, match
from cellgames.arena.records.record_lines import Record, append, plain
from cellgames.arena.records.replays import replay, result
from cellgames.envs import Game

_PLIES = ".tree .ply span:not(.chip)"


def lost_game() -> Record:
    """A game from the race in which Black plays elsewhere, and White wins."""
    game, names = cellgames.make("torus-v0", size=5), ("c2", "a5")
    ended = result(game, after_moves(game, names, position=RACE))
    return Record("torus-v0", "0", plain(game.parameters), 0, ("me", "you"), 0, names, ended, position=RACE)


@pytest.fixture(scope="module", autouse=True)
def _four_games(results: Path) -> None:
    cup = recorded("toroidal-cup-small-v0", max_generations=30)
    lost = lost_game()
    append(results / "games.jsonl", [lost, recorded("cloth-of-gold-small-v0"), cup, replace(lost, opening=1)])


def keep_puzzle(p: Any, site: str, game: Game, position: str, best: str) -> Any:
    """Open a puzzle as one that the browser has kept; return the box that asks for its answer."""
    puzzle = {"game": game.id, "parameters": plain(game.parameters), "position": position, "best": best}
    p.goto(site)
    own = {"puzzles": [{**puzzle, "rating": 1200, "tried": 0}]}
    p.evaluate("(own) => Cellgames.app.keep('cellgames.puzzles', own)", own)
    p.goto(f"{site}/#/puzzles")
    return p.locator(".lesson-box")


def click(p: Any, cell: int) -> None:
    """Click on a cell when the page takes moves."""
    p.wait_for_function("() => Cellgames.app.analysis?.free() || Cellgames.app.analysis?.mode === 'setup'")
    browser.click(p, cell, "analysis")


def tree(p: Any) -> list[str]:
    return list(p.locator(_PLIES).all_inner_texts())


@pytest.mark.slow
def test_a_planted_blunder_is_found_and_the_better_move_tried(p: Any, site: str) -> None:
    p.goto(f"{site}/#/watch?file=games.jsonl&number=1")
    p.click("a:has-text('Analyse')")
    sign = p.locator(".tree .ply b.sign")
    expect(sign).to_have_count(1)
    assert sign.inner_text() == "??"
    fault = p.locator(".faults li button")
    expect(fault).to_have_count(1)
    assert "c2" in fault.inner_text()
    fault.click()
    said = p.locator(".said")
    expect(said).to_contain_text("blunder: the win chance of Black falls from 100 % to 0 %. Better: a5")
    expect(p.locator(".evalbar")).to_have_attribute("aria-valuenow", "0")
    said.locator("button").click()
    expect(p.locator(".tree .variation")).to_have_count(1)
    expect(p.locator(".status")).to_contain_text("Black wins")
    expect(p.locator(".evalbar")).to_have_attribute("aria-valuenow", "100")
    p.keyboard.press("ArrowUp")  # from the variation to the move of the game
    expect(p.locator(".tree [aria-current]")).to_contain_text("c2")
    p.keyboard.press("ArrowRight")
    expect(p.locator(".status")).to_contain_text("White wins")
    p.keyboard.press("Home")
    expect(p.locator(".lines li").first).to_contain_text("a5")
    assert p.evaluate("() => Cellgames.app.analysis.notes().some(([cell, text, , best]) => cell === 20 && best)")
    p.select_option("select[aria-label='Numbers on the board']", "")
    assert p.evaluate("() => Cellgames.app.analysis.notes().length") == 0


def test_stored_games_are_explored_and_become_puzzles(p: Any, site: str, results: Path) -> None:
    game = cellgames.make("y-v0", size=6, swap=False)  # a swap has no cell to click
    records = match(game, "greedy", "rollout:16", options=MatchOptions(games=12, opening_plies=0)).records
    with Store(results.parent / "store.sqlite") as store:
        store.add(records, source=("file", "here"))
    p.goto(f"{site}/#/analysis/y-v0?size=6&swap=false")
    p.click("summary:has-text('Stored games')")
    first = p.locator(".tools tbody tr").first
    moves = Counter(record.moves[0] for record in records)
    move = first.locator("button").inner_text()
    assert first.locator("td").nth(1).inner_text() == str(moves[move]) == str(max(moves.values()))
    first.locator("button").click()
    expect(p.locator(".tree .ply")).to_have_count(1)
    expect(p.locator(".tools thead")).to_contain_text("White scores")
    p.goto(f"{site}/#/puzzles")
    box = p.locator(".lesson-box")
    expect(box).to_contain_text("find the only move that wins.")
    (puzzle,) = p.evaluate("() => Cellgames.kept('cellgames.puzzles').puzzles")
    click(p, game.string_to_action(puzzle["best"]))
    expect(box).to_contain_text(f"{puzzle['best']} is the best move.")


def test_a_puzzle_of_cloth_of_gold_asks_for_a_turn_that_wins_with_its_round(p: Any, site: str) -> None:
    game = cellgames.make("cloth-of-gold-small-v0")
    records = match(game, "greedy", "other=greedy", options=MatchOptions(games=2)).records
    positions: Iterator[Any] = (state for record in records for state in replay(record)[:-1])
    state, turn = next((state, turn) for state in positions if (turn := winning_turn(game, state)))
    single = game.legal_actions(state)[0, : game.cells].nonzero()
    after = game.play_turn(state[torch.zeros(len(single), dtype=torch.int64)], single)
    loses = int(single[game.outcome(after)[:, int(state.current_player)] <= 0][0])
    box = keep_puzzle(p, site, game, game.state_to_string(state), " ".join(map(game.action_to_string, turn)))
    units, end = p.locator(".tree .ply"), p.locator("button:has-text('End the turn')")
    expect(box).to_contain_text("place units so that you win when you end the turn.")
    click(p, loses)
    expect(units).to_have_count(1)
    end.click()
    expect(box).to_contain_text("That turn does not win at once.")
    expect(units).to_have_count(0)
    for number, action in enumerate(turn[:-1], 1):
        click(p, action)
        expect(units).to_have_count(number)
    end.click()
    expect(box).to_contain_text("You win")
    expect(p.locator(".status")).to_contain_text("rounds: its lead has not grown")
    kept = p.evaluate("() => Cellgames.kept('cellgames.puzzles')")
    assert (kept["tried"], kept["solved"]) == (1, 0)
    p.route("**/api/puzzle", lambda route: route.fulfill(content_type="application/json", body="null"))  # no other one
    p.reload()
    box.locator("button:has-text('Show it')").click()
    expect(units).to_have_count(len(turn))
    expect(p.locator(".status")).to_contain_text("wins")


def test_a_swap_that_alone_wins_is_played_by_its_button(p: Any, site: str) -> None:
    game = cellgames.make("hex-small-v0")
    position = game.state_to_string(after_moves(game, ["c3"]))  # the centre wins
    box = keep_puzzle(p, site, game, position, "swap-pieces")
    expect(box).to_contain_text("find the only move that wins.")
    p.click("button:has-text('Take over')")
    expect(box).to_contain_text("swap-pieces is the best move.")


@with_refusals
def test_mistakes_are_learnt_from_and_become_puzzles_but_random_openings_do_not(p: Any, site: str) -> None:
    p.goto(f"{site}/#/analysis?file=games.jsonl&number=1")
    p.click("button:has-text('Learn from them')")
    box = p.locator(".lesson-box")
    expect(box).to_contain_text("Black played c2. Find a better move.")
    assert p.locator(".lines li").count() == 0, "what the search says is hidden"
    assert p.evaluate("() => Cellgames.app.analysis.notes()") == []
    click(p, 12)
    expect(box).to_contain_text("Try another move.")
    assert p.locator(".tree .variation").count() == 0
    click(p, 20)
    expect(box).to_contain_text("a5 is the best move.")
    box.locator("button:has-text('Next')").click()
    expect(box).to_have_text("You found 1 of 1 better move.")
    p.goto(f"{site}/#/puzzles")
    expect(box).to_contain_text("Black to move: find the only move that wins.")
    click(p, 12)
    expect(box).to_contain_text("Try another move.")
    click(p, 20)
    expect(box).to_contain_text("a5 is the best move.")
    # A store that cannot be read leaves the puzzles that are kept.
    p.route("**/api/puzzle", lambda route: route.fulfill(status=400, json={"error": "damaged"}))
    box.locator("button:has-text('Next')").click()
    expect(p.locator(".path")).to_contain_text("your rating is 1184, 0 of 1 solved at the first try.")
    expect(box).to_contain_text("find the only move that wins.")
    click(p, 20)
    expect(box).to_contain_text("a5 is the best move.")
    assert p.evaluate("() => Cellgames.kept('cellgames.puzzles').solved") == 1
    p.goto(f"{site}/#/analysis?file=games.jsonl&number=4")
    expect(p.locator(".faults")).to_contain_text("none")
    p.wait_for_function("() => document.querySelector('.curveline + svg').parentElement.dataset.known === '3'")
    assert p.locator(".sign").count() == 0


@pytest.mark.slow
def test_variations_outlive_the_page_and_are_saved_in_the_record(p: Any, site: str, tmp_path: Path) -> None:
    p.goto(f"{site}/#/analysis?file=games.jsonl&number=1")
    p.uncheck(".enginerow input")
    click(p, 0 + 1)
    expect(p.locator(".tree .variation")).to_have_count(1)
    p.fill(".comments", "<b>why not</b>")
    p.locator(".comments").blur()
    expect(p.locator(".tree .comment")).to_have_text("<b>why not</b>")
    click(p, 2)
    expect(p.locator(".tree .ply")).to_have_count(4)
    p.reload()
    expect(p.locator(".tree .ply")).to_have_count(4)
    assert tree(p) == ["c2", "b1", "c1", "a5"]
    assert p.locator(".tree [aria-current]").inner_text().endswith("c1")
    expect(p.locator(".tree .comment")).to_have_text("<b>why not</b>")
    p.click("text=Promote")
    assert tree(p) == ["b1", "c2", "a5", "c1"]
    p.click("summary:has-text('Link and files')")
    with p.expect_download() as download:
        p.click("text=Save the record with the variations")
    line = Path(download.value.path()).read_text()
    saved_record = Record.from_json(line)
    assert saved_record.variations[0] == (-1, "b1", "<b>why not</b>")
    assert replace(saved_record, variations=()) == lost_game()
    p.click(".tree .ply:has-text('b1')")
    p.click(".analysis button:has-text('Delete')")
    p.click("dialog button:has-text('Delete')")
    expect(p.locator(".tree .ply")).to_have_count(2)
    assert tree(p) == ["c2", "a5"]
    p.evaluate("() => localStorage.clear()")
    saved = tmp_path / "saved.jsonl"
    saved.write_text(line)
    p.goto(f"{site}/#/analysis")
    p.set_input_files("#analysis-file", saved)
    expect(p.locator(".tree .ply")).to_have_count(4)


def test_a_position_is_set_up_linked_and_played_on(p: Any, site: str) -> None:
    p.goto(f"{site}/#/analysis/torus-v0?size=5")
    p.click("summary:has-text('Set up a position')")
    for cell in (0, 5, 10, 15):
        click(p, cell)
        p.wait_for_function(f"() => Cellgames.planes(Cellgames.app.analysis.frame).cells[{cell}] === 1")
    p.click(".palette button:has-text('White')")
    for cell in (21, 22, 23, 24):
        click(p, cell)
        p.wait_for_function(f"() => Cellgames.planes(Cellgames.app.analysis.frame).cells[{cell}] === 2")
    p.click("text=Done")
    assert p.evaluate("() => Cellgames.app.analysis.tree.root.place.position") == RACE
    expect(p.locator(".lines li").first).to_contain_text("a5")
    p.click("summary:has-text('Link and files')")
    link = p.locator("input[aria-label='Link to this position']").input_value()
    assert "position=x" in link
    p.goto("about:blank")
    p.goto(link)
    expect(p.locator(".status")).to_contain_text("Black to move")
    assert p.evaluate("() => Cellgames.app.analysis.tree.root.place.position") == RACE
    p.click("summary:has-text('Play from here')")
    p.click(".tools a:has-text('Play')")
    p.wait_for_selector(FORM)
    p.select_option("select.agent", "random")
    p.click(FORM)
    p.wait_for_selector(".game[data-state=yours]")
    browser.click(p, 20)
    expect(p.locator(".status")).to_contain_text("You win")
    p.click("a:has-text('Analyse')")
    expect(p.locator(".tree .ply")).to_have_count(1)


def test_each_link_has_its_own_variations_and_a_line_is_deleted_after_a_question(p: Any, site: str) -> None:
    for moves in (["a1", "b2"], ["c3", "d4", "e5"]):
        p.goto(f"{site}/#/analysis/torus-small-v0?moves={','.join(moves)}")
        expect(p.locator(_PLIES)).to_have_text(moves)
        p.wait_for_function(
            "(last) => Cellgames.app.analysis.now && Cellgames.app.analysis.tree.at.move === last", arg=moves[-1]
        )
    p.evaluate("() => Cellgames.app.analysis.select(Cellgames.app.analysis.tree.main[0])")
    p.wait_for_function("() => Cellgames.app.analysis.tree.at.move === 'c3'")
    p.click(".analysis button:has-text('Delete')")
    p.click("dialog button:has-text('Keep')")
    assert tree(p) == ["c3", "d4", "e5"]
    p.click(".analysis button:has-text('Delete')")
    p.click("dialog button:has-text('Delete')")
    expect(p.locator(_PLIES)).to_have_count(0)
