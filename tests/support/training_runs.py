"""Tiny networks and runs of training, how these are killed, and what two equal ones share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from run_suite import files

import cellgames
from cellgames.agents.networks.networks import FlatNetwork, Network, Size, make_network
from cellgames.envs.core import Game
from cellgames.training import PPOArguments
from cellgames.training.runs.checkpoints import CHECKPOINT

SMALL = Size(4, 1)

LEARNS: dict[str, Any] = {
    **{"num_envs": 64, "num_steps": 18, "num_epochs": 3, "minibatch_size": 256, "learning_rate": 3e-3},
    **{"total_steps": 11_000, "channels": 16, "layers": 1, "sample": True, "threads": 1, "device": "cpu"},
    **{"eval_games": 200, "eval_opponents": ("random",), "eval_every": 100},
}
"""Of a run of PPO that learns to beat random play on Torus of size 3."""


def tiny(**changes: Any) -> PPOArguments:
    """About seven iterations on the smallest board: checkpoints after 3, 6 and the last, a snapshot every 2."""
    settings: dict[str, Any] = {
        **{"total_steps": 480, "num_envs": 16, "num_steps": 8, "num_epochs": 2},
        **{"minibatch_size": 32, "channels": 4, "layers": 1},
        **{"snapshot_every": 2, "eval_every": 2, "checkpoint_every": 3, "eval_games": 4, "eval_opponents": ("random",)},
        **{"opponents": "self=0.4,pool=0.4,random=0.2", "threads": 1, "device": "cpu"},
    }
    return PPOArguments.fitted(cellgames.make("torus-v0", size=2), **{**settings, **changes})


def network_for(
    game: Game, seed: int = 0, kind: str = FlatNetwork.kind, size: Size = SMALL, noise: float = 0.1
) -> Network:
    """With weights large enough to tell."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = make_network(game, size, kind)
        for weight in network.parameters():
            weight.data += noise * torch.randn_like(weight)
    return network.eval()


def content(folder: Path) -> dict[str, Any]:
    """All that equal runs share: the last checkpoint, snapshots, and the bytes of all files but those with times."""
    found: dict[str, Any] = torch.load(folder / CHECKPOINT, weights_only=True)
    found["at"]["history"] = [{name: repr(value) for name, value in line.items()} for line in found["at"]["history"]]
    found["files"] = files(folder)
    found["snapshots"] = {path.name: path.read_bytes() for path in sorted((folder / "pool").iterdir())}
    return found
