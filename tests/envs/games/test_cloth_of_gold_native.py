"""Native code of Cloth of Gold against the rules in torch, in every bit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from typing import Any

import pytest
import torch
from native_code import native_library
from torch import Tensor

import cellgames
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.cloth_of_gold import simulation
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native

BOARDS = ((3, 3), (3, 64), (12, 63), (17, 65), (6, 105), (4, 1600))


def worlds(grid: Grid, count: int, neutrals: bool, seed: int = 0) -> Tensor:
    """Worlds of random cells."""
    lots = torch.rand((count, grid.rows, grid.cols), generator=torch.Generator().manual_seed(seed))
    upto = (0.12, 0.24, 0.4 if neutrals else 0.24)
    a, b, neutral = lots < upto[0], (lots >= upto[0]) & (lots < upto[1]), (lots >= upto[1]) & (lots < upto[2])
    return grid.pack(torch.stack([a, b, neutral, lots > 0.93], 1))


def both(*arguments: object) -> tuple[Tensor, Tensor]:
    """Return the same worlds after native and after torch code."""
    native_library()
    native = simulation.advance(*arguments)  # type: ignore[arg-type]
    with without_native():
        return native, simulation.advance(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "cols"), BOARDS)
@pytest.mark.parametrize("neutral_rules", [None, 0, 1, 2, 3, 6, 7])
def test_generations_are_the_same(rows: int, cols: int, neutral_rules: int | None) -> None:
    grid = Grid(rows, cols, wrap=False)
    for count in (0, 1, 8, 11):
        planes = worlds(grid, count, neutral_rules is not None)
        for generations in (0, 1, 7, 30):
            native, expected = both(grid, planes, generations, neutral_rules or 0)
            assert torch.equal(native, expected), (count, generations)


@pytest.mark.parametrize("generations", [23, 24, 100])
@pytest.mark.parametrize(("rows", "cols", "count"), [(16, 20, 129), (12, 90, 30)])
def test_worlds_that_repeat_are_those_played_to_the_end(rows: int, cols: int, count: int, generations: int) -> None:
    """Worlds settle at different times, so that others take their places."""
    native_library()
    grid = Grid(rows, cols, wrap=False)
    planes = worlds(grid, count, True)
    expected = simulation.advance(grid, planes, generations)
    assert torch.equal(simulation.simulate(grid, planes, generations), expected)


@contextmanager
def threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_threads_and_strides_change_nothing(number: int) -> None:
    grid = Grid(30, 70, wrap=False)
    planes = worlds(grid, 41, True)[..., ::2]
    with threads(number):
        native, expected = both(grid, planes, 24, 0)
        settled = simulation.simulate(grid, planes, 24)
    assert torch.equal(native, expected)
    assert torch.equal(settled, expected)
    assert not native.is_set_to(planes)


def make(**parameters: Any) -> ClothOfGold:
    game = cellgames.make("cloth-of-gold-v0", **parameters)
    assert isinstance(game, ClothOfGold)
    return game


GAMES: dict[str, dict[str, Any]] = {
    "small": {"height": 8, "width": 8, "generations": 3, "radius": 3, "max_units": 3},
    "neutral cells": {
        **{"height": 9, "width": 63, "generations": 26, "radius": 4, "max_units": 4},
        **{"neutral_density": 0.1, "neutral_births": True, "initial_placement": False},
        "neutral_stance": "aggressive",
    },
    "two words": {"height": 12, "width": 64, "generations": 25, "radius": 8, "max_units": 2, "win_rule": "extinction"},
    "three words": {"height": 8, "width": 130, "generations": 2, "radius": 32, "max_units": 5},
}

STEPS: dict[str, dict[str, Any]] = {
    **{name: options | {"max_rounds": 2} for name, options in GAMES.items()},
    "shaping": GAMES["small"] | {"shaping": 0.37, "first_verdict": 1},
    "extinction": GAMES["small"] | {"win_rule": "extinction", "neutral_density": 0.2, "max_rounds": 4},
}

WILD: dict[str, dict[str, Any]] = {
    "hulls": GAMES["small"] | {"territory": "hull", "max_rounds": 3},
    "terrain": GAMES["small"] | {"terrain": True, "weather": True, "max_rounds": 4},
    "perks": {"height": 10, "width": 70, "generations": 4, "perks": True, "radius": 5, "max_rounds": 6},
    "all": {
        **{"height": 12, "width": 16, "generations": 8, "terrain": True, "weather": True, "perks": True},
        **{"territory": "hull", "wildlife": (2, 1, 1), "combinations": True, "max_rounds": 6, "max_units": 6},
    },
}


def some_ends(legal: Tensor, game: ClothOfGold, chance: torch.Generator) -> Tensor:
    """Random legal actions, a third of which end the turn where that may be."""
    weights = legal.float() / game.cells
    weights[:, game.end_turn] *= game.cells / 2
    return torch.multinomial(weights, 1, generator=chance).squeeze(1)


@pytest.mark.parametrize(
    ("name", "number"), [*((name, n) for name in STEPS for n in (1, 3)), *((name, 3) for name in WILD)]
)
def test_vectors_play_the_same_games(name: str, number: int) -> None:
    """Steps with new games, masks and observations, of random and of given actions."""
    native_library()
    game = ClothOfGoldWild(**WILD[name]) if name in WILD else make(**STEPS[name])
    lots, chance = [torch.Generator().manual_seed(2) for _ in range(2)], torch.Generator()
    vectors = game.vector(37, observe=torch.float32), game.vector(37, compile="never", observe=torch.int16)
    ended = 0
    for turn in range(90):
        given = some_ends(vectors[0].legal_actions, game, chance) if turn % 3 else None
        steps = []
        for vector, lot in zip(vectors, lots, strict=True):
            with threads(number), nullcontext() if vector is vectors[0] else without_native():
                steps.append(vector.step_random(lot) if given is None else vector.step(given))
        with without_native():
            seen, mask = vectors[1].observation, vectors[1].legal_actions
        for one, two in ((*steps,), (vectors[0].state, vectors[1].state)):
            for field in fields(one):
                a, b = getattr(one, field.name), getattr(two, field.name)
                assert a.dtype == b.dtype, (turn, field.name)
                assert torch.equal(a, b), (turn, field.name)
        assert torch.equal(vectors[0].legal_actions, mask), turn
        assert torch.equal(vectors[0].observation, seen.float()), turn
        ended += int(steps[0].done.sum())
    assert [vector.backend for vector in vectors] == ["native", "eager"]
    assert ended > 0


def test_an_unchecked_action_off_the_board_writes_nowhere() -> None:
    native_library()
    game = make(**GAMES["small"])
    vector = game.vector(3)
    vector.step(torch.tensor([1 << 40, 7, -(1 << 31)]), checked=False)
    assert vector.state.units.count_nonzero() == 1


def test_whole_turns_of_many_small_games_are_the_same() -> None:
    native_library()
    game = make(**GAMES["small"])
    state, chance = game.init(seeds(1, 4097)), torch.Generator().manual_seed(1)
    for _ in range(5):
        cells = torch.multinomial(game.legal_actions(state)[:, :-1].float() + 1e-9, 3, generator=chance)
        cells[:, 2] = -1
        after = game.play_turn(state, cells)
        with without_native():
            assert after.equal(game.play_turn(state, cells))
        state = after
