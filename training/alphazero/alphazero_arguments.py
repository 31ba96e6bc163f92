"""Arguments of AlphaZero. Importing this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from cellgames.training.arguments import ActorArguments
from cellgames.utils.options import Strings, option, redefault

__all__ = ["AlphaZeroArguments"]


@dataclass(frozen=True, kw_only=True)
class AlphaZeroArguments(ActorArguments):
    """Arguments of AlphaZero with Gumbel search (`training.alphazero`)."""

    algorithm: ClassVar[str] = "alphazero"

    num_steps: int = redefault(ActorArguments, "num_steps", 16)
    num_epochs: int = redefault(ActorArguments, "num_epochs", 8)
    learning_rate: float = redefault(ActorArguments, "learning_rate", 2e-3)
    opponents: str = redefault(ActorArguments, "opponents", "self")
    snapshot_every: int = redefault(ActorArguments, "snapshot_every", 40)
    checkpoint_every: int = redefault(ActorArguments, "checkpoint_every", 20)

    vf_coef: float = option(0.5, "weight of the value loss", low=0)
    mixed_precision: bool = option(False, "use bfloat16 in the network while it learns, where possible; for GPUs")
    num_simulations: int = option(16, "simulations of the search for each move", low=2)
    max_num_considered_actions: int = option(8, "moves that a search considers at its root, at most", low=2)
    value_scale: float = option(1.0, "weight of results in a search, beside the policy (c_scale)", above=0)
    solver_nodes: int = option(
        0, "nodes of the game's solver for each position and each likely move (Torus to size 5); 0 asks none", low=0
    )
    random_plies: int = option(4, "random turns at the start of a game, at most; drawn for each game", low=0)
    buffer_size: int = option(100_000, "latest positions that minibatches are drawn from", low=1)
    weight_decay: float = option(0.01, "weight decay of AdamW", low=0)
    sample: bool = option(False, "let the trained agent sample its actions; otherwise it takes the most likely one")
    variants: Strings = option(  # noqa: RUF009  # makes a field
        (),
        "other settings of the game that the network learns at the same time, such as size=3 size=4",
        metavar="NAME=VALUE",
    )
    variant_envs: int = option(0, "games of each of the variants; 0 for as many as num_envs", low=0)
    surprise_weight: float = option(
        0.0, "share of the replay that goes to positions by how much the search changes their policy", low=0, high=1
    )

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actors and self.variant_envs % self.actors:
            raise ValueError(
                f"variant_envs must be a multiple of actors, who share them alike; got {self.variant_envs} games "
                f"for {self.actors} actors, try {-(-self.variant_envs // self.actors) * self.actors}"
            )
