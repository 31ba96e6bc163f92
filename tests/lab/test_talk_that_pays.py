"""The study of talk among allies: its matches, its measures on a population with a known language, and its command."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from cellgames.agents.networks.networks import Relation, Size
from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.lab.studies import talk_matches
from cellgames.lab.studies import talk_that_pays as study
from cellgames.lab.studies.talk_matches import Condition, Matches, Speaker, learn

SHARED = Condition("0.5", 0.5)


class Honest(Speaker):
    """Says its sequence to all, and turns a digit 0 that is 1 in its ally's."""

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        own = observation[:, 1:9].argmax(1)
        words = observation[:, 9:].unflatten(1, (-1, 9)).argmax(2)
        logits = torch.zeros(len(own), sum(self.nvec))
        rows = torch.arange(len(own))[:, None]
        logits[rows, own[:, None] + 1 + 9 * torch.arange(3)] = 50
        differs = ~own & (words[:, 0] - 1) & 7
        flip = torch.stack([differs & 1, differs & 2, differs & 4]).ne(0).int().argmax(0) + 1
        logits[rows[:, 0], self.flips.start + torch.where(differs == 0, 0, flip)] = 50
        logits[rows[:, 0], -4 + own % 4] += 50 * self.condition.corners
        return logits, torch.zeros(len(own)), None


def test_points_are_those_of_blocks_in_corners_and_words_reach_their_receivers() -> None:
    network = learn(SHARED, 0, 0)
    played = Matches(network, 16, 3).play()
    after = flipped(played.sequence, played.flip)
    matched = 3 - popcount(after[:, :, None] ^ after[:, None])
    assert torch.equal(played.points, 4.0 * matched.sum(2))
    order = Matches(network, 16, 3).order
    assert order.tolist() == [[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]]
    for seat, others in enumerate(order.tolist()):
        for place, other in enumerate(others):
            said = played.said[:, other, order[other].tolist().index(seat)]
            assert torch.equal(played.heard[:, seat, place], said)
    mixed = torch.zeros(4, 3, dtype=torch.bool)
    mixed[0, 0] = True
    again = Matches(network, 16, 3, mixed).play()
    assert torch.equal(again.said, played.said)
    assert torch.equal(again.heard[:, 0, 0].sort().values, played.heard[:, 0, 0].sort().values)
    assert torch.equal(again.heard[:, 1:], played.heard[:, 1:])


def test_corners_promises_of_allies_and_promises_that_bind_are_those_of_the_game() -> None:
    corners = Matches(learn(Condition("", 0.5, corners=True), 0, 0), 64, 3).play()
    alone = (corners.corner[:, :, None] == corners.corner[:, None]).sum(2) == 1
    after = flipped(corners.sequence, corners.flip)
    matched = (3 - popcount(after[:, :, None] ^ after[:, None])) * alone[:, None]
    assert torch.equal(corners.points, 4.0 * matched.sum(2))
    network = learn(Condition("", 0.5, talk="public", promises="ally"), 0, 0)
    free, forced = (Matches(network, 64, 3, named=named).play() for named in (None, torch.tensor([1, 0, -1, -1])))
    assert 0 < free.ally.sum() < free.names.count_nonzero()
    assert torch.equal(forced.order[:, :2][forced.ally[:, :2]].view(64, 2), torch.tensor([1, 0]).expand(64, 2))
    bound = Matches(learn(Condition("", 0.5, talk="public", promises="sequence"), 0, 0), 64, 3).play()
    assert bound.kept.gather(2, bound.flip[..., None]).all()
    assert not bound.kept.all()


def test_the_measures_find_a_language_and_who_listens() -> None:
    found = study.measure(Honest(SHARED, Size(8, 1)), 256)
    ally, foes = found["ally"], found["foes"]
    assert ally["bits of sequence"] > 2.7 < foes["bits of sequence"]
    assert ally["lies"] == foes["lies"] == 0
    assert ally["claims"] == foes["claims"] == 8
    assert ally["listening"] > 0.5
    assert ally["pull"] > 0.5
    assert ally["lost"] > 1
    assert foes["listening"] == foes["pull"] == foes["lost"] == 0
    assert study.meaning(ally, 6) == "101"
    placed = study.measure(Honest(Condition("", 0.5, corners=True), Size(8, 1)), 256)["ally"]
    assert placed["bits of next space"] == pytest.approx(2, abs=0.05)


def test_the_command_goes_on_and_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = tuple(study.CONDITIONS[number] for number in (2, 6, 8, 12, 16))
    few = {"CONDITIONS": kinds, "_SHARES": kinds[:1]}
    for name, value in ({"ITERATIONS": 1, "TESTED": 32} | few).items():
        monkeypatch.setattr(study, name, value)
    monkeypatch.setattr(talk_matches, "MATCHES", 8)
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
