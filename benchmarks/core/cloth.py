"""Cells, masks and rounds of Cloth of Gold a second: `python -m benchmarks.core.cloth`.

All play on the default 100 x 100 worlds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Benchmark, Row, Work, timed, use_cores

if TYPE_CHECKING:
    from torch import Tensor

WORLDS, SIZE, GENERATIONS = 1024, 100, 168
DENSITY = 0.15  # of each side's units at the start


def random_worlds() -> Tensor:
    """Return random worlds, int64 [4, S, N, n]."""
    import torch

    from cellgames.envs.boards.bitboards import Grid

    lots = torch.rand(WORLDS, SIZE, SIZE, generator=torch.Generator().manual_seed(0))
    bounds = torch.tensor([DENSITY, 2 * DENSITY])
    kind = torch.bucketize(lots, bounds, right=True)
    grid = Grid(SIZE, SIZE, wrap=False)
    return torch.stack([grid.pack(kind == side) for side in (0, 1)] + 2 * [grid.pack(torch.zeros_like(kind))])


def generations(seconds: float, *, cores: int | None = None) -> Work:
    """Measure `simulation.advance`, which plays every generation of every world."""
    from cellgames.envs.boards.bitboards import Grid
    from cellgames.envs.cloth_of_gold.simulation import advance

    use_cores(cores)
    grid, planes = Grid(SIZE, SIZE, wrap=False), random_worlds()

    def play() -> int:
        advance(grid, planes, GENERATIONS)
        return GENERATIONS * WORLDS * SIZE * SIZE

    play()
    return timed(play, seconds)


def ground_work(bools: bool = False) -> tuple[Tensor, Callable[[], tuple[Tensor, list[Tensor]]]]:
    """Return the units of both players in positions with some dozen, [2, S, N, n], and what finds their ground.

    That returns the territory of both players as bitboards [2, S, N, n], and the legal cells of each, as bitboards
    [n, S, N] or bools [n, 10001].
    """
    import torch

    import cellgames
    from cellgames.envs.cloth_of_gold.game import ClothOfGold
    from cellgames.envs.cloth_of_gold.placement import legal_cells
    from cellgames.envs.cloth_of_gold.territory import territory
    from cellgames.envs.core import seeds

    game = cellgames.make("cloth-of-gold-v0")
    assert isinstance(game, ClothOfGold)
    units = random_worlds()[:2] & random_worlds().roll(7, -1)[:2] & random_worlds().roll(31, -1)[:2]
    units[1] &= ~units[0]
    new = game.init(seeds(0, WORLDS))
    state = new.replace(
        units=units.movedim(-1, 0),
        territory=territory(game.grid, units, game.radius).movedim(-1, 0),
        live=torch.full_like(new.live, 1),
    )
    turns = [state.replace(current_player=torch.full_like(state.current_player, seat)) for seat in (0, 1)]

    def work() -> tuple[Tensor, list[Tensor]]:
        field = territory(game.grid, units, game.radius)
        return field, [game.legal_actions(turn) if bools else legal_cells(game.grid, turn) for turn in turns]

    return units, work


def masks(seconds: float) -> Work:
    """Measure territory as bitboards and masks as bools [1024, 10001], 10 MB for each player."""
    _, work = ground_work(bools=True)

    def play() -> int:
        work()
        return WORLDS

    play()
    return timed(play, seconds)


def turns(seconds: float, **options: Any) -> Work:
    """Measure random agents turn by turn, as rollouts play, in games with options of the rules."""
    import cellgames
    from cellgames.agents.cloth_of_gold.turns import random_turns
    from cellgames.envs.cloth_of_gold.game import ClothOfGold
    from cellgames.envs.core import seeds

    game = cellgames.make("cloth-of-gold-v0", **options)
    assert isinstance(game, ClothOfGold)
    state, number = game.init(seeds(0, WORLDS)), 0

    def play() -> int:
        nonlocal state, number
        played = 0
        for _ in range(2):
            number += 1
            after = game.play_turn(state, random_turns(game, state, seeds(number, WORLDS), 1).squeeze(1))
            played += int((after.done | ((after.round != state.round) & (state.round > 0))).sum())
            done = after.done.nonzero().squeeze(1)
            state = after.put(done, game.init(seeds(number, len(done)))) if len(done) else after
        return played

    for _ in range(12):
        play()
    return timed(play, seconds)


_ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "terrain": ("terrain", {"terrain": True}),
    "weather": ("terrain and weather", {"terrain": True, "weather": True}),
    "perks": ("perks", {"perks": True}),
    "borders": ("borders", {"territory": "hull"}),
    "wildlife": ("wildlife", {"wildlife": (6, 2, 2)}),
}
_ALL = {name: value for _, options in _ALONE.values() for name, value in options.items()}
_WORLDS = f"{GENERATIONS} generations of 1,024 worlds; "
_GROUND = "territory and legal cells of both players, 1,024 worlds; "
_RANDOM = "rounds of random agents that place shapes, 1,024 games that start over, all cores; "


def _cells(name: str, about: str, **how: Any) -> Row:
    return Row(name, _WORLDS + about, partial(generations, **how), "cells", WORLDS)


def _wild(name: str, what: str, options: dict[str, Any]) -> Row:
    about, rival = f"{_RANDOM}turn by turn; with {what}", "cloth_random_turns"
    return Row(f"cloth_wild_{name}", about, partial(turns, **options), "rounds", WORLDS, rival)


CLOTH = Benchmark(
    "Cloth of Gold on 100 x 100 worlds",
    "benchmarks.core.cloth",
    Path("results/benchmarks/cloth.md"),
    (
        _cells("cloth_generations", "all cores"),
        _cells("cloth_generations_one_core", "one core", cores=1),
        Row("cloth_masks", _GROUND + "masks of bools, all cores", masks, "worlds", WORLDS),
        Row("cloth_random_turns", _RANDOM + "turn by turn, as in rollouts", turns, "rounds", WORLDS),
        *(_wild(name, what, options) for name, (what, options) in _ALONE.items()),
        _wild("all", "all wild options", _ALL),
    ),
)

if __name__ == "__main__":
    sys.exit(CLOTH.main())
