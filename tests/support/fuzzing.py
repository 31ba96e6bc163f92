"""Properties that hold for any input, tried on many by Hypothesis: a few in the tests, many by `make fuzz`.

A test of `tests/fuzz` is a check with strategies for its arguments, made a test by `fuzz`. In `make test` it gets a few
inputs that are the same in every run. Where the variable FUZZ_INPUTS is set, all tests together get that many, drawn
from `--hypothesis-seed`.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import cellgames
from cellgames.envs.core import Game

GAMES: dict[str, Game] = {
    "torus": cellgames.make("torus-v0", size=2),
    "cloth": cellgames.make("cloth-of-gold-v0", height=8, width=9, generations=2, max_units=2, max_rounds=2, radius=3),
    "grid": cellgames.make("grid-adaptation-v0", size=5, players=3, rounds=3, flip_rounds=(2,)),
}

LIMIT_S = 20
"""Seconds after which an input hangs; a busy machine takes a second for the slowest."""

_INPUTS = os.environ.get("FUZZ_INPUTS")


class Inputs(NamedTuple):
    """The number of inputs in `make test`, and their share of those of a long run, in hundredths."""

    short: int
    share: float


def fuzz(kind: Inputs, /, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a check a test: it is called with values of the strategies, by its arguments, and with fixtures."""
    count = kind.short if _INPUTS is None else round(int(_INPUTS) * kind.share / 100)

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def limited(**values: Any) -> None:
            with _limited(values):
                check(**values)

        test: Callable[..., None] = settings(
            max_examples=max(1, count),
            derandomize=_INPUTS is None,
            deadline=None,
            database=None,
            print_blob=True,
            report_multiple_bugs=False,
            phases=(Phase.explicit, Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )(given(**strategies)(limited))
        return test

    return decorate


class HangError(BaseException):
    """An input that takes too long; no `Exception`, so that nothing handles it and nobody looks for a smaller one."""


@contextmanager
def _limited(values: dict[str, Any]) -> Iterator[None]:
    """End an input that hangs by an error."""
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
    try:
        yield
    except kinds as error:
        text = str(error)
        assert text.strip(), "an error without a message"
        assert len(text) <= longest, f"a message of {len(text)} characters: {text[:300]}"
        assert text.replace("\n", "").isprintable(), f"a message that cannot be printed: {text!r:.300}"
