"""Native kernels against the torch code that they replace: `python -m benchmarks.core.native_kernels`.

`networks` after it measures networks and their searches.

Both do the same work in one process by turns, on one thread, and the time is the processor's, so other processes
disturb both alike. The first call of each is timed apart: torch code is compiled in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

import cellgames
from benchmarks.commands import typed_command
from benchmarks.core.cloth import ground_work
from benchmarks.harness import rounded
from benchmarks.pages import listed, machine_head, write_page
from cellgames.agents.cloth_of_gold.turns import ClothRandom
from cellgames.agents.networks.trained import search_network
from cellgames.agents.search import GumbelSearch, NetworkEvaluator, PlayoutEvaluator, UCTSearch
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.life import Life
from cellgames.envs.cloth_of_gold import simulation
from cellgames.envs.core import Vector, seeds
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.envs.kernels.compiling import ENDLESS, planned
from cellgames.envs.native import library, status, without_native
from cellgames.envs.toroidal_cup import PATTERNS, arrange, simulator
from cellgames.envs.torus import filling
from cellgames.utils.report.model import Part, Table

__all__ = ["CASES", "Case", "main", "measure"]

OUT = Path("results/benchmarks")
ROUNDS = 5
GAMES, SIMULATIONS = 256, 200
FILLED, WORLDS, ROUND = 4096, 1024, 168
CUPS, UNFINISHED = 128, 240  # games end after 243 generations or more
CUP_GAMES = 1000
MATCHES, MATCH_ROUNDS = 4096, 10
STEPS = 10  # of all envs
BOARDS, GENERATIONS = 4096, 24  # of Life


@dataclass(frozen=True)
class Case:
    """A piece of work: its description, the unit and the amount of one call, and the call."""

    what: str
    unit: str
    amount: float
    run: Callable[[], object]


def _uct(playouts: int) -> Case:
    game, generator = cellgames.make("torus-v0"), torch.Generator().manual_seed(0)
    search, state = UCTSearch(game, SIMULATIONS, evaluator=PlayoutEvaluator(playouts)), game.init(seeds(0, GAMES))
    what = f"UCT, Torus n = 8, {SIMULATIONS} simulations in each of {GAMES} games, playouts each: {playouts}"
    return Case(what, "simulations", GAMES * SIMULATIONS, lambda: search.run(state, generator))


def _filling() -> Case:
    stones, player = torch.zeros((FILLED, 128), dtype=torch.int32), torch.zeros(FILLED, dtype=torch.int64)
    lots = torch.randint(filling.LOTS, stones.shape, dtype=torch.int32)
    what = f"random games of Torus n = 8 from the empty board, {FILLED:,} at once"
    return Case(what, "games", FILLED, lambda: filling.winners(stones, player, lots))


def _cloth() -> Case:
    grid = Grid(100, 100, wrap=False)
    lots = torch.rand((WORLDS, 100, 100), generator=torch.Generator().manual_seed(0))
    a, b = lots < 0.15, (lots >= 0.15) & (lots < 0.3)
    planes = grid.pack(torch.stack([a, b, torch.zeros_like(a), torch.zeros_like(a)], 1))
    what = f"Cloth of Gold, {ROUND} generations of {WORLDS:,} worlds of 100 x 100"
    return Case(what, "cells", WORLDS * 100 * 100 * ROUND, lambda: simulation.advance(grid, planes, ROUND))


def _ground(bools: bool) -> Case:
    _, work = ground_work(bools)
    form = "bools" if bools else "bitboards"
    what = f"Cloth of Gold, territory and legal cells of both players in {WORLDS:,} worlds of 100 x 100, as {form}"
    return Case(what, "worlds", WORLDS, work)


def _cloth_steps(id: str, num_envs: int) -> Case:
    vector, generator = cellgames.make(id).vector(num_envs), torch.Generator().manual_seed(0)
    agent, env_ids = ClothRandom(), torch.arange(num_envs)
    agent.start(vector.game, vector.state.current_player, env_ids)
    for _ in range(150):  # until envs are in all phases
        vector.step(agent.act_on_state(vector.state, env_ids, generator), checked=False)

    def run() -> None:
        for _ in range(STEPS):
            vector.step(agent.act_on_state(vector.state, env_ids, generator))

    what = f"Cloth of Gold, steps of random agents with checked masks, {id}, envs: {num_envs:,}"
    return Case(what, "steps", STEPS * num_envs, run)


def _life() -> Case:
    boards = Life(64, 64, BOARDS, compile="always")
    boards.load(torch.rand((BOARDS, 64, 64), generator=torch.Generator().manual_seed(0)) < 0.35)
    what = f"Life, {GENERATIONS} generations of {BOARDS:,} tori of 64 x 64 in one call"
    return Case(what, "cells", BOARDS * 64 * 64 * GENERATIONS, lambda: boards.advance(GENERATIONS))


def _cup_generations() -> Case:
    lots = torch.randint(5, (CUPS, 40, 280), generator=torch.Generator().manual_seed(0), dtype=torch.int8)
    board = torch.where(lots > 2, 0, lots)
    what = f"Toroidal Cup, {UNFINISHED} generations of {CUPS} boards of 40 x 280, the cells of both teams counted"
    run = partial(simulator.run, board, 2, max_generations=UNFINISHED, compile="always")
    return Case(what, "cells", board.numel() * UNFINISHED, run)


def _cup_games() -> Case:
    generator, patterns = np.random.default_rng(0), list(PATTERNS)
    starts = [arrange(patterns[game % len(patterns)], generator) for game in range(CUP_GAMES)]
    what = f"Toroidal Cup, {CUP_GAMES:,} whole games from random arrangements, lists of cells"
    return Case(what, "games", CUP_GAMES, partial(simulator.simulate, starts, compile="always"))


def _grid(masks: bool) -> Case:
    game, generator = cellgames.make("grid-adaptation-v0"), torch.Generator().manual_seed(0)
    assert isinstance(game, GridAdaptation)

    def play(vector: Vector[GridState], steps: int) -> None:
        for _ in range(steps):
            vector.step_random(generator)
            if masks:
                vector.legal_actions  # noqa: B018  # made when asked for
            else:
                game.free_spaces(vector.state)

    @cache
    def vector(native: bool) -> Vector[GridState]:
        made = game.vector(MATCHES, reuse_buffers=True)
        play(made, 50)  # so that the matches are in different rounds
        return made

    def run() -> None:
        play(vector(library(torch.device("cpu")) is not None), MATCH_ROUNDS)

    what = f"rounds of {MATCHES:,} matches of Grid Adaptation, {'all masks' if masks else 'free spaces'}"
    return Case(what, "rounds", MATCHES * MATCH_ROUNDS, run)


def _steps(num_envs: int) -> Case:
    game, lots, steps = cellgames.make("torus-v0"), torch.Generator().manual_seed(0), 30
    vectors: dict[str, Vector] = {}

    def run() -> None:
        backend = "compiled" if library(lots.device) is None else "native"
        if backend not in vectors:
            vectors[backend] = game.vector(num_envs, compile="always", reuse_buffers=True)
        for _ in range(steps):
            vectors[backend].step_random(lots)

    what = f"Torus n = 8, steps of a vector in random play, {num_envs:,} envs"
    return Case(what, "moves", num_envs * steps, run)


def _network(size: int, positions: int, learn: bool) -> Case:
    network, game = search_network(cellgames.make("torus-v0", size=size)).eval(), cellgames.make("torus-v0", size=size)
    state = game.init(seeds(0, positions))
    observation = game.observe(state, state.current_player)

    def run() -> None:
        with torch.set_grad_enabled(learn):
            logits, value, _ = network(observation)
            if learn:
                (logits.square().mean() + value.square().mean()).backward()

    what = f"network of Torus n = {size}{', with gradients of all weights' * learn}, positions at once: {positions}"
    return Case(what, "positions", positions, run)


def _gumbel(games: int) -> Case:
    game = cellgames.make("torus-v0", size=5)
    search = GumbelSearch(game, NetworkEvaluator(search_network(game)), 64)
    state, generator = game.init(seeds(0, games)), torch.Generator().manual_seed(0)
    what = f"gumbel:64 on Torus n = 5, games at the same time: {games}"
    return Case(what, "simulations", games * 64, lambda: search.run(state, generator))


CASES: dict[str, tuple[Callable[[], Case], ...]] = {
    "kernels": (
        *(partial(_uct, playouts) for playouts in (1, 4)),
        *(partial(_steps, num_envs) for num_envs in (64, 1024, 4096, 16384)),
        _filling,
        _cloth,
        *(partial(_ground, bools) for bools in (False, True)),
        *(partial(_cloth_steps, "cloth-of-gold-v0", num_envs) for num_envs in (1024, 64)),
        partial(_cloth_steps, "cloth-of-gold-small-v0", 1024),
        _life,
        _cup_generations,
        _cup_games,
        *(partial(_grid, masks) for masks in (False, True)),
    ),
    "networks": (
        *(partial(_network, size, 64, learn=False) for size in (5, 8)),
        *(partial(_network, size, 512, learn=True) for size in (5, 8)),
        *(partial(_gumbel, games) for games in (1, 64)),
    ),
}
"""Pieces of work by the page that they are on."""


def measure(case: Case, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the figures of a case: units a second of the processor, the median ratio, seconds of the first calls."""
    ways = {"native": nullcontext, "torch": without_native}
    firsts: dict[str, float] = {}
    times: dict[str, list[float]] = {way: [] for way in ways}
    with torch.no_grad(), planned("always", ENDLESS):
        for turn in range(rounds + 1):
            for way, context in ways.items():
                with context():
                    wall, start = perf_counter(), process_time()
                    case.run()
                    if turn:
                        times[way].append(process_time() - start)
                    else:
                        firsts[f"first_{way}"] = perf_counter() - wall
    ratio = median(slow / quick for slow, quick in zip(times["torch"], times["native"], strict=True))
    return {**{way: case.amount / median(taken) for way, taken in times.items()}, "ratio": ratio, **firsts}


def main() -> int:
    """Measure all cases and write the page; return the exit code."""
    if status().problem:
        print(f"benchmarks.core.native_kernels: {status()}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    page = "networks" if sys.argv[1:] == ["networks"] else "kernels"
    rows: list[dict[str, Any]] = []
    for make in CASES[page]:
        case = make()
        rows.append({"what": case.what, "unit": case.unit, **measure(case)})
        print(f"{case.what}: {rows[-1]['native']:,.0f} {case.unit} a second, {rows[-1]['ratio']:.1f} times", flush=True)
    numbers = {**machine_head(typed_command("benchmarks.core.native_kernels", None), "torch"), "threads": 1}
    columns = ("what", "a second of", "native", "torch, compiled", "native / torch", "first call, s", "in torch")
    cells = [
        (
            *(row["what"], row["unit"], rounded(row["native"]), rounded(row["torch"]), f"{row['ratio']:.1f}"),
            *(f"{row[name]:.2f}" for name in ("first_native", "first_torch")),
        )
        for row in rows
    ]
    parts: list[Part] = [listed(numbers), Table("", columns, cells, text=("what", "a second of"))]
    title = f"Native {page} and the torch code that they replace"
    write_page(OUT / f"native_{page}.md", title, parts, numbers | {"cases": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
