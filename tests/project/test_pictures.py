"""Pictures of the documentation, each on a page with a text for who cannot see it; plots say which board they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paths import ROOT

pytest.importorskip("PIL", reason="needs Pillow: pip install cellgames[render]")

from benchmarks.pictures import FILMS  # after the word on what is missing
from benchmarks.screenshots import SHOTS

import cellgames
from cellgames.envs.registry import board_title, setting_title

IMAGES = ROOT / "docs" / "images"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST = 150_000  # bytes of a picture of the page
_PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")


def on_pages() -> list[tuple[Path, str, str]]:
    """Page, alternative text and target of each picture."""
    return [(page, *found) for page in PAGES for found in _PICTURE.findall(page.read_text(encoding="utf-8"))]


def test_the_scripts_pictures_are_there() -> None:
    made = {f"{name}{dark}.webp" for name in (*FILMS, *SHOTS) for dark in ("", "_dark")}
    assert made <= {path.name for path in IMAGES.iterdir()}


def test_every_picture_is_on_a_page_and_says_what_it_shows() -> None:
    shown = {target.rpartition("/")[2] for _, _, target in on_pages()}
    dark = {f"{name}_dark.webp" for name in (*FILMS, *SHOTS)}  # the site shows these in place of the light ones
    logo = {"logo.svg"}  # in mkdocs.yml
    assert {path.name for path in IMAGES.iterdir()} - dark - logo <= shown
    for page, alt, target in on_pages():
        assert len(alt) > 1, f"{page.name}: {target} has no alternative text"
        assert not target.endswith("_dark.webp"), f"{page.name} names a dark picture, which the site adds"


def test_pictures_of_the_page_are_small() -> None:
    sizes = {path: path.stat().st_size for name in SHOTS for path in IMAGES.glob(f"{name}*.webp")}
    assert not {path for path, size in sizes.items() if size >= MOST}


@pytest.mark.parametrize(
    ("id", "parameters", "title"),
    [
        ("torus-v0", {"size": 4}, "Torus, size 4"),
        ("toroidal-cup-small-v0", {}, "Toroidal Cup, 24 x 48"),
        ("cloth-of-gold-wild-small-v0", {}, "Wild Cloth of Gold, 32 x 32"),
        ("grid-adaptation-small-v0", {}, "Grid Adaptation, size 9, 4 players"),
        ("grid-adaptation-talk-small-v0", {"players": 3}, "Grid Adaptation with talk, size 9, 3 players"),
    ],
)
def test_titles_say_how_large_the_board_is(id: str, parameters: dict[str, int], title: str) -> None:
    assert board_title(cellgames.make(id, **parameters)) == title
    assert setting_title(id, parameters) == title


def test_a_game_that_is_not_installed_is_named_by_its_id() -> None:
    assert setting_title("nobodys-v7", {"size": 4}) == "nobodys-v7"
    assert setting_title("torus-v0", {"colour": 4}) == "torus-v0"
