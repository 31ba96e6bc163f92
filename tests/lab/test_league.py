"""Leagues: what a round trains, kill and continue, the mixture as an agent, and tables of more than two."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from arena_runs import EXTRAS, block
from refusals import fails, refused
from run_suite import different_files

import cellgames
from cellgames.agents import AGENTS, play, read_about
from cellgames.agents.loading import identity, load
from cellgames.arena import PairResult, Payoffs, payoffs_of
from cellgames.cli.main import main
from cellgames.lab import LeagueOptions, train_league
from cellgames.lab.populations.league_agent import LeagueAgent
from cellgames.lab.populations.league_plan import global_round, league_round
from cellgames.training import PPOArguments, RunError

TINY: dict[str, Any] = {
    **{"num_envs": 8, "num_steps": 8, "num_epochs": 1, "minibatch_size": 32, "channels": 4, "layers": 1},
    **{"eval_every": 50, "eval_games": 2, "eval_opponents": ("random",), "checkpoint_every": 2, "snapshot_every": 50},
    **{"threads": 1, "device": "cpu", "total_steps": 70},
}
TORUS = cellgames.make("torus-v0", size=2)
GRID = cellgames.make("grid-adaptation-small-v0", size=6, rounds=2, flip_rounds=())
BASE = PPOArguments.fitted(TORUS, **TINY)
OPTIONS = LeagueOptions(rounds=2, games=4)


@pytest.fixture(autouse=True, scope="module")
def _no_extras() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        block(patch, *EXTRAS)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("league") / "whole"
    train_league(BASE, folder, OPTIONS)
    return folder


def table(scores: dict[tuple[str, str], float]) -> Payoffs:
    """Return payoffs of ten games a pair with these scores."""
    results = [
        PairResult(*pair, number, "first" if number < 10 * score else "second")
        for pair, score in scores.items()
        for number in range(10)
    ]
    return payoffs_of(results)


def test_a_round_of_a_league_has_three_kinds_of_members() -> None:
    (first,), (exploiter, league_exploiter) = league_round(1, ["random"], None, warm_start=True)
    assert first.mix == {"self": 1.0}
    assert exploiter.mix == {"main-001": 1.0}
    assert league_exploiter.mix == {"random": 0.5, "main-001": 0.5}
    assert exploiter.after == league_exploiter.after == "main-001"
    # Scores of main-001 and of league-exploiter-001 are the first of each pair.
    members = ["random", "main-001", "main-exploiter-001", "league-exploiter-001"]
    scores = dict(zip(combinations(members, 2), (0.6, 0.5, 0.5, 0.2, 0.5, 0.5), strict=True))
    (main_agent,), (exploiter, league_exploiter) = league_round(2, members, table(scores), warm_start=True)
    assert main_agent.after == "main-001"
    assert exploiter.mix == {"main-002": 1.0}
    assert (exploiter.after, league_exploiter.after) == ("main-002", "league-exploiter-001")
    assert main_agent.mix["self"] == pytest.approx(0.7)
    # (1 - score)^2: 0.36 against random, 0.64 against the main exploiter, 0.25 against the rest, itself included
    assert main_agent.mix["random"] == pytest.approx(0.1 * 0.36 / 1.5, abs=1e-4)
    assert main_agent.mix["main-exploiter-001"] == pytest.approx(0.2 + 0.1 * 0.64 / 1.5, abs=1e-4)
    assert list(league_exploiter.mix.values()) == pytest.approx([0.2] * 5, abs=1e-4)  # main-002 counts as an equal
    anew = league_round(2, members, table(scores), warm_start=False)[1]
    assert {planned.after for planned in anew} == {""}


def test_files_of_a_round_are_mended_or_refused_by_name(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "league"
    shutil.copytree(finished, folder)
    (folder / "rounds" / "001" / ".exact.json.123.part").write_text("{")  # of a process that was killed
    train_league(BASE, folder, OPTIONS)
    assert different_files(finished, folder) == []
    (folder / "rounds" / "001" / "exact.json").write_text("")
    with fails(RunError, parameter=str(folder / "rounds" / "001" / "exact.json")):
        train_league(BASE, folder, OPTIONS)


def test_the_report_tells_weights_and_exact_exploitability(finished: Path) -> None:
    result = json.loads((finished / "result.json").read_text(encoding="utf-8"))
    assert sum(result["strategy"].values()) == pytest.approx(1, abs=1e-5)
    assert 0 <= result["exploitability"] <= 0.5
    assert "exact exploitability" in (finished / "report.md").read_text(encoding="utf-8")
    assert (finished / "payoffs.csv").read_text(encoding="utf-8").count("\n") == 1 + 6


def test_a_league_has_exploiters(tmp_path: Path) -> None:
    found = train_league(BASE, tmp_path, LeagueOptions(method="league", rounds=2, games=4, meta_solver="uniform"))
    kinds = ("main", "main-exploiter", "league-exploiter")
    names = [f"{kind}-{number:03d}" for number in (1, 2) for kind in kinds]
    assert list(found.strategy) == ["random", *names]
    assert [name for name, weight in found.strategy.items() if weight] == ["main-001", "main-002"]
    assert [row.exploiter for row in found.rounds] == ["main-exploiter-001", "main-exploiter-002"]
    assert found.rounds[-1].response is not None
    assert found.rounds[-1].exact is not None
    assert found.rounds[-1].steps == 2 * (70 + 14 + 14)
    assert found.rounds[-1].effective_members == pytest.approx(2)
    assert 0 <= found.diversity <= 1
    about = {name: read_about(tmp_path / "members" / name / "agent.safetensors") for name in names}
    assert [about[name]["sample"] for name in names] == [False, True, True] * 2


def test_global_psro_tries_mixtures_and_keeps_the_safest_candidate(tmp_path: Path) -> None:
    first = global_round(1, {}, "", 2, np.random.default_rng(0))
    assert [(planned.name, planned.mix) for planned in first] == [(f"candidate-00{n}", {"self": 1.0}) for n in (1, 2)]
    later = global_round(3, {"a": 0.2, "b": 0.8}, "b", 3, np.random.default_rng(0))
    assert later[0].mix == {"self": 0.5, "a": 0.1, "b": 0.4}
    assert later[1].mix != later[2].mix
    assert {(planned.after, planned.mix["self"]) for planned in later} == {("b", 0.5)}
    found = train_league(BASE, tmp_path, LeagueOptions(method="global", rounds=3, games=4, responses=2))
    tried = [
        json.loads((tmp_path / "rounds" / f"00{n}" / "exact.json").read_text())["exploitability"] for n in (1, 2, 3)
    ]
    assert [len(values) for values in tried] == [4, 5, 5]
    assert [row.exact for row in found.rounds] == [min(values) for values in tried]
    playing = [{name for name, weight in row.weights.items() if weight} for row in found.rounds]
    assert all(len(names & {"candidate-001", "candidate-002"}) < 2 for names in playing)
    assert found.plans[-1].mix["self"] == pytest.approx(0.5)
    on_pairs = LeagueOptions(method="global", rounds=1, games=4)
    assert on_pairs.solver(4) == "nash"
    four = train_league(PPOArguments.fitted(GRID, **TINY), tmp_path / "four", on_pairs)
    assert sum(four.strategy.values()) == pytest.approx(1)
    assert four.rounds[-1].exact is None


def test_mistakes_are_refused_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "league"
    for options, parameter, got in (
        (LeagueOptions(meta_solver="cce"), "meta_solver", "cce"),
        (LeagueOptions(meta_solver="cce", method="global"), "meta_solver", "cce"),
        (LeagueOptions(first="nobody"), "agent", "'nobody'"),
        (LeagueOptions(first="some/folder"), "first", "'some/folder'"),
    ):
        with refused(parameter, got):
            train_league(BASE, folder, options)
    with refused("cce plays all tables", "5967 of 18 members in 4 seats"):
        train_league(PPOArguments.fitted(GRID, **TINY), folder, LeagueOptions(rounds=17))
    assert not folder.exists()
    assert main(["league", "torus-v0", "--size", "2", "--steps", "0", "--no-store"]) == 2
    assert "--steps: expected at least 1" in capsys.readouterr().err


def test_the_command_prints_the_mixture_and_keeps_games_in_the_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--num-envs", "8", "--num-steps", "8", "--channels", "4", "--layers", "1", "--eval-games", "2"]
    words += ["--threads", "1", "--device", "cpu", "--quiet", "--store", "s.sqlite", "--games", "4", "--rounds", "1"]
    assert main(["league", "torus-v0", "--size", "2", "--steps", "60", *words, "--out", "run"]) == 0
    assert Path("s.sqlite").exists()
    assert not Path("run/s.sqlite").exists()
    shown = capsys.readouterr().out
    assert "The meta-strategy (nash)" in shown
    assert "league:run" in shown


def test_the_mixture_plays_and_has_an_identity(finished: Path, tmp_path: Path) -> None:
    agent = load(f"league:{finished}", TORUS)
    assert isinstance(agent, LeagueAgent)
    seats = torch.tensor([[0, 1], [1, 0]] * 8)
    generators = [torch.Generator().manual_seed(seed) for seed in range(2)]
    played = play(TORUS, [agent, load("random")], seats, torch.arange(16), generators)
    assert played.state.done.all()
    assert not played.failures
    assert len(identity(f"league:{finished}", TORUS)) == 16
    other = tmp_path / "copy"
    shutil.copytree(finished, other)
    assert identity(f"league:{other}", TORUS) == identity(f"league:{finished}", TORUS)
    changed = json.loads((other / "mixture.json").read_text(encoding="utf-8"))
    changed["members"][0]["identity"] = "another"
    (other / "mixture.json").write_text(json.dumps(changed), encoding="utf-8")
    assert identity(f"league:{other}", TORUS) != identity(f"league:{finished}", TORUS)
    assert AGENTS["league"].takes == "FOLDER"


def test_members_are_drawn_by_their_weights_and_keep_their_games(tmp_path: Path) -> None:
    mixture = {
        **{"format": 1, "game": "grid-adaptation-v0", "parameters": {}},
        "members": [{"name": name, "agent": "random", "identity": ""} for name in "abc"],
        "tables": [{"weight": 0.25, "seats": [0]}, {"weight": 0.75, "seats": [1, 1, 2, 2]}],
    }
    (tmp_path / "mixture.json").write_text(json.dumps(mixture), encoding="utf-8")
    agent = LeagueAgent(tmp_path)
    count, generator = 400, torch.Generator().manual_seed(0)
    env_ids = torch.arange(count).repeat_interleave(2)
    players = torch.tensor([0, 2]).repeat(count)
    agent.start(GRID, players, env_ids)
    agent._draw(torch.arange(count), generator)
    drawn = agent._drawn.clone()
    shares = np.bincount(drawn[:, [0, 2]].flatten().numpy(), minlength=3) / (2 * count)
    assert shares == pytest.approx([0.25, 0.375, 0.375], abs=0.06)
    assert ((drawn == 0).all(1) | (drawn.sort(1).values == torch.tensor([1, 1, 2, 2])).all(1)).all()
    agent._draw(torch.arange(count), generator)
    assert torch.equal(agent._drawn, drawn)


@pytest.mark.parametrize(
    ("text", "expected"), [("{", "a file that can be read"), ('{"format": 2}', "the mixture of a league")]
)
def test_a_folder_without_a_mixture_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with refused(str(tmp_path), "none"):
        load(f"league:{tmp_path}", TORUS)
    (tmp_path / "mixture.json").write_text(text, encoding="utf-8")
    with refused(str(tmp_path / "mixture.json"), expected=expected):
        load(f"league:{tmp_path}", TORUS)
    with refused("league:FOLDER", "nothing"):
        load("league:", TORUS)
