"""Light and dark pages: the switch, the boards' colours, and whether these can be told apart."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colour_vision import VISION, lab
from slow import slow_except
from web_records import SMALL, recorded

from cellgames.arena.records.record_lines import append
from cellgames.web.views.view import CLOTH, GROUND, SEATS, STONES

_LIGHTNESS = """() => {
  const canvas = document.querySelector("canvas.cg-canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let sum = 0;
  for (let at = 0; at < data.length; at += 4) sum += data[at + 3] ? data[at] + data[at + 1] + data[at + 2] : 0;
  return sum / data.length;
}"""  # how light a board is


def rgb(colours: Any) -> Any:
    return np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours], np.uint8)


def contrast(first: str, second: str) -> float:
    """The contrast of two colours as the Web Content Accessibility Guidelines define it."""
    share = rgb((first, second)) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    low, high = sorted((linear @ [0.2126, 0.7152, 0.0722] + 0.05).tolist())
    return float(high / low)


@pytest.fixture(scope="module", autouse=True)
def _games(results: Path) -> None:
    append(results / "games.jsonl", [recorded(id) for id in SMALL])


@pytest.mark.parametrize("vision", [name for name in VISION if name != "greyscale"])
@pytest.mark.parametrize(
    ("colours", "least"),
    [
        (SEATS, 19),
        (SEATS[:4], 37),
        ((*CLOTH["units"], CLOTH["killed"], GROUND), 25),
        ((CLOTH["ground"][0], CLOTH["ground"][1], GROUND), 9),
        ((*STONES["fill"], STONES["path"]), 25),
    ],
)
def test_dark_colours_are_told_apart_in_every_kind_of_colour_vision(
    vision: str, colours: tuple[str, ...], least: float
) -> None:
    """A difference of about 2 in Lab can just be seen."""
    seen = lab(rgb(colours), VISION[vision])
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > least


def test_dark_colours_stand_out_against_their_ground() -> None:
    for colour in (*SEATS, *CLOTH["units"], CLOTH["killed"], CLOTH["neutral"], CLOTH["ring"]):
        assert contrast(colour, GROUND) > 3
    for stone in STONES["fill"][1:]:
        assert contrast(stone, STONES["fill"][0]) > 3


@pytest.mark.parametrize("number", slow_except([1], [1, len(SMALL)]))
@pytest.mark.parametrize("p", [{"dark": True}], indirect=True, ids=["dark"])
def test_the_choice_is_remembered_goes_before_the_system_and_is_that_of_boards(p: Any, site: str, number: int) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    p.goto(f"{site}/#/watch?file=games.jsonl&number={number}")
    p.wait_for_selector(".cg-viewer[data-frame]")
    dark, dark_board = p.evaluate(ground), p.evaluate(_LIGHTNESS)
    p.click("button[aria-label='Colours: as your system']")
    light = p.evaluate(ground)
    assert light != dark
    p.wait_for_function(f"(dark) => dark < 0.75 * ({_LIGHTNESS})()", arg=dark_board)
    p.reload()
    p.wait_for_selector("button[aria-label='Colours: light']")
    assert p.evaluate(ground) == light
    p.wait_for_selector(".cg-viewer[data-frame]")
    p.click("button[aria-label='Colours: light']")
    assert p.evaluate(ground) == dark
    p.wait_for_function(f"(dark) => dark === ({_LIGHTNESS})()", arg=dark_board)
    p.click("button[aria-label='Colours: dark']")
    p.emulate_media(color_scheme="light")  # the system's choice
    p.wait_for_function(f"(dark) => dark < 0.75 * ({_LIGHTNESS})()", arg=dark_board)
