"""Seconds of a round robin of ten agents, by its parts: `python -m benchmarks.arena.tournament`.

Random, greedy, rollout:32 and seven networks, snapshots of a short run of training, play torus-small-v0 (size 5),
all pairs. Each round is a whole `cellgames round-robin`, from the start of the process to the last plot, with its
games kept in a folder and in a store. A run under a profiler tells what the time went to. A page and its numbers go
to results/benchmarks/round_robin.md and round_robin.json.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import cellgames
from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head, write_page
from cellgames.cli.main import main as command_line
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table
from cellgames.utils.report.text import percent

__all__ = ["main", "shares"]

GAME = "torus-small-v0"
OTHERS = ("random", "greedy", "rollout:32")
NETWORKS = 7
OUT = Path("results/benchmarks/round_robin.md")
TRAINED = Path("results/train/round-robin-networks")

# Parts of a run by the functions that begin them: file, function, called from file ("" for anywhere), and -1 where its
# time counts elsewhere: what an agent is asked has an observation in it.
PARTS: Mapping[str, tuple[tuple[str, str, str, int], ...]] = {
    "agents": (("agents/selection.py", "answer", "", 1), ("", "observe", "agents/selection.py", -1)),
    "core": (
        ("core/base_game.py", "step", "agents/play_loop.py", 1),
        ("core/base_game.py", "init", "agents/play_loop.py", 1),
        ("core/base_game.py", "legal_actions", "agents/selection.py", 1),
        ("", "observe", "agents/selection.py", 1),
    ),
    "tables, reports and plots": (
        ("arena/stats/tables.py", "make_tables", "", 1),
        ("arena/report/run_report.py", "run_report", "", 1),
        ("utils/report/files.py", "write_report", "", 1),
        ("arena/records/replays.py", "gif", "", 1),
    ),
    "records and the store": (
        ("arena/play/match.py", "records_of", "", 1),
        ("arena/records/record_lines.py", "append", "", 1),
        ("arena/records/store/store.py", "add", "", 1),
    ),
}
REST = "the loop, imports and all the rest"


def networks(count: int = NETWORKS, folder: Path = TRAINED) -> list[Path]:
    """Snapshots of a run of training, which is played where it is missing: the files of their weights."""
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


def _command(agents: Sequence[str], games: int, chunk: int, folder: Path) -> list[str]:
    return [
        *("round-robin", GAME, "--games", str(games), "--chunk", str(chunk), "--seed", "1", "--quiet"),
        *("--out", str(folder / "run"), "--store", str(folder / "store.sqlite"), "--agents", *agents),
    ]


def timed(agents: Sequence[str], games: int, chunk: int) -> tuple[float, float]:
    """Seconds of the clock and of all cores for one run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "cellgames", *_command(agents, games, chunk, Path(folder))]
        before, began = os.times(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.perf_counter() - began, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def profiled(agents: Sequence[str], games: int, chunk: int) -> pstats.Stats:
    """One run in this process under a profiler."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w", encoding="utf-8") as silence:
        stdout, sys.stdout = sys.stdout, silence
        try:
            profile.enable()
            command_line(_command(agents, games, chunk, Path(folder)))
        finally:
            profile.disable()
            sys.stdout = stdout
    return pstats.Stats(profile)


def shares(stats: pstats.Stats) -> dict[str, float]:
    """The share of each of `PARTS` in the time of a profile; `REST` is what is left."""
    found = dict.fromkeys(PARTS, 0.0)
    calls: dict[Any, Any] = stats.stats  # type: ignore[attr-defined]  # not in the annotations
    for (file, _, name), (_, _, _, cumulative, callers) in calls.items():
        for part, begins in PARTS.items():
            for wanted, function, caller, sign in begins:
                if name != function or not _ends(file, wanted):
                    continue
                if not caller:
                    found[part] += sign * cumulative
                else:
                    from_there = (times[3] for (source, _, _), times in callers.items() if _ends(source, caller))
                    found[part] += sign * sum(from_there)
    total: float = stats.total_tt  # type: ignore[attr-defined]  # same
    known = {part: seconds / total for part, seconds in found.items()}
    return {**known, REST: 1 - sum(known.values())}


def _ends(file: str, name: str) -> bool:
    return file.replace(os.sep, "/").endswith(name)


def _write(options: argparse.Namespace, rounds: Sequence[tuple[float, float]], parts: Mapping[str, float]) -> str:
    """Write the page and its numbers; return the text of the page."""
    agents = len(OTHERS) + options.networks
    pairs = agents * (agents - 1) // 2
    wall, used = median(wall for wall, _ in rounds), median(used for _, used in rounds)
    column = "part of the time, under a profiler"
    table = Table("", (column, "%"), [(name, percent(share)) for name, share in parts.items()], text=(column,))
    page = (
        f"`{options.command}`: {', '.join(OTHERS)} and {options.networks} networks (snapshots of a short run of "
        f"training) on {GAME}, {options.games} games a pair, {pairs * options.games} games in all, {options.chunk} "
        f"openings at the same time; cellgames {cellgames.__version__}, {cpu_model()}, {os.cpu_count()} cores.",
        f"The whole command takes **{wall:.0f} s** (median of {len(rounds)}: "
        f"{', '.join(f'{wall:.0f}' for wall, _ in rounds)} s) and {used:.0f} s of processor time, from the start of "
        f"the process to the last plot: {pairs * options.games / wall:.0f} games a second.",
        table,
    )
    data = {
        **head(options.command),
        "cpu": cpu_model(),
        "games": pairs * options.games,
        "rounds": [{"seconds": wall, "processor_seconds": used} for wall, used in rounds],
        "shares": dict(parts),
    }
    return write_page(options.out, "A round robin of ten agents", page, data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.tournament", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of each pair, even (default 200)")
    parser.add_argument("--networks", type=int, default=NETWORKS, metavar="N", help=f"(default {NETWORKS})")
    parser.add_argument("--chunk", type=int, default=100, metavar="N", help="openings at the same time (default 100)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="whole runs (default 3)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help=f"(default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, games=1, networks=1, chunk=1, rounds=1)
    options.command = typed_command("benchmarks.arena.tournament", given)
    agents = [*OTHERS, *map(str, networks(options.networks))]
    rounds = []
    for number in range(options.rounds):
        rounds.append(timed(agents, options.games, options.chunk))
        print(f"round {number + 1}: {rounds[-1][0]:.0f} s", file=sys.stderr)
    print(_write(options, rounds, shares(profiled(agents, options.games, options.chunk))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
