"""Native kernels against the torch code that they replace: `python -m benchmarks.core.native_kernels`.

Both do the same work in one process by turns, on one thread, and the time is the processor's, so other processes
disturb both alike. The first call of each is timed apart: torch code is compiled in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import torch

import cellgames
from benchmarks.core.cloth_boards import ground_work
from benchmarks.pages import head, write_page
from cellgames.agents.cloth_of_gold.turns import ClothRandom
from cellgames.agents.search import PlayoutEvaluator, UCTSearch
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
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Part, Table

__all__ = ["CASES", "Case", "compare", "measure"]

OUT = Path("results/benchmarks/native_kernels.md")
ROUNDS = 5
GAMES, SIMULATIONS = 256, 200
STEPS = 1 << 18  # of envs, in a call
FILLED, WORLDS, ROUND = 4096, 1024, 168
CUPS, UNFINISHED = 128, 240  # games end after 243 generations or more
CUP_GAMES = 1000
MATCHES, MATCH_ROUNDS = 4096, 10
STEPS = 10  # of all envs
BOARDS, GENERATIONS = 4096, 24  # of Life


@dataclass(frozen=True)
class Case:
    """A piece of work.

    Attributes:
        what: it is.
        unit: of its amount.
        amount: in one call.
        run: does it.
    """

    what: str
    unit: str
    amount: float
    run: Callable[[], object]


@dataclass(frozen=True)
class Found:
    """The figures of a case, in units a second of the processor.

    Attributes:
        native: with the library.
        torch: without.
        ratio: the median of the rounds' ratios.
        first_native: seconds of the first call.
        first_torch: the same without the library.
    """

    native: float
    torch: float
    ratio: float
    first_native: float
    first_torch: float


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
    game, lots, steps = cellgames.make("torus-v0"), torch.Generator().manual_seed(0), max(30, STEPS // num_envs)
    vectors: dict[str, Vector] = {}

    def run() -> None:
        backend = "compiled" if library(lots.device) is None else "native"
        if backend not in vectors:
            vectors[backend] = game.vector(num_envs, compile="always", reuse_buffers=True)
        for _ in range(steps):
            vectors[backend].step_random(lots)

    what = f"Torus n = 8, steps of a vector in random play, {num_envs:,} envs"
    return Case(what, "moves", num_envs * steps, run)


CASES: tuple[Callable[[], Case], ...] = (
    lambda: _uct(1),
    lambda: _uct(4),
    lambda: _steps(64),
    lambda: _steps(1024),
    lambda: _steps(4096),
    lambda: _steps(16384),
    _filling,
    _cloth,
    lambda: _ground(False),
    lambda: _ground(True),
    lambda: _cloth_steps("cloth-of-gold-v0", 1024),
    lambda: _cloth_steps("cloth-of-gold-v0", 64),
    lambda: _cloth_steps("cloth-of-gold-small-v0", 1024),
    _life,
    _cup_generations,
    _cup_games,
    lambda: _grid(False),
    lambda: _grid(True),
)


def _library(used: bool) -> AbstractContextManager[None]:
    """Let the rules use the library or not."""
    return nullcontext() if used else without_native()


def measure(case: Case, rounds: int = ROUNDS) -> Found:
    """Return the figures of a case."""
    firsts: dict[bool, float] = {}
    times: dict[bool, list[float]] = {True: [], False: []}
    with torch.no_grad(), planned("always", ENDLESS):
        for used in (True, False):
            with _library(used):
                start = perf_counter()
                case.run()
                firsts[used] = perf_counter() - start
        for _ in range(rounds):
            for used in (True, False):
                with _library(used):
                    start = process_time()
                    case.run()
                    times[used].append(process_time() - start)
    ratios = [slow / quick for slow, quick in zip(times[False], times[True], strict=True)]
    native, without = (case.amount / median(times[used]) for used in (True, False))
    return Found(native, without, median(ratios), firsts[True], firsts[False])


def compare(command: str, out: Path, title: str, cases: Sequence[Callable[[], Case]]) -> int:
    """Measure cases, write a page, and return the command's exit status."""
    if status().problem:
        print(f"{command}: {status()}", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    rows = []
    for make in cases:
        case = make()
        found = measure(case)
        rows.append({"what": case.what, "unit": case.unit, **vars(found)})
        print(f"{case.what}: {found.native:,.0f} {case.unit} a second, {found.ratio:.1f} times torch", flush=True)
    numbers = {
        **head(command),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "threads": 1,
        "torch": torch.__version__,
    }
    columns = (
        "what",
        "a second of",
        "native",
        "torch, compiled",
        "native / torch",
        "first call, s",
        "the same in torch",
    )
    cells = [
        (
            str(row["what"]),
            str(row["unit"]),
            *(f"{row[name]:,.3g}" if row[name] < 1000 else f"{row[name]:,.0f}" for name in ("native", "torch")),
            f"{row['ratio']:.1f}",
            *(f"{row[name]:.2f}" for name in ("first_native", "first_torch")),
        )
        for row in rows
    ]
    parts: list[Part] = [
        "\n".join(f"- {key}: {text}" for key, text in numbers.items()),
        Table("", columns, cells, text=("what", "a second of")),
    ]
    write_page(out, title, parts, numbers | {"cases": rows})
    return 0


if __name__ == "__main__":
    TITLE = "Native kernels and the torch code that they replace"
    sys.exit(compare("python -m benchmarks.core.native_kernels", OUT, TITLE, CASES))
