"""The tutorials run from beginning to end, and the notebooks beside them are theirs."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby
from typing import Any

import pytest
from paths import ROOT
from tutorials import FOLDER, TUTORIALS, execute, read_source, stored

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("jupytext", "nbclient", "ipykernel")),
    reason="needs jupytext, nbclient and ipykernel: pip install 'cellgames[dev]'",
)
every_tutorial = pytest.mark.parametrize("name", TUTORIALS)


def kinds(cell: Any) -> list[list[str]]:
    """Return the media types of each output; texts in a row count once, as a busy machine may send one in pieces."""
    found = [list(output.get("data", ["text/plain"])) for output in cell.get("outputs", ())]
    return [kind for kind, _ in groupby(found)]


@pytest.mark.slow
@every_tutorial
def test_tutorial_runs(name: str) -> None:
    """Every cell runs, every command succeeds, and each cell has the kinds of output that the site shows."""
    run, shown = execute(name), stored(name)
    for cell, kept in zip(run.cells, shown.cells, strict=True):
        assert kinds(cell) == kinds(kept), cell.source


@every_tutorial
def test_the_notebook_is_that_of_the_page(name: str) -> None:
    """If this fails: python tests/support/tutorials.py NAME."""
    cells = [(cell.cell_type, cell.source) for cell in read_source(name).cells]
    kept = stored(name)
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == cells
    assert sum(bool(cell.get("outputs")) for cell in kept.cells) >= 3
    assert not [out for cell in kept.cells for out in cell.get("outputs", ()) if out.output_type == "error"]
    assert (FOLDER / f"{name}.ipynb").stat().st_size < 600_000, "pictures and films are small"


def test_the_overview_has_every_tutorial_and_is_linked() -> None:
    overview = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert [name for name in TUTORIALS if f"({name}.md)" not in overview] == []
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert "tutorials/index.md" in page.read_text(encoding="utf-8")
