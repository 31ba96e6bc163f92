"""The registry of games, the package's front door, and what importing it costs."""

from __future__ import annotations

import dataclasses
import os
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import gymnasium
import pettingzoo
import pytest
from paths import ROOT
from processes import printed
from refusals import refused
from toy_games import Race

import cellgames
from cellgames.envs import Game, registry
from cellgames.envs.registry import REGISTRY
from cellgames.plugins import GamePlugin, Variant, resolve


@pytest.mark.parametrize("id", REGISTRY)
def test_an_entry_makes_its_game(id: str) -> None:
    game, entry = cellgames.make(id), REGISTRY[id]
    assert isinstance(game, Game)
    assert game.info.id == game.id
    assert game.id in REGISTRY
    assert pickle.loads(pickle.dumps(game)) == game
    assert dict(entry.defaults) == game.parameters  # known before the game is imported
    assert {**game.parameters, **entry.parameters} == game.parameters
    assert entry.summary
    assert "\n" not in entry.summary


@pytest.mark.parametrize(
    ("id", "hint"),
    [
        ("torus", "did you mean 'torus-v0'?"),
        ("Torus-v0", "did you mean 'torus-v0'?"),
        ("torus_v0", "did you mean 'torus-v0'?"),
        ("torus-smal-v0", "did you mean 'torus-small-v0'?"),
        ("zzzzzz", ""),
        (7, ""),
    ],
)
def test_an_unknown_id_is_answered_with_the_known_ones(id: Any, hint: str) -> None:
    with refused("game", repr(id)) as caught:
        cellgames.make(id)
    expected = f"one of {', '.join(REGISTRY)}, or a game of a module that CELLGAMES_GAMES names"
    assert (caught.value.expected, caught.value.cause) == (expected, hint)


PUBLIC = {"talk": "public"}
BAD: dict[str, list[dict[str, Any]]] = {
    "torus-v0": [{"size": size} for size in (1, 17, 0, -3, 5.0, "5", True, None)],
    "toroidal-cup-v0": [
        *({"rows": rows} for rows in (41, 40.0, 2, 514)),
        *({name: 0} for name in ("stride", "max_generations", "teams", "shapes")),
        *({"teams": 9}, {"pattern": "donutrandom"}, {"survivors": "die"}, {"tolerance": 0.0}, {"tolerance": 1.0}),
        {"rows": 16, "cols": 32, "pattern": "random"},  # from here on the board has no room for all shapes
        {"rows": 8, "cols": 16, "pattern": "randys"},
        {"rows": 16, "cols": 24, "shapes": 1, "pattern": "crabdonuts"},
        {"teams": 8, "cols": 100, "pattern": "crabdonuts"},
        {"stride": 40, "pattern": "donutpi"},
    ],
    "grid-adaptation-v0": [
        *({"size": size} for size in (4, 32, 15.0, True)),
        *({"players": players} for players in (1, 9, "8")),
        *({"rounds": 0}, {"rounds": 101}, {"first_tiles": 0}, {"first_tiles": 4}),
        *({name: number} for name, most in (("starting_garnets", 1001), ("reserves", 101)) for number in (-1, most)),
        *({"flip_rounds": rounds} for rounds in (4, (0,), (1.5,), ("4",))),
        *({"reward_scheme": scheme} for scheme in ("points", None)),
        *({"garnet_value": value} for value in ("0.1", float("nan"), float("inf"))),
    ],
    "grid-adaptation-talk-v0": [
        *(
            {**PUBLIC, name: value}
            for name, value in (("words", 0), ("talk_steps", 11), ("scramble", 1), ("mute", "no"))
        ),
        *({"words": 4, "talk": "none"}, {"talk": "loud"}, {**PUBLIC, "scramble": True, "mute": True}),
        *({**PUBLIC, "reward_sharing": share} for share in (1.5, "half")),
        {**PUBLIC, "players": 3, "reward_sharing": 0.5},
        *({**bad, "promises": "sequence"} for bad in ({"talk": "private"}, {**PUBLIC, "words": 7})),
        *({**PUBLIC, **bad} for bad in ({"promises": "ally"}, {"promises": True})),
    ],
    "cloth-of-gold-wild-v0": [
        *({"neutral_stance": "angry"}, {"terrain": 1}, {"territory": "hulls"}, {"buffer": 17}),
        *({"wildlife": animals} for animals in (3, (1, 2), (1, True, 0), (1, 21, 0))),
        *({"terrain": False, "weather": True}, {"perks": False, "combinations": True}),  # which need another option
        {"neutral_density": 0.0, "neutral_stance": "defensive"},
    ],
}


@pytest.mark.parametrize(("id", "parameters"), [(id, bad) for id, rows in BAD.items() for bad in rows])
def test_a_bad_parameter_is_answered_with_what_was_expected(id: str, parameters: dict[str, Any]) -> None:
    """The last one is at fault."""
    with refused([*parameters][-1]) as caught:
        cellgames.make(id, **parameters)
    assert caught.value.expected


def test_messages_about_a_preset_name_the_preset() -> None:
    for given, parameter in (({"size": 1}, "size"), ({"sizes": 3}, "parameter")):
        with refused(parameter) as caught:
            cellgames.make("torus-small-v0", **given)
        assert caught.value.where == "torus-small-v0"


def test_the_wheel_has_every_folder_that_holds_python_files() -> None:
    rooms = [ROOT / room for room in ("agents", "arena", "envs", "lab", "training")]
    assert all((ROOT / "src/cellgames" / room.name).resolve() == room for room in rooms)
    files = [file for room in (*rooms, ROOT / "src/cellgames") for file in room.rglob("*.py")]  # stops at the links
    assert all((file.parent / "__init__.py").is_file() for file in files)


_COST = """
import sys, time
start = time.process_time()  # on a busy machine others' work takes time, too
import cellgames
print(time.process_time() - start)
print({"torch", "PIL", "pygame", "matplotlib", "stable_baselines3"} & set(sys.modules))
"""


def test_importing_the_package_is_cheap_and_imports_nothing_heavy() -> None:
    spent, heavy = printed(_COST).splitlines()
    assert heavy == "set()"
    assert float(spent) < 1.0  # it is some 0.2 s; the bound only catches a heavy import by another name


_OTHERS = """
import sys, warnings
warnings.filterwarnings("error", message="Overriding environment")
{imports}
print([name for name in ("torch", "pygame", "PIL") if name in sys.modules])
import gymnasium, pettingzoo
for registry in (gymnasium.registry, pettingzoo.aec_registry, pettingzoo.parallel_registry):
    print([id for id in registry if id.startswith("cellgames/")])
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import gymnasium, pettingzoo, cellgames",
        "import cellgames; cellgames.envs.adapters.register('gymnasium')",
        "sys.argv[0] = 'bin/cellgames'; import cellgames; cellgames.envs.adapters.register()",
    ],
)
def test_other_libraries_know_every_game(imports: str) -> None:
    heavy, *found = printed(_OTHERS.format(imports=imports)).splitlines()
    every = str([f"cellgames/{id}" for id in REGISTRY])
    assert found == [every, every, str([f"cellgames/{id}" for id in REGISTRY if REGISTRY[id].plugin.simultaneous])]
    assert heavy == "[]"


_MODULE = """
from dataclasses import dataclass
from typing import ClassVar
from toy_games import Race
from cellgames.envs.registry import register


@dataclass(frozen=True)
class Sprint(Race):
    '''A race to a nearer goal.'''

    goal: int = 4
    id: ClassVar[str] = "sprint-v0"


register(Sprint)
register(Sprint, id="sprint-small-v0", summary="A shorter one", goal=3)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a module of games, in which interpreters are started."""
    (tmp_path / "my_games.py").write_text(_MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the registries as they were, afterwards, and no module of games."""
    monkeypatch.setenv("CELLGAMES_GAMES", "")
    with (
        patch.dict(REGISTRY),
        patch.dict(gymnasium.registry),
        patch.dict(pettingzoo.aec_registry),
        patch.dict(pettingzoo.parallel_registry),
    ):
        yield
    sys.modules.pop("my_games", None)


@pytest.mark.usefixtures("restored")
def test_a_module_in_front_of_an_id_is_imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Gymnasium's syntax; the game is then known everywhere, also to processes that are started later."""
    monkeypatch.syspath_prepend(folder)
    game = cellgames.make("my_games:sprint-small-v0", limit=5)
    assert game.parameters == {"goal": 3, "limit": 5}
    assert type(game).__module__ == "my_games"
    assert cellgames.make("my_games:sprint-v0") == cellgames.make("sprint-v0")
    assert os.environ["CELLGAMES_GAMES"] == "my_games"
    assert cellgames.games()[-2:] == ["sprint-v0", "sprint-small-v0"]
    assert REGISTRY["sprint-v0"].summary == "A race to a nearer goal"
    assert REGISTRY["sprint-small-v0"].defaults == {"goal": 3, "limit": 12}
    env: Any = pettingzoo.make("aec", "cellgames/sprint-small-v0", limit=5)
    env.reset(seed=1)
    assert (env.agents, env.unwrapped.game.goal) == (["hare", "tortoise"], 3)
    _, info = gymnasium.make("cellgames/sprint-v0").reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 1]
    for wrong, got, words in (
        ("no_such_module:sprint-v0", "", "importing 'no_such_module' failed with ModuleNotFoundError"),
        ("my_games:sprint", "'sprint'", ""),
        ("my_games:", "''", ""),
        ("./my_games.py:sprint-v0", "", "name the module as Python does: my_games:sprint-v0"),
    ):
        with refused(repr(wrong), got) as caught:
            cellgames.make(wrong)
        assert words in caught.value.cause


def test_games_of_packages_and_of_a_variable_are_known_from_the_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = folder / "my_games-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-games\nVersion: 1\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{registry.ENTRY_POINTS}]\nsprint = my_games\n", encoding="utf-8")
    (folder / "more_games.py").write_text(_MODULE.replace("sprint", "dash"), encoding="utf-8")
    monkeypatch.setenv("CELLGAMES_GAMES", "more_games, no_such_module")
    code = """
import sys, warnings
sys.argv[0] = "cellgames"  # whose import would warn
import cellgames
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    print({"sprint-v0", "dash-v0"} <= {*cellgames.games()}, cellgames.make("sprint-v0").info.id)
print(*[warning.message for warning in seen])
"""
    lines = printed(code).splitlines()
    assert lines[0] == "True sprint-v0"
    assert "the games of 'no_such_module' are missing: importing it failed with ModuleNotFoundError" in lines[1]


@pytest.mark.usefixtures("restored")
def test_games_are_refused_that_cannot_be_told_apart() -> None:
    from toy_games import Sealed

    registry.register(Race)
    registry.register(Race)  # a module that is imported again
    with refused("id", "'toy-race-v0'"):
        registry.register(GamePlugin(id="toy-race-v0", game="toy_games:Sealed", summary="another"))
    with refused("id", "'torus-v0'"):
        registry.register(Race, id="torus-v0")
    with refused("id", "'quick-v0'"):
        registry.register(Sealed, id="quick-v0")
    for wrong in ("Race-v0", "race", "race-v", "race v0", "-v0"):
        with refused("id", repr(wrong)):
            registry.register(Race, id=wrong)
    with refused("parameter", "'size'"):
        registry.register(Race, id="toy-race-small-v0", size=3)
    with refused("game", "dict"):
        registry.register({})  # type: ignore[arg-type]  # on purpose
    with refused("game", where="torus-v0"):
        registry.register(REGISTRY["torus-v0"].plugin, summary="mine")


@dataclass(frozen=True, repr=False)
class LongRace(Race):
    """A race with more parameters."""

    laps: tuple[int, ...] = (1,)
    added_parameters: ClassVar[frozenset[str]] = frozenset({"laps"})


@pytest.mark.usefixtures("restored")
def test_an_extension_is_made_where_its_parameters_are_of_use() -> None:
    longer = GamePlugin(id=Race.id, game=LongRace, variants={"toy-long-race-v0": Variant("", {"laps": (2,)})})
    registry.register(GamePlugin(game=Race, extension=longer))
    registry.register(Race, id="toy-two-laps-v0", laps=(2,))
    base, wider = registry.make(Race.id, laps=[1], goal=3), registry.make(Race.id, laps=(2,), goal=3)
    assert (base, wider) == (Race(goal=3), LongRace(goal=3, laps=(2,)))
    assert [registry.plugin_of(game).game for game in (base, wider)] == [Race, LongRace]
    assert registry.make(wider.id, **wider.parameters) == wider == registry.make("toy-two-laps-v0", goal=3)
    assert registry.make("toy-long-race-v0") == LongRace(laps=(2,))
    assert registry.make("toy-long-race-v0", laps=(1,)) == Race()
    with refused("parameter", "'size'"):
        registry.make(Race.id, size=3)


@pytest.mark.parametrize("plugin", [plugin for plugin in registry.plugins() if plugin.extension is not None])
def test_a_game_knows_nothing_of_its_extension(plugin: Any) -> None:
    base, wider = resolve(plugin.game), resolve(plugin.extension.game)
    usual = {field.name: field.default for field in dataclasses.fields(wider)}
    assert cellgames.make(plugin.id) == cellgames.make(plugin.id, **usual) == base()
    assert type(cellgames.make(plugin.id)) is base


@pytest.mark.usefixtures("folder")
def test_an_id_imports_nothing_that_it_names() -> None:
    """Ids come from records and files of weights, which may be anybody's."""
    for id in ("my_games:sprint-v0", "my_games.sprint-v0", "my_games"):
        with refused("game"):
            registry.make(id)
    assert "my_games" not in sys.modules
