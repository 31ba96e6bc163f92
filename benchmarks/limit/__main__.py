"""The package beside hand-written C++, by turns in one process: `python -m benchmarks.limit`.

Each row's C++ is first checked against the package's results. One thread is measured by its processor time, so that
other processes disturb both alike; two threads also by the clock, which counts on idle cores only.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch: a thread that spins looks busy

import torch

from benchmarks.harness import NOT_INSTALLED, rounded
from benchmarks.limit import board_rows, grid_rows, openspiel_rows, stone_rows
from benchmarks.limit.first_steps import GAMES, LONGEST, first_step
from benchmarks.limit.measuring import SCALING, Row, Speeds, measure, usable_cores
from benchmarks.limit.programs import NoCompilerError, compiler_version, programs
from benchmarks.pages import listed, machine_head, parser_of, typed_command, write_page
from cellgames.envs.native import status
from cellgames.utils.report.model import Cell, Part, Table

OUT = Path("results/benchmarks/limit.md")
IDLE = 0.95  # of a core: with less the clock says little, and two threads are judged by processor time

ROWS: dict[str, Callable[[], Row]] = {
    **{
        f"{name}_{games}" + ("_observed" if observe else ""): partial(
            stone_rows.random_play, name, games, observe=observe, target=target
        )
        for name, games, observe, target in (
            *(("torus", games, False, 25e6) for games in (4096, 16384)),
            *(("hex", games, False, target) for games, target in ((4096, 20e6), (256, 8e6))),
            *(("torus", games, True, target) for games, target in ((4096, 8e6), (256, 4e6))),
            *((name, games, True, target) for name in ("hex", "y") for games, target in ((4096, 6e6), (256, 4e6))),
        )
    },
    "life": board_rows.life,
    "cup": board_rows.cup,
    "cup_games": board_rows.cup_games,
    "cup_observed": board_rows.cup_observed,
    "cloth_observed": board_rows.cloth_observed,
    "cloth": board_rows.cloth,
    "ground": board_rows.ground,
    "grid": partial(grid_rows.rounds, False),
    "grid_masks": partial(grid_rows.rounds, True),
    "grid_observed": grid_rows.observed,
    "uct": stone_rows.uct,
    **openspiel_rows.MOVES,
}
FIRST = "first"


@dataclass(frozen=True)
class Found:
    """The figures of a row on one thread, and on two unless the machine has a single core."""

    row: Row
    one: Speeds
    two: Speeds | None

    @property
    def scaling(self) -> tuple[float, float] | None:
        """The work of two threads of the package divided by that of one, by the clock and by processor time."""
        if self.two is None:
            return None
        return self.two.ours_wall / self.one.ours_wall, self.two.ours / self.one.ours

    @property
    def met(self) -> dict[str, bool]:
        """Return which bars the package reaches."""
        found = {"share": self.one.share >= self.row.bar}
        if self.row.target is not None:
            found["target"] = self.one.ours >= self.row.target
        if self.two is not None and self.scaling is not None:
            idle = min(self.one.idle, self.two.idle) >= IDLE
            found["two threads"] = self.scaling[0 if idle else 1] >= SCALING
        return found

    def numbers(self) -> dict[str, Any]:
        """Return all figures as JSON has them."""
        row = {name: getattr(self.row, name) for name in ("name", "what", "unit", "bar", "target")}
        return row | {"one": asdict(self.one), "two": self.two and asdict(self.two), "met": self.met}


def _yes(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "no"


def _peers(found: Sequence[Found]) -> Table:
    columns = ("work", "ours, ms a move", "OpenSpiel", "times as fast", "bar", "met", "by the clock: ours", "OpenSpiel")
    lines: list[list[Cell]] = []
    for one in found:
        speeds = one.one
        ours, theirs, *clock = (
            f"{1e3 / speed:.2f}" for speed in (speeds.ours, speeds.limit, speeds.ours_wall, speeds.limit_wall)
        )
        bar = (f"{speeds.share:.1f}", f"{one.row.bar:g}", _yes(one.met["share"]))
        lines.append([one.row.what, ours, theirs, *bar, *clock])
    return Table("", columns, lines, text=("work",))


def _table(found: Sequence[Found]) -> Table:
    columns = (
        *("work", "unit", "ours a second", "C++", "ours / C++", "bar", "met", "target", "met"),
        *("two threads: ours", "C++", "of one thread, by the clock", "by processor time", "met"),
    )
    lines: list[list[Cell]] = []
    for one in found:
        row, target = one.row, "" if one.row.target is None else rounded(one.row.target)
        line: list[Cell] = [row.what, row.unit, rounded(one.one.ours), rounded(one.one.limit), f"{one.one.share:.2f}"]
        line += [f"{row.bar:g}", _yes(one.met["share"]), target, _yes(one.met.get("target"))]
        two: list[Cell] = [""] * 5
        if one.two is not None and one.scaling is not None:
            two = [rounded(one.two.ours), rounded(one.two.limit), *(f"{part:.2f}" for part in one.scaling)]
            two += [_yes(one.met["two threads"])]
        lines.append(line + two)
    return Table("", columns, lines, text=("work", "unit"))


def _write(options: argparse.Namespace, found: Sequence[Found], firsts: dict[str, tuple[float, float]]) -> None:
    idle = min((speeds.idle for one in found for speeds in (one.one, one.two) if speeds), default=1.0)
    numbers = {
        **machine_head(options.command, "torch"),
        "least part of a core that a contestant had": f"{idle:.2f}",
        "C++ compiler": f"{compiler_version()}, -O3 -march=native",
        "native kernels": str(status()).removeprefix("native kernels: ").split(",")[0],
        "rounds": f"{options.rounds} of {options.seconds:g} s, contestants by turns",
    }
    parts: list[Part] = [listed(numbers)]
    if rows := [one for one in found if one.row.rival == "C++"]:
        parts += [
            "Units a second of processor time of the busiest thread; the ratio is the median of the rounds' ratios. "
            f"Two threads should do {SCALING} times as much as one: by the clock, or by processor time where the cores "
            "were not idle.",
            _table(rows),
        ]
    if rows := [one for one in found if one.row.rival != "C++"]:
        parts += [
            "OpenSpiel has no Torus: its C++ search plays Hex on 8 x 16, which has as many cells, with as many "
            "simulations and random games. Milliseconds of processor time on one thread, and by the clock.",
            _peers(rows),
        ]
    if firsts:
        lines: list[list[Cell]] = [
            [game, f"{GAMES[game]:,}", f"{imports:.2f}", f"{step:.2f}", _yes(step <= LONGEST)]
            for game, (imports, step) in firsts.items()
        ]
        parts += [
            f"The first step of a new process with an empty cache of compiled code should take {LONGEST} s.",
            Table("", ("game", "games", "imports, s", "first step, s", "met"), lines, text=("game",)),
        ]
    data = {**numbers, "rows": [one.numbers() for one in found], "first_steps": firsts}
    write_page(options.out, "The package beside hand-written C++", parts, data)


def _measured(name: str, options: argparse.Namespace) -> Found:
    row = ROWS[name]()
    one = measure(row, 1, options.rounds, options.seconds)
    both = usable_cores() > 1 and not options.one_thread and row.rival == "C++"
    two = measure(row, 2, options.rounds, options.seconds) if both else None
    return Found(row, one, two)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    names = [*ROWS, FIRST]
    parser = parser_of("benchmarks.limit", __doc__, OUT)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each contestant (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement (default %(default)s)")
    parser.add_argument("--one-thread", action="store_true", help="leave out the measurements on two threads")
    parser.add_argument(
        "--rows", default=",".join(names), help=f"names or their beginnings, with commas: {', '.join(names)}"
    )
    options = parser.parse_args(argv)
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds must be at least 1 and --seconds above 0")
    words = options.rows.split(",")
    for word in words:
        if not word or not any(name.startswith(word) for name in names):
            parser.error(f"--rows: expected names of rows, or their beginnings, got {word!r}; rows: {', '.join(names)}")
    begun = tuple(word for word in words if word not in names)
    options.names = [name for name in names if name in words or (begun and name.startswith(begun))]
    options.command = typed_command("benchmarks.limit", argv)
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Measure rows and write the page after each; return 0, 2 without a compiler, 1 if a row failed, 130 on Ctrl-C."""
    options = _options(list(sys.argv[1:] if argv is None else argv))
    try:
        programs()
    except NoCompilerError as error:
        print(f"benchmarks.limit: {error}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    found: list[Found] = []
    firsts: dict[str, tuple[float, float]] = {}
    failed = False
    try:
        for name in options.names:
            try:
                if name == FIRST:
                    for game in GAMES:
                        firsts[game] = first_step(game)
                        print(f"{game:18} first step {firsts[game][1]:.2f} s", flush=True)
                else:
                    found.append(_measured(name, options))
                    print(_line(found[-1]), flush=True)
            except ModuleNotFoundError as error:
                if error.name != "pyspiel":
                    raise
                print(f"{name}: {NOT_INSTALLED}", file=sys.stderr)
            except (RuntimeError, OSError) as error:
                failed = True
                print(f"{name}: {error}", file=sys.stderr)
            else:
                _write(options, found, firsts)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    if found or firsts:
        print(f"wrote {options.out} and {options.out.with_suffix('.json').name}")
    return int(failed)


def _line(found: Found) -> str:
    one, unit = found.one, found.row.unit
    rival = f"{found.row.rival} {rounded(one.limit):>18}, {one.share:.2f} times that"
    text = f"{found.row.name:12} {rounded(one.ours):>18} {unit}/s, {rival}"
    if found.scaling is not None:
        text += f"; two threads {found.scaling[0]:.2f} of one by the clock, {found.scaling[1]:.2f} by processor time"
    missed = [name for name, reached in found.met.items() if not reached]
    return text + (f"; missed: {', '.join(missed)}" if missed else "; all met")


if __name__ == "__main__":
    sys.exit(main())
