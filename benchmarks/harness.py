"""Tables of contestants: a benchmark is rows, each measured in a process of its own, and a command that runs them.

The rounds alternate over the rows, so that a slow minute of the machine falls on all of them, and a row's figure is the
median of its rounds. The table goes to a Markdown file, the same data to a JSON file beside it. Ctrl-C writes what was
measured. `python -m MODULE ROW` measures one row and prints it as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import numpy as np

from benchmarks.limit.programs import compiler_version
from benchmarks.pages import listed, machine_head, typed_command, write_page
from cellgames.utils.report.model import Cell, Part, Section, Table

NOT_INSTALLED = "not installed (pip install cellgames[peers])"
START_LIMIT_S = 600.0  # for imports, compilation and warm-up, beside the seconds that are measured

Work = tuple[int, float]
"""Units done, warm-up left out, and the seconds they took."""


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes:
        name: what `--only` and the documentation call it.
        about: what is measured, and on how many threads, in one line.
        measure: does the work for some seconds; imports its packages itself.
        unit: of the work.
        batch: games played at the same time.
        rival: name of the row that this one is compared with, "" for none.
        packages: whose versions decide, the library that plays first.
    """

    name: str
    about: str
    measure: Callable[[float], Work]
    unit: str = "moves"
    batch: int = 1
    rival: str = ""
    packages: tuple[str, ...] = ("cellgames", "torch")

    def versions(self) -> str:
        """Return the version of the library with those of decisive dependencies in parentheses."""
        first, *others = self.packages
        if first == "g++":
            return compiler_version()
        return version(first) + (f" ({', '.join(f'{name} {version(name)}' for name in others)})" if others else "")


def timed(play: Callable[[], int], seconds: float, clock: Callable[[], float] = time.perf_counter) -> Work:
    """Call `play` until `seconds` have passed, once at least; return its units and the seconds that they took.

    It does a piece of work to its very end (a game with its reset, a blocked call) and returns the units.
    """
    done, start = 0, clock()
    while True:
        done += play()
        elapsed = clock() - start
        if elapsed >= seconds:
            return done, elapsed


def use_cores(cores: int | None) -> None:
    """Set the number of torch's threads; None leaves it."""
    import torch

    if cores:
        torch.set_num_threads(cores)


def aec_moves(seconds: float, make_env: Callable[[], Any]) -> Work:
    """Play whole games at random through the public AEC loop, one at a time, and count their moves.

    A turn is `last()`, a uniform choice among the ones of `observation["action_mask"]`, `step(action)`. The steps with
    None that take the agents out of a finished game, and the resets, cost time and count for no move. One game is
    played before the clock starts.
    """
    env, uniform = make_env(), Random(0).random

    def play() -> int:
        moves = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[int(uniform() * legal.size)]))
            moves += 1
        env.reset()
        return moves

    env.reset(seed=0)
    play()
    return timed(play, seconds)


def rounded(value: float) -> str:
    """Return three significant digits, thousands set apart: 1,280,000, 48.3."""
    text = f"{float(f'{value:.3g}'):,.2f}"
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Benchmark:
    """Rows and where their table goes.

    Attributes:
        title: heading of the page.
        module: `python -m MODULE` runs the benchmark.
        out: the Markdown file, unless another is asked for.
        rows: the contestants.
        more: measures what else the page tells, after the rows; returns a section and its numbers.
    """

    title: str
    module: str
    out: Path
    rows: tuple[Row, ...]
    more: Callable[[], tuple[Section, Mapping[str, Any]]] | None = None

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the benchmark; return 0, 1 if a row failed or none was measured, 130 after Ctrl-C."""
        argv = sys.argv[1:] if argv is None else argv
        options = self._options(argv)
        if options.row:
            print(json.dumps(_alone(next(row for row in self.rows if row.name == options.row), options.seconds)))
            return 0
        rows = [row for row in self.rows if not options.only or row.name in options.only]
        measured: dict[str, list[dict[str, Any]]] = {}
        failures: dict[str, str] = {}
        complete = True
        try:
            for number in range(options.rounds):
                for row in rows:
                    if row.name not in failures:
                        label = f"round {number + 1}/{options.rounds}  {row.name:28}"
                        self._measure(row, options.seconds, label, measured, failures)
        except KeyboardInterrupt:
            complete = False
            print("interrupted", file=sys.stderr)
        if measured:
            self._write(options, argv, [row for row in rows if row.name in measured], measured, failures, complete)
        if not complete:
            return 130
        return int(not measured or any(reason != NOT_INSTALLED for reason in failures.values()))

    def _options(self, argv: Sequence[str]) -> argparse.Namespace:
        names = [row.name for row in self.rows]
        parser = argparse.ArgumentParser(prog=f"python -m {self.module}", description=f"{self.title}, in one run.")
        parser.add_argument("row", nargs="?", choices=names, metavar="ROW", help="measure one row, print a JSON line")
        parser.add_argument("--rounds", type=int, default=5, help="measurements of each row, in turn (default 5)")
        parser.add_argument("--seconds", type=float, default=2.0, help="of a measurement, after warm-up (default 2)")
        parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"of {', '.join(names)}")
        parser.add_argument("--out", type=Path, default=self.out, help="the table; JSON goes beside it (%(default)s)")
        options = parser.parse_args(argv)
        if options.rounds < 1 or options.seconds <= 0 or options.out.suffix == ".json":
            parser.error("--rounds must be at least 1, --seconds above 0, and --out no .json file")
        return options

    def _measure(
        self,
        row: Row,
        seconds: float,
        label: str,
        measured: dict[str, list[dict[str, Any]]],
        failures: dict[str, str],
    ) -> None:
        """Measure a row in a process of its own; one that fails is named in `failures`."""
        command = [sys.executable, "-m", self.module, row.name, "--seconds", str(seconds)]
        root, limit = Path(__file__).resolve().parents[1], START_LIMIT_S + 2 * seconds
        try:
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=limit, check=True)
            found = json.loads(done.stdout.strip().splitlines()[-1])
        except subprocess.TimeoutExpired:
            found = {"error": f"failed: gave no answer in {limit:.0f} s"}
        except subprocess.CalledProcessError as error:
            print(error.stderr, file=sys.stderr)
            found = {"error": f"failed: {(error.stderr.strip().splitlines() or ['no message'])[-1]}"}
        if "error" in found:
            failures[row.name] = found["error"]
            print(f"{label} {found['error']}", flush=True)
            return
        measured.setdefault(row.name, []).append(found)
        print(f"{label} {found['per_second']:14,.0f} {row.unit}/s", flush=True)

    def _write(
        self,
        options: argparse.Namespace,
        argv: Sequence[str],
        rows: Sequence[Row],
        measured: Mapping[str, Sequence[Mapping[str, Any]]],
        failures: Mapping[str, str],
        complete: bool,
    ) -> None:
        """Write the page and its numbers; speeds on the page are rounded to three digits."""
        speeds = {name: [found["per_second"] for found in taken] for name, taken in measured.items()}
        medians = {name: median(values) for name, values in speeds.items()}
        numbers, cells = [], list[Sequence[Cell]]()
        for row in rows:
            own, mid = speeds[row.name], medians[row.name]
            rival = row.rival if row.rival in medians else ""
            numbers.append(
                {
                    **{"contestant": row.name, "library": row.packages[0], "version": measured[row.name][0]["version"]},
                    **{"about": row.about, "batch": row.batch, "unit": row.unit, "per_second": own, "median": mid},
                    **{"min": min(own), "max": max(own), "rival": rival},
                    "times_rival": mid / medians[rival] if rival else None,
                }
            )
            cells.append(
                (
                    *(row.name, f"{row.packages[0]} {measured[row.name][0]['version']}", row.about, f"{row.batch:,}"),
                    *(rounded(mid), f"{rounded(min(own))} - {rounded(max(own))}"),
                    f"{mid / medians[rival]:.3g} x {rival}" if rival else "",
                )
            )
        turns = f"{options.rounds} of {options.seconds:g} s, contestants in turn" + ", interrupted" * (not complete)
        head = {**machine_head(typed_command(self.module, argv), "torch"), "rounds": turns}
        head["threads"] = f"OMP_NUM_THREADS {os.environ.get('OMP_NUM_THREADS', 'not set')}"
        left = ("contestant", "library", "what is measured")
        columns = (*left, "batch", "median a second", "min - max", "x rival")
        parts: list[Part] = [listed(head), Table("", columns, cells, text=left)]
        if failures:
            parts.append("Without a full set of measurements:")
            parts.append(listed(failures))
        data: dict[str, Any] = {"header": head, "rows": numbers, "failures": dict(failures)}
        write_page(options.out, self.title, parts, data)
        if self.more is not None and complete:
            section, found = self.more()
            write_page(options.out, self.title, [*parts, section], {**data, **found})
        print(f"wrote {options.out} and {options.out.with_suffix('.json').name}")


def _alone(row: Row, seconds: float) -> dict[str, Any]:
    """Return the figures of a row; a package that is not installed is an error, a missing module of ours is a fault."""
    try:
        work, elapsed = row.measure(seconds)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in ("benchmarks", "cellgames"):
            raise
        return {"error": NOT_INSTALLED}
    return {"units": work, "seconds": elapsed, "per_second": work / elapsed, "version": row.versions()}
