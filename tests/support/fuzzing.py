"""Properties that hold for any input, tried on many: a short, fixed run in the tests, a long one by `make fuzz`.

A test of `tests/fuzz` is a check with strategies for its arguments, made a test by `fuzz`. In `make test` it gets a few
inputs that are the same in every run. With `--fuzz INPUTS` all tests together get that many, in parts that run at the
same time, drawn from `--fuzz-seed`. The same seed and number of inputs give the same inputs again.
"""

from __future__ import annotations

import faulthandler
import hashlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

__all__ = ["PART", "Fuzzing", "Inputs", "documented", "fuzz", "tell_progress"]

PART = 500
"""Most inputs of one test of a long run, which ends early when the time is up."""

LIMIT_S = 20
"""Seconds after which an input hangs; a busy machine takes a second for the slowest."""


@dataclass(frozen=True)
class Inputs:
    """The inputs of one kind.

    Attributes:
        short: number in `make test`.
        share: share of a long run's inputs, in hundredths.
    """

    short: int
    share: float


@dataclass
class Fuzzing:
    """The options of a run.

    Attributes:
        inputs: number of all inputs of a long run; None for a short one.
        seed: of a long run.
        until: time when a long run ends, by `time.time`.
        counts: folder with the number of inputs of each part so far; None for a short run.
    """

    inputs: int | None = None
    seed: int = 0
    until: float = float("inf")
    counts: Path | None = None

    def parts(self, kind: Inputs) -> int:
        """Return the number of tests into which the inputs of a kind are split."""
        return 1 if self.inputs is None else max(1, -(-self.total(kind) // PART))

    def total(self, kind: Inputs) -> int:
        """Return the number of inputs of a kind."""
        return kind.short if self.inputs is None else round(self.inputs * kind.share / 100)

    def of_part(self, kind: Inputs, part: int) -> int:
        """Return the number of inputs of a part."""
        return self.total(kind) * (part + 1) // self.parts(kind) - self.total(kind) * part // self.parts(kind)


def fuzz(kind: Inputs, /, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a check a test: it is called with values of the strategies, and with the test's fixtures.

    Args:
        kind: how many.
        strategies: by the check's arguments; other arguments are fixtures.
    """

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def test(fuzzing: Fuzzing, part: int, request: pytest.FixtureRequest) -> None:
            fixtures = {name: request.getfixturevalue(name) for name in names if name not in strategies}
            name, done, last = request.node.name, 0, 0.0
            count = fuzzing.of_part(kind, part)
            if not count:
                pytest.skip("only in a long run")

            def tried(**values: Any) -> None:
                nonlocal done, last
                if time.time() > fuzzing.until:
                    raise _TimeUpError  # what is left is not tried, and not counted
                with _limited(values):
                    check(**fixtures, **values)
                done += 1
                if time.monotonic() - last > 0.5:
                    faulthandler.dump_traceback_later(3 * LIMIT_S, exit=True, file=sys.__stderr__ or sys.stderr)
                    if fuzzing.counts is not None:
                        (fuzzing.counts / name).write_text(str(done))
                    last = time.monotonic()

            long = fuzzing.inputs is not None
            run = settings(
                max_examples=count,
                derandomize=not long,
                deadline=None,
                database=None,
                print_blob=True,
                report_multiple_bugs=False,
                verbosity=Verbosity.normal,
                phases=(Phase.explicit, Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            )(given(**strategies)(tried))
            if long:
                told = f"{fuzzing.seed} {name}".encode()
                run = seed(int.from_bytes(hashlib.sha256(told).digest()[:8], "big"))(run)
            try:
                with suppress(_TimeUpError):
                    run()
            finally:
                faulthandler.cancel_dump_traceback_later()
                if fuzzing.counts is not None:
                    (fuzzing.counts / name).write_text(str(done))

        names = check.__code__.co_varnames[: check.__code__.co_argcount]
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.fuzz_inputs = kind  # type: ignore[attr-defined]  # read when tests are split in parts
        return test

    return decorate


class _TimeUpError(BaseException):
    """The end of a long run's time; no `Exception`, so that Hypothesis takes it for no failure."""


class HangError(BaseException):
    """An input that takes too long; no `Exception`, so that nothing handles it and nobody looks for a smaller one."""


@contextmanager
def _limited(values: dict[str, Any]) -> Iterator[None]:
    """End an input that hangs by an error; where no Python runs, the process ends later, with a traceback."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: object) -> None:
        raise HangError(f"takes longer than {LIMIT_S} s: {values!r:.3000}")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def documented(*kinds: type[Exception], longest: int = 1200) -> Iterator[None]:
    """Let documented errors pass, if they are short and can be printed; others fail the test as they are."""
    text = None
    try:
        yield
    except kinds as error:
        text = str(error)
    if text is not None:
        assert text.strip(), "an error without a message"
        assert len(text) <= longest, f"a message of {len(text)} characters: {text[:300]}"
        assert text.replace("\n", "").isprintable(), f"a message that cannot be printed: {text!r:.300}"


def tell_progress(counts: Path, inputs: int, until: float, stop: threading.Event) -> None:
    """Write a line about the progress on standard error, over and over, until `stop`."""
    began, terminal = time.time(), sys.__stderr__
    if terminal is None:
        return
    pause = 1.0 if terminal.isatty() else 20.0
    while not stop.wait(pause):
        done = sum(int(file.read_text() or 0) for file in counts.iterdir())
        left = max(0.0, until - time.time())
        text = f"{done:,} of {inputs:,} inputs after {time.time() - began:.0f} s; {left / 60:.0f} min left at most"
        terminal.write(f"\r\033[2K{text}" if terminal.isatty() else f"\n{text}\n")
        terminal.flush()
