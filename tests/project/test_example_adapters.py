"""The examples for CodeClash and kaggle-environments, by doubles of the interfaces that these call."""

from __future__ import annotations

import importlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from paths import ROOT
from processes import environment


class Shell:
    """A container: commands run in a folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def execute(self, command: str) -> dict[str, Any]:
        there = environment(PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, shell=True, cwd=self.folder, env=there, check=False, **pipes)
        return {"output": done.stdout, "returncode": done.returncode}


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The arena, on a double of its base class."""

    class CodeArena:
        def __init__(self) -> None:
            self.environment, self.log_env = Shell(tmp_path), tmp_path / "logs"
            self.game_config = {"sims_per_round": 2, "parameters": {"size": 2}}

        def log_round(self, round_num: int) -> Path:
            return self.log_env

    def assert_zero_exit_code(result: dict[str, Any]) -> None:
        assert result["returncode"] == 0, result["output"]

    doubles: dict[str, dict[str, Any]] = {
        "codeclash": {},
        "codeclash.arenas": {},
        "codeclash.utils": {},
        "codeclash.arenas.arena": {"CodeArena": CodeArena, "RoundStats": object},
        "codeclash.constants": {"RESULT_TIE": "Tie"},
        "codeclash.utils.environment": {"assert_zero_exit_code": assert_zero_exit_code},
    }
    for name, members in doubles.items():
        double = ModuleType(name)
        vars(double).update(members)
        monkeypatch.setitem(sys.modules, name, double)
    monkeypatch.delitem(sys.modules, "examples.codeclash_arena", raising=False)
    return importlib.import_module("examples.codeclash_arena").TorusArena()


def stats_of(*names: str) -> Any:
    return SimpleNamespace(winner=None, scores={}, player_stats={name: SimpleNamespace(score=0) for name in names})


def test_codeclash_reads_scores_and_ties(arena: Any, tmp_path: Path) -> None:
    (tmp_path / "logs/run").mkdir(parents=True)
    for rows, winner in (("p0,1,2\np1,1,2", "Tie"), ("p0,0,1\np1,3,1", "bob")):
        (tmp_path / "logs/run/ratings.csv").write_text(f"agent,wins,draws\n{rows}\n")
        stats = stats_of("ann", "bob")
        arena.get_results([SimpleNamespace(name="ann"), SimpleNamespace(name="bob")], 1, stats)
        assert stats.winner == winner
        assert stats.scores["bob"] == stats.player_stats["bob"].score


@pytest.mark.slow
def test_codeclash_checks_bots_and_plays_a_round(arena: Any, tmp_path: Path) -> None:
    agents = []
    for name in ("ann", "bob"):
        folder = tmp_path / name
        folder.mkdir()
        agents.append(SimpleNamespace(name=str(folder).lstrip("/"), environment=Shell(folder)))
        assert arena.validate_code(agents[-1])[0] is False
        (folder / "bot.py").write_text("print('hello')")
        assert arena.validate_code(agents[-1])[0] is False
        shutil.copy(ROOT / "examples/bots/bot.py", folder / "bot.py")
        assert arena.validate_code(agents[-1]) == (True, None)
    arena.execute_round(agents)
    stats = stats_of(*(agent.name for agent in agents))
    arena.get_results(agents, 1, stats)
    assert sum(stats.scores.values()) == 2


class Environment:
    """The loop of `kaggle_environments.core.Environment`."""

    def __init__(self, parts: dict[str, Any], **configuration: Any) -> None:
        self.parts, spec = parts, parts["specification"]
        usual = {name: field["default"] for name, field in spec["configuration"].items()}
        self.configuration = SimpleNamespace(**{**usual, **configuration})
        seen = {name: field.get("default") for name, field in spec["observation"].items()}
        observations = [SimpleNamespace(**{**seen, "player": seat}) for seat in range(spec["agents"][0])]
        self.state = [SimpleNamespace(status="INACTIVE", reward=0, observation=own) for own in observations]
        self.state = parts["interpreter"](self.state, self)

    @property
    def done(self) -> bool:
        return all(agent.status != "ACTIVE" for agent in self.state)

    def step(self, actions: list[Any]) -> None:
        for agent, action in zip(self.state, actions, strict=True):
            agent.action = action
        self.state = self.parts["interpreter"](self.state, self)

    def run(self, choose: Any) -> None:
        while not self.done:
            self.step([choose(agent.observation, None) if agent.status == "ACTIVE" else None for agent in self.state])


@pytest.mark.parametrize("game", ["torus-small-v0", "hex-small-v0", "y-small-v0"])
def test_kaggle_plays_games_to_their_end(game: str) -> None:
    kaggle = importlib.import_module("examples.kaggle_environment")
    random.seed(1)
    env = Environment(kaggle.environment, game=game)
    assert [agent.status for agent in env.state] == ["ACTIVE", "INACTIVE"]
    assert kaggle.renderer(env.state, env)
    env.run(kaggle.environment["agents"]["random"])
    assert sorted(agent.reward for agent in env.state) == [-1, 1]
    assert {agent.status for agent in env.state} == {"DONE"}
    assert "observation.text" in kaggle.html_renderer()


def test_kaggle_punishes_illegal_actions_and_refuses_other_games() -> None:
    kaggle = importlib.import_module("examples.kaggle_environment")
    env = Environment(kaggle.environment)
    env.step([10_000, None])
    assert [(agent.status, agent.reward) for agent in env.state] == [("INVALID", 0), ("DONE", 1)]
    with pytest.raises(ValueError, match="two in turns"):
        Environment(kaggle.environment, game="grid-adaptation-small-v0")
