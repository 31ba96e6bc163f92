"""The study of talk among allies: its matches, its measures on a population with a known language, and its command."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from cellgames.agents.networks.networks import Relation, Size
from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.lab.studies import talk_that_pays as study

SHARED = study.Condition("0.5", 0.5)


class Honest(study.Speaker):
    """Says its sequence to all, and turns a digit 0 that is 1 in its ally's."""

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        own = observation[:, 1:9].argmax(1)
        words = observation[:, 9:].unflatten(1, (-1, 9)).argmax(2)
        logits = torch.zeros(len(own), sum(self.nvec))
        rows = torch.arange(len(own))[:, None]
        logits[rows, own[:, None] + 1 + 9 * torch.arange(len(self.nvec) - 1)] = 50
        differs = ~own & (words[:, 0] - 1) & 7
        flip = torch.stack([differs & 1, differs & 2, differs & 4]).ne(0).int().argmax(0) + 1
        logits[rows[:, 0], sum(self.nvec[:-1]) + torch.where(differs == 0, 0, flip)] = 50
        return logits, torch.zeros(len(own)), None


def test_points_are_those_of_blocks_in_corners_and_words_reach_their_receivers() -> None:
    network = study.learn(SHARED, 0, 0)
    played = study.Matches(network, 16, 3).play()
    after = flipped(played.sequence, played.flip)
    matched = 3 - popcount(after[:, :, None] ^ after[:, None])
    assert torch.equal(played.points, 4.0 * matched.sum(2))
    order = study.Matches(network, 16, 3).order
    assert order.tolist() == [[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]]
    for seat, others in enumerate(order.tolist()):
        for place, other in enumerate(others):
            said = played.said[:, other, order[other].tolist().index(seat)]
            assert torch.equal(played.heard[:, seat, place], said)
    mixed = torch.zeros(4, 3, dtype=torch.bool)
    mixed[0, 0] = True
    again = study.Matches(network, 16, 3, mixed).play()
    assert torch.equal(again.said, played.said)
    assert torch.equal(again.heard[:, 0, 0].sort().values, played.heard[:, 0, 0].sort().values)
    assert torch.equal(again.heard[:, 1:], played.heard[:, 1:])


def test_the_measures_find_a_language_and_who_listens() -> None:
    found = study.measure(Honest(SHARED.game, Size(8, 1)), 256)
    ally, foes = found["ally"], found["foes"]
    assert ally["bits of sequence"] > 2.7 < foes["bits of sequence"]
    assert ally["lies"] == foes["lies"] == 0
    assert ally["claims"] == foes["claims"] == 8
    assert ally["listening"] > 0.5
    assert ally["pull"] > 0.5
    assert ally["lost"] > 1
    assert foes["listening"] == foes["pull"] == foes["lost"] == 0
    assert study.meaning(ally, 6) == "101"


def test_the_command_goes_on_and_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"CONDITIONS": study.CONDITIONS[2::2], "_SHARES": study.CONDITIONS[2:5:2]}
    for name, value in ({"ITERATIONS": 1, "MATCHES": 8, "TESTED": 32} | few).items():
        monkeypatch.setattr(study, name, value)
    assert study.main(["--seeds", "1", "--out", str(tmp_path)]) == 0
    first = (tmp_path / "runs.jsonl").read_text()
    assert study.main(["--seeds", "2", "--out", str(tmp_path)]) == 0
    lines = (tmp_path / "runs.jsonl").read_text()
    assert lines.startswith(first)
    assert lines.count("\n") == 2 * len(study.CONDITIONS)
    assert {path.name for path in tmp_path.iterdir()} >= {"runs.jsonl", "report.md", "report.json", "phases.png"}
    capsys.readouterr()
    study.main(["--tenth", "--out", str(tmp_path)])
    assert capsys.readouterr().out.count("share") >= len(study.CONDITIONS)
    assert (tmp_path / "runs.jsonl").read_text() == lines
