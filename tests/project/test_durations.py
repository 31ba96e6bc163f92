"""Which tests begin first and which are quick, by measured durations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

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
