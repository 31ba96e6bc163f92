"""Sweeps: runs of training with different settings side by side on a Ray cluster, by Ray Tune.

    from cellgames.training import PPOArguments
    from cellgames.training.sweeps import sweep
    base = PPOArguments.fitted(cellgames.make("torus-small-v0"), total_steps=100_000, eval_every=2)
    found = sweep(base, ["learning_rate=1e-4..1e-2", "ent_coef=0,0.01,0.1"], "my_sweep", trials=12)

What trials there are is drawn before anything runs, and a trial's result follows from its settings and its seed. Which
trials are stopped early (ASHA: Li and others, "A system for massively parallel hyperparameter tuning", MLSys 2020)
depends on which are fast, and so on the machines; without stopping the table follows from what was asked for.

The folder:

    sweep.json         what was asked for
    trials/            a run of training each
    outcomes.json      how trials ended
    trials.csv, report.md, settings.png, curves.png, best.safetensors, best.json
"""

from __future__ import annotations

import importlib
import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cellgames.cluster import connection as cluster
from cellgames.training.arguments import FREE, Arguments
from cellgames.utils.run_folders import START_OVER, RunError, differences, opened, refuse_foreign, write_atomic
from cellgames.utils.version import __version__

from .sweep_base import REDUCTION, base_of, evaluated_in_time, first_rung, target_of
from .sweep_book import DEATHS, OUTCOMES, TRIALS, Book, SweepProgress, plan
from .sweep_reports import BEST, FILES, Again, Sweep, SweepTrial, best_of, measure_again, ranked, write_reports
from .sweep_space import Space, parse_space
from .sweep_trials import TRIAL, Job, evaluations, run_trial

__all__ = ["TRIALS", "Sweep", "SweepProgress", "SweepTrial", "plan", "sweep"]

SETTINGS, FOLDERS = "sweep.json", "trials"
_HIDDEN, _TOKEN = ".tune", ".token"

_ENVIRONMENT = {
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C ends a sweep as it ends all else here
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_STRICT_METRIC_CHECKING": "1",  # a trial that fails has no score
    "RAY_AIR_NEW_OUTPUT": "0",  # the new one says what it begins with also where it is to be silent
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
}


def sweep(
    base: Arguments,
    vary: Sequence[str] | Space,
    out: str | os.PathLike[str],
    *,
    trials: int | None = None,
    grid: bool = False,
    seeds: int = 1,
    target: str = "",
    stopping: bool = True,
    address: str = cluster.LOCAL,
    workers: int | None = None,
    gpus: float = 0,
    resume: bool = True,
    command: str = "",
    report: Callable[[SweepProgress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda message: None,
) -> Sweep:
    """Train with settings drawn from a space, or with all of a grid, and compare what came out.

    Args:
        base: what all trials have in common, by `PPOArguments.fitted(game, ...)` or another algorithm's; its seed is
            that of the draw and of the first run of each setting.
        vary: texts such as `learning_rate=1e-4..1e-2`, see `sweep_space`.
        out: the folder, made where it is missing; on a cluster of several machines on a disk that they share. One
            that holds this sweep, with fewer or more trials, is continued: what has ended is not run again.
        trials: how many settings are drawn (default 12); not for a grid.
        grid: all combinations of lists instead.
        seeds: runs of each setting.
        target: the agent against which the score is measured; "" is greedy where it is an evaluation
            opponent, else the last of these.
        stopping: end trials early whose score is low among those that got as far (ASHA); for it they are to be
            evaluated in time, see `sweep_base.evaluated_in_time`.
        address: see `cluster.connected`.
        workers: trials side by side; None for as many as the cluster has room for.
        gpus: of each trial, may be a fraction; 0 trains on the CPU.
        resume: False deletes the sweep in the folder first.
        command: what was typed, for the files of the agents.
        report: called when a trial reports or ends.
        warn: gets a line for each thing left out.

    Raises:
        ValueError: settings that make no sense; nothing has been started then.
        RunError: the folder holds something else, or a sweep with other settings.
        ClusterError: the cluster cannot be used, or has a worker with other versions or another disk.
        ImportError: Ray is not installed.
    """
    cluster.load_ray()
    space = parse_space(vary, type(base)) if not isinstance(vary, Mapping) else vary
    base = base_of(base, space, target, gpus)
    target = target or target_of(base)
    planned = plan(base, space, trials=trials, grid=grid, seeds=seeds)
    count = len(planned) // seeds
    asked = {
        "cellgames": __version__,
        "vary": {name: str(values) for name, values in space.items()},
        **{"grid": grid, "trials": count, "seeds": seeds, "target": target, "stopping": stopping},
        "arguments": base.to_data(),
    }
    if workers is not None and workers < 1:
        raise ValueError(f"expected at least one worker, got {workers}")
    if trials is not None and count < trials:
        warn(f"there are only {count} different settings, fewer than {trials} trials")
    if stopping and (every := evaluated_in_time(base, space).eval_every) < base.eval_every:
        warn(
            f"evaluations every {base.eval_every} iterations are too rare for trials to be stopped after a ninth "
            f"of {base.total_steps} steps; eval_every={every} is better"
        )
    folder = Path(out).absolute()
    with opened(folder, (SETTINGS, OUTCOMES, *FILES)):
        _prepare(folder, asked, resume=resume)
        book = Book(folder, planned, report)
        before = book.ended()
        try:
            if book.missing():
                with cluster.connected(address, _cores(base, workers, address)) as ray:
                    _run(ray, base, target, book, stopping=stopping, workers=workers, gpus=gpus, command=command)
        finally:
            shutil.rmtree(folder / _HIDDEN, ignore_errors=True)
            (folder / _TOKEN).unlink(missing_ok=True)
        return _finish(folder, asked, book, before, warn)


def _cores(base: Arguments, workers: int | None, address: str) -> int | None:
    """Of a cluster that is started here: room for all workers, even if that is more than the machine has."""
    return workers * base.threads if workers is not None and address == cluster.LOCAL else None


# ---------------------------------------------------------------- the folder


def _prepare(folder: Path, asked: Mapping[str, Any], *, resume: bool) -> None:
    """See that the folder is empty or this sweep's, and write what was asked for; a `RunError` if it is not."""
    refuse_foreign(folder, SETTINGS)
    path = folder / SETTINGS
    # A call that failed before the cluster did any work has not made the folder its own.
    begun = (folder / FOLDERS).exists() or (folder / OUTCOMES).exists()
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            fixed = {"arguments": _fixed(found["arguments"]), **{name: found[name] for name in asked if name in _SAME}}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path} is of no sweep ({error}); choose another folder") from None
        if not resume:
            for name in (FOLDERS, _HIDDEN):
                shutil.rmtree(folder / name, ignore_errors=True)
            for name in (OUTCOMES, *FILES):
                (folder / name).unlink(missing_ok=True)
        elif begun and (
            wrong := differences({**fixed.pop("arguments"), **fixed}, {**_fixed(asked["arguments"]), **asked})
        ):
            raise RunError(f"{path} is another sweep's. {wrong}; {START_OVER}")
    write_atomic(path, json.dumps(asked, indent=2, ensure_ascii=False) + "\n")


_SAME = ("vary", "grid", "target", "stopping")  # what a sweep that is continued cannot have otherwise


def _fixed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in FREE}


# ---------------------------------------------------------------- on the cluster


def _run(
    ray: Any,
    base: Arguments,
    target: str,
    book: Book,
    *,
    stopping: bool,
    workers: int | None,
    gpus: float,
    command: str,
) -> None:
    """Run the missing trials."""
    tune = importlib.import_module("ray.tune")
    _check_room(ray, base.threads, gpus)
    missing, folder = book.missing(), book.folder
    for trial in missing:
        book.outcomes.pop(trial.name, None)
    text = secrets.token_hex()
    write_atomic(folder / _TOKEN, text)
    job = Job(
        folder / FOLDERS,
        folder / _TOKEN,
        text,
        target,
        {trial.name: trial.arguments.to_data() for trial in missing},
        command,
        cluster.build(),
    )
    trainable = tune.with_resources(tune.with_parameters(run_trial, job=job), {"cpu": base.threads, "gpu": gpus})
    with _environment():
        tuner = tune.Tuner(
            trainable,
            param_space={TRIAL: tune.grid_search([trial.name for trial in missing])},
            tune_config=tune.TuneConfig(
                scheduler=_asha(tune, base.total_steps, target, book) if stopping else None,
                max_concurrent_trials=workers,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(
                name=_HIDDEN,
                storage_path=str(folder),
                verbose=0,
                callbacks=[_listener(tune, book)],
                failure_config=tune.FailureConfig(max_failures=DEATHS),
            ),
        )
        book.tell()
        try:
            tuner.fit()
        except Exception as error:
            if book.refusal:  # Tune wraps what its callbacks raise
                raise cluster.ClusterError(book.refusal) from error
            raise
    if lost := [trial.name for trial in book.missing() if trial.name not in book.outcomes]:
        raise cluster.ClusterError(f"{len(lost)} trials did not end, such as {lost[0]}; the same command runs them")


def _check_room(ray: Any, threads: int, gpus: float) -> None:
    """Raise a `ClusterError` if no machine of the cluster can run a trial: Tune would wait for ever."""
    rooms = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(room.get("CPU", 0) >= threads and room.get("GPU", 0) >= gpus for room in rooms):
        needs = f"{threads} CPUs" + (f" and {gpus:g} GPUs" if gpus else "")
        has = "; ".join(f"{room.get('CPU', 0):g} CPUs, {room.get('GPU', 0):g} GPUs" for room in rooms)
        raise cluster.ClusterError(f"a trial needs {needs} of one machine (--threads, --gpus), the cluster has: {has}")


def _asha(tune: Any, steps: int, target: str, book: Book) -> Any:
    """Tune's scheduler, with what it would know of trials that ended before."""
    scheduler = tune.schedulers.ASHAScheduler(
        time_attr="steps",
        metric="score",
        mode="max",
        max_t=steps,
        grace_period=first_rung(steps),
        reduction_factor=REDUCTION,
        stop_last_trials=False,
    )
    for name in book.outcomes:
        known = SimpleNamespace(trial_id=f"ended-{name}")
        scheduler.on_trial_add(None, known)
        for line in evaluations(book.folder / FOLDERS / name):
            scheduler.on_trial_result(None, known, {"steps": line["steps"], "score": line[target]})
    return scheduler


def _listener(tune: Any, book: Book) -> Any:
    """What Tune tells of the trials, for the book; a class of Tune's, which is there only now."""

    def start(_: Any, iteration: int, trials: Any, trial: Any, **more: Any) -> None:
        book.started(trial.config[TRIAL])

    def result(_: Any, iteration: int, trials: Any, trial: Any, result: Mapping[str, Any], **more: Any) -> None:
        book.result(trial.config[TRIAL], result)

    def complete(_: Any, iteration: int, trials: Any, trial: Any, **more: Any) -> None:
        book.stopped(trial.config[TRIAL], trial.last_result)

    def error(_: Any, iteration: int, trials: Any, trial: Any, **more: Any) -> None:
        book.failed(trial.config[TRIAL])

    hooks = {"on_trial_start": start, "on_trial_result": result, "on_trial_complete": complete, "on_trial_error": error}
    # Tune pickles its callbacks, for a restart of its own; the book has one that is better.
    return type("Listener", (tune.Callback,), {**hooks, "__reduce__": lambda self: (tune.Callback, ())})()


@contextmanager
def _environment() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# ---------------------------------------------------------------- what came out


def _finish(folder: Path, asked: Mapping[str, Any], book: Book, before: int, warn: Callable[[str], None]) -> Sweep:
    """The table, the best agent, the page."""
    trials = ranked(
        SweepTrial(
            name=trial.name,
            settings=trial.settings,
            arguments=trial.arguments,
            state=(outcome := book.outcomes[trial.name])["state"],
            steps=outcome.get("steps", 0),
            score=outcome.get("score", math.nan),
            seconds=outcome.get("seconds", 0.0),
            error=outcome.get("error", ""),
            folder=folder / FOLDERS / trial.name,
        )
        for trial in book.planned
    )
    for text in dict.fromkeys(text for outcome in book.outcomes.values() for text in outcome.get("warnings", ())):
        warn(text)
    best = best_of(trials)
    again: Again | None = None
    if best is None:
        (folder / BEST).unlink(missing_ok=True)
    else:
        again = measure_again(folder, best, asked["target"])
    found = Sweep(folder, asked["target"], trials, best, again, before)
    write_reports(found, asked, warn)
    return found
