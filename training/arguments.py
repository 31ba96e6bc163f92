"""Arguments of training: a field for each setting, with its help line. Importing this module does not import torch.

The command line, the tables of the documentation and the checks are made from the fields.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from cellgames.agents.agent_specs import split_name
from cellgames.agents.loading import default_opponents
from cellgames.envs.registry import as_game, plugins
from cellgames.utils.errors import InputError, shown
from cellgames.utils.options import Option, Options, Strings, option, redefault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from cellgames.envs.core import Game
    from cellgames.plugins import TrainingPreset
    from cellgames.training.selfplay.learner import Learner

Sampling = Literal["uniform", "latest", "prioritized"]

_FORMER = ("actors", "lag", "ray", "mixed_precision", "later_shapes")  # settings of older runs
FREE = ("threads", "device", *_FORMER)
"""Settings that may change when a run is continued; weights are then not guaranteed to be bit-equal."""
GROWS = "total_steps"
"""The setting that may grow when a run is continued."""


@dataclass(frozen=True, kw_only=True)
class Arguments(Options):
    """Arguments that all algorithms take; `Arguments.fitted` fills in the values that suit a game.

    Attributes:
        game: an id.
        parameters: parameters of the game.

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
    start_from: str = option("", "initial weights, a .safetensors file with at most as many channels and layers")

    opponents: str = option("self=0.8,pool=0.2", "shares of the games: self, pool (its snapshots), or an agent's spec")
    sampling: Sampling = option(  # noqa: RUF009  # makes a field
        "prioritized", "which snapshots of the pool are met: all equally often, the latest, or the hardest most often"
    )
    pool_limit: int = option(20, "maximum number of snapshots in the pool", low=1)
    snapshot_every: int = option(20, "iterations between snapshots for the pool", low=1)

    eval_every: int = option(20, "iterations between two evaluations", low=1)
    eval_games: int = option(100, "games against each opponent in an evaluation, even", low=2)
    eval_opponents: Strings = option(  # noqa: RUF009  # makes a field
        (), "opponents in evaluations, NAME=SPEC gives a name (default random, and greedy or else rollout:16)"
    )

    checkpoint_every: int = option(40, "iterations between two checkpoints; games start over at each", low=1)
    device: str = option("auto", "cpu, cuda or cuda:N; auto is cuda where there is one")
    threads: int = option(0, "threads of torch on the CPU; 0 leaves the choice to torch", low=0, high=1024)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eval_games % 2:
            raise InputError("eval_games", "even, since each is played with seats exchanged", self.eval_games)
        if len(self.eval_agents) < len(self.eval_opponents):
            raise InputError("eval_opponents", "different ones", ", ".join(self.eval_opponents))

    @property
    def eval_agents(self) -> dict[str, str]:
        """Return the specs of the evaluation opponents by their names, which tables and plots use."""
        return dict(map(split_name, self.eval_opponents))

    @classmethod
    def fitted(cls, game: Game | str, **given: Any) -> Self:
        """Return arguments for a game, or its id: given values, else those of its preset, else defaults.

        Raises:
            ValueError: an unknown setting, or a value that makes no sense.
        """
        game, known = as_game(game), [one.name for one in cls.options()]
        if unknown := [name for name in given if name not in known]:
            raise InputError("settings", f"those of {cls.algorithm} ({', '.join(known)})", shown(unknown[0]))
        values = {**preset(cls.algorithm, game.id, game.parameters), **given}
        if not values.get("eval_opponents"):
            values["eval_opponents"] = tuple(default_opponents(game))
        return cls(game=game.id, parameters=game.parameters, **values)

    def to_data(self) -> dict[str, Any]:
        """Return the arguments as JSON holds them."""
        data: dict[str, Any] = json.loads(json.dumps({"algorithm": self.algorithm, **dataclasses.asdict(self)}))
        return data


@dataclass(frozen=True, kw_only=True)
class PolicyArguments(Arguments):
    """Arguments of algorithms that learn a policy by PPO."""

    clip_range: float = option(0.2, "largest change of an action's probability in an iteration", above=0, high=1)
    ent_coef: float = option(0.1, "weight of the policy's entropy", low=0)
    vf_coef: float = option(0.5, "weight of the value loss", low=0)
    sample: bool = option(False, "let the trained agent sample its actions; otherwise it takes the most likely one")


@dataclass(frozen=True, kw_only=True)
class PPOArguments(PolicyArguments):
    """Arguments of PPO on the device of the games (`training.ppo`)."""

    algorithm: ClassVar[str] = "ppo"


@dataclass(frozen=True, kw_only=True)
class AlphaZeroArguments(Arguments):
    """Arguments of AlphaZero with Gumbel search (`training.alphazero`)."""

    algorithm: ClassVar[str] = "alphazero"

    num_steps: int = redefault(Arguments, "num_steps", 16)
    num_epochs: int = redefault(Arguments, "num_epochs", 8)
    learning_rate: float = redefault(Arguments, "learning_rate", 2e-3)
    opponents: str = redefault(Arguments, "opponents", "self")
    snapshot_every: int = redefault(Arguments, "snapshot_every", 40)
    checkpoint_every: int = redefault(Arguments, "checkpoint_every", 20)

    vf_coef: float = option(0.5, "weight of the value loss", low=0)
    num_simulations: int = option(16, "simulations of the search for each move", low=2)
    max_num_considered_actions: int = option(8, "moves that a search considers at its root, at most", low=2)
    value_scale: float = option(1.0, "weight of results in a search, beside the policy (c_scale)", above=0)
    solver_nodes: int = option(0, "nodes of the solver for a position or a move; 0 asks none", low=0)
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
    workers: int = option(1, "processes that play, each with its share of the games; 1 is this process alone", low=1)
    surprise_weight: float = option(
        0.0, "share of the replay that goes to positions by how much the search changes their policy", low=0, high=1
    )


@dataclass(frozen=True, kw_only=True)
class MaskableArguments(PolicyArguments):
    """Arguments of MaskablePPO of sb3-contrib (`training.maskable`)."""

    algorithm: ClassVar[str] = "maskable-ppo"

    num_envs: int = redefault(PolicyArguments, "num_envs", 64)


@dataclass(frozen=True, kw_only=True)
class PlacementArguments(Arguments):
    """Arguments of `placement-values`: values of all placements of a shape (`training.placement_values`)."""

    algorithm: ClassVar[str] = "placement-values"

    num_envs: int = redefault(Arguments, "num_envs", 192)
    num_epochs: int = redefault(Arguments, "num_epochs", 1)
    minibatch_size: int = redefault(Arguments, "minibatch_size", 256)
    opponents: str = redefault(Arguments, "opponents", "self")

    placements: int = option(24, "placements that are tried in place of each one that was played", low=1)
    generations: int = option(0, "generations of Life after which a lead counts; 0 plays games to their end", low=0)
    weight_decay: float = option(0.01, "weight decay of AdamW", low=0)


@dataclass(frozen=True, kw_only=True)
class TurnArguments(Arguments):
    """Arguments of `turn-values`: values of positions after whole turns (`training.turn_values`)."""

    algorithm: ClassVar[str] = "turn-values"

    candidates: int = option(16, "turns that are drawn in training, of which one is played", low=1)
    considered: int = option(16, "those with the largest lead after a round, which the network evaluates", low=1)
    temperature: float = option(0.1, "temperature of noise on values from -1 to 1; falls to a tenth", low=0)


@dataclass(frozen=True)
class Algorithm:
    """An entry of the table: an algorithm's arguments and its learner.

    Attributes:
        summary: one line for help texts.
        arguments: a subclass of `Arguments`, whose module imports no torch.
        learner_path: `module:Class`, a subclass of `Learner`.
    """

    summary: str
    arguments: type[Arguments]
    learner_path: str

    @property
    def learner(self) -> type[Learner]:
        """The class of the learner; getting it imports torch."""
        kind: type[Learner] = resolve_name(self.learner_path)
        return kind


_HERE = "cellgames.training"

ALGORITHMS: dict[str, Algorithm] = {
    "ppo": Algorithm("PPO on the device of the games", PPOArguments, f"{_HERE}.ppo.ppo:PPOLearner"),
    "maskable-ppo": Algorithm(
        "MaskablePPO of sb3-contrib", MaskableArguments, f"{_HERE}.maskable.maskable_learner:MaskableLearner"
    ),
    "alphazero": Algorithm(
        "AlphaZero: self-play by search, which the network learns to foresee",
        AlphaZeroArguments,
        f"{_HERE}.alphazero.alphazero:AlphaZeroLearner",
    ),
    "placement-values": Algorithm(
        "values of all placements, from games that differ in one, for the Toroidal Cup",
        PlacementArguments,
        f"{_HERE}.placement_values.placement_values:PlacementLearner",
    ),
    "turn-values": Algorithm(
        "TD(lambda) on positions after whole turns, for Cloth of Gold",
        TurnArguments,
        f"{_HERE}.turn_values.turn_values:TurnLearner",
    ),
}
"""Algorithms by the name that `--algo` takes; an entry here adds one."""


def all_options() -> dict[str, dict[str, Option]]:
    """Return each option of any algorithm by name, as each algorithm that has it describes it."""
    found: dict[str, dict[str, Option]] = {}
    for name, algorithm in ALGORITHMS.items():
        for one in algorithm.arguments.options():
            found.setdefault(one.name, {})[name] = one
    return found


def presets() -> list[tuple[str, TrainingPreset]]:
    """Return the presets of all games, each with the game's id."""
    return [(plugin.id, preset) for plugin in plugins() for preset in plugin.presets]


def preset(algorithm: str, game: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the preset options for a game with all its parameters; later presets override earlier ones."""
    found: dict[str, Any] = {}
    for id, entry in presets():
        fits = all(parameters.get(name) == value for name, value in entry.parameters.items())
        if fits and (entry.algorithm, id) == (algorithm, game):
            found |= entry.values
    return found
