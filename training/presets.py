"""Settings that suit a game where they are not given. Importing this imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PRESETS", "Preset", "preset"]


@dataclass(frozen=True)
class Preset:
    """Settings for a game.

    Attributes:
        algorithm: of `ALGORITHMS`.
        game: its id.
        values: fields of the algorithm's `Arguments`.
        parameters: of the game, that must be so for the preset to count.
    """

    algorithm: str
    game: str
    values: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)


_SLOW = {"num_envs": 64, "num_steps": 32, "eval_games": 20, "eval_every": 10, "snapshot_every": 10}
_BY_CHANCE = {"sample": True}  # all act at once, or with hidden cards: who is foreseen is beaten
_KEEN = {"num_steps": 32, "num_epochs": 4, "minibatch_size": 512, "learning_rate": 2.5e-3}  # much out of every step
_SB3 = {**_KEEN, "num_envs": 64}

PRESETS: tuple[Preset, ...] = (
    Preset("ppo", "torus-v0", {**_KEEN, "num_envs": 128, "layers": 4, "eval_every": 20, "checkpoint_every": 40}),
    Preset(
        "ppo",
        "grid-adaptation-v0",
        {
            **_BY_CHANCE,
            **{"num_envs": 64, "num_steps": 18, "num_epochs": 2},
            **{"minibatch_size": 1024, "learning_rate": 1e-3, "ent_coef": 0.003},
            **{"opponents": "self=0.4,greedy=0.6", "eval_games": 60, "eval_every": 10},
        },
    ),
    Preset(
        "ppo",
        "toroidal-cup-v0",
        {
            # By the likeliest: others place at once, and what they foresee changes little.
            **{"sample": False, "num_envs": 1024, "num_steps": 6},
            **{"num_epochs": 2, "minibatch_size": 2048, "learning_rate": 3e-3},
            **{"ent_coef": 0.0, "channels": 16, "layers": 2, "opponents": "self=0.7,random=0.3"},
            **{"eval_games": 400, "eval_every": 5},
        },
        {"rows": 24, "cols": 48},
    ),
    Preset("ppo", "cloth-of-gold-v0", {**_SLOW, "checkpoint_every": 30}),
    Preset(
        "alphazero",
        "torus-v0",
        {
            **{"num_steps": 16, "num_epochs": 2, "minibatch_size": 512},
            **{"learning_rate": 2e-3, "layers": 4, "opponents": "self"},
            **{"random_plies": 4, "snapshot_every": 40, "eval_every": 20},
        },
    ),
    Preset("maskable-ppo", "torus-v0", _SB3),
    Preset("maskable-ppo", "grid-adaptation-v0", {**_SB3, **_BY_CHANCE, "eval_games": 40}),
    Preset("maskable-ppo", "toroidal-cup-v0", {**_SB3, **_BY_CHANCE, **_SLOW}),
    Preset("maskable-ppo", "cloth-of-gold-v0", {**_SB3, **_SLOW, "checkpoint_every": 30}),
    Preset(
        "turn-values",
        "cloth-of-gold-v0",
        {
            **{"num_envs": 64, "num_steps": 16, "minibatch_size": 256},
            **{"learning_rate": 1e-3, "gae_lambda": 0.9, "num_epochs": 2},
            **{"opponents": "greedy=0.8,self=0.2", "eval_games": 60, "eval_every": 10},
        },
    ),
)
"""Later ones go before earlier ones."""


def preset(algorithm: str, game: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for a game with all its parameters; those of no preset are left out."""
    found: dict[str, Any] = {}
    for entry in PRESETS:
        fits = all(parameters.get(name) == value for name, value in entry.parameters.items())
        if fits and (entry.algorithm, entry.game) == (algorithm, game):
            found |= entry.values
    return found
