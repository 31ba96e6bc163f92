"""Torus, a connection game by Mark Steere.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import Torus as Torus
    from .geometry import (
        cell_to_name as cell_to_name,
        name_to_cell as name_to_cell,
        num_cells as num_cells,
        position_to_string as position_to_string,
        string_to_position as string_to_position,
    )
    from .state import TorusState as TorusState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
