"""Multi-agent reinforcement-learning environments for games that are played with cells.

    import cellgames
    game = cellgames.make("torus-v0", size=8)      # the batched core: pure functions on tensors

PettingZoo users start at `from cellgames.envs import torus_v0`. Importing this package imports no torch.
"""

from __future__ import annotations

import builtins
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellgames.envs.core import Game

__all__ = ["__version__", "list", "make", "register"]

try:
    __version__ = version("cellgames")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"


def make(id: str, **parameters: Any) -> Game[Any]:
    """The game called `id` (see `list`), with its default parameters changed as given.

    Raises:
        ValueError: for an unknown id, an unknown parameter or a bad value; the message says what is known.
    """
    from .envs import registry

    return registry.make(id, **parameters)


def list() -> builtins.list[str]:
    """The ids that `make` takes."""
    from .envs import registry

    return builtins.list(registry.REGISTRY)


def register(game: Any, *, id: str | None = None, summary: str = "", **parameters: Any) -> None:
    """Make a game of your own known to `make`, the command line and other libraries' registries.

    See `cellgames.envs.registry.register`.
    """
    from .envs import registry

    registry.register(game, id=id, summary=summary, **parameters)
