"""Tables on a phone: cards that are read without scrolling sideways."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from browser import PHONE, page
from web_server import served

import cellgames
from cellgames.arena.play.match import match
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.store.store import Store

LONG = "results/an-experiment-with-a-name-as-long-as-a-name-can-be/weights.safetensors"
AGENTS = ("random", "greedy", LONG, *(f"variant-of-a-search:{number}" for number in range(6)))

_SIDEWAYS = "() => [...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length"
_INSIDE = """(cells) => cells.every((cell) => {
  const box = cell.getBoundingClientRect();
  return box.left >= 0 && box.right <= innerWidth && cell.scrollWidth <= cell.clientWidth;
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page whose store has many agents, some with long names."""
    folder = tmp_path_factory.mktemp("phone")
    game = cellgames.make("torus-small-v0", size=3)
    played = match(game, "random", "greedy", options=MatchOptions(games=4, opening_plies=2)).records
    pairs = [(one, other) for one in AGENTS for other in AGENTS if one != other]
    records = [
        dataclasses.replace(record, agents=pair, seed=record.seed + place)
        for place, pair in enumerate(pairs)
        for record in played[:2]
    ]
    with Store(folder / "store.sqlite") as store:
        store.add(records, source=("round robin", "run"))
    with served(folder, folder / "store.sqlite") as address:
        yield address


@pytest.mark.parametrize("dark", [False, True])
def test_the_leaderboard_is_read_on_a_phone_without_scrolling_sideways(chromium: Any, site: str, dark: bool) -> None:
    with page(chromium, PHONE, touch=True, dark=dark) as (p, complaints):
        p.goto(f"{site}/#/leaderboard")
        p.wait_for_selector("table.ratings")
        assert p.evaluate(_SIDEWAYS) == 0
        assert p.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
        cards = p.locator("table.ratings tbody tr")
        assert cards.count() == len(AGENTS)
        assert p.locator("table.ratings tbody :is(td, th)").evaluate_all(_INSIDE)
        assert p.locator("table.cross tbody :is(td:not(:empty), th)").evaluate_all(_INSIDE)
        for card in cards.all():
            for label in ("rating", "95 % interval", "score", "games"):
                cell = card.locator(f"td[data-label='{label}']")
                assert cell.is_visible()
                assert cell.evaluate("(cell) => getComputedStyle(cell, '::before').content").strip('"') == f"{label} "
            assert " to " in card.locator(".range").inner_text()
            assert card.locator("svg.rating").bounding_box()["width"] >= 90
        assert p.locator("table.cross tbody tr").first.locator(".heat:visible").count() == len(AGENTS) - 1
        assert not complaints
