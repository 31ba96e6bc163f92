"""Agents and networks for Hex and Y.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .greedy import ConnectionGreedy
    from .network import ConnectionNetwork
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {"greedy": ("ConnectionGreedy",), "network": ("ConnectionNetwork",)},
    )

__all__ = ["ConnectionGreedy", "ConnectionNetwork"]
