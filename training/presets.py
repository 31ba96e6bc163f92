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


_SLOW = {"lanes": 64, "horizon": 32, "games": 20, "evaluate_every": 10, "snapshot_every": 10}
_BY_CHANCE = {"sample": True}  # all act at once, or with hidden cards: who is foreseen is beaten
_KEEN = {"horizon": 32, "epochs": 4, "minibatch": 512, "learning_rate": 2.5e-3}  # much out of every step
_SB3 = {**_KEEN, "lanes": 64}

PRESETS: tuple[Preset, ...] = (
    Preset("ppo", "torus-v0", {**_KEEN, "lanes": 128, "layers": 4, "evaluate_every": 20, "checkpoint_every": 40}),
    Preset(
        "ppo",
        "grid-adaptation-v0",
        {
            **_BY_CHANCE,
            **{"lanes": 64, "horizon": 18, "epochs": 2, "minibatch": 1024, "learning_rate": 1e-3, "entropy": 0.003},
            **{"opponents": "self=0.4,greedy=0.6", "games": 60, "evaluate_every": 10},
        },
    ),
    Preset(
        "ppo",
        "toroidal-cup-v0",
        {
            # By the likeliest: others place at once, and what they foresee changes little.
            **{"sample": False, "lanes": 1024, "horizon": 6, "epochs": 2, "minibatch": 2048, "learning_rate": 3e-3},
            **{"entropy": 0.0, "channels": 16, "layers": 2, "opponents": "self=0.7,random=0.3"},
            **{"games": 400, "evaluate_every": 5},
        },
        {"rows": 24, "cols": 48},
    ),
    Preset("ppo", "cloth-of-gold-v0", {**_SLOW, "checkpoint_every": 30}),
    Preset(
        "alphazero",
        "torus-v0",
        {
            **{"horizon": 16, "epochs": 2, "minibatch": 512, "learning_rate": 2e-3, "layers": 4, "opponents": "self"},
            **{"random_plies": 4, "snapshot_every": 40, "evaluate_every": 20},
        },
    ),
    Preset("maskable-ppo", "torus-v0", _SB3),
    Preset("maskable-ppo", "grid-adaptation-v0", {**_SB3, **_BY_CHANCE, "games": 40}),
    Preset("maskable-ppo", "toroidal-cup-v0", {**_SB3, **_BY_CHANCE, **_SLOW}),
    Preset("maskable-ppo", "cloth-of-gold-v0", {**_SB3, **_SLOW, "checkpoint_every": 30}),
    Preset(
        "turn-values",
        "cloth-of-gold-v0",
        {
            **{"lanes": 64, "horizon": 16, "minibatch": 256, "learning_rate": 1e-3, "trace": 0.9, "epochs": 2},
            **{"opponents": "greedy=0.8,self=0.2", "games": 60, "evaluate_every": 10},
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
