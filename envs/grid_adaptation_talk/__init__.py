"""Grid Adaptation with talk: before each round come steps in which all players say words, and nothing else.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import GridAdaptationTalk as GridAdaptationTalk
    from .state import TalkState as TalkState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
