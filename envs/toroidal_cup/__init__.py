"""The Toroidal Cup: teams of coloured cells, Life on a torus, the most cells win.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import ToroidalCup as ToroidalCup
    from .notation import position_to_string as position_to_string, string_to_position as string_to_position
    from .patterns.pattern import PATTERNS as PATTERNS, arrange as arrange
    from .patterns.stamps import COLS as COLS, ROWS as ROWS
    from .roster import Roster as Roster
    from .simulator import Result as Result, simulate as simulate
    from .state import CupState as CupState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
