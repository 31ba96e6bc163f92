"""Agents and networks for Grid Adaptation.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .greedy import GridGreedy as GridGreedy
    from .joint_moves import GridSearch as GridSearch
    from .joint_moves import MatchedOthers as MatchedOthers
    from .network import GridNetwork as GridNetwork
    from .lookahead import KeenOthers as KeenOthers, Others as Others
    from .plan_choices import PlanChoices as PlanChoices, PlanChooser as PlanChooser
    from .rollout import GridRollout as GridRollout
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
