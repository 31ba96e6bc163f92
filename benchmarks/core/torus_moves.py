"""Our side of the comparison: random legal play of Torus n = 8, batched and through PettingZoo's AEC interface.

A batched move draws a legal action from the packed mask, plays it, detects the win, starts ended games over and
writes the bool mask of the new positions; the observation, which is for networks, is measured on its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from benchmarks.measurement import Measurement, aec_moves_per_second, serve, timed

if TYPE_CHECKING:
    from cellgames.envs.kernels.compiling import Compile

__all__ = ["TORUS"]

SIZE = 8
WARM_UP = 300  # steps, so that the envs are in all stages of a game


def aec(seconds: float) -> Measurement:
    """`torus_v0.env()` in the loop that PettingZoo's own environment is measured with."""
    import cellgames
    from cellgames.envs import torus_v0

    moves, elapsed = aec_moves_per_second(partial(torus_v0.env, size=SIZE), seconds, seed=0)
    return Measurement("torus_aec", "cellgames", cellgames.__version__, 1, "moves", moves, elapsed)


Reads = Literal["nothing", "observation", "state", "copies"]
"""What a loop reads after each step: the last two are the state and the mask, in reused buffers or as copies."""


def batched(seconds: float, *, name: str, num_envs: int, compiled: bool, reads: Reads) -> Measurement:
    """`Vector.step_random`, a block of steps at a time."""
    import torch

    import cellgames

    game = cellgames.make("torus-v0", size=SIZE)
    compile: Compile = "always" if compiled else "never"
    vector = game.vector(num_envs, seed=0, compile=compile, reuse_buffers=reads != "copies")
    generator = torch.Generator().manual_seed(0)
    see = game.observe
    if reads == "observation" and compiled:
        see = torch.compile(game.observe, dynamic=False)

    def play(steps: int = 20) -> int:
        for _ in range(steps):
            vector.step_random(generator)
            if reads == "observation":
                see(vector.state, vector.state.current_player)
            elif reads != "nothing":
                vector.state, vector.legal_actions  # noqa: B018  # copied when asked for
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
    name: str, num_envs: int, *, compiled: bool = True, reads: Reads = "nothing"
) -> Callable[[float], Measurement]:
    return partial(batched, name=name, num_envs=num_envs, compiled=compiled, reads=reads)


TORUS: dict[str, Callable[[float], Measurement]] = {
    "torus_aec": aec,
    "torus_4096": _batched("torus_4096", 4096),
    "torus_16384": _batched("torus_16384", 16384),
    "torus_4096_observed": _batched("torus_4096_observed", 4096, reads="observation"),
    "torus_4096_eager": _batched("torus_4096_eager", 4096, compiled=False),
    "torus_16384_eager": _batched("torus_16384_eager", 16384, compiled=False),
    **{
        f"torus_{num_envs}_{reads}": _batched(f"torus_{num_envs}_{reads}", num_envs, reads=reads)
        for num_envs in (1024, 4096, 16384)
        for reads in get_args(Reads)[2:]
    },
}

if __name__ == "__main__":
    sys.exit(serve(TORUS))
