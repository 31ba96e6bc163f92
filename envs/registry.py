"""The games of the suite, as data: adding one adds its folder and its lines here.

Games of other packages are added by `register`, when their module is imported: by a script; or before anything else,
where an installed package names the module as an entry point of the group `cellgames.games`, or the environment
variable `CELLGAMES_GAMES` does (several with commas between them). An id alone, such as one in a record, imports
nothing new.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import Game

__all__ = ["PLUGINS", "REGISTRY", "VARIABLE", "GameSpec", "load_plugins", "make", "on_register", "register", "spec"]

PLUGINS = "cellgames.games"
"""The group of entry points in which installed packages name modules that register games."""

VARIABLE = "CELLGAMES_GAMES"
"""The environment variable that names such modules, too."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-v[0-9]+")


@dataclass(frozen=True)
class GameSpec:
    """A name for a game with some of its parameters set.

    Attributes:
        id: `name-vN`; N moves only when the game behaves differently.
        entry_point: `package.module:Class`, imported when the game is made.
        summary: one line for lists.
        parameters: what differs from the class's defaults.
        defaults: every parameter with its value, so that lists need not import the game.
        simultaneous: whether all players act at once, known here without importing the game.
    """

    id: str
    entry_point: str
    summary: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    simultaneous: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)


_TORUS = "cellgames.envs.torus.game:Torus"
_TOROIDAL_CUP = "cellgames.envs.toroidal_cup.game:ToroidalCup"
_TOROIDAL_CUP_DEFAULTS = {
    "rows": 40,
    "cols": 280,
    "teams": 2,
    "pattern": "random",
    "stride": 4,
    "shapes": None,
    "survivors": "recolour",
    "tolerance": 1e-12,
    "max_generations": 10_000,
}
_TOROIDAL_CUP_SMALL = {"rows": 24, "cols": 48, "pattern": "randys", "shapes": 3, "max_generations": 1000}

_CLOTH_OF_GOLD = "cellgames.envs.cloth_of_gold.game:ClothOfGold"
_CLOTH_OF_GOLD_DEFAULTS = {
    "height": 100,
    "width": 100,
    "generations": 168,
    "max_units": 10,
    "max_rounds": 20,
    "radius": 8,
    "initial_placement": True,
    "first_verdict": 2,
    "neutral_births": False,
    "neutral_density": 0.0,
    "win_rule": "score",
    "shaping": 0.0,
}
_CLOTH_OF_GOLD_SMALL = {"height": 32, "width": 32, "generations": 24}

_GRID_ADAPTATION = "cellgames.envs.grid_adaptation.game:GridAdaptation"
_GRID_ADAPTATION_DEFAULTS = {
    "size": 15,
    "players": 8,
    "rounds": 8,
    "first_tiles": 3,
    "starting_garnets": 2,
    "reserves": 3,
    "flip_rounds": (4, 7),
    "reward_scheme": "score",
    "garnet_value": 0.1,
}
_GRID_ADAPTATION_SMALL = {"size": 9, "players": 4, "rounds": 6, "flip_rounds": (3, 5)}

REGISTRY: dict[str, GameSpec] = {
    spec.id: spec
    for spec in (
        GameSpec(
            "torus-v0",
            _TORUS,
            "Torus by Mark Steere: connect around a torus of octagons and squares",
            defaults={"size": 8},
        ),
        GameSpec(
            "torus-small-v0", _TORUS, "Torus, small enough to train on a laptop", {"size": 5}, defaults={"size": 5}
        ),
        GameSpec(
            "toroidal-cup-v0",
            _TOROIDAL_CUP,
            "The Toroidal Cup of golly.life: arrange shapes, then Life in the teams' colours decides",
            simultaneous=True,
            defaults=_TOROIDAL_CUP_DEFAULTS,
        ),
        GameSpec(
            "toroidal-cup-small-v0",
            _TOROIDAL_CUP,
            "The Toroidal Cup, small enough to train on a laptop",
            _TOROIDAL_CUP_SMALL,
            simultaneous=True,
            defaults={**_TOROIDAL_CUP_DEFAULTS, **_TOROIDAL_CUP_SMALL},
        ),
        GameSpec(
            "cloth-of-gold-v0",
            _CLOTH_OF_GOLD,
            "Cloth of Gold by Adam Murray: feed a Game of Life by hand, round by round",
            defaults=_CLOTH_OF_GOLD_DEFAULTS,
        ),
        GameSpec(
            "cloth-of-gold-small-v0",
            _CLOTH_OF_GOLD,
            "Cloth of Gold, small enough to train on a laptop",
            _CLOTH_OF_GOLD_SMALL,
            defaults={**_CLOTH_OF_GOLD_DEFAULTS, **_CLOTH_OF_GOLD_SMALL},
        ),
        GameSpec(
            "grid-adaptation-v0",
            _GRID_ADAPTATION,
            "Grid Adaptation by pseudonam: Life whose tiles carry the players' secret sequences",
            simultaneous=True,
            defaults=_GRID_ADAPTATION_DEFAULTS,
        ),
        GameSpec(
            "grid-adaptation-small-v0",
            _GRID_ADAPTATION,
            "Grid Adaptation, small enough to train on a laptop",
            _GRID_ADAPTATION_SMALL,
            simultaneous=True,
            defaults={**_GRID_ADAPTATION_DEFAULTS, **_GRID_ADAPTATION_SMALL},
        ),
    )
}


_classes: dict[str, type[Game]] = {}
"""Registered classes by id: those of scripts and notebooks have no entry point that always resolves."""

_listeners: list[Callable[[GameSpec], None]] = []


def register(game: type[Game] | GameSpec, *, id: str | None = None, summary: str = "", **parameters: Any) -> None:
    """Make a game of your own known to `make`, the command line and the registries of PettingZoo and Gymnasium.

    Args:
        game: a class; or a `GameSpec`, all data, with which lists import nothing of the game.
        id: `name-vN`, by default the class's; another one is a preset of the same game.
        summary: one line for lists, by default the first of the class's docstring.
        parameters: of the preset, where they differ from the class's defaults.

    Raises:
        ValueError: the id is malformed or another game's, or the class takes no such parameters.
    """
    if isinstance(game, GameSpec):
        if id is not None or summary or parameters:
            raise ValueError(f"{game.id}: a GameSpec says all by itself, got id, summary or parameters beside it")
        entry, kind = game, None
    else:
        entry, kind = _described(game, id, summary, parameters), game
    if _ID.fullmatch(entry.id) is None:
        raise ValueError(f"expected an id such as 'strip-v0', in small letters and with a version, got {entry.id!r}")
    if entry.id in REGISTRY and REGISTRY[entry.id].entry_point != entry.entry_point:
        raise ValueError(f"{entry.id!r} is taken by {REGISTRY[entry.id].entry_point}, got {entry.entry_point}")
    REGISTRY[entry.id] = entry
    _classes.pop(entry.id, None)
    if kind is not None:
        _classes[entry.id] = kind
    for listener in _listeners:
        listener(entry)


def on_register(listener: Callable[[GameSpec], None]) -> None:
    """Call `listener` with every game that is registered from now on; other libraries' registries follow so."""
    _listeners.append(listener)


def _described(kind: type[Game], id: str | None, summary: str, parameters: Mapping[str, Any]) -> GameSpec:
    """The entry of a class; the game is made once, so that what is wrong is seen here."""
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind) and hasattr(kind, "id")):
        raise ValueError(
            "expected a class on cellgames.envs.core.Game, a frozen dataclass with an id, or a GameSpec, got "
            f"{getattr(kind, '__name__', None) or type(kind).__name__}"
        )
    id = kind.id if id is None else id
    if id != kind.id and kind.id not in REGISTRY:
        raise ValueError(f"{id!r} is a preset of {kind.id!r}, by which records name the game: register that one first")
    made = _made(id, kind, parameters)
    return GameSpec(
        id,
        f"{kind.__module__}:{kind.__qualname__}",
        summary or (kind.__doc__ or made.info.title).strip().splitlines()[0].rstrip("."),
        dict(parameters),
        simultaneous=made.info.simultaneous,
        defaults=made.parameters,
    )


def spec(id: str) -> GameSpec:
    """The entry of `id`; a `ValueError` names the known ones."""
    if id not in REGISTRY:
        close = difflib.get_close_matches(str(id), REGISTRY, n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown game {id!r}; known: {', '.join(REGISTRY)}{hint}")
    return REGISTRY[id]


def make(id: str, **parameters: Any) -> Game:
    """See `cellgames.make`."""
    entry = spec(id)
    kind = _classes.get(entry.id) or resolve_name(entry.entry_point)
    return _made(entry.id, kind, {**entry.parameters, **parameters})


def _made(id: str, kind: Any, parameters: Mapping[str, Any]) -> Game:
    known = [f.name for f in dataclasses.fields(kind)]
    if unknown := [name for name in parameters if name not in known]:
        raise ValueError(f"{id}: unknown parameter {', '.join(map(repr, unknown))}; known: {', '.join(known)}")
    game: Game = kind(**parameters)
    return game


def load_plugins() -> None:
    """Import the modules that installed packages and `CELLGAMES_GAMES` name; done when this module is imported.

    One that fails warns: it must not stop those who want other games.
    """
    from importlib.metadata import entry_points

    named = [name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip()]
    if named and os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # as `python -m` would find them
    for module in [*(point.module for point in entry_points(group=PLUGINS)), *named]:
        try:
            importlib.import_module(module)
        except Exception as error:
            text = f"the games of {module!r} are missing: importing it failed with {type(error).__name__}: {error}"
            warnings.warn(text, stacklevel=2)


load_plugins()  # last, since what is imported here imports this module
