"""The study of solved boards of Torus: its replies, its games, and its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from native_code import native_library
from paths import ROOT
from slow import slow_except

from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.lab.studies import solved_boards


@pytest.mark.parametrize("sizes", slow_except(["2 and 3"], [(("2", "3"),), (("2", "3", "4"),)], ["2 and 3", "2 to 4"]))
def test_the_page_says_who_wins_and_how(
    sizes: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native_library()
    assert solved_boards.main(["--sizes", *sizes, "--out", str(tmp_path)]) == 0
    assert "| 3 | square | White | a1 b2 a3 b3 c3 |" in capsys.readouterr().out
    found = json.loads((tmp_path / "report.json").read_text())
    assert [row["winner"] for row in found["first moves"]] == ["Black", "White"] * len(sizes)
    for game in found["games"]:
        torus = Torus(game["size"])
        state = torus.init(seeds(0, 1))
        for move in game["line"]:
            assert not state.done.any()
            state = torus.step(state, torch.tensor([torus.string_to_action(move)]))
        winner = {"octagon": 0, "square": 1}[game["first move"]]
        assert state.scores[0].argmax().item() == winner


def test_the_shipped_study_has_all_replies_of_the_sizes_that_are_quickly_judged() -> None:
    native_library()
    found = json.loads((ROOT / "results/studies/torus_solved/report.json").read_text())
    for row in found["first moves"]:
        assert len(row["win"]) + len(row["lose"]) + len(row["open"]) == 2 * row["size"] ** 2 - 1
        if row["size"] <= 4:
            again = solved_boards.replies(row["size"], row["first move"], 60.0)
            assert {name: again[name] for name in ("win", "lose")} == {name: row[name] for name in ("win", "lose")}
            assert not row["open"]
