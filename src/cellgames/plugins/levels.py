"""Opponents as levels: for each preset, agents that are clearly apart, with measured ratings and seconds a move.

`python -m benchmarks.agents.levels` measures them and writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("levels.json")

NAMES: Mapping[int, tuple[str, ...]] = {
    1: ("Beginner",),
    2: ("Beginner", "Expert"),
    3: ("Beginner", "Medium", "Expert"),
    4: ("Beginner", "Easy", "Hard", "Expert"),
    5: ("Beginner", "Easy", "Medium", "Hard", "Expert"),
}
"""The names of levels, weakest first, by how many there are."""


@dataclass(frozen=True)
class Level:
    """An opponent of a certain strength.

    Attributes:
        name: one of `NAMES`.
        agent: its spec.
        elo: its rating, with that of `random` as 0; None where it is not measured.
        seconds: the mean seconds of a move; None where it is not measured.
    """

    name: str
    agent: str
    elo: int | None
    seconds: float | None


@cache
def _measured() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["presets"]
    return found


def levels(id: str, game: str, parameters: Mapping[str, Any]) -> tuple[Level, ...]:
    """Return the levels of a game, weakest first; none if no preset of the game is measured.

    Args:
        id: The preset that is played. One without levels of its own has those of the game's measured preset, without
            numbers.
        game: The game's own id.
        parameters: All parameters; with other than the measured ones, the numbers are left out.
    """
    stem, _, version = game.rpartition("-v")
    key = id if id in _measured() else f"{stem}-small-v{version}"
    found = _measured().get(key)
    if found is None:
        return ()
    same = dict(parameters) == found["parameters"]
    measured = [(spec, found["agents"][spec]) for spec in found["levels"]]
    return tuple(
        Level(name, spec, *((one["elo"], one["seconds"]) if same else (None, None)))
        for name, (spec, one) in zip(NAMES[len(measured)], measured, strict=True)
    )
