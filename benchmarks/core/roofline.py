"""What a device should give, calculated from the operations of an eager step: `python -m benchmarks.core.roofline`.

Every operation of `Vector.step` with random actions is counted, with the bytes that it reads and writes. An operation
takes a device the longer one of two times: its fixed price (a launch on a GPU, a call on a CPU) or its bytes over the
bandwidth; one whose result Python waits for takes a round trip more. The sum is the time of a step (a roofline after
Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", 2009, for memory alone). For this
machine's CPU the two prices are measured, so that the calculation can be held against the clock; for a GPU they come
from its data sheet. A page and its numbers go to results/benchmarks/roofline.md and roofline.json.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import cellgames
from benchmarks.commands import typed_command
from benchmarks.pages import head, write_page
from cellgames.envs.native import without_native
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table

__all__ = ["GPU", "Device", "Traffic", "main", "seconds_a_step", "traffic"]

OUT = Path("results/benchmarks/roofline.md")
CASES = (("torus-v0", 4096), ("torus-v0", 65_536), ("cloth-of-gold-small-v0", 1024), ("grid-adaptation-v0", 1024))
WARM_UP = 60  # steps, so that the envs are in all stages of a game


@dataclass(frozen=True)
class Device:
    """The prices of a device.

    operation: seconds that any operation costs at least.
    wait:      seconds more of one whose result Python waits for.
    bandwidth: bytes a second, of its memory.
    """

    name: str
    operation: float
    wait: float
    bandwidth: float


GPU = Device("NVIDIA H200", operation=5e-6, wait=1.5e-5, bandwidth=4.8e12)
"""The bandwidth is the data sheet's; a launch from Python and a round trip cost about as much on every GPU of today."""


class Traffic(TorchDispatchMode):
    """Counts operations while it is entered.

    Attributes:
        bytes: of each operation in turn, what it reads and writes; views cost nothing and are left out.
        waits: how many of them give Python a number, or a tensor whose size it has to know.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes: list[int] = []
        self.waits = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See `TorchDispatchMode`."""
        result = func(*args, **(kwargs or {}))
        read = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        written = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        if torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags:
            self.waits += 1
        if not func.is_view and (read or written):
            self.bytes.append(sum({id(t): t.numel() * t.element_size() for t in (*read, *written)}.values()))
        return result


@dataclass(frozen=True)
class Step:
    """What a step of a game is made of.

    operations: how many; views are none.
    waits:      how many of them Python waits for.
    bytes:      of each operation.
    """

    game: str
    num_envs: int
    operations: int
    waits: int
    bytes: tuple[int, ...]


def _stepper(id: str, num_envs: int) -> Callable[[], object]:
    vector = cellgames.make(id).vector(num_envs, seed=0, compile="never")
    generator = torch.Generator().manual_seed(0)
    return lambda: vector.step_random(generator)


def traffic(id: str, num_envs: int) -> Step:
    """A step of random play in torch code, without the compiler, in the middle of the games."""
    with without_native():
        step = _stepper(id, num_envs)
        for _ in range(WARM_UP):
            step()
        with Traffic() as found:
            step()
    return Step(id, num_envs, len(found.bytes), found.waits, tuple(found.bytes))


def seconds_a_step(step: Step, device: Device) -> float:
    """The calculation of the module."""
    return sum(max(device.operation, size / device.bandwidth) for size in step.bytes) + step.waits * device.wait


def this_cpu() -> Device:
    """The prices of this machine's CPU, measured: the least operation there is, and a sum of large tensors."""
    small, large = torch.zeros(1), torch.zeros(1 << 25)
    result = torch.empty_like(large)
    return Device(
        cpu_model(),
        operation=_clock(lambda: torch.add(small, small), 2000),
        wait=0.0,
        bandwidth=3 * large.numel() * 4 / _clock(lambda: torch.add(large, large, out=result), 5),
    )


def _clock(call: Callable[[], object], times: int) -> float:
    """Seconds a call, the median of seven stretches."""

    def stretch() -> float:
        began = time.perf_counter()
        for _ in range(times):
            call()
        return (time.perf_counter() - began) / times

    stretch()
    return median(stretch() for _ in range(7))


@dataclass(frozen=True)
class Row:
    """A game at a batch size; moves a second."""

    game: str
    num_envs: int
    operations: int
    waits: int
    megabytes: float
    cpu_calculated: float
    cpu_measured: float
    gpu_calculated: float


def _row(id: str, num_envs: int, cpu: Device) -> Row:
    found = traffic(id, num_envs)
    step = _stepper(id, num_envs)
    for _ in range(WARM_UP):
        step()
    info = cellgames.make(id).info
    moves = num_envs * info.num_players**info.simultaneous
    return Row(
        *(id, num_envs, found.operations, found.waits, sum(found.bytes) / 1e6),
        cpu_calculated=moves / seconds_a_step(found, cpu),
        cpu_measured=moves / _clock(step, 5),
        gpu_calculated=moves / seconds_a_step(found, GPU),
    )


def _write(options: argparse.Namespace, cpu: Device, rows: Sequence[Row]) -> str:
    """Write the page and its numbers; return the text of the page."""
    columns = (
        *("game, eager", "envs", "operations a step", "waits", "MB a step"),
        *("this CPU, calculated", "this CPU, measured", "the GPU, calculated"),
    )
    lines = []
    for row in rows:
        speeds = (row.cpu_calculated, row.cpu_measured, row.gpu_calculated)
        numbers = (str(row.operations), str(row.waits), f"{row.megabytes:.1f}", *(f"{speed:,.3g}" for speed in speeds))
        lines.append([row.game, f"{row.num_envs:,}", *numbers])
    page = (
        f"`{options.command}`: random play without the compiler; cellgames {cellgames.__version__}, torch "
        f"{torch.__version__}, {cpu.name}, {torch.get_num_threads()} threads of {os.cpu_count()} cores.",
        f"This CPU, measured: {1e6 * cpu.operation:.1f} microseconds an operation, {cpu.bandwidth / 1e9:.0f} GB/s. "
        f"{GPU.name}, by its data sheet: {GPU.bandwidth / 1e12:.1f} TB/s; {1e6 * GPU.operation:.0f} microseconds an "
        f"operation and {1e6 * GPU.wait:.0f} more where Python waits are assumed.",
        Table("", columns, lines, text=("game, eager",)),
    )
    data = {
        **head(options.command),
        "cpu": asdict(cpu),
        "gpu": asdict(GPU),
        "rows": [asdict(row) for row in rows],
    }
    return write_page(options.out, "Moves a second by calculation", page, data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Calculate and measure; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core.roofline", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help=f"(default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    options.command = typed_command("benchmarks.core.roofline", given)
    cpu = this_cpu()
    print(_write(options, cpu, [_row(id, env_ids, cpu) for id, env_ids in CASES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
