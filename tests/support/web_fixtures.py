"""Fixtures of tests of the page: a browser, a folder, and the address of a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser


@pytest.fixture(scope="module")
def chromium() -> Any:
    """A browser, which stays open for the next files."""
    return browser()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page; tests that need records put them into it."""
    folder = tmp_path_factory.mktemp("web") / "results"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def site(results: Path) -> Iterator[str]:
    """The address of the page, with a store beside its folder."""
    from web_server import served  # which skips what needs a server where FastAPI is missing

    with served(results, results.parent / "store.sqlite") as address:
        yield address
