"""Training options that suit a game where they are not given. Importing this imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellgames.envs.registry import plugins
from cellgames.plugins import TrainingPreset

__all__ = ["preset", "presets"]


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
