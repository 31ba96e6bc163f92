"""The benchmark beside hand-written C++: its programs play by the rules, and its figures are what it says."""

from __future__ import annotations

import pytest
from benchmarks.limit import __main__ as limit
from benchmarks.limit import measuring, programs
from benchmarks.limit.measuring import Row


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
