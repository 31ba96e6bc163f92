"""Files of texts, and training options that several games share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MASKABLE_PPO: dict[str, Any] = {"ent_coef": 0.01, "checkpoint_every": 20}

SLOW_GAME: dict[str, Any] = {"num_envs": 64, "eval_games": 20, "eval_every": 10, "snapshot_every": 10}
"""Small batches and few evaluation games."""

SAMPLED: dict[str, Any] = {"sample": True}
"""The trained agent samples its actions: where all act at once or cards are hidden, a foreseen player loses."""


def files(*names: str) -> tuple[Path, ...]:
    """Return files of texts of this folder."""
    return tuple(Path(__file__).with_name(f"{name}.toml") for name in names)
