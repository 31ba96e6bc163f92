"""The site builds strictly, all of its links lead somewhere, and it needs nothing from elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from paths import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))

pytestmark = pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("material") is None,
    reason="needs mkdocs and its theme: pip install 'cellgames[docs]'",
)


class Document(HTMLParser):
    """Ids, links, and what a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids += [given["id"]] if "id" in given else []
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("next", "prev", "canonical"):
            self.fetched.append(given["href"])
        elif "src" in given:
            self.fetched.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    # not --quiet, which would drop the warnings before they are counted
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_built_and_in_the_navigation(site: Path, documents: dict[Path, Document]) -> None:
    start = documents[site / "index.html"]
    for page in PAGES:
        name = f"{page.stem}.html"
        assert site / name in documents
        assert name in start.links or name == "index.html"
    assert len(PAGES) > 12


def test_every_link_and_anchor_leads_somewhere(site: Path, documents: dict[Path, Document]) -> None:
    checked = 0
    for path, document in documents.items():
        if path.name == "404.html":  # its links are absolute
            continue
        for link in [*document.links, *document.fetched]:
            place, anchor = urldefrag(link)
            if urlparse(place).scheme:
                continue
            target = path if not place else (path.parent / unquote(urlparse(place).path)).resolve()
            assert target.is_file() or (target / "index.html").is_file(), f"{path.relative_to(site)}: {link}"
            if anchor and target in documents:
                assert unquote(anchor) in documents[target].ids, f"{path.relative_to(site)}: {link}"
            checked += 1
    assert checked > 500


def test_ids_of_a_page_are_unique(documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        assert len(document.ids) == len(set(document.ids)), path


def test_nothing_is_fetched_from_elsewhere(site: Path, documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        for source in document.fetched:
            assert not urlparse(source).netloc, f"{path.name}: {source}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "@import" not in text


def test_search_finds_words_of_every_page(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {f"{page.stem}.html" for page in PAGES} <= found
    assert any("Treblecross" in entry["text"] for entry in index["docs"])


def test_results_are_pages_of_the_site(site: Path, documents: dict[Path, Document]) -> None:
    assert site / "results/strength/torus-small-v0.html" in documents
    assert "results/strength/torus-small-v0.html" in documents[site / "torus.html"].links
    assert not (site / "results/train").exists()
