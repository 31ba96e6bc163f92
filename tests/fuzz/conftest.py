"""Options and progress of a long run; see `fuzzing`."""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fuzzing import Fuzzing, tell_progress

_RUN = pytest.StashKey[Fuzzing]()
_STOP = pytest.StashKey[threading.Event]()


def pytest_configure(config: pytest.Config) -> None:
    inputs = config.getoption("--fuzz")
    if inputs is None:
        config.stash[_RUN] = Fuzzing()
        return
    started = getattr(config, "workerinput", None)  # of pytest-xdist
    if started is None:
        seed = config.getoption("--fuzz-seed")
        seed = secrets.randbelow(1 << 32) if seed is None else seed
        counts = Path(tempfile.mkdtemp(prefix="fuzz-"))
        until = time.time() + 60 * config.getoption("--fuzz-minutes")
        config.stash[_RUN] = run = Fuzzing(inputs, seed, until, counts)
        config.stash[_STOP] = stop = threading.Event()
        threading.Thread(target=tell_progress, args=(counts, inputs, run.until, stop), daemon=True).start()
    else:
        config.stash[_RUN] = Fuzzing(inputs, started["seed"], started["until"], Path(started["counts"]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    run: Fuzzing = node.config.stash[_RUN]
    if run.inputs is not None:
        node.workerinput |= {"seed": run.seed, "until": run.until, "counts": str(run.counts)}


def pytest_report_header(config: pytest.Config) -> str | None:
    run = config.stash[_RUN]
    return None if run.inputs is None else f"fuzzing with {run.inputs:,} inputs: --fuzz-seed {run.seed}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kind = getattr(metafunc.function, "fuzz_inputs", None)
    if kind is not None:
        metafunc.parametrize("part", range(metafunc.config.stash[_RUN].parts(kind)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let all kinds of inputs take turns in a long run, so that each has had its share when the time is up."""
    if config.stash[_RUN].inputs is not None:
        parts = {item: getattr(getattr(item, "callspec", None), "params", {}).get("part", 0) for item in items}
        items.sort(key=parts.__getitem__)


@pytest.fixture(scope="session")
def fuzzing(request: pytest.FixtureRequest) -> Fuzzing:
    """The options of this run."""
    return request.config.stash[_RUN]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many inputs of each kind were tried, and how to try them again."""
    run = config.stash[_RUN]
    if run.inputs is None or run.counts is None or hasattr(config, "workerinput"):
        return
    config.stash[_STOP].set()
    tried: dict[str, int] = {}
    for file in sorted(run.counts.iterdir()):
        name = file.name.partition("[")[0].removeprefix("test_")
        tried[name] = tried.get(name, 0) + int(file.read_text() or 0)
        os.unlink(file)
    run.counts.rmdir()
    for name, count in tried.items():
        terminalreporter.write_line(f"{count:9,}  {name.replace('_', ' ')}")
    total = sum(tried.values())
    terminalreporter.write_line(f"{total:9,}  of {run.inputs:,} inputs; to try them again: make fuzz SEED={run.seed}")
    if total < 0.9 * run.inputs:
        terminalreporter.write_line("The time was up before all inputs were tried: make fuzz MINUTES=... gives more.")
