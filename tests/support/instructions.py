"""Instructions of native code by kind of game, counted by Callgrind: `python tests/support/instructions.py`.

What a processor has to do is counted, not the time that it takes, so a busy machine changes nothing. Steps are played
at random from fixed seeds, so the same code gives the same counts. The command counts and writes `instructions.json`;
with `play` it plays the steps, which is what runs under Callgrind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GAMES: dict[str, tuple[int, dict[str, Any]]] = {
    "torus-v0": (256, {"size": 8}),
    "hex-v0": (256, {"size": 11}),
    "y-v0": (256, {"size": 13}),
    "cloth-of-gold-small-v0": (64, {}),
    "cloth-of-gold-wild-small-v0": (64, {}),
    "grid-adaptation-small-v0": (64, {}),
    "grid-adaptation-talk-small-v0": (64, {}),
    "toroidal-cup-small-v0": (64, {}),
}
"""Games side by side, and parameters."""

STEPS, WARM_UP = 16, 40
STORED = Path(__file__).with_name("instructions.json")


def found() -> bool:
    """Return True if Callgrind is installed."""
    return shutil.which("valgrind") is not None and shutil.which("callgrind_control") is not None


def compiler() -> str:
    """Return the version of the C++ compiler, on which counts depend."""
    command = shutil.which(os.environ.get("CXX", "g++"))
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True) if command else None
    return done.stdout.splitlines()[0] if done else "none"


def counted() -> dict[str, float]:
    """Return the instructions of native code for a game's step with its mask and observation, by game.

    Raises:
        RuntimeError: Callgrind counted nothing for a game.
    """
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        options = ["--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        command = ["valgrind", *options, sys.executable, __file__, "play"]
        subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, check=True)
        for number, (game, (games, _)) in enumerate(GAMES.items(), 1):
            listing = ["callgrind_annotate", "--threshold=100", f"{out}.{number}"]
            text = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
            lines = [line for line in text.splitlines() if "/native/_library" in line]
            total = sum(int(re.sub(r"\D", "", line.split("(")[0])) for line in lines)
            if not total:
                raise RuntimeError(f"Callgrind counted nothing for {game}")
            counts[game] = round(total / (STEPS * games), 1)
    return counts


def play() -> None:
    """Play steps of each game, the last of them while Callgrind counts."""
    import torch

    import cellgames

    torch.set_num_threads(1)
    for name, (games, parameters) in GAMES.items():
        game = cellgames.make(name, **parameters)
        vector = game.vector(games, seed=1, reuse_buffers=True, observe=game.info.observation.dtype)
        generator = torch.Generator().manual_seed(1)

        for number in range(WARM_UP + STEPS):
            if number == WARM_UP:
                _control("-i", "on")
            vector.step_random(generator)
            vector.legal_actions  # noqa: B018  # as users read it
            vector.observation  # noqa: B018
        _control("-d", name)
        _control("-i", "off")


def _control(*command: str) -> None:
    """Give Callgrind a command: to count or no longer, or to write what was counted."""
    subprocess.run(["callgrind_control", *command, str(os.getpid())], capture_output=True, check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["play"]:
        play()
    else:
        STORED.write_text(json.dumps({"compiler": compiler(), "instructions": counted()}, indent=2) + "\n")
