"""The games of the suite, a `GamePlugin` each. Importing this imports no torch and no code of the games."""

from __future__ import annotations

from .cloth_of_gold import CLOTH_OF_GOLD
from .connection import HEX, TORUS, Y
from .grid_adaptation import GRID_ADAPTATION
from .plugin import (
    Additions as Additions,
    GamePlugin as GamePlugin,
    Page as Page,
    Prompt as Prompt,
    Setting as Setting,
    Target as Target,
    TextColours as TextColours,
    TrainingPreset as TrainingPreset,
    Variant as Variant,
    additions as additions,
    resolve as resolve,
)
from .toroidal_cup import TOROIDAL_CUP

SUITE = (TORUS, HEX, Y, TOROIDAL_CUP, CLOTH_OF_GOLD, GRID_ADAPTATION)
"""The games in the order of lists."""
