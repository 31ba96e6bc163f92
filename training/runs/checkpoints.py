"""A run on disk, so that it can be killed at any moment and continued."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from cellgames.agents.networks.file_names import WEIGHTS_FILE
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.utils.run_folders import START_OVER, RunError, differences, refuse_foreign, write_atomic
from cellgames.utils.version import __version__

__all__ = [
    "AGENT",
    "ARGUMENTS",
    "CHECKPOINT",
    "CURVE",
    "FORMAT",
    "POOL",
    "PROGRESS",
    "TENSORBOARD",
    "Checkpoint",
    "Kept",
    "prepare",
    "read",
]

ARGUMENTS, CHECKPOINT, AGENT = "arguments.json", "checkpoint.pt", WEIGHTS_FILE
PROGRESS, CURVE, TENSORBOARD, POOL = "progress.csv", "curve.png", "tensorboard", "pool"

PROCESSES = "processes"  # beside the arguments, if there are several

FORMAT = 1
"""Of a checkpoint; raised when older ones can no longer be continued."""


@dataclass
class Checkpoint:
    """A run between two iterations, but for the learner and its games.

    Attributes:
        planned: steps that were asked for.
        iteration: how many there were.
        steps: actions that were learned from.
        games: that ended.
        seconds: spent on playing and learning, by all processes of the run.
        history: a line of the table for each evaluation.
    """

    planned: int
    iteration: int = 0
    steps: int = 0
    games: int = 0
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)

    def write(
        self, folder: Path, arguments: Arguments, learner: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Beside the last one, then in its place.

        Args:
            folder: of the run.
            arguments: of the run.
            learner: its `state_dict`; of several processes the one of rank 0.
            others: what further processes have of their own, `Learner.OWN`, by rank from 1.
        """
        asked = _asked_for(arguments, 1 + len(others))
        about = {"format": FORMAT, "cellgames": __version__, "arguments": asked}
        about |= {"others": list(others)} if others else {}
        part = folder / f"{CHECKPOINT}.part"
        with part.open("wb") as file:
            torch.save({**about, "at": vars(self), "learner": learner}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, folder / CHECKPOINT)


@dataclass(frozen=True)
class Kept:
    """What `read` found: how far the run is, and what `Checkpoint.write` was given."""

    at: Checkpoint
    learner: dict[str, Any]
    others: list[dict[str, Any]]


def read(folder: Path, arguments: Arguments, device: torch.device, processes: int = 1) -> Kept | None:
    """The folder's checkpoint, its tensors on the device; None if there is none yet.

    Raises:
        RunError: another run's, of another format, or not readable.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        data: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        found = data["format"]
    except Exception as error:  # unpickling fails in many ways
        raise RunError(f"{path} cannot be read ({type(error).__name__}); {START_OVER}") from error
    if found != FORMAT:
        raise RunError(
            f"{path}: expected a checkpoint of format {FORMAT}, got {found} of cellgames {data.get('cellgames')}; "
            f"continue it with that version, or {START_OVER}"
        )
    _check_same(path, data["arguments"], arguments, processes)
    return Kept(Checkpoint(**data["at"]), data["learner"], data.get("others", []))


def prepare(folder: Path, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """See that a folder is empty or this run's, and write what was asked for.

    Args:
        folder: of the run, `folders.opened`.
        arguments: of the run.
        resume: False deletes a run that is there.
        processes: that learn together.

    Raises:
        RunError: it holds something else, or to be resumed another run.
    """
    check(folder, arguments, resume=resume, processes=processes)
    if not resume:
        for name in (POOL, TENSORBOARD):
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in (CHECKPOINT, AGENT, PROGRESS, CURVE):
            (folder / name).unlink(missing_ok=True)
    write_atomic(folder / ARGUMENTS, json.dumps(_asked_for(arguments, processes), indent=2, ensure_ascii=False) + "\n")


def check(folder: Path, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """What `prepare` refuses, for a folder that may not be there; changes nothing."""
    path = folder / ARGUMENTS
    if folder.is_dir():
        refuse_foreign(folder, ARGUMENTS)
    found = _asked(path) if path.exists() else None
    if resume and found is not None:
        _check_same(path, found, arguments, processes)


def _asked_for(arguments: Arguments, processes: int) -> dict[str, Any]:
    """As JSON holds it; one process is not worth a word."""
    return {**arguments.to_data(), **({PROCESSES: processes} if processes > 1 else {})}


def _asked(path: Path) -> dict[str, Any]:
    """What the run in the folder was asked for; a `RunError` if the file is of something else, which stays."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read ({error}); choose another folder, or delete this one") from None
    if isinstance(found, dict) and str(found.get("algorithm")) in ALGORITHMS and {"game", GROWS} <= found.keys():
        return found
    raise RunError(
        f"{path} is of no run of training: expected an algorithm out of {', '.join(ALGORITHMS)}, a game and {GROWS}; "
        "choose another folder"
    )


def _check_same(path: Path, found: Mapping[str, Any], arguments: Arguments, processes: int) -> None:
    """Raise a `RunError` unless what was found is this run, or the same with fewer steps."""
    asked, before = arguments.to_data(), found.get(PROCESSES, 1)
    if before != processes:
        how = f"them by torchrun --nproc-per-node={before}" if before > 1 else "it without torchrun"
        raise RunError(
            f"{path} is of a run whose environments are shared by {before} process{'es' if before > 1 else ''}: "
            f"expected as many, got {processes}; start {how}, or {START_OVER}"
        )
    # A run that is older than a setting had what is now its default.
    found = {**{option.name: option.default for option in type(arguments).options()}, **found}
    fixed = [name for name in {**asked, **found} if name not in (*FREE, GROWS, PROCESSES)]
    if wrong := differences({name: found.get(name) for name in fixed}, asked):
        raise RunError(f"{path} is another run's. {wrong}; {START_OVER}")
    if found[GROWS] > asked[GROWS]:
        raise RunError(
            f"{path} is of a longer run: expected at least {found[GROWS]} steps, got {asked[GROWS]}; {START_OVER}"
        )
