"""Texts and training options that several games share."""

from __future__ import annotations

from typing import Any

from .plugin import TextColours

__all__ = ["BLACK_AND_WHITE", "LIFE_RULE", "MASKABLE_PPO", "SAMPLED", "SLOW_GAME"]

LIFE_RULE = (
    "Life: an empty cell with exactly three live neighbours (of eight) comes alive; a live cell with two or three "
    "lives on; every other one dies."
)

MASKABLE_PPO: dict[str, Any] = {"ent_coef": 0.01, "checkpoint_every": 20}

SLOW_GAME: dict[str, Any] = {"num_envs": 64, "eval_games": 20, "eval_every": 10, "snapshot_every": 10}
"""Small batches and few evaluation games."""

SAMPLED: dict[str, Any] = {"sample": True}
"""The trained agent samples its actions: where all act at once or cards are hidden, a foreseen player loses."""

BLACK_AND_WHITE = TextColours(
    row=r" *\d* +([.,xo\[\] ]+)",
    signs={r"\[x\]": "bold reverse red", r"\[o\]": "bold reverse cyan", "x": "bold red", "o": "bold cyan"},
)
"""Stones of Black (x) and White (o), the last one in brackets."""
