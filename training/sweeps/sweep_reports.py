"""The results of a sweep: its trials in order, the best agent measured again, and a report with tables and plots."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import load
from cellgames.agents.networks.file_names import WEIGHTS_SUFFIX
from cellgames.envs import registry
from cellgames.envs.titles import board_title
from cellgames.training.arguments import Arguments
from cellgames.training.machine import choose_device, isolated
from cellgames.training.runs.checkpoints import AGENT
from cellgames.training.selfplay.eval_opponents import compare
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Plot, Report, Section, Table
from cellgames.utils.report.text import escape, percent
from cellgames.utils.run_folders import TIMING
from cellgames.utils.statistics import wilson_interval

from .search_space import format_settings, format_value
from .sweep_plots import draw_curves, draw_settings
from .sweep_study import TRIALS, trial_arguments

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

__all__ = ["FILES", "STATES", "Sweep", "finish", "rank", "report", "setting_table", "train_command", "trial_table"]

BEST, MEASURED = f"best{WEIGHTS_SUFFIX}", "best.json"
FILES = ("report.md", "trials.csv", "settings.png", "curves.png", BEST, MEASURED, TIMING)

STATES = {"COMPLETE": "finished", "PRUNED": "stopped", "FAIL": "failed"}
"""How a trial ended, by the name of Optuna's state; best first."""

_FACTOR = 4  # the best agent is measured again in so many times the games of an evaluation


@dataclass(frozen=True)
class Sweep:
    """A sweep whose trials have all ended.

    Attributes:
        out: its folder.
        base: the arguments that all trials share.
        target: the name of the evaluation opponent against which scores are measured.
        trials: best first: finished ones by score, then stopped ones by how far they got, then failed ones.
        best: of the setting with the most finished seeds and, of these, the highest mean score, the best trial; None
            if none is finished.
        again: `games` that the best agent played afterwards, its `score` in them and the bounds `low` and `high` of the
            95 % interval. Its score in the sweep is also the luckiest of many.
        before: number of trials that had ended before this call.
    """

    out: Path
    base: Arguments
    target: str
    trials: Sequence[FrozenTrial]
    best: FrozenTrial | None = None
    again: Mapping[str, Any] | None = None
    before: int = 0

    @property
    def agent(self) -> Path | None:
        """The file of the best agent."""
        return None if self.best is None else self.out / BEST


def finish(sweep: Sweep, asked: Mapping[str, Any], warn: Callable[[str], None]) -> Sweep:
    """Rank the trials, measure the best agent again, and write the report."""
    for text in dict.fromkeys(text for trial in sweep.trials for text in trial.user_attrs.get("warnings", ())):
        warn(text)
    trials = sorted(sweep.trials, key=rank)
    best = best_of(trials)
    sweep = replace(sweep, trials=trials, best=best, again=None if best is None else measure_again(sweep, best))
    write_report(sweep.out, report(sweep, asked), warn, outdated=FILES)
    return sweep


def rank(trial: FrozenTrial) -> tuple[Any, ...]:
    """Return the sorting key of a trial; see `Sweep.trials`."""
    steps = trial.last_step if trial.state.name == "PRUNED" else 0
    return [*STATES].index(trial.state.name), -(steps or 0), -(trial.value or 0), trial.user_attrs["name"]


def _by_setting(trials: Iterable[FrozenTrial]) -> list[tuple[list[FrozenTrial], list[float]]]:
    """Return the ranked trials of each setting and the scores of the finished ones, best setting first."""
    groups: dict[str, list[FrozenTrial]] = {}
    for trial in trials:
        groups.setdefault(json.dumps(trial.params, sort_keys=True), []).append(trial)
    pairs = [
        (group, [trial.value for trial in group if trial.value is not None and trial.state.name == "COMPLETE"])
        for group in groups.values()
    ]
    return sorted(pairs, key=lambda pair: (-len(pair[1]), -fmean(pair[1]) if pair[1] else 0))


def best_of(trials: Sequence[FrozenTrial]) -> FrozenTrial | None:
    """Return the best of ranked trials; see `Sweep.best`."""
    group, scores = _by_setting(trials)[0]
    return group[0] if scores else None


def measure_again(sweep: Sweep, best: FrozenTrial) -> dict[str, Any]:
    """Let the best agent play new games, unless the folder has the result of these."""
    name, arguments, agent = best.user_attrs["name"], trial_arguments(sweep.base, best), _agent(sweep, best)
    games, measured, copy = _FACTOR * arguments.eval_games, sweep.out / MEASURED, sweep.out / BEST
    if measured.exists() and copy.exists() and copy.read_bytes() == agent.read_bytes():
        again: dict[str, Any] = json.loads(measured.read_text(encoding="utf-8"))
        if (again["trial"], again["games"]) == (name, games):
            return again
    game = registry.make(arguments.game, **arguments.parameters)
    device = choose_device("cpu")  # the machine of this process may have no other
    seed = derive(arguments.seed, Purpose.EVALUATION, -1)  # evaluations of the run count from 0
    with isolated(seed, arguments.threads, device):
        score = compare(
            game, load(str(agent), game), load(sweep.base.eval_agents[sweep.target], game), games, seed, device
        ).ahead
    low, high = wilson_interval(score, games)
    return {"trial": name, "target": sweep.target, "games": games, "score": score, "low": low, "high": high}


def _agent(sweep: Sweep, trial: FrozenTrial) -> Path:
    """Return the file of a trial's agent; that of a trial that was stopped is of its last checkpoint."""
    return Path(sweep.out, TRIALS, trial.user_attrs["name"], AGENT)


# ---------------------------------------------------------------- report


def train_command(arguments: Arguments) -> str:
    """Return the command that trains as a trial did, as it is typed."""
    usual = type(arguments).fitted(registry.make(arguments.game, **arguments.parameters))
    words = ["cellgames", "train", arguments.game]
    defaults = registry.REGISTRY[arguments.game].defaults
    for name, value in arguments.parameters.items():
        if name not in defaults or defaults[name] != value:
            words += ["--param", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    words += ["--algo", arguments.algorithm]
    for option in arguments.options():
        if (value := getattr(arguments, option.name)) != getattr(usual, option.name):
            flag = option.name.replace("_", "-")
            if option.kind is bool:
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                words += [f"--{flag}", *(value if isinstance(value, tuple) else [str(value)])]
    return shlex.join(words)


def trial_table(sweep: Sweep, *, errors: bool = True) -> Table:
    """Return a table with a row for each trial, with or without a last column for the errors of those that failed."""
    names = [*sweep.trials[0].params]
    rows = []
    for place, trial in enumerate(sweep.trials, 1):
        scores: list[float | None] = [None] * 3
        if trial.value is not None:
            scores = [round(x, 4) for x in (trial.value, *wilson_interval(trial.value, sweep.base.eval_games))]
        about = trial.user_attrs
        settings = [format_value(trial.params[name]) for name in names]
        start, steps = [place, about["name"], *settings, about["seed"]], trial.last_step or 0
        rows.append([*start, STATES[trial.state.name], steps, *scores, about.get("error", "")])
    columns = ["rank", "trial", *names, "seed", "state", "steps", "score", "score_low", "score_high", "error"]
    if not errors:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(name="trials", columns=columns, rows=rows, shown=100)


def timing_table(sweep: Sweep) -> Table:
    """Return a table of the seconds of each trial, which differ from run to run."""
    rows = [(trial.user_attrs["name"], round(trial.user_attrs.get("seconds", 0.0), 1)) for trial in sweep.trials]
    return Table(name=Path(TIMING).stem, columns=["trial", "seconds"], rows=rows)


def setting_table(sweep: Sweep) -> Table:
    """Return a table with a row for each setting: mean, lowest and highest score of its finished seeds."""
    names = [*sweep.trials[0].params]
    rows = []
    for group, scores in _by_setting(sweep.trials):
        numbers = [round(x, 4) for x in (fmean(scores), min(scores), max(scores))] if scores else [None] * 3
        values = [format_value(group[0].params[name]) for name in names]
        rows.append([*values, f"{len(scores)} of {len(group)}", *numbers])
    return Table(name="", columns=[*names, "finished", "mean", "lowest", "highest"], rows=rows)


def report(sweep: Sweep, asked: Mapping[str, Any]) -> Report:
    """Return the report of a sweep; `asked` is what it was asked for."""
    base, best, again, summary = sweep.base, sweep.best, sweep.again, ["No trial is finished."]
    if best is not None and again is not None:
        summary = [
            f"Best: `{format_settings(best.params)}`, ahead of {escape(sweep.target)} in {percent(best.value or 0)} % "
            f"of {base.eval_games} games. It is the luckiest of many too. In {again['games']} new games it was ahead "
            f"in {percent(again['score'])} % (95 %: {percent(again['low'])} to {percent(again['high'])}). The agent "
            f"is `{BEST}`; this command trains it again:",
            f"```\n{train_command(trial_arguments(base, best))}\n```",
        ]
    plots = []
    if any(trial.value is not None for trial in sweep.trials):
        plots = [
            Plot("settings", "", partial(draw_settings, sweep), "the score by setting"),
            Plot("curves", "", partial(draw_curves, sweep), "the score over steps"),
        ]
    seeds = [Section("Settings", ["Scores of the seeds that were finished.", setting_table(sweep)])]
    stopped = sum(trial.state.name == "PRUNED" for trial in sweep.trials)
    note = "Trials were not to be stopped early: the same sweep gives the same table."
    if asked["stopping"]:
        note = (
            f"{stopped} of {len(sweep.trials)} trials were stopped early, with low scores among those that got as far. "
            "Which ones depends on which machines are fast, so another sweep may differ."
        )
    about = (
        f"Scores against {escape(sweep.target)} at the last evaluation, of {base.eval_games} games, with Wilson "
        f"intervals. {note}"
    )
    folders = f"`{TRIALS}/` has the folder of each trial; `cellgames evaluate` takes any of them."
    game = registry.make(base.game, **base.parameters)
    return Report(
        f"Sweep of {base.algorithm} in {game.info.title}",
        [
            *summary,
            *plots,
            *(seeds if asked["seeds"] > 1 else []),
            Section("Trials", [about, trial_table(sweep), folders]),
            Section("Options", [f"```json\n{json.dumps(asked, indent=2, ensure_ascii=False)}\n```"]),
        ],
        data=sweep.again,
        data_file=MEASURED,
        more_tables=[timing_table(sweep)],
        subject=board_title(game),
        more_files={} if best is None else {BEST: _agent(sweep, best).read_bytes()},
    )
