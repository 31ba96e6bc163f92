"""The table of algorithms of `cellgames train`. Importing this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from cellgames.utils.options import Option

if TYPE_CHECKING:
    from cellgames.training.selfplay.learner import Learner

    from .arguments import Arguments


@dataclass(frozen=True)
class Algorithm:
    """An entry of the table: where an algorithm's arguments and its learner are.

    Attributes:
        summary: one line for help texts.
        arguments_path: `module:Class`, a subclass of `Arguments` that imports no torch.
        learner_path: `module:Class`, a subclass of `Learner`.
    """

    summary: str
    arguments_path: str
    learner_path: str

    @property
    def arguments(self) -> type[Arguments]:
        """The class of the arguments."""
        kind: type[Arguments] = resolve_name(self.arguments_path)
        return kind

    @property
    def learner(self) -> type[Learner]:
        """The class of the learner; getting it imports torch."""
        kind: type[Learner] = resolve_name(self.learner_path)
        return kind


ALGORITHMS: dict[str, Algorithm] = {
    "ppo": Algorithm(
        "PPO on the device of the games",
        "cellgames.training.arguments:PPOArguments",
        "cellgames.training.ppo.ppo_learner:PPOLearner",
    ),
    "maskable-ppo": Algorithm(
        "MaskablePPO of sb3-contrib",
        "cellgames.training.arguments:MaskableArguments",
        "cellgames.training.maskable.maskable_learner:MaskableLearner",
    ),
    "alphazero": Algorithm(
        "AlphaZero: self-play by search, which the network learns to foresee",
        "cellgames.training.arguments:AlphaZeroArguments",
        "cellgames.training.alphazero.alphazero:AlphaZeroLearner",
    ),
    "placement-values": Algorithm(
        "values of all placements, from games that differ in one, for the Toroidal Cup",
        "cellgames.training.arguments:PlacementArguments",
        "cellgames.training.placement_values.placement_values:PlacementLearner",
    ),
    "turn-values": Algorithm(
        "TD(lambda) on positions after whole turns, for Cloth of Gold",
        "cellgames.training.arguments:TurnArguments",
        "cellgames.training.turn_values.turn_values:TurnLearner",
    ),
}
"""Algorithms by the name that `--algo` takes; an entry here adds one."""


def all_options() -> dict[str, dict[str, Option]]:
    """Return each option of any algorithm by name, as each algorithm that has it describes it."""
    found: dict[str, dict[str, Option]] = {}
    for name, algorithm in ALGORITHMS.items():
        for option in algorithm.arguments.options():
            found.setdefault(option.name, {})[name] = option
    return found
