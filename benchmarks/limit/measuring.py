"""Pieces of work, each by the package and by C++, measured by turns."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time, thread_time

import torch

BAR = 0.6  # of C++ that the package should reach
WARM_UPS = 3  # calls of each contestant
SCALING = 1.7  # times one thread that two should reach


@dataclass(frozen=True)
class Row:
    """A piece of work that the package and a C++ program do alike.

    Attributes:
        name: a word.
        what: is done, in a line.
        unit: of `amount`.
        amount: done by one call of either.
        ours: does it by the package, on torch's number of threads.
        limit: does it in C++, on so many threads.
        bar: the share of C++ that the package should reach.
        target: units a second on one thread that the package should reach; None if only the share counts.
        rival: whose work `limit` is; only C++ of our own uses several threads.
    """

    name: str
    what: str
    unit: str
    amount: float
    ours: Callable[[], object]
    limit: Callable[[int], object]
    bar: float = BAR
    target: float | None = None
    rival: str = "C++"


@dataclass(frozen=True)
class Speeds:
    """A row's figures on some threads: units a second, medians of the rounds.

    Attributes:
        ours: by the package, a second of the processor time of the busiest thread.
        limit: by C++.
        ours_wall: by the package, a second of the clock.
        limit_wall: by C++.
        share: the median of the rounds' ratios of `ours` to `limit`.
        idle: the part of a core that the busiest thread had, 1 on idle cores.
    """

    ours: float
    limit: float
    ours_wall: float
    limit_wall: float
    share: float
    idle: float


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure(row: Row, threads: int, rounds: int, seconds: float) -> Speeds:
    """Measure both contestants of a row by turns, after some calls that are not counted.

    There are at most 2 threads, so that the busiest of them is known; a measurement takes `seconds` at least.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    contestants: tuple[Callable[[], object], ...] = (row.ours, lambda: row.limit(threads))
    try:
        for contestant in contestants * WARM_UPS:
            contestant()
        found = [[_stretch(contestant, seconds) for contestant in contestants] for _ in range(rounds)]
    finally:
        torch.set_num_threads(before)
    busy, wall = ([[row.amount * calls / times[kind] for calls, *times in pair] for pair in found] for kind in range(2))
    ours, limit, ours_wall, limit_wall = (
        median(pair[place] for pair in kind) for kind in (busy, wall) for place in (0, 1)
    )
    share = median(by_us / by_limit for by_us, by_limit in busy)
    idle = median(used / passed for pair in found for _, used, passed in pair)
    return Speeds(ours, limit, ours_wall, limit_wall, share, idle)


def _stretch(work: Callable[[], object], seconds: float) -> tuple[int, float, float]:
    """Return calls, processor seconds of the busiest thread, and seconds of the clock.

    A call has this thread and at most one other at a time, which has what is left of the process's time.
    """
    calls, clock, own, all_threads = 0, perf_counter(), thread_time(), process_time()
    while True:
        work()
        calls += 1
        if (passed := perf_counter() - clock) >= seconds:
            mine = thread_time() - own
            return calls, max(mine, process_time() - all_threads - mine), passed
