"""Checkpoints of a run and its settings on disk, so that it can be killed at any moment and continued."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch

from cellgames.agents.networks.file_names import WEIGHTS_FILE
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.training.checkpoint_files import read_state, write_state
from cellgames.training.selfplay.learner import Iteration
from cellgames.utils.foreign_text import clipped, shown
from cellgames.utils.run_folders import (
    START_OVER,
    TENSORBOARD,
    TIMING,
    RunError,
    differences,
    refuse_foreign,
    write_atomic,
)
from cellgames.utils.version import __version__

from .timing import TIMING_METRICS

__all__ = [
    "AGENT",
    "ARGUMENTS",
    "CHECKPOINT",
    "CURVE",
    "FAILURE",
    "FORMAT",
    "GAMES",
    "POOL",
    "PROGRESS",
    "Checkpoint",
    "Interruption",
    "SavedRun",
    "prepare",
    "read",
    "steps_kept",
    "unshared",
]

ARGUMENTS, CHECKPOINT, AGENT = "arguments.json", "checkpoint.pt", WEIGHTS_FILE
PROGRESS, CURVE, POOL, FAILURE = "progress.csv", "curve.png", "pool", "failure.log"

PROCESSES = "processes"  # beside the arguments, if there are several
GAMES = "games"  # in the state of a learner, if its games in progress are kept

FORMAT = 1
"""Format of a checkpoint; it grows when older ones can no longer be continued."""


@dataclass(frozen=True)
class Interruption:
    """A checkpoint's note that the run was interrupted between two points at which games start over.

    Attributes:
        saved: steps at the last of these points.
        games: True if the state of the learner has the games in progress; otherwise they start over.
        iteration: the results of the last iteration, if its evaluation was left out.
    """

    saved: int
    games: bool
    iteration: Iteration | None = None

    def to_data(self) -> dict[str, Any]:
        """Return it in plain containers, as a checkpoint holds it."""
        return dataclasses.asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Return what `to_data` made the data of.

        Raises:
            ValueError: it was made of something else.
        """
        saved, games, iteration = data["saved"], data["games"], data["iteration"]
        if type(saved) is not int or type(games) is not bool:
            raise ValueError(f"expected steps, and True or False, got {shown(saved)} and {shown(games)}")
        return cls(saved, games, None if iteration is None else Iteration(**iteration))


@dataclass
class Checkpoint:
    """The counters of a run between two iterations; the learner has the rest of its state.

    Attributes:
        planned: steps that were asked for.
        iteration: number of finished iterations.
        steps: actions that were learned from.
        games: games that ended.
        history: a row of the table for each evaluation.
    """

    planned: int
    iteration: int = 0
    steps: int = 0
    games: int = 0
    history: list[dict[str, float]] = field(default_factory=list)

    def write(
        self,
        folder: Path,
        arguments: Arguments,
        learner: Mapping[str, Any],
        others: Sequence[Mapping[str, Any]] = (),
        interruption: Interruption | None = None,
    ) -> None:
        """Write the checkpoint; it replaces the last one when it is whole.

        Args:
            folder: of the run.
            arguments: of the run.
            learner: state of the learner; of several processes, that of rank 0.
            others: entries `Learner.OWN` of the states of further processes, by rank from 1.
            interruption: None at the points at which games start over anyway.
        """
        asked = _asked_for(arguments, 1 + len(others))
        about = {"format": FORMAT, "cellgames": __version__, "arguments": asked}
        about |= {"others": list(others)} if others else {}
        about |= {"interruption": interruption.to_data()} if interruption is not None else {}
        write_state(folder / CHECKPOINT, unshared({**about, "at": vars(self), "learner": learner}))


@dataclass(frozen=True)
class SavedRun:
    """The content of a checkpoint file.

    Attributes:
        at: the counters.
        learner: state of the learner.
        others: entries of the states of further processes.
        interruption: None if games start over at this checkpoint anyway.
    """

    at: Checkpoint
    learner: dict[str, Any]
    others: list[dict[str, Any]]
    interruption: Interruption | None


def read(folder: Path, arguments: Arguments, device: torch.device, processes: int = 1) -> SavedRun | None:
    """Return the checkpoint of a folder with its tensors on the device; None if there is none yet.

    Raises:
        RunError: another run's, of another format, or not readable.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        data: dict[str, Any] = read_state(path, device)
        found = data["format"]
    except Exception as error:  # unpickling fails in many ways
        reason = f"{type(error).__name__}: {clipped(str(error), 300)}"
        raise RunError(f"{path} cannot be read ({reason}); {START_OVER}") from error
    if type(found) is not int or found != FORMAT:
        raise RunError(
            f"{path}: expected a checkpoint of format {FORMAT}, got {shown(found)} of cellgames "
            f"{clipped(str(data.get('cellgames')), 40)}; continue it with that version, or {START_OVER}"
        )
    _check_same(path, data.get("arguments"), arguments, processes)
    try:
        at = data["at"]
        for line in (at, *at["history"]):  # times, which older versions kept here
            for name in TIMING_METRICS:
                line.pop(name, None)
        found = data.get("interruption")
        interruption = None if found is None else Interruption.from_data(found)
        saved = SavedRun(Checkpoint(**at), dict(data["learner"]), list(data.get("others", [])), interruption)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged ({type(error).__name__}: {clipped(str(error))}); {START_OVER}") from error
    counters = {name: value for name, value in vars(saved.at).items() if name != "history"}
    if wrong := [name for name, value in counters.items() if type(value) is not int or value < 0]:
        raise RunError(
            f"{path} is damaged: expected a number as {wrong[0]}, got {shown(counters[wrong[0]])}; {START_OVER}"
        )
    return saved


def steps_kept(folder: Path) -> int:
    """Return the steps of the checkpoint in a folder; 0 if there is none that can be read."""
    try:
        return int(read_state(folder / CHECKPOINT, torch.device("cpu"))["at"]["steps"])
    except Exception:  # torch raises many kinds
        return 0


def unshared(value: Any, words: dict[str, str] | None = None) -> Any:
    """Return a copy of nested containers in which equal strings are one object and containers are different ones.

    A pickle tells objects that occur twice from equal ones. Without this step, the checkpoint of a run that was
    continued would hold the same values in other bytes.
    """
    words = {} if words is None else words
    if isinstance(value, str):
        return words.setdefault(value, value)
    if isinstance(value, Mapping):
        return {unshared(name, words): unshared(item, words) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(unshared(item, words) for item in value)
    return value


def prepare(folder: Path, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """Check that a folder is empty or has this run, and write the arguments.

    Args:
        folder: of the run, locked by `run_folders.opened`.
        arguments: of the run.
        resume: False deletes the run in the folder.
        processes: number of processes that learn together.

    Raises:
        RunError: the folder has something else, or another run that would be resumed.
    """
    check(folder, arguments, resume=resume, processes=processes)
    if not resume:
        for name in (POOL, TENSORBOARD):
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in (CHECKPOINT, AGENT, PROGRESS, CURVE, TIMING):
            (folder / name).unlink(missing_ok=True)
    (folder / FAILURE).unlink(missing_ok=True)  # of an earlier part of the run
    write_atomic(folder / ARGUMENTS, json.dumps(_asked_for(arguments, processes), indent=2, ensure_ascii=False) + "\n")


def check(folder: Path, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """Raise the errors of `prepare`, but change nothing; the folder may be missing."""
    path = folder / ARGUMENTS
    if folder.is_dir():
        refuse_foreign(folder, ARGUMENTS)
    found = _asked(path) if path.exists() else None
    if resume and found is not None:
        _check_same(path, found, arguments, processes)


def _asked_for(arguments: Arguments, processes: int) -> dict[str, Any]:
    """Return the content of the file of arguments; it has the number of processes if there are several."""
    return {**arguments.to_data(), **({PROCESSES: processes} if processes > 1 else {})}


def _asked(path: Path) -> dict[str, Any]:
    """Read the file of arguments; raise a `RunError` if it belongs to something else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read ({error}); choose another folder, or delete this one") from None
    if isinstance(found, dict) and str(found.get("algorithm")) in ALGORITHMS and {"game", GROWS} <= found.keys():
        return found
    raise RunError(
        f"{path} is of no run of training: expected an algorithm out of {', '.join(ALGORITHMS)}, a game and {GROWS}; "
        "choose another folder"
    )


def _check_same(path: Path, found: Any, arguments: Arguments, processes: int) -> None:
    """Raise a `RunError` unless `found` are the arguments of this run, or of the same run with fewer steps."""
    if not isinstance(found, Mapping):
        raise RunError(f"{path} is damaged: expected the arguments of a run, got {shown(found)}; {START_OVER}")
    asked, before = arguments.to_data(), found.get(PROCESSES, 1)
    if type(before) is not int or type(found.get(GROWS)) is not int:
        raise RunError(f"{path} is damaged: expected numbers as {PROCESSES} and {GROWS}; {START_OVER}")
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
