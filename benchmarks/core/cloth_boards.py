"""Contestants of the Cloth of Gold benchmark, one a process: `python -m benchmarks.core.cloth_boards NAME`.

All play on the default 100 x 100 worlds.
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
    from torch import Tensor

__all__ = ["CLOTH", "GENERATIONS", "ground_work", "random_worlds"]

WORLDS, SIZE, GENERATIONS = 1024, 100, 168
DENSITY = 0.15  # of each side's units at the start


def _measurement(name: str, batch: int, unit: str, work: tuple[int, float]) -> Measurement:
    import cellgames

    return Measurement(name, "cellgames", f"{cellgames.__version__} (torch {version('torch')})", batch, unit, *work)


def _threads(cores: int | None) -> None:
    import torch

    if cores:
        torch.set_num_threads(cores)


def random_worlds(neutral: float = 0.0) -> Tensor:
    """Return random worlds, int64 [4, S, N, n]."""
    import torch

    from cellgames.envs.boards.bitboards import Grid

    lots = torch.rand(WORLDS, SIZE, SIZE, generator=torch.Generator().manual_seed(0))
    bounds = torch.tensor([DENSITY, 2 * DENSITY, 2 * DENSITY + neutral])
    kind = torch.bucketize(lots, bounds, right=True)
    grid = Grid(SIZE, SIZE, wrap=False)
    return torch.stack([grid.pack(kind == side) for side in (0, 1, 2)] + [grid.pack(torch.zeros_like(kind))])


def generations(seconds: float, *, name: str, cores: int | None, neutral: float = 0.0) -> Measurement:
    """`simulation.advance`: every generation of every world is played."""
    from cellgames.envs.boards.bitboards import Grid
    from cellgames.envs.cloth_of_gold.simulation import advance

    _threads(cores)
    grid, planes = Grid(SIZE, SIZE, wrap=False), random_worlds(neutral)

    def play() -> int:
        advance(grid, planes, GENERATIONS, compile="always")
        return GENERATIONS * WORLDS * SIZE * SIZE

    play()
    return _measurement(name, WORLDS, "cells", timed(play, seconds))


def naive(seconds: float, *, name: str) -> Measurement:
    """What one writes first: bytes, padded, eight slices for each side; 128 worlds, since it is slow."""
    import torch

    from cellgames.envs.boards.bitboards import Grid
    from cellgames.envs.cloth_of_gold.simulation import advance

    grid, planes = Grid(SIZE, SIZE, wrap=False), random_worlds()[..., :128].contiguous()
    a, b, killed = (grid.unpack(planes[kind]).to(torch.uint8) for kind in (0, 1, 3))

    def neighbours(cells: Tensor) -> Tensor:
        wide = torch.nn.functional.pad(cells, (1, 1, 1, 1))
        shifts = [(row, col) for row in range(3) for col in range(3) if (row, col) != (1, 1)]
        return sum(wide[:, row : row + SIZE, col : col + SIZE] for row, col in shifts)  # type: ignore[return-value]

    def play() -> int:
        nonlocal a, b, killed
        near_a, near_b = neighbours(a), neighbours(b)
        total = near_a + near_b
        middle = (total == 2) | (total == 3)
        born = (total == 3) & (a + b + killed == 0)
        stay_a, stay_b = (a == 1) & middle & (near_a >= near_b), (b == 1) & middle & (near_b >= near_a)
        dead = (((a == 1) & (near_a < near_b)) | ((b == 1) & (near_b < near_a))) & middle
        a, b = (
            (stay_a | (born & (near_a > near_b))).to(torch.uint8),
            (stay_b | (born & (near_b > near_a))).to(torch.uint8),
        )
        killed = dead.to(torch.uint8)
        return len(a) * SIZE * SIZE

    play()
    after = advance(grid, planes, 1, compile="never")
    if not all(torch.equal(grid.unpack(after[kind]), plane != 0) for kind, plane in ((0, a), (1, b), (3, killed))):
        raise RuntimeError(f"{name} does not play Cloth of Gold")
    return _measurement(name, len(a), "cells", timed(play, seconds))


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


def ground(seconds: float, *, name: str, cores: int | None, bools: bool = False) -> Measurement:
    """Territory and legal cells of both players.

    As bitboards, or territory as bitboards and masks as bools [1024, 10001], 10 MB for each player.
    """
    from cellgames.envs.kernels import compiling

    _threads(cores)
    compiling.BREAK_EVEN = 0  # from the first call on
    _, work = ground_work(bools)

    def play() -> int:
        work()
        return WORLDS

    play()
    return _measurement(name, WORLDS, "worlds", timed(play, seconds))


def rounds(seconds: float, *, name: str, cores: int | None) -> Measurement:
    """Random agents unit by unit in games that start over: the vector's step, the agent's protocol."""
    import torch

    import cellgames
    from cellgames.agents.cloth_of_gold.turns import ClothRandom

    _threads(cores)
    vector, agent = cellgames.make("cloth-of-gold-v0").vector(WORLDS), ClothRandom()
    env_ids, generator = torch.arange(WORLDS), torch.Generator().manual_seed(0)
    agent.start(vector.game, vector.state.current_player, env_ids)

    def play() -> int:
        before = vector.state.round.clone()
        vector.step(agent.act_on_state(vector.state, env_ids, generator), checked=False)
        return int(((vector.state.round != before) & (before > 0)).sum())

    for _ in range(350):  # until envs are in all phases, and the code is compiled
        play()
    return _measurement(name, WORLDS, "rounds", timed(play, seconds))


def turns(seconds: float, *, name: str, cores: int | None, **options: Any) -> Measurement:
    """Random agents turn by turn, as rollouts play; in games with options of the rules."""
    import cellgames
    from cellgames.agents.cloth_of_gold.turns import random_turns
    from cellgames.envs.cloth_of_gold.game import ClothOfGold
    from cellgames.envs.core import seeds
    from cellgames.envs.kernels import compiling

    _threads(cores)
    compiling.BREAK_EVEN = 0  # from the first call on
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
    return _measurement(name, WORLDS, "rounds", timed(play, seconds))


def aec(seconds: float, *, name: str) -> Measurement:
    """One game through PettingZoo's AEC interface, `last` and `step`, by turns of five random units.

    The actions that end a turn are left out, since a round's generations run in every other one.
    """
    from time import perf_counter

    from cellgames.envs import cloth_of_gold_v0

    env, random = cloth_of_gold_v0.env(), Random(0)
    moves, clock = 0, 0.0
    while clock < seconds:
        env.reset(seed=moves)
        placed = 0
        for _ in env.agent_iter():
            start = perf_counter()
            observation, _, terminated, truncated, _ = env.last()
            seen = perf_counter() - start
            if terminated or truncated:
                env.step(None)
                continue
            assert observation is not None
            legal = np.flatnonzero(observation["action_mask"])
            placed = 0 if placed == 5 else placed + 1
            action = int(legal[-1]) if not placed else int(legal[random.randrange(len(legal))])
            start = perf_counter()
            env.step(action)
            if placed:
                clock += seen + perf_counter() - start
                moves += 1
    return _measurement(name, 1, "moves", (moves, clock))


def _named(
    measure: Callable[..., Measurement], name: str, **options: object
) -> dict[str, Callable[[float], Measurement]]:
    return {name: partial(measure, name=name, **options)}


_ALONE: dict[str, dict[str, Any]] = {
    "terrain": {"terrain": True},
    "weather": {"terrain": True, "weather": True},
    "perks": {"perks": True},
    "borders": {"territory": "hull"},
    "wildlife": {"wildlife": (6, 2, 2)},
}
WILD: dict[str, dict[str, Any]] = _ALONE | {
    "all": {name: value for one in _ALONE.values() for name, value in one.items()}
}
"""The wild options that are measured, by what they are called."""

CLOTH: dict[str, Callable[[float], Measurement]] = {
    **_named(generations, "cloth_generations", cores=None),
    **_named(generations, "cloth_generations_one_core", cores=1),
    **_named(generations, "cloth_generations_neutral", cores=None, neutral=0.05),
    **_named(naive, "torch_slices"),
    **_named(ground, "cloth_ground", cores=None),
    **_named(ground, "cloth_ground_one_core", cores=1),
    **_named(ground, "cloth_masks", cores=None, bools=True),
    **_named(rounds, "cloth_random_units", cores=None),
    **_named(turns, "cloth_random_turns", cores=None),
    **{
        f"cloth_wild_{name}": partial(turns, name=f"cloth_wild_{name}", cores=None, **options)
        for name, options in WILD.items()
    },
    **_named(aec, "cloth_aec"),
}

if __name__ == "__main__":
    sys.exit(serve(CLOTH))
