"""The games of the suite, as data: adding one adds its folder and its lines here."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core import Game

__all__ = ["REGISTRY", "GameSpec", "make", "spec"]


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


def spec(id: str) -> GameSpec:
    """The entry of `id`; a `ValueError` names the known ones."""
    if id not in REGISTRY:
        close = difflib.get_close_matches(str(id), REGISTRY, n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown game {id!r}; known: {', '.join(REGISTRY)}{hint}")
    return REGISTRY[id]


def make(id: str, **parameters: Any) -> Game[Any]:
    """See `cellgames.make`."""
    entry = spec(id)
    kind = resolve_name(entry.entry_point)
    known = [f.name for f in dataclasses.fields(kind)]
    if unknown := [name for name in parameters if name not in known]:
        raise ValueError(f"{id}: unknown parameter {', '.join(map(repr, unknown))}; known: {', '.join(known)}")
    game: Game[Any] = kind(**{**entry.parameters, **parameters})
    return game
