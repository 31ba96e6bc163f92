"""The games and their rules, and the adapters that show them to other libraries.

    from cellgames.envs import seeds, torus_v0
    env = torus_v0.env()                           # PettingZoo
    game = cellgames.make("torus-v0")              # the batched core
    state = game.init(seeds(0, 1024))

Names are imported when they are first used, so that lists of games need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .checking import check_game
    from .core import (
        DRAW,
        LOSS,
        WIN,
        Game,
        GameError,
        GameInfo,
        IllegalActionError,
        Positions,
        Solo,
        Space,
        State,
        Transition,
        Vector,
        seeds,
    )
    from .kernels.parameters import check_int
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "checking": ("check_game",),
            "core": (
                "DRAW",
                "LOSS",
                "WIN",
                "Game",
                "GameError",
                "GameInfo",
                "IllegalActionError",
                "Positions",
                "Solo",
                "Space",
                "State",
                "Transition",
                "Vector",
                "seeds",
            ),
            "kernels.parameters": ("check_int",),
        },
    )

__all__ = [
    "DRAW",
    "LOSS",
    "WIN",
    "Game",
    "GameError",
    "GameInfo",
    "IllegalActionError",
    "Positions",
    "Solo",
    "Space",
    "State",
    "Transition",
    "Vector",
    "check_game",
    "check_int",
    "seeds",
]
