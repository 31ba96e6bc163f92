"""Agents and networks for Torus.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .greedy import TorusGreedy
    from .network import TorusNetwork
    from .perfect import TorusPerfect
    from .proof_search import Progress, ProofSearch
    from .solver import SOLVED_SIZES, TorusSolver
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "greedy": ("TorusGreedy",),
            "network": ("TorusNetwork",),
            "perfect": ("TorusPerfect",),
            "proof_search": ("Progress", "ProofSearch"),
            "solver": ("SOLVED_SIZES", "TorusSolver"),
        },
    )

__all__ = [
    "SOLVED_SIZES",
    "Progress",
    "ProofSearch",
    "TorusGreedy",
    "TorusNetwork",
    "TorusPerfect",
    "TorusSolver",
]
