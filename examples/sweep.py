"""Search for settings of training with Optuna: many runs at the same time, the bad ones stopped early.

    python examples/sweep.py --game torus-small-v0 --vary learning_rate=1e-4..1e-2 ent_coef=0,0.01,0.1 --trials 12

`NAME=LOW..HIGH` is a range, `NAME=V,V,...` a list (of texts, `NAME=T|T|...`), `NAME=V` fixes a setting;
`cellgames train --help` lists them. Asynchronous successive halving (Li et al. 2020) compares trials after a ninth and
a third of the steps. The same command adds trials to the study, also from other machines that share the folder.
"""

from __future__ import annotations

import argparse
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.visualization import matplotlib as plots

import cellgames
from cellgames.training import ALGORITHMS, Arguments, Progress, train


def parse_values(text: str, kind: type[Arguments]) -> tuple[str, BaseDistribution]:
    """Return a setting's name and its values, from a text such as `learning_rate=1e-4..1e-2`."""
    name, _, values = text.partition("=")
    options = {option.name: option for option in kind.options()}
    if name not in options or not values:
        raise ValueError(f"expected NAME=LOW..HIGH or NAME=V,V,... with one of {', '.join(options)}; got {text}")
    convert = (lambda word: word == "yes") if options[name].kind is bool else options[name].kind
    if ".." in values and convert in (int, float):
        low, high = map(convert, values.split(".."))
        return name, (IntDistribution if convert is int else FloatDistribution)(low, high, log=0 < 10 * low <= high)
    return name, CategoricalDistribution([convert(word) for word in values.split("|" if convert is str else ",")])


def open_study(out: Path, total_steps: int) -> optuna.Study:
    """Open the study of a folder, or make a new one."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(out / "study.log")))
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=max(total_steps // 9, 1), reduction_factor=3)
    about = {"study_name": "sweep", "direction": "maximize", "load_if_exists": True}
    return optuna.create_study(storage=storage, pruner=pruner, **about)


def run_trial(out: Path, base: Arguments, space: dict[str, BaseDistribution], target: str, _: int) -> None:
    """Train with the settings that the study proposes; called in a process of its own."""
    study, reported = open_study(out, base.total_steps), 0
    trial = study.ask(space)

    def report(progress: Progress) -> None:
        nonlocal reported
        for row in progress.history[reported:]:
            trial.report(row[target], int(row["steps"]))
            if row["steps"] < base.total_steps and trial.should_prune():
                raise optuna.TrialPruned
        reported = len(progress.history)

    state, score = optuna.trial.TrialState.FAIL, None
    try:
        arguments = replace(base, **trial.params)
        before_pruning = max(base.total_steps // (9 * arguments.num_envs * arguments.num_steps), 1)
        arguments = replace(arguments, eval_every=min(arguments.eval_every, before_pruning))
        score = train(arguments, out / "trials" / str(trial.number), report=report).history[-1][target]
        state = optuna.trial.TrialState.COMPLETE
    except optuna.TrialPruned:
        state = optuna.trial.TrialState.PRUNED
    finally:
        study.tell(trial, score, state)
        print(f"trial {trial.number}: {state.name.lower()}, score {score}, {trial.params}", flush=True)


def sweep(base: Arguments, out: Path, texts: list[str], trials: int, jobs: int | None, target: str) -> optuna.Study:
    """Run trials in `jobs` processes, draw the study, and return it; the score is that against `target`."""
    space = dict(parse_values(text, type(base)) for text in texts)
    if (target := target or list(base.eval_agents)[-1]) not in base.eval_agents:
        raise ValueError(f"expected one of {', '.join(base.eval_agents)} to score against, got {target}")
    out.mkdir(parents=True, exist_ok=True)
    study = open_study(out, base.total_steps)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(partial(run_trial, out, base, space, target), range(trials)))
    for draw in (plots.plot_slice, plots.plot_intermediate_values):
        draw(study)
        plt.savefig(out / f"{draw.__name__}.png", bbox_inches="tight")
    return study


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    line = argparse.ArgumentParser(description="Search for settings of training with Optuna.")
    line.add_argument("--game", default="torus-small-v0", help="id of a game")
    line.add_argument("--algo", default="ppo", choices=sorted(ALGORITHMS), help="algorithm of cellgames train")
    line.add_argument("--vary", nargs="+", required=True, metavar="NAME=VALUES", help="settings and their values")
    line.add_argument("--total-steps", type=int, default=200_000, help="actions to learn from, in each trial")
    line.add_argument("--target", default="", help="opponent that scores are measured against (default: the strongest)")
    line.add_argument("--trials", type=int, default=12, help="trials to add to the study")
    line.add_argument("--jobs", type=int, help="trials at the same time (default: one for each core)")
    line.add_argument("--out", type=Path, default=Path("sweep"), help="folder of the study")
    return line


def main() -> None:
    """Search as the command line asks, and print the best trial."""
    given = parser().parse_args()
    try:
        kind, game = ALGORITHMS[given.algo].arguments, cellgames.make(given.game)
        base = kind.fitted(game, total_steps=given.total_steps, device="cpu", threads=1)
        study = sweep(base, given.out, given.vary, given.trials, given.jobs, given.target)
    except ValueError as error:
        parser().error(str(error))
    print(f"best: {given.out / 'trials' / str(study.best_trial.number)}, {study.best_value:.3f}, {study.best_params}")


if __name__ == "__main__":
    main()
