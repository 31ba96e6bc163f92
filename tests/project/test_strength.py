"""The pages of the shipped agents' strength: `python -m benchmarks.agents.strength`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.agents import strength

import cellgames
from cellgames.agents.networks.trained import shipped


def test_weights_that_were_made_again_stand_beside_the_shipped_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strength, "SETTINGS", (strength.Setting("torus-small-v0", 2, ("random",)),))
    path = str(shipped(cellgames.make("torus-small-v0")))
    for words in ([path], ["nothing.safetensors", "--only", "torus-small-v0"]):
        with pytest.raises(SystemExit):
            strength.main(["--out", str(tmp_path), "--repeated", *words])
    assert not list(tmp_path.iterdir())
    words = ["--only", "torus-small-v0", "--games", "4", "--quiet", "--out", str(tmp_path)]
    assert strength.main([*words, "--repeated", path]) == 0
    (row,) = json.loads((tmp_path / "torus-small-v0.json").read_text())["rows"]
    (again,) = json.loads((tmp_path / "repeated" / "torus-small-v0.json").read_text())["rows"]
    assert again == row, "the same weights play the same games"
    page = (tmp_path / "torus-small-v0.md").read_text()
    assert "## The command repeated" in page
    assert page.count("| random | 100.0 |") == 2
    assert strength.main(words) == 0
    assert "## The command repeated" in (tmp_path / "torus-small-v0.md").read_text(), "a new page keeps it"
