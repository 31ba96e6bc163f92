"""Restoring a learner from the last checkpoint, in one process or in several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cellgames.agents.networks.saved import load_network
from cellgames.runs.run_folder import START_OVER, RunError
from cellgames.training.arguments import Arguments
from cellgames.training.distributed import pack, unpack
from cellgames.training.selfplay.learner import Learner
from cellgames.training.selfplay.opponent_pool import like
from cellgames.utils.foreign_text import clipped, shown

from .checkpoints import CHECKPOINT, GAMES, Checkpoint, Interruption, SavedRun, read

__all__ = ["Restored", "restore"]


@dataclass(frozen=True)
class Restored:
    """A run as its last checkpoint has it.

    Attributes:
        at: the counters.
        interruption: None if games start over at this checkpoint anyway.
    """

    at: Checkpoint
    interruption: Interruption | None


def restore(folder: Path, arguments: Arguments, device: torch.device, learner: Learner) -> Restored | None:
    """Restore the learner from the last checkpoint, with its games in progress if the checkpoint has them.

    Of several processes rank 0 reads the file and sends the others their parts, snapshots included.

    Args:
        folder: of the run; only rank 0 needs it.
        arguments: of the run.
        device: of the learner.
        learner: changed if there is a checkpoint.

    Returns:
        The rest of the run; None if there is no checkpoint yet.

    Raises:
        RunError: see `checkpoints.read`; the learner's state is not that of such a learner, or snapshots are missing.
    """
    group, kept, parts = learner.group, None, list[bytes]()
    with group.agreed():
        if group.first:
            kept = read(folder, arguments, device, group.world)
        if kept is not None:
            with _damages(folder / CHECKPOINT):
                _take(kept.learner, learner, kept.interruption)
                _check_history(kept.at.history, [*arguments.eval_agents])
                if len(kept.others) != group.world - 1:
                    raise ValueError(f"expected states of {group.world - 1} further processes, got {len(kept.others)}")
        if group.first and group.world > 1:
            parts = [pack(_part(kept, learner, rank)) for rank in range(group.world)]
    if group.world == 1:
        return Restored(kept.at, kept.interruption) if kept is not None else None
    part = unpack(group.scatter(parts), device)
    if part is None:
        return None
    interruption = None if part["interruption"] is None else Interruption.from_data(part["interruption"])
    with group.agreed():
        if not group.first:
            with _damages(folder / CHECKPOINT):
                snapshots = part["snapshots"]
                learner.pool.receive({file: like(learner.network, weights) for file, weights in snapshots.items()})
                _take(part["learner"], learner, interruption)
    return Restored(Checkpoint(**part["at"]), interruption)


@contextmanager
def _damages(path: Path) -> Iterator[None]:
    """Turn any error of a state that no learner has into a `RunError` that names the checkpoint."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:  # torch raises many kinds
        reason = f"{type(error).__name__}: {clipped(str(error), 300)}"
        raise RunError(f"{path} is damaged: its learner cannot be restored ({reason}); {START_OVER}") from error


def _check_history(history: Any, eval_opponents: Sequence[str]) -> None:
    """Raise a `ValueError` unless there are rows of numbers, with a column for each evaluation opponent."""
    for line in history if isinstance(history, list) and history else [history]:
        numbers = isinstance(line, dict) and all(type(value) in (int, float) for value in line.values())
        if not numbers or not {*eval_opponents} <= line.keys():
            raise ValueError(f"expected a history of {', '.join(eval_opponents)} in numbers, got {shown(line)}")


def _part(kept: SavedRun | None, learner: Learner, rank: int) -> dict[str, Any] | None:
    """Return the part of the checkpoint for a process; rank 0 needs the counters only."""
    if kept is None:
        return None
    about = {"at": vars(kept.at), "interruption": kept.interruption and kept.interruption.to_data()}
    if rank == 0:
        return about
    pool = learner.pool
    weights = {member.file: load_network(pool.folder / member.file).network.state_dict() for member in pool.members}
    return {**about, "learner": {**kept.learner, **kept.others[rank - 1]}, "snapshots": weights}


def _take(state: dict[str, Any], learner: Learner, interruption: Interruption | None) -> None:
    learner.load_state_dict(state)
    if interruption is not None and interruption.games:
        learner.load_games(state[GAMES])
