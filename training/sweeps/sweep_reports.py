"""What came out of a sweep: trials in order, the best agent measured again, a table, a page, plots."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

from cellgames.agents.loading import load
from cellgames.agents.networks.file_names import WEIGHTS_SUFFIX
from cellgames.envs import registry
from cellgames.envs.registry import REGISTRY
from cellgames.training.arguments import Arguments
from cellgames.training.machine import alone, choose_device
from cellgames.training.runs.checkpoints import AGENT
from cellgames.training.selfplay.eval_opponents import compare
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.utils.run_folders import write_atomic

from .sweep_space import shown
from .sweep_trials import State

__all__ = [
    "BEST",
    "FILES",
    "Again",
    "Sweep",
    "SweepTrial",
    "best_of",
    "measure_again",
    "page_rows",
    "ranked",
    "setting_rows",
    "train_command",
    "trial_rows",
    "wilson",
    "write_reports",
]

TABLE, PAGE, PLOT, CURVES, BEST, MEASURED = (
    "trials.csv",
    "report.md",
    "settings.png",
    "curves.png",
    f"best{WEIGHTS_SUFFIX}",
    "best.json",
)
FILES = (PAGE, TABLE, PLOT, CURVES, BEST, MEASURED)

AGAIN = 4
"""The best agent is measured again in so many times the games of an evaluation."""

_ORDER: tuple[State, ...] = ("finished", "stopped", "failed")
_LEVEL = 0.95


@dataclass(frozen=True)
class SweepTrial:
    """A trial that has ended.

    name:      of its folder.
    settings:  what varies.
    arguments: all of it.
    state:     finished, stopped early, or failed.
    steps:     at its last evaluation.
    score:     share against the target there; NaN for a trial that failed.
    seconds:   of playing and learning.
    error:     of one that failed.
    folder:    its run, as `runs.train` makes it.
    """

    name: str
    settings: Mapping[str, Any]
    arguments: Arguments
    state: State
    steps: int
    score: float
    seconds: float
    error: str
    folder: Path

    @property
    def interval(self) -> tuple[float, float]:
        """Of the score, 95 %; NaN without one."""
        return wilson(self.score, self.arguments.eval_games)

    @property
    def agent(self) -> Path:
        """The file of the agent; that of a trial that was stopped is of its last checkpoint."""
        return self.folder / AGENT


@dataclass(frozen=True)
class Again:
    """The best agent in new games. Its score in the sweep is too good on average: it is the best of many by chance too.

    trial: which it was.
    games: how many.
    score: its share.
    """

    trial: str
    games: int
    score: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        return wilson(self.score, self.games)


@dataclass(frozen=True)
class Sweep:
    """A sweep whose trials have all ended.

    out:    its folder.
    target: the agent that scores are against.
    trials: best first: finished ones, then stopped ones, then failed ones.
    best:   of the setting with the most finished seeds and, of these, the highest mean score, the best trial; None if
        none is finished.
    again:  new games of it.
    before: trials that had ended before this call.
    """

    out: Path
    target: str
    trials: tuple[SweepTrial, ...]
    best: SweepTrial | None
    again: Again | None
    before: int

    @property
    def agent(self) -> Path | None:
        """The file of the best agent."""
        return None if self.best is None else self.out / BEST


def wilson(share: float, games: int, level: float = _LEVEL) -> tuple[float, float]:
    """Wilson's interval of a share of independent games (Wilson 1927); draws, half a point each, make it too wide."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z * math.sqrt(share * (1 - share) / games + (z / (2 * games)) ** 2) / (1 + z * z / games)
    # At the ends exactly, where both terms are equal but for rounding.
    return 0.0 if share == 0 else max(middle - half, 0.0), 1.0 if share == 1 else min(middle + half, 1.0)


# ---------------------------------------------------------------- order


def ranked(trials: Iterable[SweepTrial]) -> tuple[SweepTrial, ...]:
    """Finished ones first, by score; stopped ones by how far they got and then by score; failed ones last."""

    def key(trial: SweepTrial) -> tuple[float, ...]:
        far = trial.steps if trial.state == "stopped" else 0
        return (_ORDER.index(trial.state), -far, -trial.score if trial.state != "failed" else 0)

    return tuple(sorted(sorted(trials, key=lambda trial: trial.name), key=key))


def by_setting(trials: Sequence[SweepTrial]) -> list[list[SweepTrial]]:
    """The trials that differ in the seed only, best setting first; `trials` as `ranked` orders them."""
    groups: dict[str, list[SweepTrial]] = {}
    for trial in trials:
        groups.setdefault(json.dumps(trial.settings, sort_keys=True), []).append(trial)

    def key(group: Sequence[SweepTrial]) -> tuple[float, float]:
        scores = _finished_scores(group)
        return -len(scores), -fmean(scores) if scores else 0

    return sorted(groups.values(), key=key)


def _finished_scores(trials: Iterable[SweepTrial]) -> list[float]:
    return [trial.score for trial in trials if trial.state == "finished"]


def best_of(trials: Sequence[SweepTrial]) -> SweepTrial | None:
    """See `Sweep.best`; `trials` as `ranked` orders them."""
    if not _finished_scores(trials):
        return None
    return by_setting(trials)[0][0]


def measure_again(folder: Path, best: SweepTrial, target: str) -> Again:
    """Copy the best agent into the folder, and let it play new games; once, then they are read from the folder."""
    data, arguments = best.agent.read_bytes(), best.arguments
    games = AGAIN * arguments.eval_games
    known = folder / MEASURED
    if known.exists() and (folder / BEST).exists() and (folder / BEST).read_bytes() == data:
        found = json.loads(known.read_text(encoding="utf-8"))
        if (found["trial"], found["games"]) == (best.name, games):
            return Again(best.name, games, found["score"])
    known.unlink(missing_ok=True)
    write_atomic(folder / BEST, data)
    game = registry.make(arguments.game, **arguments.parameters)
    device = choose_device("cpu")  # the machine of this process may have no other
    seed = derive(arguments.seed, Purpose.EVALUATION, -1)  # evaluations of the run count from 0
    with alone(seed, arguments.threads, device):
        result = compare(game, load(str(folder / BEST), game), load(target, game), games, seed, device)
    again = Again(best.name, games, result.ahead)
    low, high = again.interval
    summary = {"trial": again.trial, "target": target, "games": games, "score": again.score, "low": low, "high": high}
    write_atomic(known, json.dumps(summary, indent=2) + "\n")
    return again


# ---------------------------------------------------------------- text


def train_command(arguments: Arguments) -> str:
    """The command that trains as a trial did, as it is typed."""
    game = registry.make(arguments.game, **arguments.parameters)
    usual = type(arguments).fitted(game)
    defaults = REGISTRY[arguments.game].defaults
    words = ["cellgames", "train", arguments.game]
    for name, value in arguments.parameters.items():
        if name not in defaults or defaults[name] != value:
            words += ["--param", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    words += ["--algo", arguments.algorithm]
    for option in type(arguments).options():
        value = getattr(arguments, option.name)
        if value == getattr(usual, option.name):
            continue
        flag = f"--{option.name.replace('_', '-')}"
        if option.kind is bool:
            words.append(flag if value else f"--no-{flag[2:]}")
        else:
            words += [flag, *(value if isinstance(value, tuple) else [str(value)])]
    return shlex.join(words)


def trial_rows(sweep: Sweep) -> list[list[str]]:
    """A header and a line a trial, for programs."""
    names = list(sweep.trials[0].settings)
    rows = [["rank", "trial", *names, "seed", "state", "steps", "score", "score_low", "score_high", "seconds", "error"]]
    for rank, trial in enumerate(sweep.trials, 1):
        scores = ["" if math.isnan(x) else f"{x:.6g}" for x in (trial.score, *trial.interval)]
        settings = [shown(trial.settings[name]) for name in names]
        seed, about = str(trial.arguments.seed), [trial.state, str(trial.steps)]
        rows.append([str(rank), trial.name, *settings, seed, *about, *scores, f"{trial.seconds:.1f}", trial.error])
    return rows


def setting_rows(sweep: Sweep) -> list[list[str]]:
    """A header and a line a setting, for people: mean, lowest and highest score of its finished seeds."""
    names = list(sweep.trials[0].settings)
    rows = [[*names, "finished", "mean", "lowest", "highest"]]
    for group in by_setting(sweep.trials):
        scores = _finished_scores(group)
        cells = [f"{100 * x:.1f}" for x in (fmean(scores), min(scores), max(scores))] if scores else ["", "", ""]
        rows.append([*(shown(group[0].settings[name]) for name in names), f"{len(scores)} of {len(group)}", *cells])
    return rows


def page_rows(sweep: Sweep) -> list[list[str]]:
    """A header and a line a trial, for people."""
    names = list(sweep.trials[0].settings)
    rows = [["rank", "trial", *names, "score", "95 %", "steps", "seconds", "how it ended"]]
    for rank, trial in enumerate(sweep.trials, 1):
        low, high = trial.interval
        score = (
            ["", ""]
            if math.isnan(trial.score)
            else [f"{100 * trial.score:.1f}", f"{100 * low:.0f} to {100 * high:.0f}"]
        )
        ended = (
            f"failed: {trial.error}" if trial.error else "stopped early" if trial.state == "stopped" else trial.state
        )
        settings = [shown(trial.settings[name]) for name in names]
        rows.append([str(rank), trial.name, *settings, *score, f"{trial.steps:,}", f"{trial.seconds:.1f}", ended])
    return rows


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    cells = [[text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<") for text in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], ["---:"] * len(cells[0]), *cells[1:]))


def _page(sweep: Sweep, asked: Mapping[str, Any], plots: Sequence[str]) -> str:
    base = sweep.trials[0].arguments
    parts = [f"# Sweep of {base.algorithm} in {registry.make(base.game, **base.parameters).info.title}"]
    if sweep.best is not None and sweep.again is not None:
        best, again = sweep.best, sweep.again
        low, high = again.interval
        settings = ", ".join(f"{name}={shown(value)}" for name, value in best.settings.items())
        parts += [
            f"Best: `{settings}`, ahead of {sweep.target} in {100 * best.score:.1f} % of "
            f"{best.arguments.eval_games} games. "
            f"That is the best of many by chance too; in {again.games} new games it was ahead in "
            f"{100 * again.score:.1f} % (95 %: {100 * low:.0f} to {100 * high:.0f}). The agent is `{BEST}`; this "
            "trains it again:",
            f"```\n{train_command(best.arguments)}\n```",
        ]
    else:
        parts.append("No trial is finished.")
    parts += [f"![{name}]({name})" for name in plots]
    if asked["seeds"] > 1:
        parts += ["## Settings", "Scores in % over the seeds that were finished.", _markdown(setting_rows(sweep))]
    if count := sum(trial.state == "stopped" for trial in sweep.trials):
        stopped = (
            f"{count} of {len(sweep.trials)} trials were stopped early, with a low score among those that got as far; "
            "which ones depends on which machines were fast, so another sweep may differ."
        )
    elif asked["stopping"]:
        stopped = "No trial was stopped early, though those might have been whose score was low."
    else:
        stopped = "No trial was to be stopped early: the same sweep gives the same table, but for the seconds."
    parts += [
        "## Trials",
        f"Scores in % against {sweep.target} at the last evaluation, of {base.eval_games} games, with Wilson's "
        f"intervals. "
        f"{stopped}",
        _markdown(page_rows(sweep)),
        "## What was asked for",
        f"```json\n{json.dumps(asked, indent=2, ensure_ascii=False)}\n```",
        f"Folders of the trials are in `trials/`; `cellgames evaluate` takes any of them. `{TABLE}` has the table.",
    ]
    return "\n\n".join(parts) + "\n"


def write_reports(sweep: Sweep, asked: Mapping[str, Any], warn: Callable[[str], None]) -> None:
    """Write the table, the page and the plots; these are left out, with a warning, where matplotlib is missing."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(trial_rows(sweep))
    write_atomic(sweep.out / TABLE, text.getvalue())
    drawn: dict[str, bytes] = {}
    try:
        from .sweep_plots import curves_png, settings_png
    except ImportError as error:
        warn(f"no plots ({error}); pip install 'cellgames[render]'")
    else:
        if any(not math.isnan(trial.score) for trial in sweep.trials):
            drawn = {PLOT: settings_png(sweep), CURVES: curves_png(sweep)}
    for name in (PLOT, CURVES):
        if name in drawn:
            write_atomic(sweep.out / name, drawn[name])
        else:
            (sweep.out / name).unlink(missing_ok=True)
    write_atomic(sweep.out / PAGE, _page(sweep, asked, list(drawn)))
