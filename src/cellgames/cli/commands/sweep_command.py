"""`cellgames sweep`: runs of training with different settings on a Ray cluster, and which is best.

Functions import torch, Ray and Optuna when they need them, so that help answers at once.
"""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import UserError, print_next, print_table, recorded, stopped, warn
from cellgames.cli.shared_options import add_command, add_folder, add_game, add_options, folder_of
from cellgames.cluster.connection import load_ray
from cellgames.training.sweeps.sweep_options import SweepOptions, evaluate_in_time
from cellgames.utils.progress import StatusLine
from cellgames.utils.run_folders import RunOptions

from .train_command import add_algorithm, add_arguments, arguments_given

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from cellgames.training.sweeps.sweep import Sweep

__all__ = ["add"]

_OF_ONE_RUN = ("actors", "lag", "ray")  # settings of a run whose games others play; --ray is the sweep's

_TEXT = (
    "Train with many settings at the same time, and compare the results. Settings are drawn from ranges and lists,\n"
    "or all combinations of lists are tried; each is a run of training on a Ray cluster, started here or joined.\n"
    "Runs with a low score among those that got as far are stopped early. The folder gets a table, plots, the best\n"
    "agent and the folder of every run. A sweep that was stopped continues where it was; the same command with\n"
    "more --trials or --seeds lets it grow. All settings of `cellgames train` may be given, and hold for all runs."
)
_EXAMPLES = (
    "torus-small-v0 --vary learning_rate=1e-4..1e-2 ent_coef=0,0.01,0.1 --total-steps 200000",
    "torus-v0 --size 3 --vary layers=1..4 channels=8,16,32 --trials 24 --seeds 2 --no-stopping",
    "torus-v0 --grid --vary num_epochs=1,2,4 'opponents=self=1|self=0.8,pool=0.2' --ray 10.0.0.5:6379",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "sweep", "GAME --vary NAME=VALUES ... ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    add_folder(command, "results/sweep/GAME-...")
    add_algorithm(command)
    add_options(command, SweepOptions.options())
    add_options(command, RunOptions.options())
    add_arguments(command, without=_OF_ONE_RUN)


def _run(arguments: argparse.Namespace) -> int:
    """Train with many settings, or continue to do so."""
    from cellgames.training.sweeps.search_space import parse_space

    options = SweepOptions.from_given(vars(arguments))
    arguments.ray = None  # the sweep's, not the setting of that name
    base = arguments_given(arguments)
    space = parse_space(options.vary, type(base))
    if given := [name for name in space if getattr(arguments, name, None) is not None]:
        raise UserError(f"{given[0]} is varied, so --{given[0].replace('_', '-')} is not to be given")
    load_ray()  # or say at once that it is not installed
    from cellgames.training.sweeps import sweep as sweeps
    from cellgames.training.sweeps.sweep_study import TRIALS

    if options.stopping and arguments.eval_every is None:
        base = evaluate_in_time(base, space)
    words = [arguments.algo, *(text.partition("=")[0] for text in arguments.vary), f"seed={base.seed}"]
    out = folder_of(arguments, "sweep", words)
    line, shown = StatusLine(not arguments.quiet, every_s=30.0), -1

    def report(trials: Sequence[FrozenTrial]) -> None:
        nonlocal shown
        done = sum(trial.state.is_finished() for trial in trials)
        line.show(_progress_text(trials), news=done > shown)
        shown = done

    command = recorded(arguments)
    resume = RunOptions.from_given(vars(arguments)).resume
    try:
        found = sweeps.sweep(base, out, options, resume=resume, command=command, report=report, warn=warn)
    except KeyboardInterrupt:
        kept = f"Runs that ended, and the others up to their last checkpoints, are kept in {out}"
        return stopped(arguments, kept if (out / TRIALS).is_dir() else "")
    finally:
        line.end()
    _report(found, options)
    return 0 if found.best is not None else 1


def _progress_text(trials: Sequence[FrozenTrial]) -> str:
    states = Counter(trial.state.name for trial in trials)
    done = sum(trial.state.is_finished() for trial in trials)
    counts = ((states["PRUNED"], "stopped early"), (states["FAIL"], "failed"), (states["RUNNING"], "running"))
    words = [f"{done} of {len(trials)} trials", *(f"{count} {word}" for count, word in counts if count)]
    scores = {
        trial.user_attrs["name"]: trial.intermediate_values[trial.last_step]
        for trial in trials
        if trial.last_step is not None
    }
    if scores:
        best = max(scores, key=scores.__getitem__)
        words.append(f"best so far {100 * scores[best]:.0f} % ({best})")
    return ", ".join(words)


def _report(found: Sweep, options: SweepOptions) -> None:
    """Print the results, the files to open, and what to do next."""
    from cellgames.training.sweeps.sweep_reports import setting_table, trial_table

    if found.before == len(found.trials):
        print(f"Nothing to do: all {found.before} trials of {found.out} have ended.")
    elif found.before:
        print(f"{len(found.trials)} trials, {found.before} of them ended before.")
    print(f"Scores against {found.target}:")
    print_table(trial_table(found, errors=False))
    for trial in found.trials:
        if error := trial.user_attrs.get("error"):
            print(f"{trial.user_attrs['name']} failed: {error}")
    if options.seeds > 1:
        print("\nOver seeds:")
        print_table(setting_table(found))
    if found.best is not None and (again := found.again) is not None:
        print(
            f"\nBest: {again['trial']}. In {again['games']} new games it is ahead of {found.target} in "
            f"{again['score']:.1%} ({again['low']:.0%} to {again['high']:.0%})."
        )
    print(f"Written to {found.out}:")
    for name, text in (
        ("report.md", "all of it on one page"),
        ("best.safetensors", "the best agent"),
        ("settings.png", "the score by setting"),
        ("curves.png", "the score over steps"),
        ("trials.csv", "a row for each trial"),
        ("trials", "the folder of each"),
    ):
        if (found.out / name).exists():
            print(f"  {name:16} {text}")
    measured = [] if found.agent is None else [(f"evaluate --agents {shlex.quote(str(found.agent))}", "measure it")]
    more = "--seeds" if options.grid else "--trials or --seeds"
    print_next(*measured, f"the same command with more {more}: trains only what is missing")
