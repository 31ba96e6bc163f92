"""Restoring a learner from the last checkpoint, in one process or in several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from cellgames.agents.networks.saved import load_network
from cellgames.training.arguments import Arguments
from cellgames.training.distributed import pack, unpack
from cellgames.training.selfplay.learner import Learner
from cellgames.training.selfplay.opponent_pool import like

from .checkpoints import Checkpoint, SavedRun, read

__all__ = ["restore"]


def restore(folder: Path, arguments: Arguments, device: torch.device, learner: Learner) -> Checkpoint | None:
    """Restore the learner from the last checkpoint.

    Of several processes rank 0 reads the file and sends the others their parts, snapshots included.

    Args:
        folder: of the run; only rank 0 needs it.
        arguments: of the run.
        device: of the learner.
        learner: changed if there is a checkpoint.

    Returns:
        The counters of the run; None if there is no checkpoint yet.

    Raises:
        RunError: see `checkpoints.read`.
    """
    group, kept, parts = learner.group, None, list[bytes]()
    with group.agreed():
        if group.first:
            kept = read(folder, arguments, device, group.world)
        if kept is not None:
            learner.load_state_dict(kept.learner)
        if group.first and group.world > 1:
            parts = [pack(_part(kept, learner, rank)) for rank in range(group.world)]
    if group.world == 1:
        return kept.at if kept is not None else None
    part = unpack(group.scatter(parts), device)
    with group.agreed():
        if part is not None and not group.first:
            _take(part, learner)
    return Checkpoint(**part["at"]) if part is not None else None


def _part(kept: SavedRun | None, learner: Learner, rank: int) -> dict[str, Any] | None:
    """Return the part of the checkpoint for a process; rank 0 needs the counters only."""
    if kept is None:
        return None
    at = vars(kept.at)
    if rank == 0:
        return {"at": at}
    pool = learner.pool
    weights = {member.file: load_network(pool.folder / member.file).network.state_dict() for member in pool.members}
    return {"at": at, "learner": {**kept.learner, **kept.others[rank - 1]}, "snapshots": weights}


def _take(part: dict[str, Any], learner: Learner) -> None:
    snapshots = part["snapshots"]
    learner.pool.receive({file: like(learner.network, weights) for file, weights in snapshots.items()})
    learner.load_state_dict(part["learner"])
