"""The games and their rules, and the adapters that show them to other libraries.

    from cellgames.envs import seeds, torus_v0
    env = torus_v0.env()                           # PettingZoo
    game = cellgames.make("torus-v0")              # the batched core
    state = game.init(seeds(0, 1024))

Names are imported when they are first used, so that lists of games need no torch.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .checking import check_game as check_game
    from .core import (
        DRAW as DRAW,
        LOSS as LOSS,
        WIN as WIN,
        Game as Game,
        GameInfo as GameInfo,
        IllegalActionError as IllegalActionError,
        Positions as Positions,
        Solo as Solo,
        Space as Space,
        State as State,
        Transition as Transition,
        Vector as Vector,
        sample_actions as sample_actions,
        seeds as seeds,
    )
    from .core.inputs import check_int as check_int
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
