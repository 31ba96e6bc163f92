"""Contestants of the benchmark of single games, one a process: `python -m benchmarks.core.hosts NAME`.

A host is what `Game.solo` returns: one game on plain integers. A batch of one is what it stands in for. Both play the
same random moves: the mask, the observations of those who act, a uniform choice, the step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.measurement import Measurement, serve

__all__ = ["HOSTS"]

UNITS_A_TURN = 5  # placed in Cloth of Gold before a turn ends


def host(seconds: float, *, name: str, id: str, alone: bool) -> Measurement:
    """Moves a second of a game by its own host, or as a batch of one; choosing the moves is not timed."""
    import torch

    import cellgames
    from cellgames.envs.core import Solo, seeds
    from cellgames.envs.core.solo import BatchOfOne

    torch.set_num_threads(1)
    game, random = cellgames.make(id), Random(0)
    choose = _end_turns if id.startswith("cloth") else _uniform
    make: Callable[[Any], Solo] = game.solo if alone else partial(BatchOfOne, game)
    moves, clock, number = 0, 0.0, 0
    while clock < seconds:
        solo, turn = make(game.init(seeds(number, 1))), 0
        while not (solo.terminated or solo.truncated) and clock < seconds:
            start = perf_counter()
            mask = solo.legal_actions()
            for seat in range(game.info.num_players) if game.info.simultaneous else (solo.current_player,):
                solo.observe(seat)
            seen = perf_counter() - start
            action, counts = choose(game.info.action_nvec, mask, random, turn)
            start = perf_counter()
            solo.step(action)
            if counts and number:  # the first game warms up
                clock += seen + perf_counter() - start
                moves += 1
            turn += 1
            if not number and turn == 50:
                break
        number += 1
    library = f"{cellgames.__version__} (torch {version('torch')})"
    return Measurement(name, "cellgames", library, 1, "rounds" if game.info.simultaneous else "moves", moves, clock)


def _uniform(nvec: tuple[int, ...], mask: Any, random: Random, turn: int) -> tuple[Any, bool]:
    """Return a uniform choice of every component for all who act."""
    rows = mask.reshape(-1, sum(nvec))
    parts = [[part.nonzero()[0] for part in np.split(row, np.cumsum(nvec)[:-1])] for row in rows]
    chosen = np.array([[legal[int(random.random() * legal.size)] for legal in row] for row in parts])
    return (int(chosen[0, 0]) if chosen.size == 1 else chosen), True


def _end_turns(nvec: tuple[int, ...], mask: Any, random: Random, turn: int) -> tuple[int, bool]:
    """Return a random placement, or the end of the turn, which is not counted: a round's generations run in it."""
    placed = turn % (UNITS_A_TURN + 1) < UNITS_A_TURN
    legal = mask.nonzero()[0]
    cells = legal[legal < nvec[0] - 1]
    if placed and len(cells):
        return int(cells[random.randrange(len(cells))]), True
    return int(legal[-1]), False


_IDS = {"torus": "torus-v0", "cloth": "cloth-of-gold-v0", "grid": "grid-adaptation-v0"}

HOSTS: dict[str, Callable[[float], Measurement]] = {
    f"{game}_{kind}": partial(host, name=f"{game}_{kind}", id=id, alone=kind == "host")
    for game, id in _IDS.items()
    for kind in ("host", "batch_of_one")
}

if __name__ == "__main__":
    sys.exit(serve(HOSTS))
