"""Commands and comparisons of the benchmark of scaling."""

from __future__ import annotations

from pathlib import Path

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


def test_a_folder_is_known_by_the_names_and_contents_of_its_files(tmp_path: Path) -> None:
    digests = []
    for number, (name, content) in enumerate((("a/x", "1"), ("a/x", "1"), ("a/y", "1"), ("a/x", "2"), ("ax", "1"))):
        folder = tmp_path / str(number)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content)
        digests.append(scaling.digest(folder))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4
