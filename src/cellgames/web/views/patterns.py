"""The patterns of Life that the page offers where any cells may be placed, by their usual names.

An object that moves or pulsates is offered in the phase with the fewest cells. Forms are those of the Life Lexicon.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from cellgames.envs.boards.orientations import parse_cells
from cellgames.envs.toroidal_cup.patterns.stamps import STAMPS, usual_name

_LIVE_LONG = (  # stamps of the Cup
    *("rpentomino", "piheptomino", "bheptomino", "cheptomino", "eheptomino"),
    *("rabbit", "multuminparvo", "switchengine"),
)

GROUPS = {
    "Still lifes": {
        "block": "oo/oo",
        "beehive": ".o/o.o/o.o/.o",
        "loaf": ".oo/o..o/.o.o/..o",
        "boat": ".oo/o.o/.o",
        "tub": ".o/o.o/.o",
        "ship": "oo/o.o/.oo",
        "pond": ".oo/o..o/o..o/.oo",
        "eater 1": "oo/.o/.o.o/..oo",
    },
    "Oscillators": {
        "blinker": "o/o/o",
        "toad": "o/oo/oo/.o",
        "beacon": "oo/o/...o/..oo",
        "clock": "..o/oo/..oo/.o",
        "figure eight": "....oo/..o.oo/.o/....o/oo.o/oo",
        "pentadecathlon": ".o/.o/o.o/.o/.o/.o/.o/o.o/.o/.o",
        "pulsar": "..ooo...ooo//o....o.o....o/o....o.o....o/o....o.o....o/..ooo...ooo/"
        "/..ooo...ooo/o....o.o....o/o....o.o....o/o....o.o....o//..ooo...ooo",
    },
    "Spaceships": {
        "glider": "ooo/..o/.o",
        "lightweight spaceship": "o.o/...o/...o/o..o/.ooo",
        "middleweight spaceship": "ooooo/o....o/o/.o...o/...o",
        "heavyweight spaceship": "oooooo/o.....o/o/.o....o/...oo",
    },
    "Methuselahs": {
        **{usual_name(stamp): "/".join(STAMPS[stamp]) for stamp in _LIVE_LONG},
        "acorn": ".o/...o/oo..ooo",
        "die hard": "......o/oo/.o...ooo",
    },
}
"""Patterns by kind and name, in the order in which the page offers them."""


@cache
def patterns() -> list[dict[str, Any]]:
    """Return the groups: `group`, and `patterns`, each with `name` and `cells`, pairs of row and column from 0 on."""
    return [
        {"group": group, "patterns": [{"name": name, "cells": parse_cells(text)} for name, text in drawn.items()]}
        for group, drawn in GROUPS.items()
    ]
