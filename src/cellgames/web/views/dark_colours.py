"""Colours of boards on a dark page, by the names of the light ones in the views' palettes.

A view's layout has them as `dark`; parts without an entry there have the same colour on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cellgames.envs.core.drawing import mix

SEATS = ("#466ce1", "#f25c00", "#44d58d", "#c15e9e", "#b5e8ff", "#f5c23e", "#b6b14d", "#cfd7cc")
"""Colours of teams and players by seat, as far apart in all colour vision as can be at 3.5 : 1 on `GROUND`."""

GROUND = "#1f1c19"
"""The colour of empty cells."""

_INK, _PALE = "#ece6da", "#8f8678"
_UNITS = ("#6db3f2", "#f5a13c")  # a's and b's

STONES: dict[str, Any] = {
    "fill": ("#7d6a48", "#131417", "#f4f1ea"),
    "square": "#735f3f",
    "edge": ("#4d4029", "#8b919b", "#3d382f"),
    "side": ("#a3906c", "#131417", "#f4f1ea"),
    "path": "#ff8c33",
    "paper": "#1b1916",
    "ink": "#d8cfc0",
    "faded": "#26221d",
}
"""Colours of Torus, Hex and Y: darker wood, with stones as they are."""

CLOTH: dict[str, Any] = {
    "units": _UNITS,
    "ground": ("#1d3550", "#46330f", "#46330f"),
    "edge": (mix(_UNITS[0], GROUND, 0.25), mix(_UNITS[1], GROUND, 0.15)),
    "hatch": mix(_UNITS[0], GROUND, 0.5),
    "killed": "#f4efe6",
    "neutral": "#a5a5a5",
    "ring": "#ff6fa8",
    "world": GROUND,
    "grid": _PALE,
    "ink": _INK,
    "wards": ("#a9d5ff", "#ffb454"),
    "land": ("", "#17455f", "#2f4a1c", "#54504a", "#5c3d2e", "#ffd23f"),
    "signs": ("", "#6fb0d6", "#8fbf5f", "#a39a8e", "", "#a31d0a"),
}
"""Of Cloth of Gold; lands in the order of the view."""

TILES: dict[str, Any] = {
    "board": GROUND,
    "grid": _PALE,
    "ink": _INK,
    "ring": "#fffdf8",
    "rim": "#ffffff73",
    "cross": "#b9b0a2",
}
"""Of Grid Adaptation; tiles keep the colours that their sequences mix, and get a light rim."""

TEAMS: dict[str, Any] = {"cells": SEATS, "board": GROUND, "line": "#4a443c", "ink": _INK, "pale": "#b3a998"}
"""Of the Toroidal Cup."""


def dark(
    palette: dict[str, Any], light: dict[str, Any], colours: Sequence[str], ground: str = GROUND
) -> dict[str, Any]:
    """Return a layout's `dark`: the part of a palette whose names the light one has, colours of seats, the ground."""
    return {
        "palette": {name: colour for name, colour in palette.items() if name in light},
        "colours": list(colours),
        "ground": ground,
    }
