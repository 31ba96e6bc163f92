"""Connection games on boards with edges: Hex and Y.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .boards import Board as Board, board as board
    from .game import ConnectionGame as ConnectionGame, ConnectionState as ConnectionState, Hex as Hex, Y as Y
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
