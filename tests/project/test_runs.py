"""Runs of every kind of the core, by one suite: killed, damaged, grown, refused, and two processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_kinds import CASES, without_pictures
from run_suite import Case, RunSuite, started
from slow import slow_except

POINTS = {"quick": 2, "all": 40}


@pytest.fixture(autouse=True, scope="module")
def _no_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        without_pictures(patch)
        yield


@pytest.fixture(scope="module", params=slow_except(["quick"], POINTS))
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs of all cases: whole, killed at some writes or at all of them, by two processes."""
    return started("run_kinds", tmp_path_factory.mktemp("runs"), POINTS[request.param])


class TestRuns(RunSuite):
    @pytest.fixture(params=CASES)
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def case(self, name: str) -> Case:
        return CASES[name]
