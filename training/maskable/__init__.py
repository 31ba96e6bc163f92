"""MaskablePPO of sb3-contrib by self-play: a policy, environments and a callback for scripts of your own.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .callbacks import SelfPlayCallback as SelfPlayCallback
    from .maskable_ppo import BoardPolicy as BoardPolicy, LearnerVecEnv as LearnerVecEnv
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
