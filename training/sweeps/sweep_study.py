"""The Optuna study of a sweep: its trials, planned from the search space and kept in a journal on disk.

The driver and the workers append to the journal at the same time. Trials are Optuna's `FrozenTrial`: `params` are the
settings that vary, `intermediate_values` the scores by steps, and `value` is the last score. `user_attrs` has `name`,
`seed`, `seconds` of playing and learning, `warnings`, and the `error` of a trial that failed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cellgames.training.arguments import Arguments
from cellgames.utils.run_folders import START_OVER, STUDY, RunError, differences

from .search_space import MAX_TRIALS, draw_settings, format_settings, grid_settings, load_optuna, parse_space
from .sweep_options import REDUCTION, SweepOptions, first_rung

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

__all__ = ["JOURNAL", "TRIALS", "current", "fail", "newest", "open_study", "plan", "start_trial", "trial_arguments"]

JOURNAL, TRIALS = STUDY, "trials"

_DRAWS = 12  # settings, unless it is said how many


def plan(base: Arguments, options: SweepOptions) -> list[FrozenTrial]:
    """Return all trials in the order in which they start: each setting with each seed.

    With more settings or more seeds the plan has the same trials and others.

    Raises:
        ValueError: values do not fit each other, or there are too many trials.
    """
    optuna, space = load_optuna(), parse_space(options.vary, type(base))
    drawn = grid_settings(space) if options.grid else draw_settings(space, options.trials or _DRAWS, base.seed)
    if len(drawn) * options.seeds > MAX_TRIALS:
        raise ValueError(f"expected at most {MAX_TRIALS} trials, got {len(drawn)} settings with {options.seeds} seeds")
    trials = []
    for number, settings in enumerate(drawn, 1):
        for seed in range(base.seed, base.seed + options.seeds):
            trial = optuna.create_trial(
                state=optuna.trial.TrialState.WAITING,
                params=settings,
                distributions=dict(space),
                user_attrs={"name": f"{number:03d}-seed={seed}", "seed": seed},
            )
            try:
                trial_arguments(base, trial)
            except ValueError as error:
                raise ValueError(f"a trial with {format_settings(settings)}: {error}") from None
            trials.append(trial)
    return trials


def trial_arguments(base: Arguments, trial: FrozenTrial) -> Arguments:
    """Return all arguments of a trial."""
    return dataclasses.replace(base, **trial.params, seed=trial.user_attrs["seed"])


def open_study(folder: Path, steps: int | None = None) -> Study:
    """Open the study of a sweep, or make one.

    Args:
        folder: of the sweep.
        steps: of each trial, to stop trials early by ASHA (Li et al., "A system for massively parallel hyperparameter
            tuning", MLSys 2020); None stops none.
    """
    optuna, path = load_optuna(), str(folder / JOURNAL)
    journal = optuna.storages.journal
    # This kind of lock works on network disks, and on Windows.
    storage = optuna.storages.JournalStorage(journal.JournalFileBackend(path, journal.JournalFileOpenLock(path)))
    pruner = optuna.pruners.NopPruner()
    if steps is not None:
        pruner = optuna.pruners.SuccessiveHalvingPruner(first_rung(steps), REDUCTION)
    study: Study = optuna.create_study(
        storage=storage, pruner=pruner, study_name="sweep", direction="maximize", load_if_exists=True
    )
    return study


def current(study: Study, planned: Sequence[FrozenTrial]) -> list[FrozenTrial]:
    """Return the planned trials as they stand in the study.

    Raises:
        RunError: a trial of the study had other settings.
    """
    found = {trial.user_attrs["name"]: trial for trial in study.get_trials(deepcopy=False)}
    for trial in planned:
        name = trial.user_attrs["name"]
        if name in found and (wrong := differences(found[name].params, trial.params)):
            raise RunError(f"trial {name} of the sweep in this folder had other settings. {wrong}; {START_OVER}")
    return [found.get(trial.user_attrs["name"], trial) for trial in planned]


def start_trial(study: Study, trial: FrozenTrial) -> None:
    """Add a planned or failed trial to the study, as running; one whose driver was killed is there already."""
    optuna = load_optuna()
    if trial.state != (running := optuna.trial.TrialState.RUNNING):
        about = {name: trial.user_attrs[name] for name in ("name", "seed")}
        study.add_trial(
            optuna.create_trial(state=running, params=trial.params, distributions=trial.distributions, user_attrs=about)
        )


def newest(study: Study, name: str) -> FrozenTrial:
    """Return the last trial of a name; there are others if it failed before."""
    return [trial for trial in study.get_trials(deepcopy=False) if trial.user_attrs["name"] == name][-1]


def fail(study: Study, name: str, error: str) -> None:
    """End a trial with an error."""
    optuna, found = load_optuna(), newest(study, name)
    optuna.Trial(study, found._trial_id).set_user_attr("error", error)
    study.tell(found.number, state=optuna.trial.TrialState.FAIL)
