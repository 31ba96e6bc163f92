"""The registry of games, the package's front door, and what importing it costs."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cellgames
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.registry import REGISTRY

ROOT = Path(__file__).resolve().parents[1]


def python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints."""
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---------------------------------------------------------------- making games


def test_the_list_holds_every_entry() -> None:
    assert cellgames.list() == list(REGISTRY)
    assert all(id == entry.id for id, entry in REGISTRY.items())


@pytest.mark.parametrize("id", REGISTRY)
def test_an_entry_makes_its_game(id: str) -> None:
    game = cellgames.make(id)
    assert isinstance(game, Game)
    assert game.info.id == game.id
    assert game.id in REGISTRY
    assert cellgames.make(id) == game
    assert hash(cellgames.make(id)) == hash(game)
    for name, value in REGISTRY[id].parameters.items():
        assert game.parameters[name] == value
    assert REGISTRY[id].summary
    assert "\n" not in REGISTRY[id].summary


@pytest.mark.parametrize("id", REGISTRY)
def test_every_game_has_a_preset_that_is_smaller(id: str) -> None:
    entry = REGISTRY[id]
    kin = [other for other in REGISTRY.values() if other.entry_point == entry.entry_point]
    assert len({cellgames.make(other.id).info.num_actions for other in kin}) > 1


def test_parameters_replace_those_of_the_entry() -> None:
    assert cellgames.make("torus-small-v0").parameters == {"size": 5}
    assert cellgames.make("torus-small-v0", size=3) == cellgames.make("torus-v0", size=3)


def test_a_game_can_be_pickled() -> None:
    for id in REGISTRY:
        game = cellgames.make(id)
        assert pickle.loads(pickle.dumps(game)) == game
        assert game.info
        assert pickle.loads(pickle.dumps(game)) == game


@pytest.mark.parametrize(
    ("id", "hint"),
    [
        ("torus", "; did you mean 'torus-v0'?"),
        ("Torus-v0", "; did you mean 'torus-v0'?"),
        ("torus_v0", "; did you mean 'torus-v0'?"),
        ("torus-smal-v0", "; did you mean 'torus-small-v0'?"),
        ("zzzzzz", ""),
        (7, ""),
    ],
)
def test_an_unknown_id_is_answered_with_the_known_ones(id: Any, hint: str) -> None:
    with pytest.raises(ValueError, match="unknown game") as caught:
        cellgames.make(id)
    assert str(caught.value) == f"unknown game {id!r}; known: {', '.join(REGISTRY)}{hint}"


def test_an_unknown_parameter_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown parameter 'sizes', 'n'; known: size$"):
        cellgames.make("torus-v0", sizes=3, n=2)


@pytest.mark.parametrize("size", [1, 17, 0, -3, 5.0, "5", True, None])
def test_a_bad_parameter_is_answered_with_what_was_expected(size: Any) -> None:
    with pytest.raises(ValueError, match=r"'size' must be a whole number from 2 to 16, got") as caught:
        cellgames.make("torus-v0", size=size)
    assert repr(size) in str(caught.value)


def test_nothing_is_imported_before_it_is_made() -> None:
    assert registry.spec("torus-v0").entry_point == "cellgames.envs.torus.game:Torus"
    code = "import sys, cellgames; cellgames.list(); print({'torch', 'cellgames.envs.torus'} & set(sys.modules))"
    assert python(code) == "set()\n"


# ---------------------------------------------------------------- the package


def test_the_wheel_has_every_folder_that_holds_python_files() -> None:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    setup = configuration["tool"]["setuptools"]
    found = {"cellgames"}
    for room in ("agents", "arena", "envs", "training"):
        for file in (ROOT / room).rglob("*.py"):
            found.add(".".join(("cellgames", *file.parent.relative_to(ROOT).parts)))
    assert sorted(setup["packages"]) == sorted(found)
    rooms = {name for name in found if name.count(".") == 1}
    assert setup["package-dir"] == {"cellgames": "src/cellgames"} | {r: r.split(".")[1] for r in rooms}
    for room in rooms:
        folder = room.split(".")[1]
        assert (ROOT / "src/cellgames" / folder).resolve() == ROOT / folder


_COST = """
import sys, time
start = time.perf_counter()
import cellgames
print(time.perf_counter() - start)
print({"torch", "numpy", "pettingzoo", "gymnasium", "PIL", "pygame"} & set(sys.modules))
"""


def test_importing_the_package_is_cheap_and_imports_nothing_heavy() -> None:
    spent, heavy = python(_COST).splitlines()
    assert heavy == "set()"
    assert float(spent) < 1.0  # it is some 20 ms; the bound only catches a heavy import by another name


# ---------------------------------------------------------------- PettingZoo's registry

_PETTINGZOO = """
import sys, warnings
warnings.filterwarnings("error", message="Overriding environment")
import {first}
import pettingzoo
print([id for id in pettingzoo.aec_registry if id.startswith("cellgames/")])
print([id for id in pettingzoo.parallel_registry if id.startswith("cellgames/")])
print([name for name in ("torch", "pygame", "PIL") if name in sys.modules])
"""


def test_importing_the_adapters_registers_every_game_without_torch() -> None:
    lines = python(_PETTINGZOO.format(first="cellgames.envs.adapters")).splitlines()
    parallel = [id for id in REGISTRY if cellgames.make(id).info.simultaneous]
    assert lines[0] == str([f"cellgames/{id}" for id in REGISTRY])
    assert lines[1] == str([f"cellgames/{id}" for id in parallel])
    assert lines[2] == "[]"


def test_importing_an_environment_registers_every_game_and_imports_nothing_graphical() -> None:
    lines = python(_PETTINGZOO.format(first="cellgames.envs.torus_v0")).splitlines()
    assert lines[0] == str([f"cellgames/{id}" for id in REGISTRY])
    assert lines[2] == "['torch']"


@pytest.mark.parametrize("id", REGISTRY)
def test_the_registry_knows_the_parameters_without_importing_the_game(id: str) -> None:
    assert dict(REGISTRY[id].defaults) == cellgames.make(id).parameters
