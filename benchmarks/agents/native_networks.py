"""Networks, searches and learning with native code against torch code: `python -m benchmarks.agents.native_networks`.

Both do the same work in one process by turns, on one thread, as in `benchmarks.core.native_kernels`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import torch

import cellgames
from benchmarks.core.native_kernels import Case, compare
from benchmarks.training.learning_ours import PRESET, make_ppo
from cellgames.agents.networks.trained import search_network
from cellgames.agents.search import GumbelSearch, NetworkEvaluator
from cellgames.envs.core import seeds

__all__ = ["CASES"]

OUT = Path("results/benchmarks/native_networks.md")
SIMULATIONS = 64
STEPS = 8


def _evaluation(size: int, positions: int) -> Case:
    game = cellgames.make("torus-v0", size=size)
    network = search_network(game).eval()
    state = game.init(seeds(0, positions))
    observation = game.observe(state, state.current_player)
    what = f"network of Torus n = {size}, positions at once: {positions}"
    return Case(what, "positions", positions, lambda: network(observation))


def _learning_step(size: int, positions: int) -> Case:
    game = cellgames.make("torus-v0", size=size)
    network = search_network(game)
    state = game.init(seeds(0, positions))
    observation = game.observe(state, state.current_player)

    def run() -> None:
        with torch.enable_grad():
            logits, value, _ = network(observation)
            (logits.square().mean() + value.square().mean()).backward()

    what = f"the same, n = {size}, with gradients of all weights; positions at once: {positions}"
    return Case(what, "positions", positions, run)


def _gumbel(size: int, games: int) -> Case:
    game = cellgames.make("torus-v0", size=size)
    search = GumbelSearch(game, NetworkEvaluator(search_network(game)), SIMULATIONS)
    state, generator = game.init(seeds(0, games)), torch.Generator().manual_seed(0)
    what = f"gumbel:{SIMULATIONS} on Torus n = {size}, games at the same time: {games}"
    return Case(what, "simulations", games * SIMULATIONS, lambda: search.run(state, generator))


def _ppo(size: int) -> Case:
    ppo = make_ppo(cellgames.make("torus-v0", size=size), PRESET, Path(mkdtemp()))
    steps = ppo.iterate(0.0)[2]

    def run() -> None:
        with torch.enable_grad():
            ppo.iterate(0.0)

    return Case(f"PPO on Torus n = {size}, with the settings of the preset", "agent steps", steps, run)


CASES: tuple[Callable[[], Case], ...] = (
    *(partial(_evaluation, n, games) for n in (5, 8) for games in (1, 64)),
    *(partial(_learning_step, n, 512) for n in (5, 8)),
    *(partial(_gumbel, n, games) for n in (5, 8) for games in (1, 64, 256)),
    partial(_ppo, 5),
    partial(_ppo, 8),
)

if __name__ == "__main__":
    sys.exit(compare("python -m benchmarks.agents.native_networks", OUT, "Networks with native code", CASES))
