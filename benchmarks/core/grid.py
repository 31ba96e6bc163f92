"""Rounds of Grid Adaptation a second: `python -m benchmarks.core.grid`.

All play the default match at random; a round is one step of one match.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.harness import Benchmark, Row, Work, timed, use_cores

NUM_ENVS = 4096
WARM_UP = 200  # steps, so that the envs are in different rounds


def batched(seconds: float, *, masks: bool = False, talk: str = "none") -> Work:
    """Measure `Vector.step_random`, and what may be done next: free spaces, bool [B, N], or all masks, bool [B, P, A].

    With talk every other step is a talk step.
    """
    import torch

    import cellgames
    from cellgames.envs.grid_adaptation.game import GridAdaptation

    game = cellgames.make("grid-adaptation-v0", talk=talk)
    assert isinstance(game, GridAdaptation)
    vector = game.vector(NUM_ENVS, seed=0, reuse_buffers=True)
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
    return timed(play, seconds)


def _alone(env: Any, choose: Callable[[str, Any], Any], seconds: float) -> Work:
    """Measure rounds of whole games through PettingZoo's parallel interface, one at a time.

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


def parallel(seconds: float) -> Work:
    """Measure one match: choices drawn from the masks, observations, masks and infos for all eight players."""
    from cellgames.envs import grid_adaptation_v0

    use_cores(1)
    uniform = Random(0).random

    def choose(_: str, seen: dict[str, Any]) -> Any:
        legal = (part.nonzero()[0] for part in seen["action_mask"])
        return np.array([choices[int(uniform() * choices.size)] for choices in legal])

    return _alone(grid_adaptation_v0.parallel_env(), choose, seconds)


def pursuit(seconds: float) -> Work:
    """Measure PettingZoo's pursuit_v5 as it comes: 8 agents and 30 evaders on 16 x 16 cells, which see 7 x 7."""
    from pettingzoo.sisl.pursuit.pursuit import parallel_env

    env, uniform = parallel_env(), Random(0).random
    sizes = {agent: int(env.action_space(agent).n) for agent in env.possible_agents}
    return _alone(env, lambda agent, _: int(uniform() * sizes[agent]), seconds)


def _batched(name: str, about: str, rival: str = "", **how: Any) -> Row:
    about = "4,096 matches of eight: draw, place, generation, scores, new matches, " + about
    return Row(name, about, partial(batched, **how), "rounds", NUM_ENVS, rival)


GRID = Benchmark(
    "Grid Adaptation on 15 x 15 spaces",
    "benchmarks.core.grid",
    Path("results/benchmarks/grid.md"),
    (
        _batched("grid_4096", "free spaces; all cores"),
        _batched("grid_4096_masks", "every player's masks; all cores", masks=True),
        _batched("grid_4096_talk", "public talk; free spaces; all cores", "grid_4096", talk="public"),
        _batched("grid_4096_private", "private talk; free spaces; all cores", "grid_4096", talk="private"),
        Row(
            "grid_parallel",
            "one match through PettingZoo's parallel interface, eight observations with masks, one thread",
            parallel,
            "rounds",
            rival="pettingzoo_pursuit",
        ),
        Row(
            "pettingzoo_pursuit",
            "pursuit_v5 through the same loop, eight agents on 16 x 16 cells, no masks, one thread",
            pursuit,
            "rounds",
            packages=("pettingzoo",),
        ),
    ),
)

if __name__ == "__main__":
    sys.exit(GRID.main())
