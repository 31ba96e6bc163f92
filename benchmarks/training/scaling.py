"""What a second core gives, by Ray workers, actors and ranks: `python -m benchmarks.training.scaling`.

Each line is a whole command, from the start of the process (and of the Ray cluster that it starts) to the last file,
on one thread a process. Rounds alternate over the ways to do the same thing, and the medians of the clock are compared.
Round robins and seasons must leave the same files, byte for byte, whoever played. A page and its numbers go to
results/benchmarks/scaling.md and scaling.json.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median

import cellgames
from benchmarks.arena.tournament import OTHERS, networks
from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head, write_page
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table

__all__ = ["CASES", "Case", "Way", "digest", "main", "timed"]

OUT = Path("results/benchmarks/scaling.md")
RAY = ("--ray", "--ray-workers", "2")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


@dataclass(frozen=True)
class Way:
    """How a thing is done.

    name:     of the way.
    launcher: of the module `cellgames`, as options of Python.
    options:  that it adds to the command.
    """

    name: str
    launcher: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A thing that can be done in several ways, the first of which is one process on one thread.

    command: of `cellgames`, without `--out`; NETWORKS stands for the networks of `benchmarks.arena.tournament`.
    same:    whether all ways must leave the same files.
    """

    name: str
    about: str
    command: tuple[str, ...]
    ways: tuple[Way, ...]
    same: bool


NETWORKS = "NETWORKS"
ONE, WORKERS = Way("one process"), Way("two Ray workers", options=RAY)
LEARNING = (ONE, Way("two actors and a learner", options=("--actors", "2")), Way("two ranks", launcher=TORCHRUN))
_FRESH = ("--quiet", "--no-store")

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case(
            "round_robin",
            "six agents on torus-small-v0, 400 games a pair, 20 openings a chunk",
            (
                *("round-robin", "torus-small-v0", "--games", "400", "--chunk", "20", "--seed", "1", *_FRESH),
                *("--agents", "greedy", "trained", "rollout:64", "rollout:128", "mcts:16", "mcts:32"),
            ),
            (ONE, WORKERS),
            same=True,
        ),
        Case(
            "round_robin_fast",
            "ten fast agents on torus-small-v0, 1,200 games a pair, 50 openings a chunk",
            (
                *("round-robin", "torus-small-v0", "--games", "1200", "--chunk", "50", "--seed", "1", *_FRESH),
                *("--agents", *OTHERS, NETWORKS),
            ),
            (ONE, WORKERS),
            same=True,
        ),
        Case(
            "season",
            "a season of twelve bots on torus-small-v0, 61 days, 24 games a batch",
            (
                *("season", "torus-small-v0", "--teams", "12", "--days", "61", "--chunk", "24", *_FRESH),
                *("--agents", "greedy", "trained", "mcts:16", "mcts:32"),
            ),
            (ONE, WORKERS),
            same=True,
        ),
        Case(
            "ppo",
            "PPO on torus-small-v0, 30,000 steps, settings of the preset",
            (
                "train",
                "torus-small-v0",
                "--total-steps",
                "30000",
                "--eval-games",
                "20",
                "--eval-every",
                "1000",
                "--quiet",
            ),
            LEARNING,
            same=False,
        ),
        Case(
            "alphazero",
            "AlphaZero on torus-small-v0, 16,000 steps, settings of the preset",
            (
                *("train", "torus-small-v0", "--algo", "alphazero", "--total-steps", "16000", "--eval-games", "20"),
                *("--eval-every", "1000", "--quiet"),
            ),
            LEARNING,
            same=False,
        ),
    )
}


@cache
def _networks() -> list[str]:
    return [str(path) for path in networks()]


def timed(case: Case, way: Way) -> tuple[float, str]:
    """Seconds of the clock for one run in a process of its own, and the `digest` of its folder."""
    command = [word for part in case.command for word in (_networks() if part == NETWORKS else [part])]
    with tempfile.TemporaryDirectory() as folder:
        called = [sys.executable, *way.launcher, "-m", "cellgames", *command, *way.options, "--out", f"{folder}/run"]
        began = time.perf_counter()
        subprocess.run(called, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
        return time.perf_counter() - began, digest(Path(folder) / "run")


def digest(folder: Path) -> str:
    """SHA-256 over names and contents of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


@dataclass(frozen=True)
class Row:
    """A way of a case, measured.

    seconds: of each round.
    ratio:   of its median to that of one process.
    same:    whether its files equal those of one process; None where they need not.
    """

    case: str
    about: str
    way: str
    seconds: tuple[float, ...]
    ratio: float
    same: bool | None


def measure(case: Case, rounds: int) -> list[Row]:
    """All ways of a case, in turn."""
    seconds: dict[str, list[float]] = {way.name: [] for way in case.ways}
    digests: dict[str, set[str]] = {way.name: set() for way in case.ways}
    for turn in range(rounds):
        for way in case.ways:
            took, found = timed(case, way)
            seconds[way.name].append(took)
            digests[way.name].add(found)
            print(f"{case.name}, {way.name}, round {turn + 1}: {took:.1f} s", file=sys.stderr, flush=True)
    first = case.ways[0].name
    return [
        Row(
            case.name,
            case.about,
            name,
            tuple(taken),
            median(taken) / median(seconds[first]),
            digests[name] == digests[first] if case.same else None,
        )
        for name, taken in seconds.items()
    ]


def _write(options: argparse.Namespace, rows: Sequence[Row]) -> str:
    """Write the page and its numbers; return the text of the page."""
    columns, lines = ("what", "how", "median s", "all rounds, s", "x one process", "the same files"), []
    for row in rows:
        taken = ", ".join(f"{second:.1f}" for second in row.seconds)
        same = {None: "", True: "yes", False: "**no**"}[row.same]
        lines.append([row.about, row.way, f"{median(row.seconds):.1f}", taken, f"{row.ratio:.2f}", same])
    page = (
        f"`{options.command}`: whole commands, one thread a process; cellgames {cellgames.__version__}, {cpu_model()}, "
        f"{os.cpu_count()} cores. Commands with Ray start a cluster on this machine and end it.",
        Table("", columns, lines, text=("what", "how", "all rounds, s", "the same files")),
    )
    data = {
        **head(options.command),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "rows": [asdict(row) for row in rows],
    }
    return write_page(options.out, "What a second core gives", page, data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; the exit code is 1 if files differ that must not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training.scaling", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each way (default 3)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help=f"(default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, rounds=1)
    options.command = typed_command("benchmarks.training.scaling", given)
    if any(NETWORKS in CASES[name].command for name in options.only):
        _networks()  # not part of the first round
    rows = [row for name in options.only for row in measure(CASES[name], options.rounds)]
    print(_write(options, rows))
    return int(any(row.same is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
