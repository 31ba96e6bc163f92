"""Grid Adaptation with talk: before each round come steps in which all players say words, and nothing else.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .game import GridAdaptationTalk
    from .state import TalkState
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(__name__, {"game": ("GridAdaptationTalk",), "state": ("TalkState",)})

__all__ = ["GridAdaptationTalk", "TalkState"]
