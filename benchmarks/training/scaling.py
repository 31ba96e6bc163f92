"""Seconds of whole commands, and what a second core gives: `python -m benchmarks.training.scaling`.

Each line is a whole command, from the start of the process (and of the workers that it starts) to the last file,
on one thread a process. Rounds alternate over the ways to do the same thing, and the medians of the clock are compared.
Round robins and seasons must leave the same files, byte for byte, whoever played.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.pages import check_least, listed, machine_head, parser_of, typed_command, write_page
from cellgames.cli.main import main as command_line
from cellgames.utils.report.model import Table

OUT = Path("results/benchmarks/scaling.md")
SNAPSHOTS = Path("results/train/round-robin-networks")
ONE = "one process"
WORKERS = {ONE: "", "two workers": "--workers 2"}
NETWORKS = "NETWORKS"
"""Stands for seven networks in a command, snapshots of a short run of training."""


@dataclass(frozen=True)
class Case:
    """A command of `cellgames` that can be done in several ways, the first of which is one process on one thread."""

    about: str
    command: str
    same: bool | None = True
    ways: dict[str, str] = field(default_factory=lambda: WORKERS)

    def words(self, way: str) -> list[str]:
        """Return the words of the command in a way."""
        words = f"{self.command} {self.ways[way]}".split()
        return [one for word in words for one in (_networks() if word == NETWORKS else [word])]


CASES = {
    "ten_agents": Case(
        "ten agents, seven of them networks, on torus-small-v0, 200 games a pair, with a store",
        "round-robin torus-small-v0 --games 200 --chunk 100 --seed 1 --quiet "
        f"--agents random greedy rollout:32 {NETWORKS}",
        ways={ONE: ""},
    ),
    "round_robin": Case(
        "six agents on torus-small-v0, 400 games a pair, 20 openings a chunk",
        "round-robin torus-small-v0 --games 400 --chunk 20 --seed 1 --quiet --no-store "
        "--agents greedy trained rollout:64 rollout:128 mcts:16 mcts:32",
    ),
    "round_robin_fast": Case(
        "ten fast agents on torus-small-v0, 1,200 games a pair, 50 openings a chunk",
        "round-robin torus-small-v0 --games 1200 --chunk 50 --seed 1 --quiet --no-store "
        f"--agents random greedy rollout:32 {NETWORKS}",
    ),
    "season": Case(
        "a season of twelve bots on torus-small-v0, 61 days, 24 games a batch",
        "season torus-small-v0 --teams 12 --days 61 --chunk 24 --quiet --no-store "
        "--agents greedy trained mcts:16 mcts:32",
    ),
    "alphazero": Case(
        "AlphaZero on torus-small-v0, 16,000 steps, settings of the preset",
        "train torus-small-v0 --algo alphazero --total-steps 16000 --eval-games 20 --eval-every 1000 --quiet",
        same=None,
    ),
}


@cache
def _networks() -> list[str]:
    """Return files of weights, snapshots of a run of training, which is played where it is missing."""
    count = 7
    code = command_line(
        [
            *("train", "torus-small-v0", "--total-steps", str(4 * count * 128 * 32), "--seed", "1", "--threads", "1"),
            *("--snapshot-every", "4", "--eval-every", str(4 * count), "--eval-games", "20", "--out", str(SNAPSHOTS)),
        ]
    )
    found = sorted((SNAPSHOTS / "pool").glob("*.safetensors"))[-count:]
    if code or len(found) < count:
        sys.exit(code or f"expected {count} snapshots in {SNAPSHOTS / 'pool'}, got {len(found)}; remove the folder")
    return [str(path) for path in found]


def timed(case: Case, way: str) -> tuple[float, float, str]:
    """Return seconds of the clock and of processors for one run in processes of its own, and its folder's `digest`."""
    with tempfile.TemporaryDirectory() as folder:
        called = [sys.executable, "-m", "cellgames", *case.words(way)]
        began, before = time.perf_counter(), os.times()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CELLGAMES_STORE": f"{folder}/store.sqlite"}
        subprocess.run([*called, "--out", f"{folder}/run"], check=True, stdout=subprocess.DEVNULL, env=environment)
        took, after = time.perf_counter() - began, os.times()
        busy = after.children_user + after.children_system - before.children_user - before.children_system
        return took, busy, digest(Path(folder) / "run")


def digest(folder: Path) -> str:
    """Return the SHA-256 over names and contents of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def measure(name: str, rounds: int) -> list[dict[str, Any]]:
    """Return the figures of all ways of a case, measured in turn."""
    case = CASES[name]
    found: dict[str, list[tuple[float, float, str]]] = {way: [] for way in case.ways}
    for turn in range(rounds):
        for way in case.ways:
            found[way].append(timed(case, way))
            print(f"{name}, {way}, round {turn + 1}: {found[way][-1][0]:.1f} s", file=sys.stderr, flush=True)
    middle = {way: median(seconds for seconds, *_ in runs) for way, runs in found.items()}
    files = {way: {digest for *_, digest in runs} for way, runs in found.items()}
    return [
        {
            **{"case": name, "about": case.about, "way": way, "seconds": [seconds for seconds, *_ in runs]},
            "processor": [busy for _, busy, _ in runs],
            **{"ratio": middle[way] / middle[ONE], "same": case.same and files[way] == files[ONE]},
        }
        for way, runs in found.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return 1 if files differ that must not."""
    parser = parser_of("benchmarks.training.scaling", __doc__, OUT)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each way (default 3)")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="NAME", help=", ".join(CASES))
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, rounds=1)
    if any(NETWORKS in CASES[name].command for name in options.only):
        _networks()  # not part of the first round
    rows = [row for name in options.only for row in measure(name, options.rounds)]
    columns, lines = (
        ("what", "how", "median s", "all rounds, s", "processors, s", "x one process", "the same files"),
        [],
    )
    for row in rows:
        taken, same = row["seconds"], {None: "", True: "yes", False: "**no**"}[row["same"]]
        shown = (
            f"{median(taken):.1f}",
            ", ".join(f"{second:.1f}" for second in taken),
            f"{median(row['processor']):.1f}",
            f"{row['ratio']:.2f}",
            same,
        )
        lines.append((row["about"], row["way"], *shown))
    head = machine_head(typed_command("benchmarks.training.scaling", given), "torch")
    text = "Whole commands, one thread a process."
    table = Table("", columns, lines, text=("what", "how", "all rounds, s", "the same files"))
    page = write_page(options.out, "What a second core gives", (listed(head), text, table), {**head, "rows": rows})
    print(page)
    return int(any(row["same"] is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
