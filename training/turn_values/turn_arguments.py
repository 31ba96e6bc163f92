"""Arguments of turn values. Importing this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellgames.training.arguments import Arguments
from cellgames.utils.options import option

__all__ = ["TurnArguments"]


@dataclass(frozen=True, kw_only=True)
class TurnArguments(Arguments):
    """Arguments of `turn-values`: values of positions after whole turns (`training.turn_values`)."""

    algorithm: ClassVar[str] = "turn-values"

    candidates: int = option(16, "turns that are drawn in training, of which one is played", low=1)
    considered: int = option(16, "those with the largest lead after a round, which the network evaluates", low=1)
    temperature: float = option(
        0.1, "temperature of the noise on values, which are from -1 to 1; falls to a tenth", low=0
    )
