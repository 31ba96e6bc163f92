"""What the tests of the page share."""

from __future__ import annotations

from typing import Any

import pytest
from browser import browser


@pytest.fixture(scope="module")
def chromium() -> Any:
    """A browser, which stays open for the next files."""
    return browser()
