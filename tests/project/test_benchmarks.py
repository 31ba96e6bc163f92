"""Programs of benchmarks: they do their work, check what they measure, and measure what they say."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import instructions
import pytest
import torch
from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import equality
from benchmarks.gpu.lines import Line
from benchmarks.limit import __main__ as limit
from benchmarks.limit import measuring, programs
from benchmarks.limit.measuring import Row
from benchmarks.training import scaling

import cellgames
from cellgames.cli.main import parser

CPU = torch.device("cpu")


@pytest.mark.slow
@pytest.mark.parametrize("section", sorted(gpu.SECTIONS.keys() - {"tests"}))
def test_every_section_does_its_work_on_the_cpu(section: str) -> None:
    lines = list(gpu._lines(section, CPU, True))
    assert lines
    for line in lines:
        assert line.passed, line
        assert isinstance(line.found, str) or (math.isfinite(line.found) and line.found > 0)
        assert Line(**json.loads(json.dumps(asdict(line)))) == line


def test_a_game_that_differs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seat's reward that is off in the last bit of one of the two is enough."""
    game = cellgames.make("torus-small-v0")
    assert equality.play(game, CPU, 4, 3, "never")
    same = equality._same

    def off(here: torch.Tensor, there: torch.Tensor) -> bool:
        return same(here, there.nextafter(torch.tensor(9.0)) if there.is_floating_point() else there)

    monkeypatch.setattr(equality, "_same", off)
    assert not equality.play(game, CPU, 4, 3, "never")


def test_a_run_writes_a_page_that_is_no_measurement(tmp_path: Path) -> None:
    page = tmp_path / "gpu.md"
    assert gpu.main(["--device", "cpu", "--sections", "boards", "--out", str(page)]) == 0
    text = page.read_text()
    assert "This is a trial with little work. Its speeds say nothing." in text
    assert "equal in every bit" in text
    lines = json.loads(page.with_suffix(".json").read_text())["sections"]["boards"]
    assert len(lines) == 3


def compiler_is_missing() -> bool:
    try:
        return not programs.compiler()
    except programs.NoCompilerError:
        return True


@pytest.mark.slow
@pytest.mark.skipif(compiler_is_missing(), reason="needs a C++ compiler")
@pytest.mark.parametrize(
    "name",
    [
        *("torus_4096", "torus_256_observed", "hex_256_observed", "y_256_observed", "life", "cup", "cloth", "ground"),
        *("grid_observed", "cup_observed", "cloth_observed", "uct"),
    ],
)
def test_programs_give_what_the_package_gives(name: str) -> None:
    """A row is made only after its program has been checked against the package."""
    row = limit.ROWS[name]()
    assert row.name == name
    assert row.amount > 0


class Clocks:
    """Clocks that move only when work is done: a second's work of the package is a third of one in C++."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
        self.threads = threads
        self.passed = self.mine = self.all = 0.0
        monkeypatch.setattr(measuring, "perf_counter", lambda: self.passed)
        monkeypatch.setattr(measuring, "thread_time", lambda: self.mine)
        monkeypatch.setattr(measuring, "process_time", lambda: self.all)

    def work(self, seconds: float) -> None:
        """Work on this thread for a part of the time, and twice as long on another if there is one."""
        self.passed += 4 * seconds
        self.mine += seconds
        self.all += seconds * (3 if self.threads == 2 else 1)

    def row(self) -> Row:
        return Row("toy", "work", "units", 10.0, lambda: self.work(0.3), lambda _: self.work(0.1), target=30.0)


def test_figures_are_work_by_the_busiest_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    one = measuring.measure(Clocks(monkeypatch, 1).row(), 1, rounds=3, seconds=5.0)
    assert one.ours == pytest.approx(10 / 0.3)
    assert one.limit == pytest.approx(10 / 0.1)
    assert one.ours_wall == pytest.approx(10 / 1.2)
    assert one.share == pytest.approx(1 / 3)
    assert one.idle == pytest.approx(1 / 4)
    two = measuring.measure(Clocks(monkeypatch, 2).row(), 2, rounds=1, seconds=5.0)
    assert two.ours == pytest.approx(10 / 0.6)
    assert two.idle == pytest.approx(1 / 2)


@pytest.mark.parametrize("name", scaling.CASES)
def test_every_command_is_one_that_the_command_line_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "_networks", lambda: ["a", "b"])
    case = scaling.CASES[name]
    for way in case.ways:
        parser().parse_args([*case.words(way), "--out", "somewhere"])
    assert next(iter(case.ways)) == scaling.ONE  # what the others are compared with


ALLOWED = 1.05


@pytest.mark.slow
@pytest.mark.skipif(not instructions.found(), reason="needs valgrind with Callgrind")
def test_native_code_needs_no_more_instructions_than_before() -> None:
    stored = json.loads(instructions.STORED.read_text(encoding="utf-8"))
    if stored["compiler"] != instructions.compiler():
        pytest.skip(f"stored counts are those of {stored['compiler']}")
    try:
        counts, before = instructions.counted(), stored["instructions"]
    except RuntimeError as error:  # its control did not reach it
        pytest.skip(str(error))
    assert counts.keys() == before.keys()
    assert not {game: (count, before[game]) for game, count in counts.items() if count > ALLOWED * before[game]}
