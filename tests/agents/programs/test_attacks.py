"""What an agent can do in each of three ways to run it: the table in docs/isolation.md, cell by cell."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from slow import slow_except

import cellgames
from cellgames.agents import AnyAgent, BaseAgent, Played, ProgramAgent, load, play
from cellgames.agents.programs.process import Limits, namespaces
from cellgames.agents.time_control import TimeControl
from cellgames.envs.core import seeds
from cellgames.runs.run_folder import RunFolder, RunKind

pytestmark = pytest.mark.skipif(not namespaces(), reason="this machine gives programs no namespaces")

GAME = cellgames.make("torus-v0", size=2)
WAYS = ("in process", "isolated", "sandboxed")
ALL, OUTSIDE, NONE = WAYS, ("in process", "isolated"), ()
INSIDE = ("in process",)

SIGNALS = """
import os, signal
for one in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
    for process in (ARENA, os.getppid()):
        try:
            os.kill(process, one)
        except OSError as refused:
            error = refused
raise error
"""

# What the agent does, and the ways in which it can: in the others it fails, and loses its game by that.
ATTACKS = {
    "raises an error": ("1 / 0", NONE),
    "ends its process": ("import os; os._exit(3)", INSIDE),
    "never answers, with a clock": ("while True: pass", INSIDE),
    "floods its output": ("import os; os.write(1, b'x' * 5_000_000)", INSIDE),
    "takes memory without end": ("hog = b'x' * (3 << 27); import time; time.sleep(1)", INSIDE),
    "starts processes without end": (
        "import subprocess, time; [subprocess.Popen(['sleep', '2'], env={}, start_new_session=True)"
        " for _ in range(16)]; time.sleep(1)",
        INSIDE,
    ),
    "stops or ends the arena by a signal": (SIGNALS, INSIDE),
    "reads the arena's memory": ("open(f'/proc/{ARENA}/mem', 'rb')", INSIDE),
    "reads keys in the environment": ("import os; os.environ['OPENAI_API_KEY']", OUTSIDE),
    "reads the run's folder": ("open('run/run.json')", OUTSIDE),
    "writes a file that lasts": ("open('written', 'w')", OUTSIDE),
    "uses the network": ("import socket; socket.create_connection(('127.0.0.1', PORT))", OUTSIDE),
}

# What a sandbox forbids beyond that; elsewhere it depends on the system and its user.
SANDBOXED = {
    "opens a socket of another kind": """import socket
for kind in (socket.AF_UNIX, socket.AF_PACKET, socket.AF_VSOCK):
    try:
        socket.socket(kind, socket.SOCK_STREAM)
        break
    except OSError:
        pass
else:
    raise OSError""",
    "mounts the root anew": "import os; assert os.system('mount -o remount,rw,bind / 2>/dev/null') == 0",
    "has capabilities": "assert 'CapEff:\\t0000000000000000' not in open('/proc/self/status').read()",
    "sees other processes": "import os; assert sum(map(str.isdecimal, os.listdir('/proc'))) > 3",
    "reads keys of the first process": "assert b'OPENAI' in open('/proc/1/environ', 'rb').read()",
    "finds other runs": "import os; assert os.listdir('run')",
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
    elif asked["type"] == "quit":
        break
"""

# A process that plays a game against the attacker, whatever becomes of it.
ARENA = """
import sys, test_attacks
print("plays", flush=True)
played = test_attacks.game(sys.argv[1], sys.argv[2], 0, 4.0)
print("lost" if played.failures else "not lost", flush=True)
"""
APART = ("ends its process", "never answers, with a clock", "stops or ends the arena by a signal")


class Attacker(BaseAgent):
    """An agent in the process of the arena."""

    source = ""

    def act(
        self, observation: torch.Tensor, action_mask: torch.Tensor, env_ids: torch.Tensor, generator: torch.Generator
    ) -> torch.Tensor:
        exec(self.source, {})
        return action_mask.int().argmax(1)


def game(way: str, source: str, port: int, move: float = 30.0) -> Played:
    """Play a game against an agent that attacks at its first move, in the current directory."""
    source = f"ARENA, PORT = {os.getpid()}, {port}\n{source}"
    inside = Attacker("attacker")
    inside.source = source
    agent: AnyAgent = inside
    if way != "in process":
        Path("bot.py").write_text(PROGRAM)
        agent = load(f"{way}:exec:{shlex.join([sys.executable, str(Path('bot.py').resolve()), source])}")
        assert isinstance(agent, ProgramAgent)
        agent._limits = Limits(memory=1 << 28, processes=8)
    chances = [torch.Generator().manual_seed(number) for number in (1, 2)]
    with RunFolder(Path("run"), RunKind("run", "run.json")):
        limit = TimeControl(move=move)
        played = play(GAME, [agent, load("random")], torch.tensor([[0, 1]]), seeds(3, 1), chances, forfeits=limit)
    if isinstance(agent, ProgramAgent):
        agent.close()
    return played


def outcome_apart(way: str, source: str) -> str:
    """Return what a process that plays such a game says, "stopped" if it says nothing more."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    words = [sys.executable, "-c", ARENA, way, source]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}) as arena:
        assert arena.stdout is not None
        try:
            assert arena.stdout.readline() == "plays\n"
            ready = select.select([arena.stdout], [], [], 10.0)[0]
            return arena.stdout.readline().strip() or "stopped" if ready else "stopped"
        finally:
            arena.kill()


@pytest.mark.parametrize(
    ("way", "attack"),
    slow_except(
        [("isolated", one) for one in ATTACKS]
        + [("sandboxed", one) for one, (_, possible) in ATTACKS.items() if possible == OUTSIDE]
        + [("sandboxed", one) for one in SANDBOXED]
        + [("in process", "raises an error"), ("in process", "writes a file that lasts")],
        [(way, one) for way in WAYS for one in ATTACKS] + [("sandboxed", one) for one in SANDBOXED],
    ),
)
def test_an_attack_succeeds_only_where_the_table_says_so(
    attack: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It succeeds if the agent does not lose its game by it, or if the arena does not play on."""
    if way == "sandboxed" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is missing")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    source, possible = ATTACKS.get(attack) or (SANDBOXED[attack], NONE)
    if attack in APART and (way == "in process" or source == SIGNALS):  # the arena might end, and this process with it
        assert outcome_apart(way, source) == ("stopped" if way in possible else "lost")
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        played = game(way, source, server.getsockname()[1], 1.0 if attack in APART else 30.0)
    assert (not played.failures) == (way in possible), played.failures


def test_the_table_of_the_docs_is_this_one() -> None:
    page = (Path(__file__).parents[3] / "docs" / "isolation.md").read_text(encoding="utf-8")
    for attack, (_, possible) in ATTACKS.items():
        cells = " | ".join("yes" if way in possible else "no" for way in WAYS)
        assert f"| {attack} | {cells} |" in page
