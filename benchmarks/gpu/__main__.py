"""Tests, equality with the CPU and speeds on a GPU: `python -m benchmarks.gpu`, or `make gpu`.

Sections run one after the other, each in a process of its own and for a limited time; the page is written after every
line that they give. So a section that fails, or hangs, costs its own lines only. `--device cpu` goes the same ways with
little work, without CUDA: to try the program, not to measure.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.commands import typed_command
from benchmarks.gpu.lines import Line
from benchmarks.harness import rounded
from benchmarks.pages import head, write_page
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Cell, Part, Section, Table

__all__ = ["SECTIONS", "Task", "main"]

OUT = Path("results/benchmarks/gpu.md")
TRIED = Path("build/gpu/gpu.md")  # of other devices than CUDA's
ROOT = Path(__file__).resolve().parents[2]
MARK = "pytest.mark.gpu"  # collecting the other files takes longer than the tests


@dataclass(frozen=True)
class Task:
    """A section of the page.

    Attributes:
        title: its heading.
        limit: seconds after which it is ended; all together are less than ten minutes.
    """

    title: str
    limit: float


SECTIONS = {
    "tests": Task("Tests that need CUDA", 120.0),
    "games": Task("Games beside the CPU", 90.0),
    "boards": Task("Boards beside the CPU", 40.0),
    "searches": Task("Searches beside the CPU", 40.0),
    "random_play": Task("Random play", 110.0),
    "life": Task("Life", 50.0),
    "ppo": Task("PPO", 50.0),
    "others": Task("The other games and searches", 80.0),
}


def _tests(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield what pytest says of the tests that are marked `gpu`; without CUDA they are skipped."""
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


def _run(name: str, options: argparse.Namespace, found: list[Line]) -> Iterator[None]:
    """Run a section in a new process and add its lines to `found`, one a time; if it fails, the last says why."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--device", options.device, "--section", name]
    command += ["--small"] if options.small else []
    with tempfile.TemporaryDirectory() as folder:
        told, complaints = Path(folder, "lines"), Path(folder, "errors")
        with told.open("w") as out, complaints.open("w") as errors:
            process = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=errors, start_new_session=True)
            end, read = time.monotonic() + SECTIONS[name].limit, 0
            try:
                while True:
                    status = process.poll()
                    for line in told.read_text().split("\n")[read:-1]:
                        read += 1
                        found.append(Line.from_json(line))
                        yield
                    if status is not None:
                        break
                    if time.monotonic() > end:
                        text = f"ended after {SECTIONS[name].limit:.0f} s, before it had finished"
                        found.append(Line("the section", text, passed=False))
                        yield
                        return
                    time.sleep(0.2)
            finally:
                _end(process)
        if status:
            reason = (complaints.read_text().strip().splitlines() or [f"status {status}"])[-1]
            found.append(Line("the section", f"failed: {reason[:300]}", passed=False))
            yield


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started, as far as they still run."""
    if process.poll() is None:
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.wait()


def _part(name: str, lines: Sequence[Line]) -> Section:
    """Return a section of the page."""
    measured = any(line.unit for line in lines)
    if not measured:
        rows: list[list[Cell]] = [[line.what, str(line.found), "yes" if line.passed else "NO"] for line in lines]
        return Section(SECTIONS[name].title, [Table("", ("what", "result", "passed"), rows, text=("what", "result"))])
    rows = []
    for line in lines:
        if isinstance(line.found, str):
            rows.append([line.what, line.found, "", "", ""])
            continue
        reached = "" if line.target is None else "yes" if line.found >= line.target else "no"
        target = "" if line.target is None else rounded(line.target)
        rows.append([line.what, rounded(line.found), line.unit, target, reached])
    columns = ("what", "a second", "unit", "target", "reached")
    return Section(SECTIONS[name].title, [Table("", columns, rows, text=("what", "unit"))])


def _write(options: argparse.Namespace, found: Mapping[str, Sequence[Line]]) -> None:
    device = torch.device(options.device)
    cuda = device.type == "cuda"
    facts = {
        **head(options.command),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "device": torch.cuda.get_device_name(device) if cuda else f"{cpu_model()}, a trial of the program",
        "CPU": cpu_model(),
        "torch": torch.__version__,
        "CUDA": str(torch.version.cuda) if cuda else "none",
    }
    parts: list[Part] = ["\n".join(f"- {key}: {text}" for key, text in facts.items())]
    if not cuda or options.small:
        parts.append("This is a trial with little work. Its speeds say nothing.")
    parts += [_part(name, lines) for name, lines in found.items() if lines]
    numbers = {**facts, "sections": {name: [asdict(line) for line in lines] for name, lines in found.items()}}
    write_page(options.out, "Cellgames on a GPU", parts, numbers)


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=(__doc__ or "").split("\n")[0])
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
            print(line.to_json(), flush=True)
        return 0
    found: dict[str, list[Line]] = {}
    try:
        for name in options.sections:
            lines = found.setdefault(name, [])
            for _ in _run(name, options, lines):
                _write(options, found)
                _tell(name, lines[-1])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        if any(found.values()):
            _write(options, found)
            print(f"wrote {options.out} and {options.out.with_suffix('.json').name}")
    return int(any(not line.passed for lines in found.values() for line in lines))


def _tell(name: str, line: Line) -> None:
    value = line.found if isinstance(line.found, str) else f"{rounded(line.found)} {line.unit}/s"
    print(f"{name:12} {line.what}: {value}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.exit(main())
