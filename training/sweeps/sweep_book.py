"""Which trials a sweep has, and how they stand: the book that its driver keeps."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellgames.cluster import connection as cluster
from cellgames.training.arguments import Arguments
from cellgames.utils.run_folders import START_OVER, RunError, differences, write_atomic

from .sweep_space import MOST, Space, draw_settings, grid_settings, with_settings
from .sweep_trials import State

__all__ = ["DEATHS", "OUTCOMES", "TRIALS", "Book", "Planned", "SweepProgress", "plan"]

OUTCOMES = "outcomes.json"

TRIALS = 12
"""How many settings are drawn unless it is said."""
DEATHS = 5
"""Of a trial's workers, until it counts as failed."""


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    done, total: trials that ended, before too, and all.
    stopped:     early.
    failed:      with an error.
    running:     side by side now.
    best:        the name of the trial with the highest last score, "" for none; it may be running.
    score:       that one; NaN for none.
    """

    done: int
    total: int
    stopped: int
    failed: int
    running: int
    best: str
    score: float


@dataclass(frozen=True)
class Planned:
    """A trial before it runs: its name, what varies, and all of its arguments."""

    name: str
    settings: Mapping[str, Any]
    arguments: Arguments


def plan(
    base: Arguments, space: Space, *, trials: int | None = None, grid: bool = False, seeds: int = 1
) -> list[Planned]:
    """All trials, in the order in which they start: each setting with its seeds.

    The first ones are the same when there are more trials, and the first seeds when there are more of those.

    Raises:
        ValueError: settings that make no sense.
    """
    if seeds < 1:
        raise ValueError(f"expected at least one seed, got {seeds}")
    if grid and trials is not None:
        raise ValueError("a grid has all its settings, so the number of trials is not to be given")
    drawn = grid_settings(space) if grid else draw_settings(space, TRIALS if trials is None else trials, base.seed)
    if len(drawn) * seeds > MOST:
        raise ValueError(f"expected at most {MOST} trials, got {len(drawn)} settings with {seeds} seeds each")
    return [
        Planned(f"{number:03d}-seed={seed}", settings, with_settings(base, settings, seed))
        for number, settings in enumerate(drawn, 1)
        for seed in range(base.seed, base.seed + seeds)
    ]


class Book:
    """How the trials stand; written down when one ends.

    Args:
        folder: of the sweep.
        planned: all trials.
        report: called when something changes.

    Raises:
        RunError: what the folder has cannot be read, or is of trials with other settings.
    """

    def __init__(self, folder: Path, planned: Sequence[Planned], report: Callable[[SweepProgress], None]) -> None:
        self.folder, self.planned, self._report = folder, planned, report
        self._path = folder / OUTCOMES
        self.outcomes: dict[str, dict[str, Any]] = {}
        if self._path.exists():
            try:
                self.outcomes = json.loads(self._path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise RunError(f"{self._path} cannot be read ({error}); {START_OVER}") from None
        for trial in planned:
            known = self.outcomes.get(trial.name, {})
            if "settings" in known and (wrong := differences(known["settings"], _plain(trial.settings))):
                raise RunError(f"{self._path}: trial {trial.name} had other settings. {wrong}; {START_OVER}")
        self.refusal = ""  # what a worker said that cannot do any
        self._running: dict[str, float] = {}

    def missing(self) -> list[Planned]:
        """Trials that have not ended; failed ones are tried again, as the machine may have been the reason."""
        return [trial for trial in self.planned if self._state(trial.name) not in ("finished", "stopped")]

    def ended(self) -> int:
        """How many have."""
        return len(self.planned) - len(self.missing())

    def _state(self, name: str) -> State:
        state: State = self.outcomes[name]["state"] if name in self.outcomes else "running"
        return state

    def started(self, name: str) -> None:
        """A trial has a worker, maybe another one than before."""
        self._running.setdefault(name, math.nan)
        self.tell()

    def result(self, name: str, outcome: Mapping[str, Any]) -> None:
        """A trial has reported.

        Raises:
            ClusterError: its worker cannot do any.
        """
        if outcome.get("state") == "refused":
            self.refusal = str(outcome["error"])
            raise cluster.ClusterError(self.refusal)
        outcome = {
            key: outcome[key] for key in ("state", "steps", "score", "seconds", "error", "warnings") if key in outcome
        }
        if outcome["state"] == "running":
            self._running[name] = outcome["score"]
            self.tell()
        else:
            self._end(name, outcome)

    def stopped(self, name: str, last: Mapping[str, Any]) -> None:
        """A trial has ended, maybe before it reported that it was finished."""
        if self._state(name) != "finished" and name in self._running:
            self._end(name, {"state": "stopped", **{key: last[key] for key in ("steps", "score", "seconds")}})

    def failed(self, name: str) -> None:
        """A trial's workers died too often."""
        self._end(name, {"state": "failed", "error": f"its workers died {DEATHS + 1} times, maybe for want of memory"})

    def _end(self, name: str, outcome: dict[str, Any]) -> None:
        self._running.pop(name, None)
        settings = next(trial.settings for trial in self.planned if trial.name == name)
        self.outcomes[name] = {**outcome, "settings": _plain(settings)}
        write_atomic(self._path, json.dumps(self.outcomes, indent=2, ensure_ascii=False) + "\n")
        self.tell()

    def tell(self) -> None:
        """How far the sweep is."""
        names = [trial.name for trial in self.planned]
        states = [self._state(name) for name in names]
        scores = {name: self.outcomes[name]["score"] for name in names if "score" in self.outcomes.get(name, {})}
        scores |= {name: score for name, score in self._running.items() if not math.isnan(score)}
        best = max(scores, key=lambda name: scores[name], default="")
        done, failed = len(names) - states.count("running"), states.count("failed")
        self._report(
            SweepProgress(
                done,
                len(names),
                states.count("stopped"),
                failed,
                len(self._running),
                best,
                scores.get(best, math.nan),
            )
        )


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives them back."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
