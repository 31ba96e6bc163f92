"""Pictures of the documentation: each is on a page, with a text for who cannot see it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from paths import ROOT

pytest.importorskip("PIL", reason="needs Pillow: pip install cellgames[render]")

from benchmarks.pictures import FILMS  # after the word on what is missing
from benchmarks.screenshots import SHOTS

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


@pytest.mark.parametrize("name", SHOTS)
def test_pictures_of_the_page_are_small(name: str) -> None:
    for dark in ("", "_dark"):
        assert (IMAGES / f"{name}{dark}.webp").stat().st_size < MOST
