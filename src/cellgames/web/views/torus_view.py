"""The view of Torus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor
from typing_extensions import override

from cellgames.agents.torus.distance import stones_to_win
from cellgames.envs.torus import rendering as drawn
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.winning_path import winning_class

from .stones_view import StonesView

__all__ = ["TorusView"]

_KINDS = {
    "ring": "from top to bottom (a ring)",
    "bracelet": "from left to right (a bracelet)",
    "r-helix": "both ways, sloping down to the right (an r-helix)",
    "l-helix": "both ways, sloping up to the right (an l-helix)",
}


class TorusView(StonesView):
    """A view of Torus; its path has steps as `winning_path` gives them."""

    game: Torus
    most_work: ClassVar[int] = 12_000_000

    @override
    def board_layout(self) -> dict[str, Any]:
        return {
            "kind": "torus",
            "size": self.game.size,
            "wrap": True,
            "strip": drawn.STRIP,
            "palette": {"faded": drawn.FADED},
        }

    @override
    def needed(self, state: TorusState) -> Tensor:
        return stones_to_win(self.game.observe(state, 0))

    @override
    def won(self, winner: int, path: Sequence[Any]) -> str:
        return f"closes around the torus {_KINDS[winning_class(path)]}"
