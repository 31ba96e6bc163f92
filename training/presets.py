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
_SB3 = {"lanes": 64, "horizon": 32, "epochs": 4, "minibatch": 512, "learning_rate": 2.5e-3}  # its steps cost more

PRESETS: tuple[Preset, ...] = (
    Preset("ppo", "torus-v0", {"lanes": 512}),
    Preset("ppo", "grid-adaptation-v0", {**_BY_CHANCE, "games": 40}),
    Preset("ppo", "toroidal-cup-v0", {**_BY_CHANCE, **_SLOW}),
    Preset("ppo", "cloth-of-gold-v0", {**_SLOW, "checkpoint_every": 30}),
    Preset("maskable-ppo", "torus-v0", _SB3),
    Preset("maskable-ppo", "grid-adaptation-v0", {**_SB3, **_BY_CHANCE, "games": 40}),
    Preset("maskable-ppo", "toroidal-cup-v0", {**_SB3, **_BY_CHANCE, **_SLOW}),
    Preset("maskable-ppo", "cloth-of-gold-v0", {**_SB3, **_SLOW, "checkpoint_every": 30}),
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
