"""Files of champions: arrangements for the Toroidal Cup that an evolution found, as small JSON.

    {
      "champion": 1,
      "game": "toroidal-cup-v0",
      "parameters": {"rows": 40, "cols": 280, ...},
      "designs": [
        {"pattern": "randys", "shapes": 8, "weight": 1.0, "placements": {"rpentomino": "r6c10/3 r10c22/0 ..."}}
      ]
    }

A design has a placement for each of its shapes, in the order in which they are placed, and for each stamp that the
shape may be. Importing this imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellgames.agents.networks.champion_data import check_weight, read_champion_data
from cellgames.envs.toroidal_cup.notation import string_to_placement
from cellgames.utils.errors import InputError, shown

CHAMPIONS = Path(__file__).parent / "champions"
"""The files that come with the package."""

_MOST_SHAPES = 1000

Placement = tuple[int, int, int]


@dataclass(frozen=True)
class CupDesign:
    """An arrangement for one pattern and number of shapes.

    Attributes:
        pattern: pattern whose shapes it places.
        shapes: number of shapes of a team.
        weight: relative frequency of its play, beside other designs for the same task; above 0.
        placements: row and column of the centre in the band and orientation, by stamp and in order of the shapes.
    """

    pattern: str
    shapes: int
    weight: float
    placements: Mapping[str, Sequence[Placement]]


@dataclass(frozen=True)
class ChampionFile:
    """The designs of a champion, and the game for which they were made.

    Attributes:
        game: id.
        parameters: parameters of the game.
        designs: at least one.
    """

    game: str
    parameters: Mapping[str, Any]
    designs: tuple[CupDesign, ...]


def read_champion(path: Path) -> ChampionFile:
    """Return the designs of a file.

    Raises:
        ValueError: no such file, or no champion's; the message names what is wrong.
    """
    game, parameters, designs = read_champion_data(path)
    try:
        return ChampionFile(
            game, parameters, tuple(_design(path, number, one) for number, one in enumerate(designs, 1))
        )
    except (KeyError, TypeError, AttributeError):
        raise InputError(path, "a game, parameters and a list of designs", cause="is the file damaged?") from None


def _design(path: Path, number: int, data: Mapping[str, Any]) -> CupDesign:
    pattern, shapes, weight = data["pattern"], data["shapes"], data["weight"]
    where = f"{path}, design {number}"
    if not isinstance(pattern, str) or type(shapes) is not int or not 1 <= shapes <= _MOST_SHAPES:
        raise InputError(where, "a pattern and a number of shapes", f"{shown(pattern)}, {shown(shapes)}")
    weight = check_weight(where, weight)
    placements = {
        stamp: [string_to_placement(word) for word in text.split()] for stamp, text in data["placements"].items()
    }
    if not placements or any(len(every) != shapes or None in every for every in placements.values()):
        raise InputError(where, f"{shapes} placements such as r6c10/3 for each stamp")
    return CupDesign(pattern, shapes, weight, {s: tuple(e for e in every if e) for s, every in placements.items()})


def shipped_champion(game: str, parameters: Mapping[str, Any]) -> Path:
    """Return the file of the package that suits a game best: made on the same board, else the one of the real board.

    Raises:
        ValueError: the package has none for this game.
    """
    found = {path: read_champion(path) for path in sorted(CHAMPIONS.glob("*.json"))}
    ours = {path: champion for path, champion in found.items() if champion.game == game}
    if not ours:
        raise ValueError(f"the package has no champion for {game}; `cellgames evolve {game}` makes one")
    same = ("rows", "cols", "teams", "stride")

    def fit(path: Path) -> tuple[int, int]:
        champion = ours[path]
        alike = sum(champion.parameters.get(name) == parameters.get(name) for name in same)
        return alike, len({design.pattern for design in champion.designs})

    return max(ours, key=fit)
