"""Explanations by intervening: remove or move something in a recorded game, play it again, compare the results.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .effects import Effect, Explanation, Intervention, Options, PairEffect
    from .explanation import explain, explain_world, world_of
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "effects": ("Effect", "Explanation", "Intervention", "Options", "PairEffect"),
            "explanation": ("explain", "explain_world", "world_of"),
        },
    )

__all__ = ["Effect", "Explanation", "Intervention", "Options", "PairEffect", "explain", "explain_world", "world_of"]
