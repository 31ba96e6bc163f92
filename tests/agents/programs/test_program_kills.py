"""Programs that are killed at random moments: they lose games by that, and nobody else does.

`CELLGAMES_KILLS=1000` sets the number of kills.
"""

from __future__ import annotations

import contextlib
import os
import random
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

import cellgames
from cellgames.agents import load
from cellgames.agents.play_loop import Played, play
from cellgames.agents.programs.program_agent import ProgramAgent
from cellgames.envs.core import seeds

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as agents need POSIX")

KILLS = int(os.environ.get("CELLGAMES_KILLS", "40"))
GAME = cellgames.make("torus-v0", size=2)
GAMES = 6
SEATS = torch.tensor([[0, 1], [1, 0], [0, 1], [1, 2], [2, 1], [1, 2]])  # the program is agent 0

BOT = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif asked["type"] == "act":
        action = random.Random(asked["seed"]).choice(asked["legal"][0])
        print(json.dumps({"type": "action", "id": asked["id"], "action": action}), flush=True)
"""


def played(agent: ProgramAgent, seed: int) -> Played:
    """Play games of the program against others, and of the others against each other."""
    chances = [torch.Generator().manual_seed(number) for number in (1, 2, 3)]
    others = [load("greedy"), load("rollout:2")]
    return play(GAME, [agent, *others], SEATS, seeds(seed, GAMES), chances, forfeits=True)


class Killer(threading.Thread):
    """A thread that kills the program of an agent every now and then."""

    def __init__(self, agent: ProgramAgent) -> None:
        super().__init__(daemon=True)
        self.agent, self.kills, self.over = agent, 0, threading.Event()

    def run(self) -> None:
        """Kill."""
        chance = random.Random(0)
        while not self.over.wait(chance.uniform(0, 0.06)):
            process = self.agent._process
            if process is not None and process.alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
                    self.kills += 1


@pytest.mark.slow
def test_kills_at_random_moments_cost_games_of_the_killed_only(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    agent = ProgramAgent(f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'bot.py'))}")
    assert not played(agent, 0).failures
    killer = Killer(agent)
    killer.start()
    failures, rounds, until = 0, 0, time.monotonic() + 60 + KILLS
    while killer.kills < KILLS and time.monotonic() < until:
        games = played(agent, rounds)
        for env_id, failure in games.failures.items():
            assert env_id < 3
            assert failure.seats == (int(SEATS[env_id].eq(0).int().argmax()),)
            assert "it ended with signal SIG" in failure.reason, failure.reason
        assert (GAME.outcome(games.state)[3:] != 0).all(), "games of others come to their end"
        failures += len(games.failures)
        rounds += 1
    killer.over.set()
    killer.join()
    agent.close()
    assert killer.kills >= KILLS
    assert 0 < failures <= killer.kills
    print(f"{killer.kills} kills in {rounds} rounds of {GAMES} games cost {failures} games")
