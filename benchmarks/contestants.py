"""Contestants measured under the same conditions: a table of them becomes a command that writes a table of results.

Every contestant runs in a process of its own, one at a time. The rounds alternate over the contestants, so
that a slow minute of the machine falls on all of them, and a contestant's figure is the median of its rounds.
The table goes to a Markdown file, the same data to a JSON file beside it. Ctrl-C writes what was measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.commands import typed_command
from benchmarks.measurement import NOT_INSTALLED, Measurement
from benchmarks.pages import write_page
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Cell, Part, Section, Table

__all__ = ["Arguments", "Benchmark", "Contestant"]

START_LIMIT_S = 600.0  # for imports, compilation and warm-up, beside the seconds that are measured


@dataclass(frozen=True)
class Contestant:
    """One line of the table.

    name, module: `python -m MODULE NAME --seconds S --json` prints a line of `Measurement.to_json`.
    about: what is measured, and on how many threads, in one line.
    rival: name of the contestant that this one is compared with, "" for none.
    """

    name: str
    module: str
    about: str
    rival: str = ""


@dataclass(frozen=True)
class Arguments:
    """The command line; each field's help is its `help` metadata."""

    out: Path = field(
        metadata={"help": "the Markdown table; the JSON file lies beside it with the suffix .json"},
    )
    rounds: int = field(default=5, metadata={"help": "measurements of each contestant, taken in turn"})
    seconds: float = field(default=2.0, metadata={"help": "length of one measurement, after warm-up"})
    only: tuple[str, ...] = field(default=(), metadata={"help": "contestants to run instead of all"})

    @classmethod
    def parse(cls, benchmark: Benchmark, argv: Sequence[str]) -> Arguments:
        """Reads the command line; prints usage and exits with status 2 where it is wrong."""
        parser = argparse.ArgumentParser(
            prog=f"python -m {benchmark.module}", description=f"{benchmark.title}, in one run."
        )
        for item in fields(cls):
            default = benchmark.out if item.name == "out" else item.default
            options: dict[str, Any] = {"default": default, "help": item.metadata["help"]}
            if isinstance(default, tuple):
                names = [contestant.name for contestant in benchmark.contestants]
                options |= {"nargs": "+", "choices": names, "metavar": "NAME"}
                options["help"] += ": " + ", ".join(names)
            else:
                options |= {"type": Path if isinstance(default, Path) else type(default)}
                options["help"] += " (default: %(default)s)"
            parser.add_argument(f"--{item.name}", **options)
        values = vars(parser.parse_args(argv))
        if values["rounds"] < 1 or values["seconds"] <= 0:
            parser.error("--rounds must be at least 1 and --seconds above 0")
        if values["out"].suffix == ".json":
            parser.error("--out names the Markdown file, whose JSON file lies beside it; give it another suffix")
        return cls(**{**values, "only": tuple(values["only"])})


class ContestantError(Exception):
    """A contestant gave no measurement; the message says why in one line."""


def measure(contestant: Contestant, seconds: float) -> Measurement:
    """Runs a contestant in a process of its own; raises ContestantError."""
    command = [sys.executable, "-m", contestant.module, contestant.name, "--seconds", str(seconds), "--json"]
    root = Path(__file__).resolve().parents[1]
    limit = START_LIMIT_S + 2 * seconds
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise ContestantError(f"failed: gave no answer in {limit:.0f} s") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode == 0 and lines:
        try:
            return Measurement.from_json(lines[-1])
        except (ValueError, KeyError, TypeError):
            raise ContestantError(f"failed: expected a measurement's JSON line, got {lines[-1]!r}") from None
    if lines and NOT_INSTALLED in lines[-1]:
        raise ContestantError(NOT_INSTALLED)
    print(done.stderr, file=sys.stderr)
    raise ContestantError(f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")


def run_rounds(
    contestants: Sequence[Contestant],
    arguments: Arguments,
    measured: dict[str, list[Measurement]],
    failures: dict[str, str],
) -> None:
    """Measures round by round into `measured`; who fails is named in `failures` and drops out."""
    for turn in range(arguments.rounds):
        for place, contestant in enumerate(contestants):
            if contestant.name in failures:
                continue
            label = f"round {turn + 1}/{arguments.rounds}  {place + 1:2}/{len(contestants)}  {contestant.name:28}"
            try:
                result = measure(contestant, arguments.seconds)
            except ContestantError as error:
                failures[contestant.name] = str(error)
                print(f"{label} {error}", flush=True)
            else:
                measured.setdefault(contestant.name, []).append(result)
                print(f"{label} {result.per_second:14,.0f} {result.unit}/s", flush=True)


def table_rows(
    contestants: Sequence[Contestant], measured: Mapping[str, Sequence[Measurement]]
) -> list[dict[str, Any]]:
    """The rows of both files, in the order of `contestants`, without those that were never measured."""
    speeds = {name: [result.per_second for result in results] for name, results in measured.items()}
    medians = {name: median(values) for name, values in speeds.items()}
    rows: list[dict[str, Any]] = []
    for contestant in contestants:
        if contestant.name not in measured:
            continue
        name, result = contestant.name, measured[contestant.name][0]
        rival = contestant.rival if contestant.rival in medians else ""
        rows.append(
            {
                "contestant": name,
                "library": result.library,
                "version": result.version,
                "about": contestant.about,
                "batch": result.batch,
                "unit": result.unit,
                "per_second": speeds[name],
                "median": medians[name],
                "min": min(speeds[name]),
                "max": max(speeds[name]),
                "times_slowest": medians[name] / min(medians.values()),
                "rival": rival,
                "times_rival": medians[name] / medians[rival] if rival else None,
            }
        )
    return rows


def header(module: str, arguments: Arguments, argv: Sequence[str], complete: bool) -> dict[str, str]:
    """The facts that a reader needs to interpret the figures or to repeat them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    rounds = f"{arguments.rounds} of {arguments.seconds:g} s, contestants in turn"
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": cpu_model(),
        "cores": f"{cores} usable of {os.cpu_count()}",
        "threads": f"OMP_NUM_THREADS {os.environ.get('OMP_NUM_THREADS', 'not set')}",
        "Python": platform.python_version(),
        "torch": version("torch"),
        "rounds": rounds if complete else f"{rounds}; interrupted, so some were measured less often",
        "command": typed_command(module, argv),
    }


def page_parts(head: Mapping[str, str], rows: Sequence[Mapping[str, Any]], failures: Mapping[str, str]) -> list[Part]:
    """Return the page: header, table, and who is missing from it. Speeds are rounded to three digits."""
    left = ("contestant", "library", "what is measured")
    columns = (*left, "batch", "median a second", "min - max", "x slowest", "x rival")
    cells: list[Sequence[Cell]] = [
        (
            *(row["contestant"], f"{row['library']} {row['version']}", row["about"], f"{row['batch']:,}"),
            *(rounded(row["median"]), f"{rounded(row['min'])} - {rounded(row['max'])}", rounded(row["times_slowest"])),
            f"{row['times_rival']:.3g} x {row['rival']}" if row["rival"] else "",
        )
        for row in rows
    ]
    parts: list[Part] = [
        "\n".join(f"- {key}: {f'`{text}`' if key == 'command' else text}" for key, text in head.items()),
        Table("", columns, cells, text=left),
    ]
    if failures:
        parts.append("Without a full set of measurements:")
        parts.append("\n".join(f"- {name}: {reason}" for name, reason in failures.items()))
    return parts


def rounded(value: float) -> str:
    """Three significant digits, thousands set apart: 1,280,000, 48.3."""
    text = f"{float(f'{value:.3g}'):,.2f}"
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Benchmark:
    """Contestants and where their table goes.

    Attributes:
        title: Heading of the page.
        module: `python -m MODULE` runs the benchmark.
        out: The Markdown file, unless another is asked for.
        contestants: The rows of the table.
        more: Measures what else the page tells, after the contestants; returns a section and its numbers.
    """

    title: str
    module: str
    out: Path
    contestants: tuple[Contestant, ...]
    more: Callable[[], tuple[Section, Mapping[str, Any]]] | None = None

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run the benchmark; return 0, 1 if a contestant failed or none was measured, 130 after Ctrl-C."""
        argv = sys.argv[1:] if argv is None else argv
        arguments = Arguments.parse(self, argv)
        contestants = [item for item in self.contestants if not arguments.only or item.name in arguments.only]
        measured: dict[str, list[Measurement]] = {}
        failures: dict[str, str] = {}
        complete = True
        try:
            run_rounds(contestants, arguments, measured, failures)
        except KeyboardInterrupt:
            complete = False
            print("interrupted", file=sys.stderr)
        if measured:
            head, rows = header(self.module, arguments, argv, complete), table_rows(contestants, measured)
            data: dict[str, Any] = {"header": head, "rows": rows, "failures": failures}
            parts = page_parts(head, rows, failures)
            write_page(arguments.out, self.title, parts, data)
            if self.more is not None and complete:
                section, numbers = self.more()
                write_page(arguments.out, self.title, [*parts, section], {**data, **numbers})
            print(f"wrote {arguments.out} and {arguments.out.with_suffix('.json').name}")
        if not complete:
            return 130
        return int(not measured or any(reason != NOT_INSTALLED for reason in failures.values()))
