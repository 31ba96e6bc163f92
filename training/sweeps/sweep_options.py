"""The options of a sweep, and the arguments that its trials share. Importing this imports neither torch nor Optuna."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cellgames.agents.agent_names import split_name
from cellgames.cluster.connection import LOCAL, is_address
from cellgames.envs import registry
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.arguments import Arguments
from cellgames.utils.foreign_text import shown
from cellgames.utils.options import Options, Strings, option

from .search_space import MAX_TRIALS, Space

__all__ = ["REDUCTION", "SweepOptions", "evaluate_in_time", "first_rung", "prepare_base", "target_name"]

REDUCTION = 3
"""Reduction factor of ASHA: one out of so many trials goes on at each rung."""

_Kind = TypeVar("_Kind", bound=Arguments)


@dataclass(frozen=True, kw_only=True)
class SweepOptions(Options):
    """Options of a sweep; the options of `cellgames sweep` are made from these fields."""

    vary: Strings = option(  # noqa: RUF009  # makes a field
        (),
        "settings to vary: NAME=LOW..HIGH is a range, on a logarithmic scale if HIGH is ten times LOW or more; "
        "NAME=V,V,... is a list (of texts, NAME=V|V|...)",
        metavar="NAME=VALUES",
    )
    trials: int | None = option(None, "settings to draw (default 12)", low=1, high=MAX_TRIALS)
    grid: bool = option(False, "try all combinations of lists instead of drawing settings")
    seeds: int = option(1, "runs of each setting", low=1)
    target: str = option("", "agent against which scores are measured (default greedy, else random)")
    stopping: bool = option(True, "stop runs with a low score early (ASHA), and evaluate often enough for it")
    ray: str = option(
        LOCAL,
        "Ray cluster: local starts one on this machine, auto or HOST:PORT joins one",
        metavar="ADDRESS",
        bare=LOCAL,
    )
    ray_workers: int | None = option(None, "runs at the same time (default: as many as there is room for)", low=1)
    gpus: float = option(0.0, "GPUs of each run, such as 1 or 0.25", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grid and self.trials is not None:
            raise ValueError("a grid runs all its settings, so the number of trials must not be given")
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise ValueError(f"gpus must be a share from 0 to 1, or a whole number, got {self.gpus:g}")
        if not is_address(self.ray):
            raise ValueError(f"ray must be local, auto or HOST:PORT, got {shown(self.ray)}")


def prepare_base(base: Arguments, asked: SweepOptions, space: Space) -> Arguments:
    """Return the arguments that all trials share: with the target among the evaluation opponents, device and threads.

    Raises:
        ValueError: no trial could be trained with these arguments.
    """
    import torch

    from cellgames.agents.loading import load
    from cellgames.training.machine import isolated

    known = ("", *base.eval_opponents, *base.eval_agents)
    opponents = base.eval_opponents if asked.target in known else (*base.eval_opponents, asked.target)
    if not opponents:
        raise ValueError("expected eval_opponents, by which trials are compared; Arguments.fitted fills them in")
    if actors := getattr(base, "actors", 0):
        raise ValueError(f"trials run at the same time and play their own games: expected actors=0, got {actors}")
    if asked.gpus and base.device == "cpu":
        raise ValueError(f"trials that train on the cpu need no GPU, got {asked.gpus:g}")
    if not asked.gpus and base.device.startswith("cuda"):
        raise ValueError(f"trials on {base.device} need GPUs: say how many each, such as 1 or 0.5 (--gpus)")
    # A learner refuses opponents and weights that are missing or do not fit.
    game, cpu = registry.make(base.game, **base.parameters), torch.device("cpu")
    for spec in opponents:
        load(spec, game)
    fits = base if {"channels", "layers"}.isdisjoint(space) else dataclasses.replace(base, start_from="")
    with isolated(0, 0, cpu):
        ALGORITHMS[base.algorithm].learner(game, fits, Path(), cpu).close()
    # Trials at the same time are fastest with a thread each; the cluster assigns GPUs.
    device = "cuda" if asked.gpus else "cpu"
    return dataclasses.replace(base, eval_opponents=opponents, device=device, threads=base.threads or 1)


def target_name(base: Arguments, asked: SweepOptions) -> str:
    """Return the name of the evaluation opponent against which scores are measured."""
    names = list(base.eval_agents)
    if asked.target:
        return asked.target if asked.target in names else split_name(asked.target)[0]
    return "greedy" if "greedy" in names else names[-1]


def first_rung(steps: int) -> int:
    """Return the number of steps after which ASHA first compares trials; it does so again after a third."""
    return max(steps // (REDUCTION * REDUCTION), 1)


def evaluate_in_time(base: _Kind, space: Space) -> _Kind:
    """Return the arguments with evaluations at least as often as ASHA has rungs, as far as iterations are short enough.

    Evaluations that are frequent enough already stay as they are.
    """
    info = registry.make(base.game, **base.parameters).info
    longest = info.num_players if info.simultaneous else 1
    for name in ("num_envs", "num_steps"):
        values = space.get(name)
        longest *= getattr(base, name) if values is None else getattr(values, "high", 0) or max(values.choices)
    every = max(first_rung(base.total_steps) // longest, 1)
    return dataclasses.replace(base, eval_every=min(base.eval_every, every))
