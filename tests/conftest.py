"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import browser
import durations
import pytest
from arena_runs import PLOTS, block
from command import Command
from paths import ROOT

from cellgames.arena.stats import payoffs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="run new tests and the shortest others, for about 90 s")
    parser.addoption("--record-durations", type=Path, metavar="FILE", help="write the seconds of each test function")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell without job control starts commands in the background (`pytest &`) with Ctrl-C ignored. Tests that
        # press it, here or in processes that they start, would wait forever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist would start with the files that have most tests
        config.option.loadscopereorder = False
    if config.option.record_durations is not None:
        config.pluginmanager.register(durations.Recorder(config.option.record_durations))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than there are cores: tests wait for browsers, clusters and programs that they start."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)  # after -m has left out what does not run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seconds = durations.read()
    if config.option.quick:
        chosen = durations.quick(items, seconds)
        left_out = {*items} - {*chosen}
        items[:] = chosen
        config.hook.pytest_deselected(items=[*left_out])
    durations.longest_first(items, seconds)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent.name != durations.WEB.name:
        browser.close()


def pytest_collection_finish() -> None:
    gc.freeze()  # modules and tests stay to the end: looking through them for garbage again and again takes seconds


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture(autouse=True)
def no_plots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if matplotlib were not installed, where no pictures are tested, unless the test uses `complete` or `plots`."""
    room = request.path.relative_to(ROOT / "tests").parts[0]
    if room in ("agents", "arena") and not {"complete", "plots"} & {*request.fixturenames}:
        block(monkeypatch, *PLOTS)


@pytest.fixture
def plots() -> None:
    """Pictures are drawn."""


@pytest.fixture(scope="session", autouse=True)
def _apart_and_quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # No test adds to the store of this folder.
        patch.setenv("CELLGAMES_STORE", str(tmp_path_factory.mktemp("store") / "store.sqlite"))
        # What is written survives the end of a process, which tests try, without it; they cannot try a loss of power.
        patch.setattr(os, "fsync", lambda descriptor: None)
        # Each draw solves linear programs; tests of the bounds call what computes them, with as many draws as usual.
        patch.setattr(payoffs, "nash", partial(payoffs.nash, draws=10))
        yield


@pytest.fixture(scope="module")
def chromium() -> Any:
    """A browser, which stays open for the next files."""
    return browser.browser()


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
