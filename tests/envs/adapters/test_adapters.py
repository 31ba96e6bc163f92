"""One suite for all adapters: the libraries' own checks, and seeds, positions, illegal actions, pictures, copies.

How a game runs move for move is in `test_adapter_play.py`."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from adapter_doors import ADAPTERS, Adapter, adapters, core_state, game_of, legal, outcome_of, play_on
from every_game import finished
from gymnasium.vector import SyncVectorEnv
from learner_play import lines_of, same, shown
from refusals import fails, refused
from toy_games import Race, Sealed, TwoPartRace

import cellgames
from cellgames.envs.adapters import AECGame, ParallelGame, SeatVectorEnv
from cellgames.envs.adapters.window import Window
from cellgames.envs.core import Game, IllegalActionError, chance, seeds
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.core.raster import to_rgb

TORUS: Game = cellgames.make("torus-v0", size=2)
REGISTERED: dict[str, Game] = {id: cellgames.make(id) for id in cellgames.games()}
FEW = {game.id: game for game in (cellgames.make("torus-small-v0"), Race(), TwoPartRace(), Sealed())}

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    if sys.modules.get("pygame"):
        sys.modules["pygame"].display.quit()


@adapters()
def test_the_librarys_own_checks_pass(adapter: Adapter, game: Game) -> None:
    adapter.check(game)


@adapters()
def test_a_seed_gives_its_games_and_those_that_follow(adapter: Adapter, game: Game) -> None:
    env, other = adapter.make(game), adapter.make(game)
    fresh = set()
    for one in (env, other):
        adapter.reset(one)
        fresh |= set(core_state(one).seed.tolist())
    assert adapter is ADAPTERS["torchrl"] or len(fresh) == 2 * adapter.num_envs  # random without a seed
    given = adapter.seeds(9)
    adapter.reset(env, seed=9)
    adapter.step(env, legal(env, 0))
    for one in (env, other):
        adapter.reset(one, seed=9)
    assert core_state(env).equal(core_state(other))
    if not adapter.learner:  # a learner's first turn may come later
        assert core_state(env).equal(game.init(given))
    for _ in range(2):
        adapter.step(env, legal(env, 1))
        following = chance.next_seed(core_state(env).seed)
        adapter.reset(env)
        if not adapter.learner:
            assert core_state(env).equal(game.init(following))


@adapters(lambda adapter: adapter not in (ADAPTERS["sb3"], ADAPTERS["torchrl"]), games=FEW)
@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7", True])
def test_a_bad_seed_is_refused(adapter: Adapter, game: Game, seed: Any) -> None:
    env = adapter.make(game)
    adapter.reset(env, seed=1)
    before = core_state(env)
    with pytest.raises((ValueError, gymnasium.error.Error)):
        adapter.reset(env, seed=[0, 0, seed] if isinstance(env, SeatVectorEnv) else seed)
    assert core_state(env).equal(before)


@adapters()
def test_a_reset_starts_from_a_position(adapter: Adapter, game: Game) -> None:
    line = lines_of(game)[0]
    mover = int(game.string_to_state(line).current_player)
    env = adapter.make(game, **({"seat": mover} if adapter.learner else {}))
    adapter.reset(env, options={"position": line})
    assert {*shown(game, core_state(env))} == {line}
    assert not core_state(env).rewards.any()
    before, over = core_state(env), game.state_to_string(finished(game, 1))
    for wrong in ("no such position", 7, over):
        with refused("position"):
            adapter.reset(env, options={"position": wrong})
        assert core_state(env).equal(before), "a refused position has changed the games"
    adapter.reset(env, options={})
    assert line not in shown(game, core_state(env))


@adapters(games=FEW)
def test_unknown_options_are_named(adapter: Adapter, game: Game) -> None:
    env = adapter.make(game)
    if adapter.learner or adapter is ADAPTERS["torchrl"]:
        with refused("option", "'postion'"):
            adapter.reset(env, options={"postion": "x"})
    else:  # PettingZoo's own test of environments passes an option that no game knows
        with pytest.warns(UserWarning, match="'postion'"):
            adapter.reset(env, options={"postion": "x"})


@pytest.mark.parametrize("name", ["gymnasium vector", "sb3", "torchrl"])
def test_every_env_may_have_a_position_of_its_own(name: str) -> None:
    adapter, start = ADAPTERS[name], TORUS.state_to_string(TORUS.init(seeds(0, 1)))
    lines = [line for line in lines_of(TORUS) if not int(TORUS.string_to_state(line).current_player)][:2]
    env, own = adapter.make(TORUS, **({"seat": 0} if adapter.learner else {})), [lines[1], None, lines[0]]
    each = [{} if line is None else {"position": line} for line in own]
    adapter.reset(env, options=each if name == "sb3" else {"position": own})
    assert shown(TORUS, core_state(env)) == [lines[1], start, lines[0]]
    if name != "sb3":
        with refused("position"):
            adapter.reset(env, options={"position": lines})


def with_a_fault(env: Any, number: int) -> Any:
    """Actions of which the first player's are illegal in one component; None if all is legal. And a legal one."""
    game = game_of(env)
    good = legal(env, number)
    mask = env.vector.action_mask[0] if hasattr(env, "vector") else game.legal_actions(core_state(env))[0]
    mask = mask.reshape(-1, game.info.num_actions)[0]
    for component, part in enumerate(mask.split(list(game.info.action_nvec))):
        if not part.all():
            wrong = good.clone()
            wrong.view(-1, len(game.info.action_nvec))[0, component] = part.int().argmin()
            return wrong, component, part
    return None


@adapters()
def test_an_illegal_action_does_what_the_adapter_says(adapter: Adapter, game: Game) -> None:
    env, policy = adapter.make(game), adapter.illegal[game.info.simultaneous]
    adapter.reset(env, seed=3)
    found, number = with_a_fault(env, 0), 0
    while found is None:
        number += 1
        adapter.step(env, legal(env, number))
        found = with_a_fault(env, number)
    (wrong, component, part), before = found, core_state(env).clone()
    if policy == "raise":
        with fails(IllegalActionError, where=game.id, env_id=0):
            adapter.step(env, wrong)
        assert core_state(env).equal(before)
        adapter.step(env, legal(env, number))
        return
    if policy == "replace":
        fair = adapter.make(game)
        adapter.reset(fair, seed=3)
        for turn in range(1, number + 1):
            adapter.step(fair, legal(fair, turn))
        replaced = wrong.clone()
        replaced.view(-1, len(game.info.action_nvec))[0, component] = game.fallback(component, part)
        result, expected = adapter.step(env, wrong), adapter.step(fair, replaced)
        assert core_state(env).equal(core_state(fair))
        assert result is None or ("instead" in str(result) and same(result[:-1], expected[:-1]))
        return
    worst = game.info.reward_range[0]
    if not adapter.learner:
        mover, owed = env.agent_selection, dict(env.unwrapped._cumulative_rewards)
        adapter.step(env, wrong)
        assert core_state(env).equal(before)
        assert env.rewards == {agent: worst if agent == mover else 0 for agent in env.possible_agents}
        assert all(env.terminations.values())
        for agent, _, reward, *_ in play_on(env):
            assert reward == (worst if agent == mover else owed[agent])
        return
    reward, ended, infos = outcome_of(adapter.step(env, wrong))
    assert (np.ravel(reward)[0], np.ravel(ended)[0]) == (worst, True)
    assert "the game is lost" in str(infos)


@adapters(games=FEW)
def test_a_number_outside_the_space_is_refused(adapter: Adapter, game: Game) -> None:
    for number in (-1, 10**6):
        env = adapter.make(game)
        adapter.reset(env, seed=3)
        before, wrong = core_state(env).clone(), legal(env, 0)
        wrong.view(-1)[-1] = number
        with fails(IllegalActionError, where=game.id, action=number):
            adapter.step(env, wrong)
        assert core_state(env).equal(before)


def test_every_illegal_choice_of_a_simultaneous_game_is_reported() -> None:
    env = ParallelGame(Sealed())
    env.reset(seed=3)
    env.step({"player_0": [1, 2], "player_1": [2, 2], "player_2": [4, 2]})
    # In round 1 guesses are open; cards 1 of player_0 and 2 of player_1 are spent.
    *_, infos = env.step({"player_0": [1, 0], "player_1": [2, 0], "player_2": np.array([0, 1])})
    told = {agent: info.get("illegal_action", "").splitlines() for agent, info in infos.items()}
    assert [len(lines) for lines in told.values()] == [1, 1, 0]
    assert [line.rpartition("; ")[2] for lines in told.values() for line in lines] == ["played 4 instead"] * 2


@adapters(lambda adapter: adapter.modes)
def test_pictures_and_text_are_those_of_the_core(adapter: Adapter, game: Game) -> None:
    texts: dict[str, Callable[[Any], Any]] = {"rgb_array": lambda state: to_rgb(game.draw(state)), "ansi": game.text}
    for mode, show in texts.items():
        if mode not in adapter.modes:
            continue
        env = adapter.make(game, mode)
        adapter.reset(env, seed=2)
        adapter.step(env, legal(env, 1))
        state, got = core_state(env), env.render()
        if adapter.num_envs > 1:
            got = env.get_images() if hasattr(env, "get_images") else got
            assert all(same(one, show(state[i])) for i, one in enumerate(got))
        else:
            assert same(got, show(state))
            assert getattr(env, "unwrapped", env)._repr_html_() == to_svg(game.draw(state))
    silent = adapter.make(game)
    adapter.reset(silent, seed=2)
    if adapter is not ADAPTERS["sb3"]:
        with pytest.warns(UserWarning, match="without specifying any render mode"):
            assert silent.render() is None
    for mode in {"svg", "human"} - set(adapter.modes):
        with refused("render_mode", repr(mode)):
            adapter.make(game, mode)


@adapters(lambda adapter: "human" in adapter.modes, games=FEW)
def test_a_window_follows_resets_and_steps_until_it_is_closed(
    adapter: Adapter, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    pygame = pytest.importorskip("pygame")
    shown: list[Any] = []
    show = Window.show

    def noting(self: Window, image: Any, frames_per_second: float) -> bool:
        shown.append(image)
        return show(self, image, frames_per_second)

    monkeypatch.setattr(Window, "show", noting)
    env = adapter.make(game, "human")
    assert not pygame.display.get_init()
    adapter.reset(env, seed=2)
    adapter.step(env, legal(env, 0))
    assert len(shown) == 2
    assert env.render() is None
    assert len(shown) == 3
    screen = np.swapaxes(pygame.surfarray.array3d(pygame.display.get_surface()), 0, 1)
    assert np.array_equal(screen, shown[-1])
    if not adapter.learner:
        adapter.step(copy.deepcopy(env), legal(env, 0))
        assert len(shown) == 3  # a copy that searches does not flicker in the window
    env.close()
    env.close()
    assert not pygame.display.get_init()
    env.render()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    adapter.step(env, legal(env, 0))
    assert not pygame.display.get_init()  # the person has closed it
    adapter.step(env, legal(env, 0)) if env.unwrapped.core_state().done.sum() == 0 else None
    assert len(shown) == 5


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["deepcopy", "pickle"]
)
@adapters(lambda adapter: not adapter.learner and adapter.num_envs == 1)
def test_a_copy_goes_on_from_where_the_game_is(adapter: Adapter, game: Game, duplicate: Callable[[Any], Any]) -> None:
    env = adapter.make(game)
    adapter.reset(env, seed=8)
    adapter.step(env, legal(env, 2))
    before, twin, witness = core_state(env), duplicate(env), duplicate(env)
    actions = legal(env, 3)
    adapter.step(twin, actions)
    assert not core_state(twin).equal(before)
    for one in (env, witness):
        assert core_state(one).equal(before)  # not moved by its twin
        adapter.step(one, actions)
        assert core_state(one).equal(core_state(twin))
    if adapter is not ADAPTERS["parallel"]:
        while not core_state(env).done.all():
            adapter.step(env, legal(env, 1))
        env.step(None)  # between the last steps rewards are still owed
        assert same(play_on(duplicate(env)), play_on(env))
    for one in (env, twin):
        adapter.reset(one)  # the seeds that follow are copied too
    assert core_state(env).equal(core_state(twin))


def test_a_game_of_the_other_kind_is_refused() -> None:
    with refused("game", where=Sealed.id):
        AECGame(Sealed())
    with refused("game", where=Race.id):
        ParallelGame(Race())


@pytest.mark.parametrize("id", REGISTERED)
def test_every_game_has_its_module_and_stands_in_the_registries(id: str) -> None:
    game, name = REGISTERED[id], f"cellgames/{id}"
    module = importlib.import_module(f"cellgames.envs.{game.id.replace('-', '_')}")
    env = pettingzoo.make("aec", name, render_mode="ansi")
    made = [module.env(**game.parameters), module.raw_env(**game.parameters), env]
    if game.info.simultaneous:
        made += [module.parallel_env(**game.parameters), pettingzoo.make("parallel", name)]
    assert all(game_of(one) == game for one in made)
    assert env.render_mode == "ansi"  # type: ignore[attr-defined]  # wrappers hand it on
    assert hasattr(module, "parallel_env") == (name in pettingzoo.parallel_registry) == game.info.simultaneous
    spec = pettingzoo.spec("aec", name)
    assert isinstance(spec.entry_point, str)
    for entry in (spec, gymnasium.spec(name)):
        assert pickle.loads(pickle.dumps(entry)) == entry


def test_pettingzoos_registry_takes_parameters_and_finds_the_newest_version() -> None:
    env = pettingzoo.make("aec", "cellgames/torus", size=3)
    assert game_of(env) == cellgames.make("torus-v0", size=3)
    with refused("parameter", "'max_cycles'"):
        pettingzoo.make("aec", "cellgames/torus-v0", max_cycles=7)


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
    with refused("parameter", "'sizes'"):
        gymnasium.make("cellgames/torus-v0", sizes=3)
