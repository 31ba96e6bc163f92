"""What a run of MaskablePPO is asked to do. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellgames.training.arguments import PolicyArguments

__all__ = ["MaskableArguments"]


@dataclass(frozen=True, kw_only=True)
class MaskableArguments(PolicyArguments):
    """For MaskablePPO of sb3-contrib (`training.maskable`)."""

    algorithm: ClassVar[str] = "maskable-ppo"
