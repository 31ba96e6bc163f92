"""The site beside the pages of this folder: the tables of results/, CONTRIBUTING.md and CHANGELOG.md.

In the repository a page links to `../results/strength/README.md`; on the site the results are pages below the others.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

_KINDS = {".md", ".png", ".svg", ".gif", ".json", ".csv"}
_BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_OWN = {"train", "demo", "matches"}  # folders of runs, which are nobody else's


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the results, and the pages that lie beside docs/."""
    root = Path(config.config_file_path).parent
    for name, uri in _BESIDE.items():
        files.append(File.generated(config, uri, abs_src_path=str(root / name)))
    for path in sorted((root / "results").rglob("*")):
        place = path.relative_to(root)
        if path.is_file() and path.suffix in _KINDS and not _OWN.intersection(place.parts):
            files.append(File.generated(config, place.as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links out of docs/, and back into it, as they are on the site."""
    if page.file.src_uri.startswith("results/"):
        return re.sub(r"(\]\((?:\.\./)+)docs/", r"\1", markdown)
    if page.file.src_uri in _BESIDE.values():
        return markdown.replace("](docs/", "](")
    for name, uri in _BESIDE.items():
        markdown = markdown.replace(f"](../{name}", f"]({uri}")
    return markdown.replace("](../results/", "](results/").replace("](../README.md", "](index.md")
