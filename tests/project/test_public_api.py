"""The public API: every package that exports names; these import when they are first used, and have docstrings."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest
from processes import python
from public_api import PACKAGES, names

import cellgames


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


@pytest.mark.parametrize("package", PACKAGES)
def test_public_functions_and_classes_have_docstrings(package: str) -> None:
    module = importlib.import_module(package)
    assert inspect.getdoc(module)
    for name in names(package):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{package}.{name}"


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
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert "cannot import name 'nothing' from 'cellgames.arena'" in done.stdout
