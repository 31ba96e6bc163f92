"""Write the sources of the site into build/docs: `python docs/site_pages.py [FOLDER]`.

They are the pages of this folder, with results/, CONTRIBUTING.md and CHANGELOG.md beside them and the outputs of
tutorials. In the repository a page links to `../results/strength/README.md`; on the site the results are pages below
the others. A tutorial is a page beside a notebook of the same name, whose outputs the site shows below the cells. Where
a picture `NAME.webp` has a dark one, `NAME_dark.webp`, the site shows the one that fits the reader's colours. The
tables of `reference/options.md` are made from the code.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference_tables import tables

DOCS = Path(__file__).parent
ROOT = DOCS.parent
_KINDS = {".md", ".png", ".svg", ".gif", ".json", ".csv"}
_BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_PICTURES = {"image/svg+xml": "svg", "image/gif": "gif", "image/png": "png"}
_CELL = re.compile(r"^```python\n.*?^```$", re.DOTALL | re.MULTILINE)
_LIGHT = re.compile(r"!\[([^\]]*)\]\((images/[a-z_]+)\.webp\)")
_TABLE = re.compile(r"<!-- table: (.+?) -->")
_OWN = {"train", "demo", "matches"}  # folders of runs, which are nobody else's


def main(folder: Path) -> None:
    """Write all sources, in place of those of before."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = {place: ROOT / name for name, place in _BESIDE.items()}
    for path in [*DOCS.rglob("*"), *(ROOT / "results").rglob("*")]:
        place = path.relative_to(DOCS if DOCS in path.parents else ROOT)
        foreign = place.parts[0] == "results" and (path.suffix not in _KINDS or _OWN.intersection(place.parts))
        if path.is_file() and path.suffix not in (".py", ".pyc") and not foreign:
            sources[place.as_posix()] = path
    for place, path in sources.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(_page(path.read_text(encoding="utf-8"), place, path), encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    for path in DOCS.glob("tutorials/*.ipynb"):
        for outputs in _outputs(path):
            for name, content in outputs:
                if isinstance(content, bytes):
                    target = folder / "tutorials" / name
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content)


def _outputs(path: Path) -> Iterator[list[tuple[str, str | bytes]]]:
    """Yield the outputs of each code cell of a notebook: names and bytes of pictures, formats and lines of texts."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for number, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
        found: list[tuple[str, str | bytes]] = []
        for output in cell["outputs"]:
            data = output.get("data") or {"text/plain": output["text"]}
            for kind, lines in data.items():
                text = "".join(lines).rstrip("\n")
                if kind in _PICTURES:
                    name = f"pictures/{path.stem}-{number}-{len(found)}.{_PICTURES[kind]}"
                    found.append((name, text.encode() if kind == "image/svg+xml" else base64.b64decode(text)))
                else:
                    found.append((kind, text))
        yield found


def _wrapped(text: str) -> str:
    """Return a text with its long lines broken, but for rows of tables."""
    return "\n".join(line if "  " in line else textwrap.fill(line, 100) for line in text.split("\n"))


def _tutorial(markdown: str, path: Path) -> str:
    """Return a tutorial's page with the outputs of its notebook below the cells."""
    outputs = _outputs(path)

    def with_outputs(cell: re.Match[str]) -> str:
        heading = re.findall(r"^#+ (.*)$", markdown[: cell.start()], re.MULTILINE)[-1]
        shown = [cell[0]]
        for name, content in next(outputs):
            if isinstance(content, bytes):
                shown.append(f"![{heading}: the picture that the cell draws]({name})")
            elif name == "text/markdown":
                shown.append(content)
            else:
                shown.append(f"``` {{ .text .output }}\n{_wrapped(content)}\n```")
        return "\n\n".join(shown)

    title, _, rest = _CELL.sub(with_outputs, markdown).replace("](../../results/", "](../results/").partition("\n")
    link = f"Download this page as a [notebook]({path.name}) for Jupyter, JupyterLab, VS Code or Colab (File, Upload)."
    return f"{title}\n\n{link}\n{rest}"


def _dark(markdown: str) -> str:
    """Return a page with both pictures where there is a light and a dark one; the theme hides one of them."""

    def both(light: re.Match[str]) -> str:
        alt, path = light.groups()
        if not (DOCS / f"{path}_dark.webp").is_file():
            return light[0]
        return f"![{alt}]({path}.webp#only-light)![{alt}]({path}_dark.webp#only-dark)"

    return _LIGHT.sub(both, markdown)


def _page(markdown: str, place: str, path: Path) -> str:
    """Return a page with links out of docs/, and back into it, as they are on the site."""
    if place.startswith("results/"):
        return re.sub(r"(\]\((?:\.\./)+)docs/", r"\1", markdown)
    if place in _BESIDE.values():
        return markdown.replace("](docs/", "](")
    if (notebook := path.with_suffix(".ipynb")).is_file():
        return _tutorial(markdown, notebook)
    if place.startswith("reference/"):
        return _TABLE.sub(lambda mark: tables()[mark[1]], markdown)
    for name, uri in _BESIDE.items():
        markdown = markdown.replace(f"](../{name}", f"]({uri}")
    return _dark(markdown).replace("](../results/", "](results/").replace("](../README.md", "](index.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "docs")
