"""Which tests begin first and which are quick, by measured durations."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import durations
import pytest


def items(*nodeids: str, **marked: tuple[str, ...]) -> list[pytest.Item]:
    """Return what `durations` asks of tests; those of each marker are given by its name."""
    made = [
        SimpleNamespace(nodeid=nodeid, get_closest_marker=lambda name, id=nodeid: id in marked.get(name, ()) or None)
        for nodeid in nodeids
    ]
    return cast("list[pytest.Item]", made)


SECONDS = {"a.py::one": 1.0, "a.py::one slow": 60.0, "a.py::two": 2.0, "b.py::three": 4.0, "c.py::four": 0.5}


def test_the_longest_file_begins() -> None:
    found = items("c.py::four", "a.py::one", "b.py::three", "a.py::two", "new.py::five")
    durations.longest_first(found, SECONDS)
    assert [item.nodeid for item in found] == ["b.py::three", "a.py::one", "a.py::two", "c.py::four", "new.py::five"]
    found += items("tests/web/a.py::one", "tests/web/b.py::two")
    durations.longest_first(found, {**SECONDS, "tests/web/a.py::one": 0.25, "tests/web/b.py::two": 3.5})
    assert [item.nodeid for item in found][:4] == [
        "b.py::three",
        "tests/web/b.py::two",
        "tests/web/a.py::one",
        "a.py::one",
    ]
    found += items("a.py::one[long]", slow=("a.py::one[long]",))
    durations.longest_first(found, SECONDS)
    assert found[0].nodeid == "a.py::one", "what is slow counts if it runs"


def test_the_order_does_not_depend_on_the_order_of_the_sums() -> None:
    found = items("b.py::two", "a.py::x", "a.py::y", "a.py::z")
    durations.longest_first(found, {"b.py::two": 0.6, "a.py::x": 0.1, "a.py::y": 0.2, "a.py::z": 0.3})
    assert found[0].nodeid == "b.py::two", "0.1 + 0.2 + 0.3 is more than 0.6 in some orders only"


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (0.0, ["new.py::five[0]"]),
        (1.6, ["a.py::one[x]", "a.py::one[y]", "c.py::four", "new.py::five[0]"]),
        # tests of clusters are never quick
        (100.0, ["a.py::one[x]", "a.py::one[y]", "a.py::two", "c.py::four", "new.py::five[0]"]),
    ],
)
def test_new_tests_and_the_shortest_others_are_quick(budget: float, expected: list[str]) -> None:
    found = items("a.py::one[x]", "a.py::one[y]", "a.py::two", "b.py::three", "c.py::four", "new.py::five[0]",
                  ray=("b.py::three",))  # fmt: skip
    assert [item.nodeid for item in durations.quick(found, SECONDS, budget)] == expected


def test_durations_are_summed_over_parameters_and_phases(tmp_path: Path) -> None:
    recorder = durations.Recorder(tmp_path / "durations.json")
    measured = [("a.py::one[x]", 0.25, ""), ("a.py::one[y]", 0.5, ""), ("a.py::one[z]", 8.0, "slow")]
    measured += [("a.py::two", 0.125, ""), ("a.py::two", 1.0, "")]
    for nodeid, duration, mark in measured:
        report = SimpleNamespace(nodeid=nodeid, duration=duration, keywords={mark: 1})
        recorder.pytest_runtest_logreport(cast("Any", report))
    recorder.pytest_sessionfinish(cast("Any", SimpleNamespace(config=SimpleNamespace())))
    assert json.loads((tmp_path / "durations.json").read_text()) == {
        "a.py::one": 0.75,
        "a.py::one slow": 8.0,
        "a.py::two": 1.125,
    }
