"""What the tests of the page share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import browser


@pytest.fixture(scope="module")
def chromium() -> Any:
    """A browser, which stays open for the next files."""
    return browser()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page without records."""
    from web_server import served  # which skips what needs a server where FastAPI is missing

    with served(tmp_path_factory.mktemp("site")) as address:
        yield address
