"""Speeds on a device: random play, Life, the other games, searches, PPO."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import torch

import cellgames
from benchmarks.training.learning import Learning, Settings, make_ppo
from cellgames.agents.search import PlayoutEvaluator, UCTSearch
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.life import Life
from cellgames.envs.cloth_of_gold.simulation import advance
from cellgames.envs.core import seeds
from cellgames.envs.toroidal_cup import PATTERNS, arrange, simulate

from .lines import Line, Work, graphed, speed

SECONDS = 1.0
SMALL_SECONDS = 0.01
MOVES, CELLS, AGENT_STEPS = 100e6, 5e12, 1e6  # a second, that an H200 should give
SIZES = (1 << 20, 1 << 18, 1 << 16, 1 << 14, 1 << 12)
COMPILED = (1 << 20, 1 << 16)  # each size is compiled anew
GENERATIONS = 24  # of Life, a call


def _seconds(small: bool) -> float:
    return SMALL_SECONDS if small else SECONDS


def _default_generator(device: torch.device) -> torch.Generator:
    """Return the generator of a device that CUDA graphs know."""
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator


def torus(device: torch.device, num_envs: int, compile: Literal["always", "never"], *, graph: bool) -> Work:
    """Return random play of Torus n = 8: each call steps all games and makes their masks."""
    game = cellgames.make("torus-v0", size=8)
    vector = game.vector(num_envs, seed=0, device=device, compile=compile, reuse_buffers=True)
    generator = _default_generator(device) if graph else torch.Generator(device).manual_seed(0)

    def step() -> None:
        vector.step_random(generator)
        vector.legal_actions  # noqa: B018  # made when asked for, if the step is not compiled

    for _ in range(3):
        step()
    run = graphed(step, device) if graph else step
    run()
    if not torch.equal(vector.legal_actions, game.legal_actions(vector.state)):
        raise RuntimeError("expected the mask of the state after a step; the graph does other work than the step")
    way = vector.backend + ", a CUDA graph" * graph
    return Work(f"Torus n = 8, {num_envs:,} games, {way}", "moves", num_envs, run, MOVES if graph else None)


def random_play(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for random play of Torus: eager, compiled, and as a CUDA graph."""
    seconds = _seconds(small)
    for num_envs in (64,) if small else COMPILED:
        compile: Literal["always", "never"] = "never" if small else "always"
        for graph in (True, False):
            yield speed(torus(device, num_envs, compile, graph=graph), device, seconds)
    for num_envs in () if small else SIZES:
        yield speed(torus(device, num_envs, "never", graph=False), device, seconds)


def _life(device: torch.device, boards: int, *, graph: bool) -> Work:
    """Return Life on tori of 64 x 64, copies of 64 random ones."""
    life = Life(64, 64, boards, device=device)
    few = torch.rand((64, 64, 64), generator=torch.Generator().manual_seed(0)) < 0.35
    life.load(few.to(device).repeat(boards // 64, 1, 1))

    def run() -> None:
        life.advance(GENERATIONS)

    what = f"Life, {boards:,} tori of 64 x 64, {GENERATIONS} generations a call{', a CUDA graph' * graph}"
    work = graphed(run, device) if graph else run
    return Work(what, "cells", boards * 64 * 64 * GENERATIONS, work, CELLS)


def life(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for Life on tori of 64 x 64."""
    for boards in (64,) if small else SIZES:
        for graph in (True, False):
            yield speed(_life(device, boards, graph=graph), device, _seconds(small))


def others(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for the other games and for UCT."""
    with torch.no_grad():
        for work in _others(device, small):
            yield speed(work, device, _seconds(small))


def _others(device: torch.device, small: bool) -> Iterator[Work]:
    number = 2 if small else 1000
    generator, patterns = np.random.default_rng(0), list(PATTERNS)
    starts = [arrange(patterns[game % len(patterns)], generator) for game in range(number)]
    yield Work(
        f"Toroidal Cup, {number:,} whole games", "games", number, lambda: simulate(starts[:number], device=device)
    )
    worlds = 8 if small else 1 << 14
    grid = Grid(100, 100, wrap=False)
    lots = torch.rand((8, 100, 100), generator=torch.Generator().manual_seed(0))
    a, b = lots < 0.15, (lots >= 0.15) & (lots < 0.3)
    planes = grid.pack(torch.stack([a, b, torch.zeros_like(a), torch.zeros_like(a)], 1))
    planes = planes.to(device).repeat(1, 1, 1, worlds // 8)
    generations = 2 if small else 168
    yield Work(
        f"Cloth of Gold, {generations} generations of {worlds:,} worlds of 100 x 100",
        "cells",
        generations * worlds * 100 * 100,
        lambda: advance(grid, planes, generations),
    )
    matches = 16 if small else 1 << 16
    vector = cellgames.make("grid-adaptation-v0").vector(matches, seed=0, device=device, reuse_buffers=True)
    chance = torch.Generator(device).manual_seed(0)
    what = f"Grid Adaptation, random rounds of {matches:,} matches of eight"
    yield Work(what, "rounds", matches, lambda: vector.step_random(chance))
    games, simulations = (4, 10) if small else (4096, 100)
    game = cellgames.make("torus-v0", size=8)
    search, state = UCTSearch(game, simulations, evaluator=PlayoutEvaluator(1)), game.init(seeds(0, games, device))
    source = torch.Generator().manual_seed(0)
    what = f"UCT, Torus n = 8, a playout each, {simulations} simulations in each of {games:,} games"
    yield Work(what, "simulations", games * simulations, lambda: search.run(state, source))


def _ppo(device: torch.device, how: Learning, folder: Path, target: float | None) -> Work:
    """Return iterations of PPO that plays itself on Torus n = 5."""
    learner = make_ppo(cellgames.make("torus-v0", size=5), how, folder, str(device))
    _, _, learned = learner.iterate(0.0)
    return Work(f"PPO, Torus n = 5: {how}", "agent steps", learned, lambda: learner.iterate(0.0), target)


def ppo(device: torch.device, small: bool) -> Iterator[Line]:
    """Yield lines for PPO: a small network, and that of `cellgames train`."""
    num_envs, batch = (4, 64) if small else (1 << 14, 1 << 16)
    for how, target in (
        (Learning(num_envs, 16, 2, Settings(rollout=num_envs * 32, batch=batch, epochs=1)), AGENT_STEPS),
        (Learning(num_envs, 32, 4, Settings(rollout=num_envs * 32, batch=batch, epochs=4)), None),
    ):
        with TemporaryDirectory() as folder:
            yield speed(_ppo(device, how, Path(folder), target), device, _seconds(small))
