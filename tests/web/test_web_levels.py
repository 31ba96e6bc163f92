"""Opponents as levels: the measured table, the rule that makes levels, and the form that offers them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from benchmarks.agents.levels import APART, CANDIDATES, spread
from browser import FORM

import cellgames
from cellgames.arena.records.record_lines import plain
from cellgames.plugins.levels import FILE, NAMES, levels


@pytest.mark.parametrize("id", CANDIDATES)
def test_the_measured_levels_rise_and_have_numbers(id: str) -> None:
    game = cellgames.make(id)
    found = levels(id, game.id, plain(game.parameters))
    assert [level.name for level in found] == list(NAMES[len(found)])
    assert len(found) >= 3
    ratings = [level.elo for level in found if level.elo is not None]
    assert all(high - low >= APART for low, high in pairwise(ratings))
    assert len(ratings) == len(found)
    assert all(level.seconds is not None and 0 < level.seconds < 10 for level in found)
    assert {level.agent for level in found} <= set(CANDIDATES[id])
    measured = json.loads(FILE.read_text(encoding="utf-8"))
    assert measured["presets"][id]["agents"].keys() == set(CANDIDATES[id])
    assert measured["command"] == "python -m benchmarks.agents.levels"


@pytest.mark.parametrize(
    ("ratings", "expected"),
    [((0, 60, 100, 130), "abd"), ((0, 60, 100), "ac"), ((0, 49), "a"), ((0, 50, 110, 210, 310, 410), "acdef")],
)
def test_levels_are_apart_and_the_strongest_is_one(ratings: tuple[int, ...], expected: str) -> None:
    elo = dict(zip("abcdef", ratings, strict=False))
    assert "".join(spread(elo, {(one, two): float(elo[one] > elo[two]) for one in elo for two in elo})) == expected


def test_the_form_offers_levels_first(p: Any, site: str) -> None:
    p.goto(f"{site}/#/play/torus-small-v0")
    p.wait_for_selector(FORM)
    select = p.locator("select.agent")
    assert select.input_value() == "level:Easy", "Beginner plays at random"
    assert select.locator("option").all_inner_texts()[:5] == ["Beginner", "Easy", "Medium", "Hard", "Expert"]
    select.select_option("level:Medium")
    hint = p.inner_text(".rival .hint")
    assert "Rating" in hint
    assert "s a move" in hint
    wanted = levels("torus-small-v0", "torus-v0", {"size": 5})[2]
    assert str(wanted.elo) in hint
    p.click("button[type=submit]")
    p.wait_for_selector(".game")
    shown = p.locator(".players .who").nth(1)
    assert (shown.inner_text(), shown.get_attribute("title")) == ("Medium", wanted.agent)
    p.goto(f"{site}/#/play/grid-adaptation-talk-v0")
    p.wait_for_selector("h1:has-text('Grid Adaptation')")
    p.wait_for_function("() => document.querySelector('.rival .hint')?.textContent.includes('Not measured')")
