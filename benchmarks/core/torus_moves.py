"""Our side of the comparison: random legal play of Torus n = 8, batched and through PettingZoo's AEC interface.

A batched move draws a legal action from the packed mask, plays it, detects the win, starts ended games over and
writes the bool mask of the new positions; the observation, which is for networks, is measured on its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from benchmarks.measurement import Measurement, aec_moves_per_second, serve, timed

__all__ = ["TORUS"]

SIZE = 8
WARM_UP = 300  # steps, so that the envs are in all stages of a game


def aec(seconds: float) -> Measurement:
    """`torus_v0.env()` in the loop that PettingZoo's own environment is measured with."""
    import cellgames
    from cellgames.envs import torus_v0

    moves, elapsed = aec_moves_per_second(partial(torus_v0.env, size=SIZE), seconds, seed=0)
    return Measurement("torus_aec", "cellgames", cellgames.__version__, 1, "moves", moves, elapsed)


def batched(seconds: float, *, name: str, num_envs: int, compiled: bool, observe: bool) -> Measurement:
    """`Vector.step_random`, a block of steps at a time."""
    import torch

    import cellgames

    game = cellgames.make("torus-v0", size=SIZE)
    vector = game.vector(num_envs, seed=0, compile="always" if compiled else "never", reuse_buffers=True)
    generator = torch.Generator().manual_seed(0)
    see = game.observe
    if observe and compiled:
        see = torch.compile(game.observe, dynamic=False)

    def play(steps: int = 20) -> int:
        for _ in range(steps):
            vector.step_random(generator)
            if observe:
                see(vector.state, vector.state.current_player)
        return steps * num_envs

    play(WARM_UP)
    moves, elapsed = timed(play, seconds)
    return Measurement(
        name,
        "cellgames",
        f"{cellgames.__version__} (torch {torch.__version__})",
        num_envs,
        "moves",
        moves,
        elapsed,
    )


def _batched(
    name: str, num_envs: int, *, compiled: bool = True, observe: bool = False
) -> Callable[[float], Measurement]:
    return partial(batched, name=name, num_envs=num_envs, compiled=compiled, observe=observe)


TORUS: dict[str, Callable[[float], Measurement]] = {
    "torus_aec": aec,
    "torus_4096": _batched("torus_4096", 4096),
    "torus_16384": _batched("torus_16384", 16384),
    "torus_4096_observed": _batched("torus_4096_observed", 4096, observe=True),
    "torus_4096_eager": _batched("torus_4096_eager", 4096, compiled=False),
    "torus_16384_eager": _batched("torus_16384_eager", 16384, compiled=False),
}

if __name__ == "__main__":
    sys.exit(serve(TORUS))
