"""Arguments of training: a field for each setting, with its help line. Importing this module does not import torch.

The command line, the tables of the documentation and the checks are made from the fields.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cellgames.agents.agent_names import split_name
from cellgames.agents.loading import default_opponents
from cellgames.cluster.connection import LOCAL
from cellgames.utils.foreign_text import shown
from cellgames.utils.options import Options, Strings, option

from .algorithms import ALGORITHMS
from .presets import preset

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from cellgames.envs.core import Game

__all__ = [
    "FREE",
    "GROWS",
    "ActorArguments",
    "Arguments",
    "PPOArguments",
    "PolicyArguments",
    "Sampling",
    "arguments_of",
]

Sampling = Literal["uniform", "latest", "prioritized"]

FREE = ("threads", "device", "ray")
"""Settings that may change when a run is continued; weights are then not guaranteed to be bit-equal."""
GROWS = "total_steps"
"""The setting that may grow when a run is continued."""


@dataclass(frozen=True, kw_only=True)
class Arguments(Options):
    """Arguments that all algorithms take; `Arguments.fitted` fills in the values that suit a game.

    Attributes:
        game: an id.
        parameters: of the game.

    Raises:
        ValueError: a value that makes no sense; the message says what was expected.
    """

    algorithm: ClassVar[str]

    game: str
    parameters: dict[str, Any] = field(default_factory=dict)

    seed: int = option(0, "seed of all random numbers", low=-(2**63), high=2**63 - 1)
    total_steps: int = option(2_000_000, "actions to learn from; may be more when a run is continued", low=1)
    num_envs: int = option(128, "games played at the same time", low=1)
    num_steps: int = option(32, "steps of every game in an iteration", low=1)
    num_epochs: int = option(4, "passes over the actions of an iteration", low=1)
    minibatch_size: int = option(512, "actions in a step of the optimizer, about", low=2)
    learning_rate: float = option(2.5e-3, "learning rate of Adam; falls linearly to a tenth", above=0, high=1)
    gamma: float = option(1.0, "discount factor of rewards", low=0, high=1)
    gae_lambda: float = option(0.95, "lambda of generalized advantage estimation", low=0, high=1)
    max_grad_norm: float = option(0.5, "largest norm of the gradient; longer gradients are clipped", above=0)
    channels: int = option(32, "channels of every layer of the network")
    layers: int = option(3, "layers of the network after the first one")
    start_from: str = option(
        "", "initial weights, a .safetensors file of a network with at most as many channels and layers"
    )

    opponents: str = option(
        "self=0.8,pool=0.2", "shares of the games: self, pool (snapshots of itself), or the spec of an agent"
    )
    sampling: Sampling = option(  # noqa: RUF009  # makes a field
        "prioritized", "which snapshots of the pool are met: all equally often, the latest, or the hardest most often"
    )
    pool_limit: int = option(20, "maximum number of snapshots in the pool", low=1)
    snapshot_every: int = option(20, "iterations between snapshots for the pool", low=1)

    eval_every: int = option(20, "iterations between two evaluations", low=1)
    eval_games: int = option(100, "games against each opponent in an evaluation, even", low=2)
    eval_opponents: Strings = option(  # noqa: RUF009  # makes a field
        (),
        "opponents in evaluations, NAME=SPEC gives a name (default random, and greedy or else rollout:16)",
    )

    checkpoint_every: int = option(40, "iterations between two checkpoints; games start over at each", low=1)
    device: str = option("auto", "cpu, cuda or cuda:N; auto is cuda where there is one")
    threads: int = option(0, "threads of torch on the CPU; 0 leaves the choice to torch", low=0, high=1024)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eval_games % 2:
            raise ValueError(
                f"eval_games must be even, since each is played with seats exchanged, got {self.eval_games}"
            )
        if len(self.eval_agents) < len(self.eval_opponents):
            raise ValueError(f"eval_opponents must differ, got {', '.join(self.eval_opponents)}")

    @property
    def eval_agents(self) -> dict[str, str]:
        """Return the specs of the evaluation opponents by their names, which tables and plots use."""
        return dict(map(split_name, self.eval_opponents))

    @classmethod
    def fitted(cls, game: Game, **given: Any) -> Self:
        """Return arguments for a game: given values, else those of its preset, else defaults.

        Raises:
            ValueError: an unknown setting, or a value that makes no sense.
        """
        known = [one.name for one in cls.options()]
        if unknown := [name for name in given if name not in known]:
            raise ValueError(f"unknown setting {shown(unknown[0])}; {cls.algorithm} has {', '.join(known)}")
        values = {**preset(cls.algorithm, game.id, game.parameters), **given}
        if not values.get("eval_opponents"):
            values["eval_opponents"] = tuple(default_opponents(game))
        return cls(game=game.id, parameters=game.parameters, **values)

    def to_data(self) -> dict[str, Any]:
        """Return the arguments as JSON holds them; `arguments_of` is the inverse."""
        data: dict[str, Any] = json.loads(json.dumps({"algorithm": self.algorithm, **dataclasses.asdict(self)}))
        return data


@dataclass(frozen=True, kw_only=True)
class PolicyArguments(Arguments):
    """Arguments of algorithms that learn a policy by PPO."""

    clip_range: float = option(
        0.2, "largest change of an action's probability in an iteration, as a factor", above=0, high=1
    )
    ent_coef: float = option(0.1, "weight of the policy's entropy", low=0)
    vf_coef: float = option(0.5, "weight of the value loss", low=0)
    sample: bool = option(False, "let the trained agent sample its actions; otherwise it takes the most likely one")


@dataclass(frozen=True, kw_only=True)
class ActorArguments(Arguments):
    """Arguments of algorithms whose games actors may play (`training.selfplay.actors`)."""

    actors: int = option(
        0, "processes on a Ray cluster that play while this one learns; 0 plays in this process", low=0
    )
    lag: int = option(0, "iterations that actors are ahead of the learner; with 0 they wait for each other", low=0)
    ray: str = option(
        LOCAL,
        "Ray cluster of the actors: local starts one on this machine, auto or HOST:PORT joins one",
        metavar="ADDRESS",
        bare=LOCAL,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.actors and self.num_envs % self.actors:
            raise ValueError(
                f"num_envs must be a multiple of actors, who share them alike; got {self.num_envs} environments for "
                f"{self.actors} actors, try {math.ceil(self.num_envs / self.actors) * self.actors}"
            )
        if not self.actors and self.ray != LOCAL:
            raise ValueError(f"ray is where actors play, and there are none; got ray={shown(self.ray)}, try actors=4")
        if not self.actors and self.lag:
            raise ValueError(f"lag is how far actors are ahead, and there are none; got lag={self.lag}, try actors=4")


@dataclass(frozen=True, kw_only=True)
class PPOArguments(PolicyArguments, ActorArguments):
    """Arguments of PPO on the device of the games (`training.ppo`)."""

    algorithm: ClassVar[str] = "ppo"

    mixed_precision: bool = option(False, "use bfloat16 in the network while it learns, where possible; for GPUs")


def arguments_of(data: Mapping[str, Any]) -> Arguments:
    """Return the arguments that `Arguments.to_data` made the data of.

    Raises:
        ValueError: a value that makes no sense.
    """
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    kind = ALGORITHMS[values.pop("algorithm")].arguments
    return kind(**values)
