"""The ways to get an environment: modules, PettingZoo's registry."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import gymnasium
import pettingzoo
import pytest
from gymnasium.vector import SyncVectorEnv
from pettingzoo_play import REGISTERED, play_on
from refusals import refused
from toy_games import Sealed

import cellgames
from cellgames.envs import registry
from cellgames.envs.adapters import SeatVectorEnv
from cellgames.envs.adapters.pettingzoo_aec import make_aec
from cellgames.envs.adapters.pettingzoo_parallel import make_parallel


def game_of(env: Any) -> Any:
    return env.unwrapped.game


@pytest.mark.parametrize("id", REGISTERED)
def test_every_game_has_its_module(id: str) -> None:
    game = REGISTERED[id]
    module = importlib.import_module(f"cellgames.envs.{game.id.replace('-', '_')}")
    env = module.env(**game.parameters)
    assert game_of(env) == game
    assert game_of(module.raw_env(**game.parameters)) == game
    assert hasattr(module, "parallel_env") == game.info.simultaneous


@pytest.mark.parametrize("id", REGISTERED)
def test_pettingzoos_registry_makes_every_game(id: str) -> None:
    env = pettingzoo.make("aec", f"cellgames/{id}", render_mode="ansi")
    assert game_of(env) == REGISTERED[id]
    assert env.render_mode == "ansi"  # type: ignore[attr-defined]  # wrappers hand it on
    spec = pettingzoo.spec("aec", f"cellgames/{id}")
    assert isinstance(spec.entry_point, str)
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert (f"cellgames/{id}" in pettingzoo.parallel_registry) == REGISTERED[id].info.simultaneous


def test_pettingzoos_registry_takes_parameters_and_finds_the_newest_version() -> None:
    env = pettingzoo.make("aec", "cellgames/torus", size=3)
    assert game_of(env) == cellgames.make("torus-v0", size=3)
    with refused("parameter", "'max_cycles'"):
        pettingzoo.make("aec", "cellgames/torus-v0", max_cycles=7)


def test_simultaneous_games_are_made_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = registry.GamePlugin(id="toy-sealed-v0", game="toy_games:Sealed")
    toy = registry.GameSpec("toy-sealed-v0", plugin, "a toy", {"rounds": 2})
    monkeypatch.setitem(registry.REGISTRY, toy.id, toy)
    parallel = make_parallel(id="toy-sealed-v0", cards=3)
    assert parallel.game == Sealed(cards=3, rounds=2)
    env = make_aec(id="toy-sealed-v0")
    assert game_of(env) == Sealed(rounds=2)
    env.reset(seed=0)
    play_on(env)
    assert not env.agents


def test_gymnasiums_registry_takes_parameters_and_opponents() -> None:
    env: Any = gymnasium.make("cellgames:cellgames/torus-v0", size=3, seat="black", opponents="greedy")
    assert game_of(env) == cellgames.make("torus-v0", size=3)
    env.reset(seed=1)
    assert int(env.unwrapped.vector.player[0]) == 0
    many: Any = gymnasium.make_vec("cellgames/torus-v0", num_envs=3, size=3, seat="white", opponents="greedy")
    assert isinstance(many, SeatVectorEnv)
    assert many.vector.player.tolist() == [1, 1, 1]
    for vector in (env.unwrapped.vector, many.vector):
        assert getattr(vector.opponents[0], "name", None) == "greedy"
    # `make_vec` hands the arguments of the specification to `make`, which has an argument `id` of its own.
    single = gymnasium.make_vec("cellgames/torus-v0", num_envs=2, vectorization_mode="sync", size=3)
    assert isinstance(single, SyncVectorEnv)
    for id in REGISTERED:
        spec = gymnasium.spec(f"cellgames/{id}")
        assert pickle.loads(pickle.dumps(spec)) == spec
    with refused("parameter", "'sizes'"):
        gymnasium.make("cellgames/torus-v0", sizes=3)
