"""The site builds strictly, all of its links lead somewhere, and it needs nothing from elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from paths import ROOT
from public_api import MODULES, PACKAGES, names

DOCS = ROOT / "docs"
REFERENCE = sorted((DOCS / "reference").glob("*.md"))
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
PAGES = [
    page.relative_to(DOCS).with_suffix(".html").as_posix()
    for page in [*sorted(DOCS.glob("*.md")), *TUTORIALS, *REFERENCE]
]

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("zensical", "mkdocstrings")),
    reason="needs zensical and mkdocstrings: pip install 'cellgames[docs]'",
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
    folder = tmp_path_factory.mktemp("docs")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").replace("paths: [src]", f"paths: ['{ROOT / 'src'}']")
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    for command in (
        [str(DOCS / "site_pages.py"), str(folder / "build" / "docs")],
        ["-m", "zensical", "build", "--strict"],
    ):
        done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


@pytest.mark.slow
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


@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site: Path, documents: dict[Path, Document]) -> None:
    for path, document in documents.items():
        for source in document.fetched:
            assert not urlparse(source).netloc, f"{path.name}: {source}"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text
        assert "@import" not in text


@pytest.mark.slow
def test_search_finds_words_of_every_page(site: Path) -> None:
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["items"]}
    assert {*PAGES, "contributing.html", "changelog.html"} <= found
    assert any("Treblecross" in entry["text"] for entry in index["items"])


def test_every_public_name_is_in_the_reference_and_nothing_else() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    directives = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    own = {f"{package}.{name}" for package in PACKAGES for name in names(package)} | {*PACKAGES, *MODULES}
    assert (missing := own - set(directives)) == set(), f"not in docs/reference/: {missing}"
    assert len(directives) == len(own)


def test_every_page_is_named_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    for page in [*DOCS.glob("*.md"), *TUTORIALS, *REFERENCE]:
        assert page.relative_to(DOCS).as_posix() in navigation


@pytest.mark.slow
def test_every_public_name_has_its_place_on_the_site(site: Path, documents: dict[Path, Document]) -> None:
    public = {f"{module}.{name}" for module in (*PACKAGES, *MODULES) for name in names(module)}
    ids = {id for path, document in documents.items() if path.parent == site / "reference" for id in document.ids}
    assert (missing := public - ids) == set(), f"without a docstring: {missing}"
