"""Training runs compared over seeds: scores of two or more settings, and intervals and tests of their differences."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from cellgames.agents.agent_specs import named_agents
from cellgames.runs.run_folder import RunError, differing
from cellgames.training.arguments import FREE
from cellgames.utils.report.model import Column
from cellgames.utils.statistics import student_t

_SETTINGS, _TABLE = "arguments.json", "progress.csv"
_MOST_SPLITS = 100_000


@dataclass(frozen=True)
class Group:
    """Runs whose settings differ by nothing but the seed.

    Attributes:
        name: settings by which the group differs from the others, such as `lr=0.001`.
        settings: all settings, without the seed.
        seeds: seed of each run, ascending.
        curves: shares of the points per run, evaluation opponent and evaluation.
    """

    name: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]
    curves: tuple[Mapping[str, tuple[float, ...]], ...]

    def ends(self, opponent: str) -> list[float]:
        """Return the last share of each run against an evaluation opponent."""
        return [curve[opponent][-1] for curve in self.curves]

    def means(self, opponent: str) -> list[float]:
        """Return the mean share of each run over its evaluations, which is larger for a faster learner."""
        return [statistics.fmean(curve[opponent]) for curve in self.curves]


@dataclass(frozen=True)
class Difference:
    """The difference between two groups of runs in one measure.

    Attributes:
        first: name of a group.
        second: name of the other.
        against: evaluation opponent.
        measure: "end", the share in the last evaluation, or "mean", that of all evaluations.
        of_first: mean over the runs of the first group.
        of_second: mean over the runs of the second.
        low: lower bound of the 95 % interval of `of_first` - `of_second` (Welch); NaN for fewer than two runs.
        high: upper bound.
        p: two-sided p-value of the permutation test: exact up to 100,000 splits, else by 100,000 random ones.
    """

    first: str
    second: str
    against: str
    measure: str
    of_first: float
    of_second: float
    low: float
    high: float
    p: float


COLUMNS: tuple[Column[Difference], ...] = (
    Column("first", lambda row: row.first, "first"),
    Column("second", lambda row: row.second, "second"),
    Column("against", lambda row: row.against, "against"),
    Column("measure", lambda row: row.measure, "measure"),
    Column("first_score", lambda row: row.of_first, "first scores", "%"),
    Column("second_score", lambda row: row.of_second, "second scores", "%"),
    Column("difference", lambda row: row.of_first - row.of_second, "difference", "%"),
    Column("low", lambda row: row.low, "low", "%"),
    Column("high", lambda row: row.high, "high", "%"),
    Column("p", lambda row: row.p, "p", ".3f"),
)


def read_groups(folders: Iterable[Path]) -> list[Group]:
    """Return the runs of `cellgames train` in some folders, those of equal settings as one group.

    Raises:
        RunError: a folder without a run, one without an evaluation, two runs of a seed, or settings of one group alone.
    """
    found: dict[str, list[tuple[int, Mapping[str, Any], Mapping[str, tuple[float, ...]]]]] = {}
    for folder in folders:
        seed, settings, curve = _read(folder)
        found.setdefault(json.dumps(settings, sort_keys=True), []).append((seed, settings, curve))
    if len(found) < 2:
        raise RunError("runs", "two settings or more", len(found), "the seed is not a setting")
    every = [runs[0][1] for runs in found.values()]
    names = [name for name in every[0] if any(differing({name: every[0][name]}, other) for other in every)]
    groups = []
    for runs in found.values():
        settings, ordered = runs[0][1], sorted(runs, key=lambda run: run[0])
        name = ", ".join(f"{name}={settings.get(name)}" for name in names)
        seeds = tuple(seed for seed, _, _ in ordered)
        if len(set(seeds)) < len(seeds):
            raise RunError("seed", "runs of different seeds", ", ".join(map(str, seeds)), where=name)
        groups.append(Group(name, settings, seeds, tuple(curve for _, _, curve in ordered)))
    return groups


def _read(folder: Path) -> tuple[int, Mapping[str, Any], Mapping[str, tuple[float, ...]]]:
    """Return the seed, the other settings and the curves of a run."""
    try:
        settings = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
        seed = int(settings.pop("seed"))
        opponents = [name for name, _ in named_agents(settings["eval_opponents"])]
        with (folder / _TABLE).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        curve = {name: tuple(float(row[name]) for row in rows) for name in opponents}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(folder, "a run of cellgames train", cause=str(error)) from error
    if not (rows and opponents):
        raise RunError(folder, "a run with an evaluation")
    return seed, {name: value for name, value in settings.items() if name not in FREE}, curve


def compare_groups(groups: Sequence[Group], generator: np.random.Generator) -> list[Difference]:
    """Return the differences of each pair of groups, against each opponent that both were evaluated against.

    Args:
        groups: by `read_groups`.
        generator: draws the splits of a test with more than 100,000.
    """
    measures: dict[str, Callable[[Group, str], list[float]]] = {"end": Group.ends, "mean": Group.means}
    found = []
    for first, second in combinations(groups, 2):
        for opponent in [name for name in first.curves[0] if name in second.curves[0]]:
            for measure, values in measures.items():
                one, other = values(first, opponent), values(second, opponent)
                means = statistics.fmean(one), statistics.fmean(other)
                interval, p = welch_interval(one, other), permutation_p(one, other, generator)
                found.append(Difference(first.name, second.name, opponent, measure, *means, *interval, p))
    return found


def welch_interval(one: Sequence[float], other: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means; NaN for fewer than two values of either."""
    if min(len(one), len(other)) < 2:
        return math.nan, math.nan
    parts = [statistics.variance(values) / len(values) for values in (one, other)]
    gap, error = statistics.fmean(one) - statistics.fmean(other), math.sqrt(sum(parts))
    if error == 0:
        return gap, gap
    squares = sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other), strict=True))
    margin = error * student_t(level, sum(parts) ** 2 / squares)
    return gap - margin, gap + margin


def permutation_p(one: Sequence[float], other: Sequence[float], generator: np.random.Generator) -> float:
    """Return the share of splits of all values whose means differ as much as those of the given split, or more.

    All splits are tried up to 100,000 of them; beyond, 100,000 random ones, and the given one counts as one more.
    """
    values, size = np.array([*one, *other]), len(one)
    count = math.comb(len(values), size)
    exact = count <= _MOST_SPLITS
    if exact:
        rows = np.array(list(combinations(range(len(values)), size)))
    else:
        rows = generator.random((_MOST_SPLITS, len(values))).argpartition(size, axis=1)[:, :size]
    sums = values[rows].sum(1)
    gaps = np.abs(sums / size - (values.sum() - sums) / (len(values) - size))
    seen = abs(statistics.fmean(one) - statistics.fmean(other))
    as_far = int((gaps >= seen - 1e-12).sum())
    return as_far / count if exact else (as_far + 1) / (_MOST_SPLITS + 1)
