"""Games in which an agent failed: scores tell them apart, and ratings can leave them out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
import torch
from arena_bots import Fragile
from refusals import refused
from torch import Tensor
from typing_extensions import override

from cellgames import make
from cellgames.arena import Forfeit, RoundRobinOptions, round_robin
from cellgames.arena.report.rating_tables import failure_headline, forfeit_notes
from cellgames.arena.stats.tables import Forfeits
from cellgames.cli.main import main

GAME = make("torus-v0", size=3)


class Broken(Fragile):
    @override
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        raise RuntimeError("broken")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("resigned", "resignation"),
        ("ran out of time: thinking took 2.00 s, and 1 s a move are allowed", "loss on time"),
        ("it did not answer within 60 s", "missing answer"),
        ("illegal action 4: the cell is taken", "invalid answer"),
        ("it answered 'genmove b' by '? invalid'", "invalid answer"),
        ("expected a move, got 'pass'", "invalid answer"),
        ("it ended with exit code 3", "crash"),
        ("ZeroDivisionError: division by zero", "crash"),
    ],
)
def test_reasons_have_kinds(reason: str, kind: str) -> None:
    assert Forfeit(0, reason).kind == kind


@pytest.mark.parametrize("forfeits", ["loss", "void"])
def test_games_without_a_failure_are_told_apart(forfeits: Literal["loss", "void"], tmp_path: Path) -> None:
    options = RoundRobinOptions(games=8, gif=False, forfeits=forfeits)
    tables = round_robin(GAME, [Fragile(), "random"], options, out=tmp_path).tables
    own = tables.forfeits["fragile"]
    assert (own.games, own.sat, own.failures, own.kinds) == (4, 8, 4, {"invalid answer": 4})
    tally = next(line.tally for line in tables.standings if line.agent == "fragile")
    assert sum(own.others.values()) == 4
    assert (tally.wins, tally.games) == (own.others["win"], 4 if forfeits == "void" else 8)
    assert tally.losses == own.others.get("loss", 0) + (0 if forfeits == "void" else 4)
    assert "4 of its 8 games (4 invalid answers)" in failure_headline(tables.forfeits)
    assert failure_headline(tables.forfeits) in (tmp_path / "report.md").read_text(encoding="utf-8")
    data = json.loads((tmp_path / "ratings.json").read_text(encoding="utf-8"))
    assert {line["agent"]: line["forfeits"] for line in data["agents"]} == {"fragile": 4, "random": 0}


def test_resignations_and_losses_on_time_are_no_failures() -> None:
    kinds = {"resignation": 3, "loss on time": 1, "crash": 2}
    own = Forfeits(6, "resigned", kinds, sat=20, others={"loss": 14})
    assert own.failures == 2
    assert failure_headline({"engine": own}) == ""  # a tenth of its games
    assert "(3 resignations, 2 crashes, 1 loss on time)" in forfeit_notes({"engine": own})[0]
    assert forfeit_notes({"engine": Forfeits(3, "resigned", {"resignation": 3}, 9)})[0] == "engine resigned 3 games."


def test_only_games_that_somebody_played_are_rated(tmp_path: Path) -> None:
    options = RoundRobinOptions(games=2, gif=False, forfeits="void")
    with refused("records"):
        round_robin(GAME, [Broken(), "random"], options, out=tmp_path)
    assert len((tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    again = round_robin(GAME, [Broken(), "random"], RoundRobinOptions(games=2, gif=False), out=tmp_path)
    assert (again.played, again.tables.games) == (0, 2)
    with refused("forfeits", "'void'"):
        RoundRobinOptions(until_certain=True, forfeits="void")


def test_an_evaluation_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["evaluate", "torus-v0", "--size", "3", "--agents", "random", "x=arena_bots:Fragile", "--games", "8"]
    found = {}
    for forfeits in ("loss", "void"):
        assert main([*words, "--in-process", "--no-store", "--out", forfeits, "--forfeits", forfeits, "--quiet"]) == 0
        assert "x failed in 4 of its 8 games (4 invalid answers)" in capsys.readouterr().out
        found[forfeits] = json.loads(Path(forfeits, "evaluation.json").read_text(encoding="utf-8"))["rows"][0]
    assert found["loss"]["wins"] == found["void"]["wins"] + 4
    assert found["loss"]["losses"] == found["void"]["losses"]
