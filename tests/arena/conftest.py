"""Runs of the arena without pictures, which take most of their time."""

from __future__ import annotations

import pytest
from arena_runs import block_plots


@pytest.fixture(autouse=True)
def no_plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if matplotlib were not installed, but for tests that use `complete` or `plots`."""
    if not {"complete", "plots"} & {*request.fixturenames}:
        block_plots(monkeypatch)


@pytest.fixture
def plots() -> None:
    """Pictures are drawn."""
