"""The names that the package uses of Stable-Baselines3 and sb3-contrib, with an error that names the missing extra."""

from __future__ import annotations

try:
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.distributions import MaskableMultiCategoricalDistribution
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.type_aliases import Schedule
except ImportError as error:
    raise ImportError(f'MaskablePPO needs sb3-contrib: pip install "cellgames[train]" ({error})') from error

__all__ = [
    "BaseCallback",
    "Logger",
    "MaskableActorCriticPolicy",
    "MaskableMultiCategoricalDistribution",
    "MaskablePPO",
    "Schedule",
]
