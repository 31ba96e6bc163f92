"""What an agent can do in each of three ways to run it: the table in docs/arena.md, cell by cell."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
from pathlib import Path

import pytest
import torch

import cellgames
from cellgames.agents import BaseAgent, load
from cellgames.agents.base import AnyAgent
from cellgames.agents.play_loop import play
from cellgames.agents.programs.process import Limits, namespaces
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.agents.time_control import TimeControl
from cellgames.envs.core import seeds
from cellgames.utils import last_call

pytestmark = pytest.mark.skipif(not namespaces(), reason="this machine gives programs no namespaces")

GAME = cellgames.make("torus-v0", size=2)
WAYS = ("in process", "isolated", "sandboxed")

# What the agent does, and the ways in which it can: in the others it fails, and loses its game by that.
ATTACKS = {
    "raises an error": ("1 / 0", ()),
    "ends its process": ("import os; os._exit(3)", ()),
    "never answers, with a clock": ("while True: pass", ()),
    "floods its output": ("import os; os.write(1, b'x' * 5_000_000)", ("in process",)),
    "takes memory without end": ("hog = b'x' * (3 << 27); import time; time.sleep(1)", ("in process",)),
    "starts processes without end": (
        "import subprocess, time; [subprocess.Popen(['sleep', '2'], env={}, start_new_session=True)"
        " for _ in range(16)]; time.sleep(1)",
        ("in process",),
    ),
    "signals the arena": ("import os; os.kill(ARENA, 0)", ("in process",)),
    "reads the arena's memory": ("open(f'/proc/{ARENA}/mem', 'rb')", ("in process",)),
    "reads keys in the environment": ("import os; os.environ['OPENAI_API_KEY']", ("in process", "isolated")),
    "reads the run's secret seed": ("open('run/.secret_seed')", ("in process", "isolated")),
    "writes a file that lasts": ("open('written', 'w')", ("in process", "isolated")),
    "uses the network": ("import socket; socket.create_connection(('127.0.0.1', PORT))", ("in process", "isolated")),
}

PROGRAM = """
import json, sys
def say(**message):
    print(json.dumps(message), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        say(type="ready", protocol=1)
    elif asked["type"] == "act":
        exec(sys.argv[1])
        say(type="action", id=asked["id"], action=asked["legal"][0][0])
"""


class Attacker(BaseAgent):
    """An agent in the process of the arena."""

    source = ""

    def act(
        self, observation: torch.Tensor, action_mask: torch.Tensor, env_ids: torch.Tensor, generator: torch.Generator
    ) -> torch.Tensor:
        exec(self.source, {})
        return action_mask.int().argmax(1)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("way", WAYS)
def test_an_attack_succeeds_only_where_the_table_says_so(
    attack: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "sandboxed" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is missing")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".secret_seed").write_text("7")
    with socket.create_server(("127.0.0.1", 0)) as server, last_call.kept_in(tmp_path / "run", print):
        source, possible = ATTACKS[attack]
        source = f"ARENA, PORT = {os.getpid()}, {server.getsockname()[1]}\n{source}"
        inside = Attacker("attacker")
        inside.source = source
        agent: AnyAgent = inside
        if way != "in process":
            (tmp_path / "bot.py").write_text(PROGRAM)
            words = shlex.join([sys.executable, str(tmp_path / "bot.py"), source])
            agent = load(f"{way}:exec:{words}")
            assert isinstance(agent, ProgramAgent)
            agent._limits = Limits(memory=1 << 28, processes=8)
        chances = [torch.Generator().manual_seed(number) for number in (1, 2)]
        limit = TimeControl(move=4.0)
        played = play(GAME, [agent, load("random")], torch.tensor([[0, 1]]), seeds(3, 1), chances, forfeits=limit)
        if isinstance(agent, ProgramAgent):
            agent.close()
    assert (not played.failures) == (way in possible), played.failures


def test_the_table_of_the_docs_is_this_one() -> None:
    page = (Path(__file__).parents[3] / "docs" / "arena.md").read_text(encoding="utf-8")
    for attack, (_, possible) in ATTACKS.items():
        cells = " | ".join("yes" if way in possible else "no" for way in WAYS)
        assert f"| {attack} | {cells} |" in page
