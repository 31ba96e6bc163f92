"""Checkpoints of a run and its settings on disk, so that it can be killed at any moment and continued."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch

from cellgames.agents.networks.file_names import WEIGHTS_FILE
from cellgames.runs.comparing import TENSORBOARD, TIMING
from cellgames.runs.run_folder import START_OVER, RunError, RunFolder, RunKind
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.training.checkpoint_files import read_state, write_state
from cellgames.training.selfplay.learner import Iteration
from cellgames.utils.foreign_text import clipped, shown
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
    "run_of",
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
    try:
        before, at = dict(data["arguments"]), data["at"]
        for line in (at, *at["history"]):  # times, which older versions kept here
            for name in TIMING_METRICS:
                line.pop(name, None)
        found = data.get("interruption")
        interruption = None if found is None else Interruption.from_data(found)
        saved = SavedRun(Checkpoint(**at), dict(data["learner"]), list(data.get("others", [])), interruption)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged ({type(error).__name__}: {clipped(str(error))}); {START_OVER}") from error
    run_of(folder, arguments).kind.check(path, before, _asked_for(arguments, processes))
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


def prepare(run: RunFolder, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """Check that a folder is empty or has this run, and write the arguments.

    Args:
        run: the folder, which is locked.
        arguments: of the run.
        resume: False deletes the run in the folder.
        processes: number of processes that learn together.

    Raises:
        RunError: the folder has something else, or another run that would be resumed.
    """
    asked = _asked_for(arguments, processes)
    _check_kind(run)
    run.begin(asked, resume=resume)
    run.delete(FAILURE)  # of an earlier part of the run
    run.write(asked)


def check(run: RunFolder, arguments: Arguments, *, resume: bool, processes: int = 1) -> None:
    """Raise the errors of `prepare`, but change nothing; the folder may be missing."""
    run.refuse_foreign()
    _check_kind(run)
    if resume and (found := run.read()) is not None:
        run.kind.check(run.file, found, _asked_for(arguments, processes))


def run_of(folder: Path, arguments: Arguments) -> RunFolder:
    """Return the folder of a run of training; more steps let it grow, and what an older run lacks has its default."""
    defaults = {option.name: option.default for option in type(arguments).options()}
    kind = RunKind(
        "run of training",
        ARGUMENTS,
        (POOL, TENSORBOARD, CHECKPOINT, AGENT, PROGRESS, CURVE, TIMING),
        grows=(GROWS,),
        free=tuple(FREE),
        defaults={PROCESSES: 1, **defaults},
    )
    return RunFolder(folder, kind)


def _asked_for(arguments: Arguments, processes: int) -> dict[str, Any]:
    """Return the content of the file of arguments; it has the number of processes if there are several."""
    return {**arguments.to_data(), **({PROCESSES: processes} if processes > 1 else {})}


def _check_kind(run: RunFolder) -> None:
    """Raise a `RunError` if the file of arguments belongs to another program."""
    found = run.read()
    if found is not None and not (str(found.get("algorithm")) in ALGORITHMS and {"game", GROWS} <= found.keys()):
        raise RunError(
            f"{run.file} is of no run of training: expected an algorithm out of {', '.join(ALGORITHMS)}, a game and "
            f"{GROWS}; choose another folder"
        )
