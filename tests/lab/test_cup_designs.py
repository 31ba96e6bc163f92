"""The study of designs for the Toroidal Cup, on a board that takes no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.lab.evolution.cup_space import cup_spaces
from cellgames.lab.studies import cup_designs


def test_champions_are_compared_with_random_designs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cup_designs, "_RANDOM", 12)
    monkeypatch.setattr(cup_designs, "_FRESH", 20)
    (space,) = cup_spaces(ToroidalCup(rows=12, cols=32, pattern="randys", shapes=2, max_generations=60))
    one = space.random(1, np.random.default_rng(0))
    found = cup_designs.compare(space, np.concatenate((one, one)), 1)
    assert found["distance"]["champions"] == pytest.approx([0.0], abs=1e-9)
    assert found["distance"]["random designs"]["mean"] > 0.01
    assert found["points"]["greedy"]["games"] == 4
    assert len(found["points"]["random"]["random designs"]) == 12
    assert np.shape(found["duels"]) == (2, 2)
    assert found["measures"]["spread"]["champions"][0] == found["measures"]["spread"]["champions"][1]


def test_games_on_the_real_board_are_kept_and_told_by_pattern(tmp_path: Path) -> None:
    file = tmp_path / "real.json"
    assert cup_designs.real_board(file, 0) == []
    file.write_text('{"alone random": {"points": [1.0, 0.0, 0.5, 1.0], "seeds": [1, 1, 2, 2]}}', encoding="utf-8")
    (row,) = cup_designs.real_board(file, 0)
    assert (row["agent"], row["against"], row["games"], row["score"]) == ("alone", "random", 4, 0.625)
    assert sum(games for _, games in row["patterns"].values()) == 4
