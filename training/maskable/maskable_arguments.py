"""Arguments of MaskablePPO. Importing this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellgames.training.arguments import PolicyArguments
from cellgames.utils.options import redefault

__all__ = ["MaskableArguments"]


@dataclass(frozen=True, kw_only=True)
class MaskableArguments(PolicyArguments):
    """Arguments of MaskablePPO of sb3-contrib (`training.maskable`)."""

    algorithm: ClassVar[str] = "maskable-ppo"

    num_envs: int = redefault(PolicyArguments, "num_envs", 64)
