"""What the benchmarks of scaling count, compare and call."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from benchmarks.core import roofline
from benchmarks.training import scaling

from cellgames.cli.main import parser


@pytest.mark.parametrize("case", scaling.CASES.values(), ids=lambda case: case.name)
def test_every_command_is_one_that_the_command_line_takes(case: scaling.Case) -> None:
    for way in case.ways:
        words = [word for part in case.command for word in (["a", "b"] if part == scaling.NETWORKS else [part])]
        parser().parse_args([*words, *way.options, "--out", "somewhere"])
    assert case.ways[0] == scaling.ONE  # what the others are compared with


def test_a_folder_is_known_by_the_names_and_contents_of_its_files(tmp_path: Path) -> None:
    digests = []
    for number, (name, content) in enumerate((("a/x", "1"), ("a/x", "1"), ("a/y", "1"), ("a/x", "2"), ("ax", "1"))):
        folder = tmp_path / str(number)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(content)
        digests.append(scaling.digest(folder))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_traffic_counts_what_operations_read_and_write() -> None:
    numbers = torch.arange(10.0)
    with roofline.Traffic() as found:
        total = numbers + numbers[1:2]  # a view, and one operation on 10, 1 and 10 numbers
        total.nonzero()
        bool(total.sum() > 0)
    add, nonzero, *rest = found.bytes  # then the sum, the comparison, and the number that Python gets
    assert add == 4 * 21
    assert nonzero == 4 * 10 + 8 * 10
    assert len(rest) == 3
    assert found.waits == 2


def test_an_operation_takes_its_price_or_its_bytes_whichever_is_more() -> None:
    step = roofline.Step("torus-v0", 1, operations=3, waits=1, bytes=(10, 1000, 5000))
    device = roofline.Device("toy", operation=2.0, wait=7.0, bandwidth=500.0)
    assert roofline.seconds_a_step(step, device) == 2 + 2 + 10 + 7


def test_a_step_of_a_game_has_operations_and_waits() -> None:
    small, large = (roofline.traffic("torus-small-v0", env_ids) for env_ids in (8, 64))
    assert small.operations > 50
    assert small.waits > 0
    assert sum(large.bytes) > sum(small.bytes)
