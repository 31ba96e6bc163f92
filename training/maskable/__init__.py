"""MaskablePPO of sb3-contrib by self-play: a policy, environments and callbacks for scripts of your own.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .callbacks import EvalCallback, SelfPlayCallback
    from .maskable_checkpoints import CheckpointCallback
    from .maskable_ppo import BoardPolicy, LearnerVecEnv
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "callbacks": ("EvalCallback", "SelfPlayCallback"),
            "maskable_checkpoints": ("CheckpointCallback",),
            "maskable_ppo": ("BoardPolicy", "LearnerVecEnv"),
        },
    )

__all__ = [
    "BoardPolicy",
    "CheckpointCallback",
    "EvalCallback",
    "LearnerVecEnv",
    "SelfPlayCallback",
]
