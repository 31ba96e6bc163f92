"""Types that editors and type checkers see. `assert_type` is checked by mypy (`make types`); the rest here as well."""

from __future__ import annotations

import ast
from typing import Any, assert_type, get_overloads

import torch
from torch import Tensor

import cellgames
from cellgames.agents import Played, load, play
from cellgames.envs import Game, Vector, seeds
from cellgames.envs.adapters import SeatVector
from cellgames.envs.cloth_of_gold import ClothOfGold
from cellgames.envs.grid_adaptation import GridAdaptation
from cellgames.envs.toroidal_cup import ToroidalCup
from cellgames.envs.torus import Torus, TorusState
from cellgames.plugins import SUITE


def test_make_has_an_overload_for_every_game_of_the_suite() -> None:
    """The registry is the source: ids and classes of the overloads are those of the plugins, in their order."""
    *overloads, other = get_overloads(cellgames.make)
    literal = [(function.__annotations__["id"], function.__annotations__["return"]) for function in overloads]
    found = [(ast.literal_eval(ids.removeprefix("Literal")), kind) for ids, kind in literal]
    expected = [([plugin.id, *plugin.variants], plugin) for plugin in SUITE]
    for place, (_, plugin) in reversed([*enumerate(expected)]):
        if plugin.extension is not None:
            expected.insert(place + 1, ([*plugin.extension.variants], plugin.extension))
    assert found == [(ids, plugin.game.rpartition(":")[2]) for ids, plugin in expected]
    assert other.__annotations__ == {"id": "str", "parameters": "Any", "return": "Game"}


def test_ids_tell_the_class_of_the_game() -> None:
    assert type(assert_type(cellgames.make("torus-v0", size=3), Torus)) is Torus
    assert type(assert_type(cellgames.make("cloth-of-gold-small-v0"), ClothOfGold)) is ClothOfGold
    assert type(assert_type(cellgames.make("grid-adaptation-v0"), GridAdaptation)) is GridAdaptation
    assert type(assert_type(cellgames.make("toroidal-cup-small-v0"), ToroidalCup)) is ToroidalCup
    name: str = "torus-v0"
    assert assert_type(cellgames.make(name), Game[Any]).id == name


def test_states_have_their_type_wherever_the_game_goes() -> None:
    game = cellgames.make("torus-small-v0", size=2)
    state = assert_type(game.init(seeds(0, 2)), TorusState)
    assert_type(game.step(state, torch.zeros(2, dtype=torch.int64)), TorusState)
    vector = assert_type(game.vector(2), Vector[TorusState])
    assert type(assert_type(vector.state, TorusState)) is TorusState
    seats = assert_type(SeatVector(game, 2), SeatVector[TorusState])
    assert_type(seats.state, TorusState)
    while (ended := seats.step(seats.action_mask.int().argmax(1)).ended) is None:
        pass
    assert type(assert_type(ended.state, TorusState)) is TorusState
    agents, generators = [load("random")], [torch.Generator()]
    played = play(game, agents, torch.zeros(2, 2, dtype=torch.int64), seeds(0, 2), generators)
    assert type(assert_type(played, Played[TorusState]).state) is TorusState
    assert_type(played.state.codes, Tensor)
