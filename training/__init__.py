"""Learning: agents that get better by playing, against themselves and against others.

    from cellgames.training import PPOArguments, train
    game = cellgames.make("torus-small-v0")
    finished = train(PPOArguments.fitted(game, total_steps=300_000), "my_run")

Names are imported when they are first used, so that help texts need no torch.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellgames.runs.run_folder import RunError as RunError

    from .arguments import (
        ALGORITHMS as ALGORITHMS,
        AlphaZeroArguments as AlphaZeroArguments,
        Arguments as Arguments,
        MaskableArguments as MaskableArguments,
        PlacementArguments as PlacementArguments,
        PPOArguments as PPOArguments,
        TurnArguments as TurnArguments,
    )
    from .machine import choose_device as choose_device
    from .runs.run import Finished as Finished, Progress as Progress, train as train
    from .runs.interrupts import Stopped as Stopped
    from .selfplay.eval_opponents import Comparison as Comparison, compare as compare
    from .selfplay.learner import Iteration as Iteration, Learner as Learner
    from .selfplay.opponents import Pool as Pool
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
