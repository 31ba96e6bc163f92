"""Checkpoints of a run and its settings on disk, so that it can be killed at any moment and continued."""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from cellgames.agents.networks.agent_files import WEIGHTS_FILE
from cellgames.runs.run_folder import START_OVER, TENSORBOARD, TIMING, RunError, RunFolder, RunKind
from cellgames.training.arguments import ALGORITHMS, FREE, GROWS, Arguments
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.files import replacing
from cellgames.utils.version import __version__

ARGUMENTS, CHECKPOINT, AGENT = "arguments.json", "checkpoint.pt", WEIGHTS_FILE
PROGRESS, CURVE, POOL, FAILURE = "progress.csv", ("curve.png", "curve.svg"), "pool", "failure.log"

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
        learner: Learner,
        interruption: Interruption | None = None,
        games: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the checkpoint; it replaces the last one when it is whole.

        The interruption is None at the points at which games start over anyway; `games` are those in progress, if the
        interruption keeps them.
        """
        state = learner.state_dict() | ({} if games is None else {"games": games})
        content = {"format": FORMAT, "cellgames": __version__, "arguments": arguments.to_data()}
        content |= {} if interruption is None else {"interruption": dataclasses.asdict(interruption)}
        write_state(folder / CHECKPOINT, _unshared({**content, "at": vars(self), "learner": state}))


def read(
    folder: Path, arguments: Arguments, device: torch.device
) -> tuple[Checkpoint, Interruption | None, dict[str, Any]] | None:
    """Return the counters of a checkpoint, its interruption and the state of the learner; None before the first one.

    A `RunError` says that it is another run's, of another format, or not readable.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    with _damages(path, "cannot be read"):  # unpickling fails in many ways
        data: dict[str, Any] = read_state(path, device)
        found = data["format"]
    if type(found) is not int or found != FORMAT:
        got, cause = clipped(str(data.get("cellgames")), 40), f"continue it with that version, or {START_OVER}"
        raise RunError(path, f"a checkpoint of format {FORMAT}", f"{shown(found)} of cellgames {got}", cause)
    with _damages(path, "is damaged: it is no checkpoint"):
        before, at, interruption = dict(data["arguments"]), Checkpoint(**data["at"]), data.get("interruption")
        if interruption is not None:
            last = interruption["iteration"]
            interruption = Interruption(**{**interruption, "iteration": None if last is None else Iteration(**last)})
        counters = (at.planned, at.iteration, at.steps, at.games)
        if not all(type(value) is int and value >= 0 for value in counters):
            raise InputError("counters", "numbers of steps, iterations and games", shown(counters))
        learner = dict(data["learner"])
    run_of(folder, arguments).kind.check(path, before, arguments.to_data())
    return at, interruption, learner


def restore(
    folder: Path, arguments: Arguments, device: torch.device, learner: Learner
) -> tuple[Checkpoint, Interruption | None] | None:
    """Restore the learner from the last checkpoint, with its games in progress if the checkpoint has them.

    Returns:
        The counters and the interruption (None if games start over anyway); None if there is no checkpoint yet.

    Raises:
        RunError: see `read`; or the state is not that of such a learner, or snapshots are missing.
    """
    if (saved := read(folder, arguments, device)) is None:
        return None
    at, interruption, state = saved
    with _damages(folder / CHECKPOINT, "is damaged: its learner cannot be restored"):
        learner.load_state_dict(state)
        if interruption is not None and interruption.games:
            learner.load_games(state["games"])
    return at, interruption


@contextmanager
def _damages(path: Path, fault: str) -> Iterator[None]:
    """Turn any error of a state that no learner has into a `RunError` that names the checkpoint."""
    try:
        yield
    except RunError:
        raise
    except Exception as error:  # torch raises many kinds
        reason = f"{type(error).__name__}: {clipped(str(error), 300)}"
        raise RunError(path, cause=f"it {fault} ({reason}); {START_OVER}") from error


def steps_kept(folder: Path) -> int:
    """Return the steps of the checkpoint in a folder; 0 without a readable one."""
    try:
        return int(read_state(folder / CHECKPOINT, torch.device("cpu"))["at"]["steps"])
    except Exception:  # torch raises many kinds
        return 0


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write the state of a learner as torch saves it; it replaces the last one when it is whole."""
    with replacing(path) as part, part.open("wb") as file:
        torch.save(state, file)


def read_state(path: Path, device: torch.device) -> Any:
    """Return the state in a file with its tensors on the device; an error of any kind if it has changed.

    torch writes an archive with checksums, but does not look at them when it reads.
    """
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            if (name := archive.testzip()) is not None:
                raise InputError(shown(name), "a part as it was written", "a changed one")
        file.seek(0)
        return torch.load(file, map_location=device, weights_only=True)


def _unshared(value: Any, words: dict[str, str] | None = None) -> Any:
    """Return a copy of nested containers in which equal strings are one object and containers are different ones."""
    # A pickle tells objects that occur twice from equal ones, so a run that was continued would hold other bytes.
    words = {} if words is None else words
    if isinstance(value, str):
        return words.setdefault(value, value)
    if isinstance(value, Mapping):
        return {_unshared(name, words): _unshared(item, words) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_unshared(item, words) for item in value)
    return value


def run_of(folder: Path, arguments: Arguments) -> RunFolder:
    """Return the folder of a run of training; more steps let it grow, and what an older run lacks has its default."""
    kind = RunKind(
        "run of training",
        ARGUMENTS,
        (POOL, TENSORBOARD, CHECKPOINT, AGENT, PROGRESS, *CURVE, TIMING),
        grows=(GROWS,),
        free=FREE,
        defaults={option.name: option.default for option in type(arguments).options()},
    )
    return RunFolder(folder, kind)


def check(run: RunFolder, arguments: Arguments, *, resume: bool) -> None:
    """Raise a `RunError` if the folder, which may be missing, has something else, or another run to be resumed."""
    run.refuse_foreign()
    found = run.read()
    if found is not None and not (str(found.get("algorithm")) in ALGORITHMS and {"game", GROWS} <= found.keys()):
        expected = f"a run of training, with an algorithm out of {', '.join(ALGORITHMS)}, a game and {GROWS}"
        raise RunError(run.file, expected, "another", "choose another folder")
    if resume and found is not None:
        run.kind.check(run.file, found, arguments.to_data())


def prepare(run: RunFolder, arguments: Arguments, *, resume: bool) -> None:
    """Check a locked folder, delete the run in it unless that is resumed, and write the arguments."""
    check(run, arguments, resume=resume)
    run.begin(arguments.to_data(), resume=resume)
    run.delete(FAILURE)  # of an earlier part of the run
    run.write(arguments.to_data())
