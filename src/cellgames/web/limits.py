"""Limits on what the page shows, and on processor time: records and searches are the choice of strangers."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import InputError

from .views import view_of

T = TypeVar("T")

MOVE_S = 10.0
"""Most seconds of processor time that agents have for the move of a seat."""

MOVES = 20_000
"""Most moves of a record."""

CELLS = 1 << 18
"""Most cells of a board, 512 x 512."""

LIFE = 300_000_000
"""Most cells times generations of Life in one game: some ten seconds of one core, three times the Cup's own games."""

PLANES = 128 << 20
"""Most bytes of all frames of a replay, before they are packed."""

STEP_FRAMES = 10_000
"""Most frames within one step; every generation of it is one, where there are no more."""

PICTURES = 20_000
"""Most frames within all steps of a game; steps that are animations share them."""


def check(game: Game, moves: Sequence[str] | None = None) -> None:
    """Refuse a game that is too large to be shown or played in a page, before anything is allocated for it.

    Args:
        game: The game with its parameters.
        moves: Moves of a record; None for a game that is still to be played.

    Raises:
        ValueError: The game is too large, or is to be played and has no board; the message says what was expected.
    """
    if moves is None and plugin_of(game).view is None:
        raise InputError("game", "a game that the page has a board for", game.id, "its records can be watched")
    parameters = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    if moves is not None and len(moves) > MOVES:
        raise InputError("record", f"a record of at most {MOVES:,} moves", f"{len(moves):,}")
    cells = math.prod(game.info.board.shape)
    if cells > CELLS:
        raise InputError("game", f"a board of at most {CELLS:,} cells", f"{cells:,} ({parameters})")
    if (work := view_of(game).work(moves)) > LIFE:
        cause = "take a smaller board or fewer generations"
        raise InputError("game", f"at most {LIFE:,} cells times generations of Life", f"{work:,} ({parameters})", cause)
    if moves is not None and (size := 2 * cells * (len(moves) + 1)) > PLANES:
        got = f"{size:,}: {len(moves):,} moves on {cells:,} cells"
        raise InputError("record", f"boards of at most {PLANES:,} bytes", got)


class OutOfTimeError(BaseException):
    """A call that used up its time. It is no `Exception`, so code that catches those does not catch it."""


def limited(seconds: float, function: Callable[[], T]) -> T:
    """Return the result of a function, which is interrupted between two steps of Python code when its time is over.

    Args:
        seconds: seconds of processor time of this thread, or of all time on systems that do not tell it (not Linux).
        function: to call.

    Raises:
        OutOfTimeError: the time is over.
    """
    thread, done, asked, lock = threading.get_ident(), threading.Event(), threading.Event(), threading.Lock()
    clock: Callable[[], float] = time.monotonic
    if hasattr(time, "pthread_getcpuclockid"):  # the clock of this thread, which every thread can read
        clock = partial(time.clock_gettime, time.pthread_getcpuclockid(thread))
    end = clock() + seconds

    def watch() -> None:
        while not done.wait(max(end - clock(), 0.001)):
            with lock:
                if not done.is_set() and clock() >= end:
                    asked.set()
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTimeError))
                    return

    threading.Thread(target=watch, daemon=True, name="work limit").start()
    failure, result = None, None
    try:
        result = function()
    except Exception as error:
        failure = error
    with lock:
        done.set()
    until = time.monotonic() + 1.0
    while asked.is_set() and time.monotonic() < until:  # the error is on its way, and comes here
        pass
    if asked.is_set():  # somebody has swallowed it
        raise OutOfTimeError
    if failure is not None:
        raise failure
    return result  # type: ignore[return-value]  # of a function that has not failed
