"""Lines of results, and work repeated for a time on a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

WARM_UPS = 3


@dataclass(frozen=True)
class Line:
    """One result: units a second, or a sentence.

    `target` is the number that is expected of an H200; a speed below it passes.
    """

    what: str
    found: float | str
    unit: str = ""
    target: float | None = None
    passed: bool = True


@dataclass(frozen=True)
class Work:
    """Work to be measured; on CUDA `run` may return before its `amount` is done."""

    what: str
    unit: str
    amount: float
    run: Callable[[], object]
    target: float | None = None


def equal(what: str, same: bool) -> Line:
    """Return the line of a comparison with the CPU."""
    return Line(what, "equal in every bit" if same else "DIFFERENT", passed=same)


def speed(work: Work, device: torch.device, seconds: float) -> Line:
    """Return units a second by the clock, after calls that are not counted; the device has finished all of it."""
    for _ in range(WARM_UPS):
        work.run()
    _finish(device)
    calls, start = 0, time.perf_counter()
    while True:
        work.run()
        calls += 1
        if calls & (calls - 1) == 0 or calls % 64 == 0:  # waiting for the device each time would slow it down
            _finish(device)
            if (passed := time.perf_counter() - start) >= seconds:
                return Line(work.what, calls * work.amount / passed, work.unit, work.target)


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def graphed(run: Callable[[], object], device: torch.device) -> Callable[[], object]:
    """Return the same work as a CUDA graph, launched as one; on another device the work itself.

    What `run` makes of fixed shapes lies in the graph's own memory, which each launch overwrites. Random numbers must
    come from the device's default generator, which graphs know.
    """
    if device.type != "cuda":
        return run
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            run()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay
