"""Tests, equality with the CPU and speeds on a GPU: `python -m benchmarks.gpu`, or `make gpu`.

Sections run one after the other, each in a process of its own and for a limited time; the page is written after each.
So a section that fails, or hangs, costs its own lines only. `--device cpu` goes the same ways with little work, without
CUDA: to try the program, not to measure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks.gpu.lines import Line
from benchmarks.harness import rounded
from benchmarks.pages import listed, machine_head, parser_of, typed_command, write_page
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Cell, Part, Section, Table

OUT = Path("results/benchmarks/gpu.md")
TRIED = Path("build/gpu/gpu.md")  # of other devices than CUDA's
ROOT = Path(__file__).resolve().parents[2]
MARK = "pytest.mark.gpu"  # collecting the other files takes longer than the tests


SECTIONS = {
    "tests": ("Tests that need CUDA", 120.0),
    "games": ("Games beside the CPU", 90.0),
    "boards": ("Boards beside the CPU", 40.0),
    "searches": ("Searches beside the CPU", 40.0),
    "random_play": ("Random play", 110.0),
    "life": ("Life", 50.0),
    "ppo": ("PPO", 50.0),
    "others": ("The other games and searches", 80.0),
}
"""Headings of the sections, and the seconds after which they are ended; all together are less than ten minutes."""


def _tests(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield the result of the tests that are marked `gpu`; without CUDA they are skipped."""
    files = [str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if MARK in path.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = (done.stdout.strip() or done.stderr.strip() or "no answer").splitlines()
    yield Line("pytest -m gpu", re.sub(r"^=+ | =+$", "", lines[-1]), passed=done.returncode == 0)
    for line in lines:
        if line.startswith(("FAILED", "ERROR")):
            yield Line(line.partition(" - ")[0], line.partition(" - ")[2] or "failed", passed=False)


def _lines(name: str, device: torch.device, small: bool) -> Iterator[Line]:
    """Yield the lines of a section."""
    from benchmarks.gpu import equality, speeds

    ways = {"tests": _tests, "games": equality.games, "boards": equality.boards, "searches": equality.searches}
    ways |= {"random_play": speeds.random_play, "life": speeds.life, "ppo": speeds.ppo, "others": speeds.others}
    return ways[name](device, small)


def _run(name: str, options: argparse.Namespace) -> list[Line]:
    """Run a section in a new process and return its lines; if it fails, the last says why."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--device", options.device, "--section", name]
    command += ["--small"] if options.small else []
    limit = SECTIONS[name][1]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=errors, start_new_session=True)
        try:
            status = process.wait(limit)
            errors.seek(0)
            problem = (
                f"failed: {(errors.read().strip().splitlines() or [f'status {status}'])[-1][:300]}" if status else ""
            )
        except subprocess.TimeoutExpired:
            problem = f"ended after {limit:.0f} s, before it had finished"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        lines = [Line(**json.loads(line)) for line in out.read().split("\n")[:-1]]
    return [*lines, Line("the section", problem, passed=False)] if problem else lines


def _part(name: str, lines: Sequence[Line]) -> Section:
    """Return a section of the page."""
    rows: list[list[Cell]] = []
    if not any(line.unit for line in lines):
        rows = [[line.what, str(line.found), "yes" if line.passed else "NO"] for line in lines]
        return Section(SECTIONS[name][0], [Table("", ("what", "result", "passed"), rows, text=("what", "result"))])
    for line in lines:
        found = line.found if isinstance(line.found, str) else rounded(line.found)
        if line.target is None or isinstance(line.found, str):
            rows.append([line.what, found, line.unit, "", ""])
        else:
            rows.append(
                [line.what, found, line.unit, rounded(line.target), "yes" if line.found >= line.target else "no"]
            )
    columns = ("what", "a second", "unit", "target", "reached")
    return Section(SECTIONS[name][0], [Table("", columns, rows, text=("what", "unit"))])


def _write(options: argparse.Namespace, found: Mapping[str, Sequence[Line]]) -> None:
    device = torch.device(options.device)
    cuda = device.type == "cuda"
    facts = {
        **machine_head(options.command, "torch"),
        "device": torch.cuda.get_device_name(device) if cuda else f"{cpu_model()}, a trial of the program",
        "CUDA": str(torch.version.cuda) if cuda else "none",
    }
    parts: list[Part] = [listed(facts)]
    if not cuda or options.small:
        parts.append("This is a trial with little work. Its speeds say nothing.")
    parts += [_part(name, lines) for name, lines in found.items() if lines]
    numbers = {**facts, "sections": {name: [asdict(line) for line in lines] for name, lines in found.items()}}
    write_page(options.out, "Cellgames on a GPU", parts, numbers)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = parser_of("benchmarks.gpu", __doc__)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu for a trial (default %(default)s)")
    parser.add_argument("--small", action="store_true", help="little work, to try the program; always on the CPU")
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="NAME")
    parser.add_argument("--section", choices=SECTIONS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"the page (default {OUT}; {TRIED} for trials)")
    options = parser.parse_args(argv)
    try:
        kind = torch.device(options.device).type
    except RuntimeError:
        kind = ""
    if kind not in ("cpu", "cuda"):
        parser.error(f"--device: expected cpu, cuda or cuda:N, got {options.device!r}")
    options.small = options.small or kind == "cpu"
    options.out = options.out or (TRIED if options.small else OUT)
    options.command = typed_command("benchmarks.gpu", argv)
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the sections; return 0, 1 if one failed, 2 without CUDA, 130 on Ctrl-C."""
    options = _options(list(sys.argv[1:] if argv is None else argv))
    device = torch.device(options.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print(f"benchmarks.gpu: expected a CUDA device, torch {torch.__version__} finds none", file=sys.stderr)
        return 2
    if device.type == "cuda" and (device.index or 0) >= (count := torch.cuda.device_count()):
        print(f"benchmarks.gpu: expected a device up to cuda:{count - 1}, got {options.device}", file=sys.stderr)
        return 2
    if options.section:
        for line in _lines(options.section, device, options.small):
            print(json.dumps(asdict(line)), flush=True)
        return 0
    found: dict[str, list[Line]] = {}
    try:
        for name in options.sections:
            found[name] = _run(name, options)
            _write(options, found)
            for line in found[name]:
                value = line.found if isinstance(line.found, str) else f"{rounded(line.found)} {line.unit}/s"
                print(f"{name:12} {line.what}: {value}", flush=True)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print(f"wrote {options.out} and {options.out.with_suffix('.json').name}")
    return int(any(not line.passed for lines in found.values() for line in lines))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.exit(main())
