"""Sweeps: runs of training with different settings at the same time on a Ray cluster, and which is best.

    import cellgames
    from cellgames.training import PPOArguments, SweepOptions, sweep
    base = PPOArguments.fitted(cellgames.make("torus-small-v0"), total_steps=100_000, eval_every=2)
    found = sweep(base, "my_sweep", SweepOptions(vary=("learning_rate=1e-4..1e-2", "ent_coef=0,0.01,0.1")))

Trials are planned before anything runs, and a trial's result follows from its settings and its seed. Which trials are
stopped early depends on which are fast, and so on the machines; without stopping the table follows from the options.

The folder:

    study.log          what was asked for and how trials stand, as Optuna keeps it
    trials/            a run of training each
    trials.csv, report.md, settings.png, curves.png, best.safetensors, best.json
"""

from __future__ import annotations

import secrets
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cluster.connection import LOCAL, ClusterError, connected, load_ray
from cellgames.cluster.ray_workers import RayWorkers, WorkersDiedError
from cellgames.training.arguments import FREE, Arguments
from cellgames.utils.run_folders import START_OVER, PathLike, RunError, differences, opened, refuse_foreign
from cellgames.utils.version import __version__

from .search_space import format_values, load_optuna, parse_space
from .sweep_options import SweepOptions, evaluate_in_time, prepare_base, target_name
from .sweep_reports import FILES, Sweep, finish
from .sweep_study import JOURNAL, TRIALS, current, fail, open_study, plan, start_trial
from .sweep_work import TrialWork

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

__all__ = ["Sweep", "SweepOptions", "plan", "sweep"]

_LOOK_S = 1.0  # between looks at how trials stand


def sweep(
    base: Arguments,
    out: PathLike,
    options: SweepOptions,
    *,
    resume: bool = True,
    command: str = "",
    report: Callable[[Sequence[FrozenTrial]], None] = lambda trials: None,
    warn: Callable[[str], None] = lambda message: None,
) -> Sweep:
    """Train with settings drawn from a search space, or with all of a grid, and compare the results.

    Args:
        base: what all trials have in common, by `PPOArguments.fitted(game, ...)` or another algorithm's; its seed is
            that of the draw and of the first run of each setting.
        out: the folder, made where it is missing; on a cluster of several machines on a disk that they share. One
            that holds this sweep, with fewer or more trials, is continued: what has ended is not run again.
        options: see there.
        resume: False deletes the sweep in the folder first.
        command: what was typed, for the files of the agents.
        report: called about every second with all trials as they stand.
        warn: gets a line for each thing left out.

    Raises:
        ValueError: options that make no sense; nothing has been started then.
        RunError: the folder holds something else, or a sweep with other options.
        ClusterError: the cluster cannot be used, or has a worker with other versions or another disk.
        ImportError: Ray or Optuna is not installed.
    """
    load_ray()
    load_optuna()
    space = parse_space(options.vary, type(base))
    base = prepare_base(base, options, space)
    folder = Path(out).absolute()
    trials = plan(base, options)
    count, target = len(trials) // options.seeds, target_name(base, options)
    if count < (options.trials or 0):
        warn(f"there are only {count} different settings, fewer than {options.trials} trials")
    if options.stopping and (every := evaluate_in_time(base, space).eval_every) < base.eval_every:
        warn(
            f"evaluations every {base.eval_every} iterations are too rare for trials to be stopped after a ninth "
            f"of {base.total_steps} steps; eval_every={every} is better"
        )
    asked = {
        "cellgames": __version__,
        "vary": {name: format_values(values) for name, values in space.items()},
        **{"grid": options.grid, "trials": count, "seeds": options.seeds},
        **{"target": target, "stopping": options.stopping, "arguments": base.to_data()},
    }
    with opened(folder, FILES):
        study = _prepare(folder, asked, resume=resume)
        trials = current(study, trials)
        missing = [trial for trial in trials if trial.state.name not in ("COMPLETE", "PRUNED")]
        if missing:
            study.set_user_attr("token", token := secrets.token_hex())
            work = TrialWork(folder, token, target, options.stopping, base.to_data(), command)
            with _workers(base, options, warn) as workers:
                _run(study, missing, work, workers, lambda: report(current(study, trials)))
        found = Sweep(folder, base, target, current(study, trials), before=len(trials) - len(missing))
        return finish(found, asked, warn)


def _prepare(folder: Path, asked: Mapping[str, Any], *, resume: bool) -> Study:
    """Open the study of a folder that is empty or has this sweep, with fewer or more trials.

    Raises:
        RunError: the folder holds something else.
    """
    refuse_foreign(folder, JOURNAL)
    if not resume:
        shutil.rmtree(folder / TRIALS, ignore_errors=True)
        for name in (JOURNAL, *FILES):
            (folder / name).unlink(missing_ok=True)
    try:
        study = open_study(folder)
    except ValueError as error:
        raise RunError(f"{folder / JOURNAL} cannot be read ({error}); {START_OVER}") from None
    # A call that failed before the cluster did any work has not made the folder its own.
    if study.trials and (wrong := differences(_fixed(study.user_attrs["asked"]), _fixed(asked))):
        raise RunError(f"{folder} is another sweep's. {wrong}; {START_OVER}")
    study.set_user_attr("asked", asked)
    return study


def _fixed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a sweep that is continued cannot have otherwise."""
    arguments = {name: value for name, value in asked["arguments"].items() if name not in FREE}
    return {**arguments, **{name: asked[name] for name in ("vary", "grid", "target", "stopping")}}


@contextmanager
def _workers(base: Arguments, options: SweepOptions, warn: Callable[[str], None]) -> Iterator[RayWorkers]:
    """Connect to the cluster; raise a `ClusterError` if no machine of it can run a trial."""
    cpus, gpus, most = base.threads, options.gpus, options.ray_workers
    # A cluster that is started here has room for all workers, even if that is more than the machine has.
    cores = most * cpus if most is not None and options.ray == LOCAL else None
    with connected(options.ray, cores) as ray:
        machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if not any(machine.get("CPU", 0) >= cpus and machine.get("GPU", 0) >= gpus for machine in machines):
            needs = f"{cpus} CPUs" + (f" and {gpus:g} GPUs" if gpus else "")
            has = "; ".join(f"{machine.get('CPU', 0):g} CPUs, {machine.get('GPU', 0):g} GPUs" for machine in machines)
            raise ClusterError(f"a trial needs {needs} of one machine (--threads, --gpus), the cluster has: {has}")
        with RayWorkers(options.ray, most, cpus=cpus, gpus=gpus, warn=warn) as workers:
            yield workers


def _run(
    study: Study,
    missing: Sequence[FrozenTrial],
    work: TrialWork,
    workers: RayWorkers,
    report: Callable[[], None],
) -> None:
    """Run the trials that have not ended; failed ones again, as the machine may have been the reason."""
    waiting, running = deque(missing), dict[Future[None], str]()
    while waiting or running:
        while waiting and len(running) < workers.count:
            start_trial(study, trial := waiting.popleft())
            name = trial.user_attrs["name"]
            running[workers.submit(work, name)] = name
        report()
        for future in wait(running, _LOOK_S, FIRST_COMPLETED).done:
            name = running.pop(future)
            try:
                future.result()
            except WorkersDiedError as error:
                fail(study, name, str(error))
    report()
