"""The program that tests and measures a GPU, on the CPU: it goes the same ways with little work."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import equality
from benchmarks.gpu.lines import Line

import cellgames

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
