"""Arguments of `alphazero`. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellgames.training.arguments import ActorArguments
from cellgames.utils.options import option

__all__ = ["AlphaZeroArguments"]


@dataclass(frozen=True, kw_only=True)
class AlphaZeroArguments(ActorArguments):
    """For AlphaZero with Gumbel search (`training.alphazero`)."""

    algorithm: ClassVar[str] = "alphazero"

    vf_coef: float = option(0.5, "weight of the value's error", low=0)
    mixed_precision: bool = option(False, "bfloat16 in the network while it learns, where it may; for GPUs")
    num_simulations: int = option(16, "of the search for each move", low=2)
    max_num_considered_actions: int = option(8, "moves that a search tries out at its root, at most", low=2)
    value_scale: float = option(1.0, "how much results count in a search beside the policy (c_scale)", above=0)
    random_plies: int = option(2, "turns at random that a game begins with, at most; drawn for each game", low=0)
    buffer_size: int = option(100_000, "latest positions that minibatches are drawn from", low=1)
    weight_decay: float = option(0.01, "of AdamW", low=0)
