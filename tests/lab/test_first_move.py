"""The study of Torus's first move: its openings, its facts on solved boards, and its page."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import torch

from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.lab.studies import first_move


def test_both_kinds_of_openings_go_on_by_the_same_plies_and_are_legal() -> None:
    game = Torus(2)  # so small that plies often fall on the first move's cell
    by_kind = {kind: first_move.openings(game, kind, 200, seed=3) for kind in first_move.FIRST_MOVES}
    for kind, opening in by_kind.items():
        assert (opening[:, 0] == first_move.first_cell(2, kind)).all()
        state = game.init(seeds(0, len(opening)))
        for ply in opening.unbind(1):
            state = game.step(state, ply)  # raises where a ply is illegal
    octagon, square = by_kind.values()
    differ = (octagon[:, 1:] != square[:, 1:]).any(1)
    first = torch.tensor([first_move.first_cell(2, kind) for kind in first_move.FIRST_MOVES])
    assert torch.isin(octagon[differ, 1:], first).any(1).all()  # only where a ply had to give way
    assert not differ.all()


def test_solved_boards_are_opened_with_an_octagon() -> None:
    for size in (2, 3):
        found = first_move.solved(size)
        assert found["octagon"] == {"wins": True, "beaten by": []}
        assert not found["square"]["wins"]
    assert found["square"]["beaten by"] == ["a1", "b2", "a3", "b3", "c3"]


def test_the_difference_is_that_of_pairs_of_games() -> None:
    octagon, square = torch.tensor([1.0, 1, 1, 0]), torch.tensor([0.0, 1, 1, 0])
    gap, margin = first_move.difference(octagon, square)
    assert (gap, margin) == pytest.approx((0.25, 1.959964 * 0.5 / 2))
    assert first_move.difference(octagon, octagon) == (0, 0)


def test_a_small_run_writes_a_page_with_its_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_move, "AGENTS", {5: ("random", "greedy")})
    monkeypatch.setattr(first_move, "JUDGE", "mcts:8")
    monkeypatch.setattr(first_move, "influence", partial(first_move.influence, boards=500))
    monkeypatch.setattr(first_move, "_CHEAP", {"random": 2})
    assert first_move.main(["--games", "20", "--sizes", "5", "--seed", "7", "--out", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [(row["agent"], row["first"], row["games"]) for row in data["games"]] == [
        (agent, kind, games) for agent, games in (("random", 40), ("greedy", 20)) for kind in first_move.FIRST_MOVES
    ]
    assert all(0 <= row["low"] <= row["share"] <= row["high"] <= 1 for row in data["games"])
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "python -m cellgames.lab.studies.first_move --games 20" in page
    assert all(name in page for name in ("black_share.png", "replies_5.png"))
    for name in ("black_share.png", "replies_5.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
