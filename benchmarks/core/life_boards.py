"""Contestants of the Life benchmark, one a process: `python -m benchmarks.core.life_boards NAME`.

All of single-colour Life advance 4096 boards of 64 x 64 on tori, random at first; units are cell updates. The
boards have been loaded before the clock starts, and nothing but the next generation is made.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks.measurement import Measurement, serve, timed

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LIFE", "random_cup_boards"]

BOARDS, SIZE = 4096, 64
CELLS = BOARDS * SIZE * SIZE
GENERATIONS = 24  # a call


def _measurement(name: str, library: str, batch: int, unit: str, work: tuple[int, float]) -> Measurement:
    import cellgames

    torch = f"torch {version('torch')}"
    versions = {"cellgames": f"{cellgames.__version__} ({torch})", "g++": _gxx_version() if library == "g++" else ""}
    return Measurement(name, library, versions.get(library) or version(library), batch, unit, *work)


@cache
def _start() -> npt.NDArray[np.bool_]:
    return np.random.default_rng(0).random((BOARDS, SIZE, SIZE)) < 0.35


def _check(name: str, cells: npt.NDArray[Any]) -> None:
    """That a contestant's first generation is Life's."""
    import torch

    from cellgames.envs.boards.life import Life

    boards = Life(SIZE, SIZE, BOARDS, compile="never")
    boards.load(torch.from_numpy(_start()))
    boards.advance()
    if not np.array_equal(boards.cells().numpy(), cells != 0):
        raise RuntimeError(f"{name} does not play Life")


def life(
    seconds: float, *, name: str, cores: int | None, compiled: bool, generations: int = GENERATIONS
) -> Measurement:
    """`boards.life.Life`, by native code or, not `compiled`, by eager torch code."""
    import torch

    from cellgames.envs.boards.life import Life
    from cellgames.envs.native import without_native

    if cores:
        torch.set_num_threads(cores)
    boards = Life(SIZE, SIZE, BOARDS, compile="always" if compiled else "never")
    boards.load(torch.from_numpy(_start()))

    def play() -> int:
        with nullcontext() if compiled else without_native():
            boards.advance(generations)
        return generations * CELLS

    play()
    return _measurement(name, "cellgames", BOARDS, "cells", timed(play, seconds))


def naive(seconds: float, *, name: str) -> Measurement:
    """What one writes first: bytes, eight rolls, a sum."""
    import torch

    cells = torch.from_numpy(_start().astype(np.uint8))
    shifts = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1) if row or col]

    def play() -> int:
        nonlocal cells
        neighbours = cells.roll(shifts[0], (1, 2))
        for shift in shifts[1:]:
            neighbours = neighbours + cells.roll(shift, (1, 2))
        cells = ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).to(torch.uint8)
        return CELLS

    play()
    _check(name, cells.numpy())
    return _measurement(name, "torch", BOARDS, "cells", timed(play, seconds))


def convolution(seconds: float, *, name: str) -> Measurement:
    """The other thing one writes first: a convolution with circular padding, float32."""
    import torch

    cells = torch.from_numpy(_start()[:, None].astype(np.float32))
    ring = torch.ones(1, 1, 3, 3)
    ring[0, 0, 1, 1] = 0

    def play() -> int:
        nonlocal cells
        neighbours = torch.nn.functional.conv2d(torch.nn.functional.pad(cells, (1, 1, 1, 1), mode="circular"), ring)
        cells = ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).float()
        return CELLS

    play()
    _check(name, cells[:, 0].numpy())
    return _measurement(name, "torch", BOARDS, "cells", timed(play, seconds))


def jax_rolls(seconds: float, *, name: str) -> Measurement:
    """Bytes and rolls in JAX, jitted, `GENERATIONS` in one loop."""
    import jax
    import jax.numpy as jnp

    def generation(_: int, cells: jax.Array) -> jax.Array:
        columns = cells + jnp.roll(cells, 1, 1) + jnp.roll(cells, -1, 1)
        neighbours = columns + jnp.roll(columns, 1, 2) + jnp.roll(columns, -1, 2) - cells
        return ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).astype(jnp.uint8)

    advance = jax.jit(lambda cells: jax.lax.fori_loop(0, GENERATIONS, generation, cells))
    cells = jnp.asarray(_start(), dtype=jnp.uint8)

    _check(name, np.asarray(jax.jit(generation)(0, cells)))

    def play() -> int:
        nonlocal cells
        cells = advance(cells).block_until_ready()
        return GENERATIONS * CELLS

    play()
    return _measurement(name, "jax", BOARDS, "cells", timed(play, seconds))


def cpp(seconds: float, *, name: str, chunk: int) -> Measurement:
    """`life_loop.cpp`, g++ -O3 -march=native, one core; `chunk` boards advance `GENERATIONS` at a time."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "life_loop.so"
        source = Path(__file__).with_name("life_loop.cpp")
        command = [_gxx(), "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run(command, check=True)
        advance = ctypes.CDLL(str(library)).advance
    packed = np.ascontiguousarray(np.packbits(_start(), axis=2, bitorder="little").view(np.uint64)[:, :, 0].T)
    now = np.ascontiguousarray(packed.reshape(SIZE, -1, chunk).swapaxes(0, 1))
    then = np.empty_like(now)

    def play() -> int:
        for a, b in zip(now, then, strict=True):
            here, there = ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(b.ctypes.data)
            for _ in range(GENERATIONS // 2):
                advance(here, there, ctypes.c_long(SIZE), ctypes.c_long(chunk))
                advance(there, here, ctypes.c_long(SIZE), ctypes.c_long(chunk))
        return GENERATIONS * CELLS

    one = np.empty_like(now)
    for a, b in zip(now, one, strict=True):
        advance(*map(ctypes.c_void_p, (a.ctypes.data, b.ctypes.data)), ctypes.c_long(SIZE), ctypes.c_long(chunk))
    words = np.ascontiguousarray(one.swapaxes(0, 1).reshape(SIZE, BOARDS).T)
    _check(name, np.unpackbits(words[:, :, None].view(np.uint8), axis=2, bitorder="little"))
    play()
    return _measurement(name, "g++", BOARDS, "cells", timed(play, seconds))


def _gxx() -> str:
    found = shutil.which("g++")
    if not found:
        raise ModuleNotFoundError("no g++", name="g++")
    return found


def _gxx_version() -> str:
    return subprocess.run([_gxx(), "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()


def random_cup_boards(games: int = 1024) -> Tensor:
    """Return boards of 40 x 280 on which a seventh of the cells is live, int8 [games, 40, 280]."""
    import torch

    from cellgames.envs.toroidal_cup import COLS, ROWS

    generator = torch.Generator().manual_seed(0)
    board = torch.randint(0, 3, (games, ROWS, COLS), generator=generator, dtype=torch.int8)
    board[torch.rand(board.shape, generator=generator) < 0.8] = 0
    return board


def two_colours(seconds: float, *, name: str, cores: int | None) -> Measurement:
    """Games of the Cup on 40 x 280 until shortly before the first may end; both teams counted."""
    import torch

    from cellgames.envs.toroidal_cup.end import WINDOW
    from cellgames.envs.toroidal_cup.simulator import run

    if cores:
        torch.set_num_threads(cores)
    board = random_cup_boards()

    def play() -> int:
        run(board, 2, max_generations=WINDOW, compile="always")
        return WINDOW * board.numel()

    play()
    return _measurement(name, "cellgames", len(board), "cells", timed(play, seconds))


def games(seconds: float, *, name: str, batch: int, compiled: bool, cores: int | None = None) -> Measurement:
    """`toroidal_cup.simulate` from random arrangements of all patterns to the ends."""
    import torch

    from cellgames.envs.toroidal_cup import PATTERNS, arrange, simulate

    if cores:
        torch.set_num_threads(cores)
    generator = np.random.default_rng(0)
    patterns = list(PATTERNS)
    starts = [arrange(patterns[i % len(patterns)], generator) for i in range(batch)]

    def play() -> int:
        simulate(starts, compile="always" if compiled else "never")
        return batch

    if compiled:
        play()
    return _measurement(name, "cellgames", batch, "games", timed(play, seconds))


def season(seconds: float, *, name: str) -> Measurement:
    """The command: 20 teams, 49 days, playoffs, every file written; with the start of Python."""
    with tempfile.TemporaryDirectory() as folder:

        def play(out: str) -> int:
            command = [sys.executable, "-m", "cellgames", "season", "toroidal-cup-v0", "--teams", "20"]
            command += ["--days", "49", "--seed", "1", "--out", str(Path(folder) / out)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return 1

        play("warm-up")
        numbers = count()
        return _measurement(name, "cellgames", 1, "seasons", timed(lambda: play(str(next(numbers))), seconds))


def _named(
    measure: Callable[..., Measurement], name: str, **options: object
) -> dict[str, Callable[[float], Measurement]]:
    return {name: partial(measure, name=name, **options)}


LIFE: dict[str, Callable[[float], Measurement]] = {
    **_named(life, "life_compiled", cores=None, compiled=True),
    **_named(life, "life_compiled_one_a_call", cores=None, compiled=True, generations=1),
    **_named(life, "life_compiled_one_core", cores=1, compiled=True),
    **_named(life, "life_eager", cores=None, compiled=False),
    **_named(cpp, "cpp_one_core", chunk=BOARDS),
    **_named(cpp, "cpp_one_core_chunks", chunk=1024),
    **_named(naive, "torch_rolls"),
    **_named(convolution, "torch_conv2d"),
    **_named(jax_rolls, "jax_rolls"),
    **_named(two_colours, "cup_two_colours", cores=None),
    **_named(two_colours, "cup_two_colours_one_core", cores=1),
    **_named(games, "cup_games", batch=1000, compiled=True),
    **_named(games, "cup_games_one_core", batch=1000, compiled=True, cores=1),
    **_named(games, "cup_games_eager", batch=1000, compiled=False),
    **_named(season, "cup_season"),
}

if __name__ == "__main__":
    sys.exit(serve(LIFE))
