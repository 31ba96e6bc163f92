"""What the trials of a sweep have in common: made fit for a sweep, and refused before anything starts if it is not."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TypeVar

from cellgames.agents.loading import load
from cellgames.agents.networks.networks import Size, make_network
from cellgames.agents.networks.saved import load_network
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments
from cellgames.training.selfplay.learner import start_weights
from cellgames.training.selfplay.opponent_mix import POOL, SELF, parse_mix

from .sweep_space import Range, Space

__all__ = ["REDUCTION", "RUNGS", "base_of", "evaluated_in_time", "first_rung", "target_of"]

REDUCTION = 3
"""Of ASHA: the share of trials that goes on at each rung is one out of so many."""
RUNGS = 2
"""Of ASHA, before the end: with a reduction of 3 after a ninth and a third of the steps."""

_Kind = TypeVar("_Kind", bound=Arguments)


def base_of(base: Arguments, space: Space, target: str, gpus: float) -> Arguments:
    """With the target among the evaluation opponents, and device and threads made sure of.

    Raises:
        ValueError: what no trial could be trained with.
    """
    eval_opponents = base.eval_opponents if target in ("", *base.eval_opponents) else (*base.eval_opponents, target)
    if not eval_opponents:
        raise ValueError("expected eval_opponents, by which trials are compared; Arguments.fitted fills them in")
    if actors := getattr(base, "actors", 0):
        raise ValueError(f"trials run side by side already and play their own games: expected actors=0, got {actors}")
    if not (math.isfinite(gpus) and gpus >= 0 and (gpus <= 1 or gpus == int(gpus))):
        raise ValueError(f"expected GPUs of a trial as a share from 0 to 1, or several whole ones, got {gpus:g}")
    if gpus and base.device == "cpu":
        raise ValueError(f"trials that train on the cpu need no GPU, got {gpus:g}")
    if not gpus and base.device.startswith("cuda"):
        raise ValueError(
            f"trials on {base.device} need GPUs of their own: say how many each, such as 1 or 0.5 (--gpus)"
        )
    _refuse_agents(base, space, eval_opponents)
    # One thread is what several trials side by side do best with; a GPU is told apart by the cluster.
    device = "cuda" if gpus else "cpu"
    return dataclasses.replace(base, eval_opponents=eval_opponents, device=device, threads=base.threads or 1)


def target_of(base: Arguments) -> str:
    """Whom scores are against where it is not said."""
    return "greedy" if "greedy" in base.eval_opponents else base.eval_opponents[-1]


def _refuse_agents(base: Arguments, space: Space, eval_opponents: tuple[str, ...]) -> None:
    """Raise a `ValueError` if an agent that all trials meet or begin with is not there, or not for this game."""
    game = registry.make(base.game, **base.parameters)
    specs = list(eval_opponents)
    if "opponents" not in space:
        specs += [name for name in parse_mix(base.opponents) if name not in (SELF, POOL)]
    for spec in specs:
        load(spec, game)
    if base.start_from and "start_from" not in space:
        path = Path(base.start_from)
        saved = load_network(path, game).network
        if "channels" not in space and "layers" not in space:
            start_weights(make_network(game, Size(base.channels, base.layers), saved.kind), path)


# ---------------------------------------------------------------- stopping early


def first_rung(steps: int) -> int:
    """Of ASHA: steps after which trials are compared first."""
    share: int = REDUCTION**RUNGS
    return max(steps // share, 1)


def evaluated_in_time(base: _Kind, space: Space) -> _Kind:
    """With evaluations often enough that trials are seen at each rung of ASHA, if iterations are short enough for it.

    Where they are already, nothing is changed.
    """
    game = registry.make(base.game, **base.parameters)
    often = max(first_rung(base.total_steps) // _longest_iteration(game, base, space), 1)
    return dataclasses.replace(base, eval_every=min(base.eval_every, often))


def _longest_iteration(game: Game, base: Arguments, space: Space) -> int:
    """Actions that a trial learns from in an iteration, at most."""
    num_envs, num_steps = (_highest(base, space, name) for name in ("num_envs", "num_steps"))
    return num_envs * num_steps * (game.info.num_players if game.info.simultaneous else 1)


def _highest(base: Arguments, space: Space, name: str) -> int:
    values = space.get(name)
    if values is None:
        return int(getattr(base, name))
    return int(values.high if isinstance(values, Range) else max(values.values))
