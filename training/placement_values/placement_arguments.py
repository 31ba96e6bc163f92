"""Arguments of placement values. Importing this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellgames.training.arguments import Arguments
from cellgames.utils.options import option, redefault

__all__ = ["PlacementArguments"]


@dataclass(frozen=True, kw_only=True)
class PlacementArguments(Arguments):
    """Arguments of `placement-values`: values of all placements of a shape (`training.placement_values`)."""

    algorithm: ClassVar[str] = "placement-values"

    num_envs: int = redefault(Arguments, "num_envs", 192)
    num_epochs: int = redefault(Arguments, "num_epochs", 1)
    minibatch_size: int = redefault(Arguments, "minibatch_size", 256)
    opponents: str = redefault(Arguments, "opponents", "self")

    placements: int = option(24, "placements that are tried in place of each one that was played", low=1)
    generations: int = option(0, "generations of Life after which a lead counts; 0 plays games to their end", low=0)
    later_shapes: bool = option(
        True, "let Life run from arrangements with all later shapes; otherwise from those right after the placement"
    )
    weight_decay: float = option(0.01, "weight decay of AdamW", low=0)
