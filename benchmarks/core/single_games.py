"""One game outside a batch, by its own host and as a batch of one: `python -m benchmarks.core.single_games`.

A host is what `Game.solo` returns: one game in native code. A batch of one is what it stands in for.
Both play the same random moves: the mask, the observations of those who act, a uniform choice, the step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.harness import Benchmark, Row, Work, use_cores

UNITS_A_TURN = 5  # placed in Cloth of Gold before a turn ends


def play(seconds: float, *, id: str, alone: bool) -> Work:
    """Measure a game by its own host, or as a batch of one; choosing the moves is not timed."""
    import cellgames
    from cellgames.envs.core import Solo, seeds

    use_cores(1)
    game, random = cellgames.make(id), Random(0)
    choose = _end_turns if id.startswith("cloth") else _uniform
    make: Callable[[Any], Solo] = game.solo if alone else partial(Solo, game)
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
    return moves, clock


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


def _pair(game: str, id: str, about: str, unit: str = "moves") -> tuple[Row, Row]:
    host, batch = (partial(play, id=id, alone=alone) for alone in (True, False))
    rival = f"{game}_batch_of_one"
    return (
        Row(f"{game}_host", f"{about}; its own host, one thread", host, unit, rival=rival),
        Row(rival, f"{about}; a batch of one, one thread", batch, unit),
    )


SINGLE_GAMES = Benchmark(
    "One game outside a batch: mask, observation and step",
    "benchmarks.core.single_games",
    Path("results/benchmarks/single_games.md"),
    (
        *_pair("torus", "torus-v0", "moves of Torus n = 8"),
        *_pair("cloth", "cloth-of-gold-v0", "placements of Cloth of Gold on 100 x 100 cells, no ends of turns"),
        *_pair(
            "grid", "grid-adaptation-v0", "rounds of Grid Adaptation, eight observations on 15 x 15 spaces", "rounds"
        ),
    ),
)

if __name__ == "__main__":
    sys.exit(SINGLE_GAMES.main())
