"""The price of states and masks that last, against reused buffers: `python -m benchmarks.core.buffers`.

One vector of each size plays at random, and state and mask are read after every step. Blocks of steps alternate
between copies and reused buffers, and the time is the processor's, so other processes disturb both alike.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import torch

import cellgames
from benchmarks.pages import head, write_page
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Part, Table

__all__ = ["measure"]

OUT = Path("results/benchmarks/buffers.md")
CASES = (("torus-v0", 256), ("torus-v0", 1024), ("torus-v0", 4096), ("torus-v0", 16384), ("grid-adaptation-v0", 4096))
WARM_UP = 60  # steps
ROUNDS = 30


@dataclass(frozen=True)
class Price:
    """The times of a case, in microseconds of the processor a step.

    Attributes:
        copies: with states and masks that last.
        reused: with `reuse_buffers=True`.
        ratio: the median of the rounds' ratios.
    """

    copies: float
    reused: float
    ratio: float


def measure(id: str, num_envs: int, rounds: int = ROUNDS) -> Price:
    """Return the price of copies in one game at one size."""
    vector, generator = cellgames.make(id).vector(num_envs, seed=0), torch.Generator().manual_seed(0)

    def block(steps: int) -> float:
        start = process_time()
        for _ in range(steps):
            vector.step_random(generator)
            vector.state, vector.legal_actions  # noqa: B018  # copied when asked for
        return (process_time() - start) / steps * 1e6

    for vector.reuse_buffers in (True, False):
        steps = max(3, round(0.05e6 / block(WARM_UP)))
    times: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(rounds):
        for reuse in (turn % 2 == 0, turn % 2 == 1):
            vector.reuse_buffers = reuse
            times[reuse].append(block(steps))
    ratios = [copies / reused for copies, reused in zip(times[False], times[True], strict=True)]
    return Price(median(times[False]), median(times[True]), median(ratios))


def main() -> int:
    """Measure all cases and write the page."""
    rows: list[dict[str, Any]] = []
    for id, num_envs in CASES:
        price = measure(id, num_envs)
        rows.append({"game": id, "num_envs": num_envs, **vars(price)})
        print(
            f"{id} {num_envs:,} envs: {price.copies:,.0f} us with copies, {price.reused:,.0f} us without, "
            f"{price.ratio:.2f} times",
            flush=True,
        )
    numbers = {
        **head("python -m benchmarks.core.buffers"),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    columns = ("game", "envs", "us a step, copies", "us a step, reused", "copies / reused")
    cells = [
        (
            row["game"],
            f"{row['num_envs']:,}",
            *(f"{row[name]:,.0f}" for name in ("copies", "reused")),
            f"{row['ratio']:.2f}",
        )
        for row in rows
    ]
    parts: list[Part] = [
        "\n".join(f"- {key}: {text}" for key, text in numbers.items()),
        Table("", columns, cells, text=("game",)),
    ]
    write_page(OUT, "States and masks that last, and reused buffers", parts, numbers | {"prices": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
