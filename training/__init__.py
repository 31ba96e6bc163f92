"""Learning: agents that get better by playing, against themselves and against others.

    from cellgames.training import PPOArguments, train
    game = cellgames.make("torus-small-v0")
    finished = train(PPOArguments.fitted(game, total_steps=300_000), "my_run")

Names are imported when they are first used, so that help texts need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .algorithms import ALGORITHMS
    from .alphazero.alphazero_arguments import AlphaZeroArguments
    from .arguments import Arguments, PPOArguments
    from .machine import choose_device
    from .maskable.maskable_arguments import MaskableArguments
    from .placement_values.placement_arguments import PlacementArguments
    from .runs.run import Finished, Progress, RunError, Stopped, train
    from .selfplay.eval_opponents import Comparison, compare
    from .selfplay.learner import Iteration, Learner
    from .selfplay.opponent_pool import Pool
    from .turn_values.turn_arguments import TurnArguments
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "algorithms": ("ALGORITHMS",),
            "alphazero.alphazero_arguments": ("AlphaZeroArguments",),
            "arguments": ("Arguments", "PPOArguments"),
            "machine": ("choose_device",),
            "maskable.maskable_arguments": ("MaskableArguments",),
            "placement_values.placement_arguments": ("PlacementArguments",),
            "runs.run": ("Finished", "Progress", "RunError", "Stopped", "train"),
            "selfplay.eval_opponents": ("Comparison", "compare"),
            "selfplay.learner": ("Iteration", "Learner"),
            "selfplay.opponent_pool": ("Pool",),
            "turn_values.turn_arguments": ("TurnArguments",),
        },
    )

__all__ = [
    "ALGORITHMS",
    "AlphaZeroArguments",
    "Arguments",
    "Comparison",
    "Finished",
    "Iteration",
    "Learner",
    "MaskableArguments",
    "PPOArguments",
    "PlacementArguments",
    "Pool",
    "Progress",
    "RunError",
    "Stopped",
    "TurnArguments",
    "choose_device",
    "compare",
    "train",
]
