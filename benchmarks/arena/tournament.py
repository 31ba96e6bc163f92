"""Seconds of a round robin of ten agents: `python -m benchmarks.arena.tournament`.

Random, greedy, rollout:32 and seven networks, snapshots of a short run of training, play torus-small-v0 (size 5), all
pairs. Each round is a whole `cellgames round-robin`, from the start of the process to the last plot, with its games
kept in a folder and in a store.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.commands import check_least, typed_command
from benchmarks.pages import listed, machine_head, write_page
from cellgames.cli.main import main as command_line

__all__ = ["OTHERS", "main", "networks"]

GAME = "torus-small-v0"
OTHERS = ("random", "greedy", "rollout:32")
NETWORKS = 7
OUT = Path("results/benchmarks/round_robin.md")
TRAINED = Path("results/train/round-robin-networks")


def networks(count: int = NETWORKS, folder: Path = TRAINED) -> list[Path]:
    """Return files of weights, snapshots of a run of training, which is played where it is missing."""
    iterations = 4 * count
    code = command_line(
        [
            *("train", GAME, "--total-steps", str(iterations * 128 * 32), "--seed", "1", "--threads", "1"),
            *("--snapshot-every", "4", "--eval-every", str(iterations), "--eval-games", "20", "--out", str(folder)),
        ]
    )
    if code:
        sys.exit(code)
    found = sorted((folder / "pool").glob("*.safetensors"))[-count:]
    if len(found) < count:
        sys.exit(f"expected {count} snapshots in {folder / 'pool'}, got {len(found)}; remove the folder")
    return found


def timed(agents: Sequence[str], games: int, chunk: int) -> tuple[float, float]:
    """Return seconds of the clock and of all cores for one run in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        command = [
            *(sys.executable, "-m", "cellgames", "round-robin", GAME, "--games", str(games), "--chunk", str(chunk)),
            *("--seed", "1", "--quiet", "--out", f"{name}/run", "--store", f"{name}/store.sqlite", "--agents", *agents),
        ]
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - began, os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.tournament", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each pair, even (default 200)")
    parser.add_argument("--networks", type=int, default=NETWORKS, metavar="N", help=f"(default {NETWORKS})")
    parser.add_argument("--chunk", type=int, default=100, metavar="N", help="openings at the same time (default 100)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="whole runs (default 3)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help=f"(default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, games=1, networks=1, chunk=1, rounds=1)
    agents = [*OTHERS, *map(str, networks(options.networks))]
    rounds = []
    for number in range(options.rounds):
        rounds.append(timed(agents, options.games, options.chunk))
        print(f"round {number + 1}: {rounds[-1][0]:.0f} s", file=sys.stderr)
    games = len(agents) * (len(agents) - 1) // 2 * options.games
    wall, used = median(wall for wall, _ in rounds), median(used for _, used in rounds)
    head = machine_head(typed_command("benchmarks.arena.tournament", given), "torch")
    text = (
        f"{', '.join(OTHERS)} and {options.networks} networks (snapshots of a short run of training) on {GAME}, "
        f"{options.games} games a pair, {games} games in all, {options.chunk} openings at the same time. The whole "
        f"command takes **{wall:.0f} s** (median of {len(rounds)}: {', '.join(f'{wall:.0f}' for wall, _ in rounds)} s) "
        f"and {used:.0f} s of processor time, from the start of the process to the last plot: {games / wall:.0f} games "
        "a second."
    )
    numbers = [{"seconds": wall, "processor_seconds": used} for wall, used in rounds]
    data = {**head, "games": games, "rounds": numbers}
    print(write_page(options.out, "A round robin of ten agents", (listed(head), text), data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
