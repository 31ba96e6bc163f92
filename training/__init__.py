"""Learning: agents that get better by playing, against themselves and against others.

    from cellgames.training import PPOArguments, train
    game = cellgames.make("torus-small-v0")
    finished = train(PPOArguments.fitted(game, total_steps=300_000), "my_run")

Names are imported when they are first used, so that help texts need no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellgames.training.runs.run import Finished, Progress, RunError, train
    from cellgames.training.selfplay.eval_opponents import Comparison, compare

    from .algorithms import ALGORITHMS
    from .arguments import Arguments, PPOArguments

__all__ = [
    "ALGORITHMS",
    "Arguments",
    "Comparison",
    "Finished",
    "PPOArguments",
    "Progress",
    "RunError",
    "compare",
    "train",
]

_HOME = {
    name: module
    for module, names in {
        "algorithms": ("ALGORITHMS",),
        "arguments": ("Arguments", "PPOArguments"),
        "runs.run": ("Finished", "Progress", "RunError", "train"),
        "selfplay.eval_opponents": ("Comparison", "compare"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
