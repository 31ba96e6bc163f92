"""Pages in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import page


@pytest.fixture
def p(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A fresh page on a desktop, or with the options of `browser.page` that a test is parametrized with.

    At the end of the test it has nothing to complain about, but for refusals where they are among the options.
    """
    options = dict(getattr(request, "param", {}))
    refusals = options.pop("refusals", False)
    with page(chromium, **options) as (shown, complaints):
        yield shown
        assert not [one for one in complaints if not (refusals and "the server responded with a status of 4" in one)]
