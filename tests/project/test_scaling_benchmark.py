"""Commands and comparisons of the benchmark of scaling."""

from __future__ import annotations

import pytest
from benchmarks.training import scaling

from cellgames.cli.main import parser


@pytest.mark.parametrize("name", scaling.CASES)
def test_every_command_is_one_that_the_command_line_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "_networks", lambda: ["a", "b"])
    case = scaling.CASES[name]
    for way in case.ways:
        parser().parse_args([*case.words(way), "--out", "somewhere"])
    assert next(iter(case.ways)) == scaling.ONE  # what the others are compared with
