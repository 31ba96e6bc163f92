"""Multi-agent reinforcement-learning environments for games that are played with cells.

    import cellgames
    game = cellgames.make("torus-v0", size=8)      # the batched core: pure functions on tensors
    cellgames.arena.round_robin(game, ["random", "greedy"], out="my_round_robin")

PettingZoo users start at `from cellgames.envs import torus_v0`. Importing this package imports no torch, and adds the
games to the registries of Gymnasium and PettingZoo.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, overload

from .utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellgames.envs.cloth_of_gold import ClothOfGold
    from cellgames.envs.cloth_of_gold_wild import ClothOfGoldWild
    from cellgames.envs.connection import Hex, Y
    from cellgames.envs.core import Game
    from cellgames.envs.grid_adaptation import GridAdaptation
    from cellgames.envs.grid_adaptation_talk import GridAdaptationTalk
    from cellgames.envs.toroidal_cup import ToroidalCup
    from cellgames.envs.torus import Torus

    from . import agents as agents, arena as arena, envs as envs, training as training
    from .utils.errors import InputError as InputError
    from .utils.version import __version__ as __version__
else:
    __getattr__, __dir__, _ = lazy_names(__name__)

__all__ = ["InputError", "__version__", "games", "make", "register"]


# Type checkers and editors know the class of a game of the suite by its id; a test compares these with `plugins.SUITE`.
@overload
def make(id: Literal["torus-v0", "torus-small-v0"], **parameters: Any) -> Torus: ...
@overload
def make(id: Literal["hex-v0", "hex-small-v0"], **parameters: Any) -> Hex: ...
@overload
def make(id: Literal["y-v0", "y-small-v0"], **parameters: Any) -> Y: ...
@overload
def make(id: Literal["toroidal-cup-v0", "toroidal-cup-small-v0"], **parameters: Any) -> ToroidalCup: ...
@overload
def make(
    id: Literal["cloth-of-gold-v0", "cloth-of-gold-small-v0", "cloth-of-gold-fair-v0", "cloth-of-gold-fair-small-v0"],
    **parameters: Any,
) -> ClothOfGold: ...
@overload
def make(id: Literal["cloth-of-gold-wild-v0", "cloth-of-gold-wild-small-v0"], **parameters: Any) -> ClothOfGoldWild: ...
@overload
def make(id: Literal["grid-adaptation-v0", "grid-adaptation-small-v0"], **parameters: Any) -> GridAdaptation: ...
@overload
def make(
    id: Literal["grid-adaptation-talk-v0", "grid-adaptation-talk-small-v0"], **parameters: Any
) -> GridAdaptationTalk: ...
@overload
def make(id: str, **parameters: Any) -> Game: ...
def make(id: str, **parameters: Any) -> Game:
    """Return the game called `id` (see `games`), with its default parameters changed as given.

    A module in front of the id, as in `my_games:strip-v0`, is imported first, so that it can register the game.

    Raises:
        InputError: an unknown id, an unknown parameter or a bad value; the message says what is known.
    """
    from .envs import registry

    return registry.make(registry.import_games(id), **parameters)


def games() -> list[str]:
    """Return the ids that `make` takes."""
    from .envs import registry

    return list(registry.REGISTRY)


def register(game: Any, *, id: str | None = None, summary: str = "", **parameters: Any) -> None:
    """Make a game of your own known to `make`, the command line and other libraries' registries.

    See `cellgames.envs.registry.register`.
    """
    from .envs import registry

    registry.register(game, id=id, summary=summary, **parameters)


# Last, since games of other packages import this one. The command line starts in half the time without the libraries.
if not (sys.argv[0].endswith("cellgames") or "-m cellgames" in " ".join(sys.orig_argv)):
    from .envs.adapters.registration import register as _register

    _register()
