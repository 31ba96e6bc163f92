"""The first steps of new processes, in which code is compiled or loaded: `python -m benchmarks.limit.first_steps GAME`.

Each process has an empty cache of compiled code. It prints the seconds of the imports and those from the call of
`cellgames.make` to the mask after the first step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

GAMES = {"torus-v0": 4096, "cloth-of-gold-v0": 1024, "grid-adaptation-v0": 4096, "toroidal-cup-v0": 1024}
"""Games, and how many of each step at once."""

LONGEST = 0.5  # seconds that the first step should take
LIMIT_S = 600.0


def first_step(game: str, threads: int = 1) -> tuple[float, float]:
    """Return the seconds of the imports and of the first step in a new process; a `RuntimeError` if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, "-m", "benchmarks.limit.first_steps", game]
        root = Path(__file__).resolve().parents[2]
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    imports, step = json.loads(done.stdout.strip().splitlines()[-1])
    return imports, step


def main() -> int:
    """Make the first step and print its seconds."""
    start = perf_counter()
    import torch

    import cellgames

    imported = perf_counter()
    vector = cellgames.make(sys.argv[1]).vector(GAMES[sys.argv[1]], seed=0)
    vector.step_random(torch.Generator().manual_seed(0))
    vector.legal_actions  # noqa: B018  # made when asked for
    print(json.dumps((imported - start, perf_counter() - imported)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
