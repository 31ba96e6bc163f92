"""Contestants of the Grid Adaptation benchmark, one a process: `python -m benchmarks.core.grid_play NAME`.

All play the default match at random; a round is one step of one match.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measurement import Measurement, serve, timed

if TYPE_CHECKING:
    from cellgames.envs.kernels.compiling import Compile

__all__ = ["GRID"]

NUM_ENVS = 4096
WARM_UP = 200  # steps, so that the envs are in different rounds and everything is compiled


def _measurement(name: str, batch: int, work: tuple[int, float]) -> Measurement:
    import cellgames

    return Measurement(name, "cellgames", f"{cellgames.__version__} (torch {version('torch')})", batch, "rounds", *work)


def batched(seconds: float, *, name: str, compile: Compile, masks: bool = False, talk: str = "none") -> Measurement:
    """`Vector.step_random`, and what may be done next: free spaces, bool [B, N], or all masks, bool [B, P, A].

    With talk every other step is a talk step.
    """
    import torch

    import cellgames
    from cellgames.envs.grid_adaptation.game import GridAdaptation

    game = cellgames.make("grid-adaptation-v0", talk=talk)
    assert isinstance(game, GridAdaptation)
    vector = game.vector(NUM_ENVS, seed=0, compile=compile, reuse_buffers=True)
    generator = torch.Generator().manual_seed(0)

    def play(steps: int = 10) -> int:
        for _ in range(steps):
            vector.step_random(generator)
            if masks:
                vector.legal_actions  # noqa: B018  # made when asked for
            else:
                game.free_spaces(vector.state)
        return steps * NUM_ENVS

    play(WARM_UP)
    return _measurement(name, NUM_ENVS, timed(play, seconds))


def plain(seconds: float, *, name: str) -> Measurement:
    """`PlainGrid`, and its free spaces."""
    import torch

    import cellgames
    from benchmarks.core.grid_plain import PlainGrid
    from cellgames.envs.grid_adaptation.game import GridAdaptation

    game = cellgames.make("grid-adaptation-v0")
    assert isinstance(game, GridAdaptation)
    matches = PlainGrid(game, NUM_ENVS, torch.Generator().manual_seed(0))

    def play(steps: int = 4) -> int:
        for _ in range(steps):
            matches.play()
            matches.free()
        return steps * NUM_ENVS

    play(WARM_UP)
    return _measurement(name, NUM_ENVS, timed(play, seconds))


def _alone(env: Any, choose: Callable[[str, Any], Any], seconds: float) -> tuple[int, float]:
    """Rounds of whole games through PettingZoo's parallel interface, one at a time, and the seconds they took.

    A round is a choice of every agent from its observation, and a step. Resets cost time and count for nothing.
    """
    observations, _ = env.reset(seed=0)

    def play() -> int:
        nonlocal observations
        rounds = 0
        while env.agents:
            observations, *_ = env.step({agent: choose(agent, seen) for agent, seen in observations.items()})
            rounds += 1
        observations, _ = env.reset()
        return rounds

    play()
    return timed(play, seconds)


def parallel(seconds: float, *, name: str) -> Measurement:
    """One match: choices drawn from the masks, observations, masks and infos for all eight players."""
    import torch

    from cellgames.envs import grid_adaptation_v0

    torch.set_num_threads(1)
    uniform = Random(0).random

    def choose(_: str, seen: dict[str, Any]) -> Any:
        legal = (part.nonzero()[0] for part in seen["action_mask"])
        return np.array([choices[int(uniform() * choices.size)] for choices in legal])

    return _measurement(name, 1, _alone(grid_adaptation_v0.parallel_env(), choose, seconds))


def pursuit(seconds: float, *, name: str) -> Measurement:
    """PettingZoo's pursuit_v5 as it comes: 8 agents and 30 evaders on 16 x 16 cells, which sees 7 x 7; no masks."""
    from pettingzoo.sisl.pursuit.pursuit import parallel_env

    env, uniform = parallel_env(), Random(0).random
    sizes = {agent: int(env.action_space(agent).n) for agent in env.possible_agents}
    work = _alone(env, lambda agent, _: int(uniform() * sizes[agent]), seconds)
    return Measurement(name, "pettingzoo", version("pettingzoo"), 1, "rounds", *work)


def _named(
    measure: Callable[..., Measurement], name: str, **options: object
) -> dict[str, Callable[[float], Measurement]]:
    return {name: partial(measure, name=name, **options)}


GRID: dict[str, Callable[[float], Measurement]] = {
    **_named(batched, "grid_4096", compile="auto"),
    **_named(batched, "grid_4096_masks", compile="auto", masks=True),
    **_named(batched, "grid_4096_eager", compile="never"),
    **_named(batched, "grid_4096_talk", compile="auto", talk="public"),
    **_named(batched, "grid_4096_private", compile="auto", talk="private"),
    **_named(plain, "grid_4096_plain"),
    **_named(parallel, "grid_parallel"),
    **_named(pursuit, "pettingzoo_pursuit"),
}

if __name__ == "__main__":
    sys.exit(serve(GRID))
