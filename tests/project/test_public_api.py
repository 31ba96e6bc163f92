"""The public API: names that import when they are first used, their docstrings, and types that checkers see."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from types import ModuleType
from typing import assert_type, get_overloads

import pytest
import torch
from processes import printed
from public_api import PACKAGES, names
from torch import Tensor

import cellgames
from cellgames.agents import Played, load, play
from cellgames.envs import Vector, seeds
from cellgames.envs.adapters import SeatVector
from cellgames.envs.torus import TorusState
from cellgames.plugins import SUITE


def test_the_packages_that_have_public_names_are_known() -> None:
    found = pkgutil.walk_packages(cellgames.__path__, "cellgames.")
    exporting = {m.name for m in found if m.ispkg and names(m.name)}
    assert exporting - {"cellgames.web.views", "cellgames.envs.core"} == set(PACKAGES) - {"cellgames"}
    assert set(names("cellgames.envs.core")) < set(names("cellgames.envs"))
    assert sum(len(names(package)) for package in PACKAGES) > 120


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_imports_and_is_no_module(package: str) -> None:
    module = importlib.import_module(package)
    folders = {found.name for found in pkgutil.iter_modules(module.__path__)}
    for name in names(package):
        assert not isinstance(getattr(module, name), ModuleType)
        assert name not in folders, f"{package}.{name} is a module, too, and would be one once that is imported"
    assert set(names(package)) <= set(dir(module))


def test_dir_lists_public_names_and_modules_only() -> None:
    public = {name for name in dir(cellgames) if not name.startswith("__")}
    modules = {found.name for found in pkgutil.iter_modules(cellgames.__path__) if not found.name.startswith("_")}
    assert public == {"InputError", "games", "make", "register", *modules}


def test_an_unknown_option_is_answered_with_the_nearest_and_all_known_ones() -> None:
    with pytest.raises(TypeError, match=r"RoundRobinOptions: .*'game'; known: games, seed, .*did you mean 'games'\?"):
        cellgames.arena.RoundRobinOptions(game=3)  # type: ignore[call-arg]


def test_the_public_api_needs_no_import_but_that_of_the_package() -> None:
    code = """
import sys, cellgames
listed = [cellgames.envs, cellgames.agents, cellgames.training, cellgames.arena, cellgames.envs.adapters]
assert "torch" not in sys.modules
assert cellgames.arena.round_robin is cellgames.arena.play.rated_runs.round_robin
assert cellgames.agents.play is cellgames.agents.play_loop.play
assert cellgames.envs.torus.Torus() == cellgames.make("torus-v0")
assert cellgames.envs.torus_v0.env().metadata
for module, name in (("agents", "nothing"), ("envs", "__wrapped__"), ("arena", "round_robins")):
    assert not hasattr(getattr(cellgames, module), name)
try:
    from cellgames.arena import nothing
except ImportError as error:
    print(error)
"""
    assert "cannot import name 'nothing' from 'cellgames.arena'" in printed(code)


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
