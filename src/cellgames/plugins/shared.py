"""Texts and training options that several games share."""

from __future__ import annotations

from typing import Any

__all__ = ["LIFE_RULE", "MASKABLE_PPO", "SAMPLED", "SAMPLE_EFFICIENT", "SLOW_GAME"]

LIFE_RULE = (
    "Life: an empty cell with exactly three live neighbours (of eight) comes alive; a live cell with two or three "
    "lives on; every other one dies."
)

SAMPLE_EFFICIENT: dict[str, Any] = {
    "num_steps": 32,
    "num_epochs": 4,
    "minibatch_size": 512,
    "learning_rate": 2.5e-3,
}
"""Several epochs on few steps at a high learning rate."""

MASKABLE_PPO: dict[str, Any] = {**SAMPLE_EFFICIENT, "num_envs": 64}

SLOW_GAME: dict[str, Any] = {
    "num_envs": 64,
    "num_steps": 32,
    "eval_games": 20,
    "eval_every": 10,
    "snapshot_every": 10,
}
"""Small batches and few evaluation games."""

SAMPLED: dict[str, Any] = {"sample": True}
"""The trained agent samples its actions: where all act at once or cards are hidden, a foreseen player loses."""
