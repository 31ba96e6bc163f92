"""Kinds of runs of the lab for `run_suite`."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

from run_suite import Case

import cellgames
from cellgames import lab
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.lab import ExploitOptions, LeagueOptions, exploit, exploiter_arguments, train_league
from cellgames.lab.evolution.evolve_options import EvolveOptions
from cellgames.training import PPOArguments

GAME = cellgames.make("torus-v0", size=2)
CUP = ToroidalCup(rows=12, cols=32, pattern="randys", shapes=2, max_generations=40)
TINY: dict[str, Any] = {
    **{"num_envs": 8, "num_steps": 8, "num_epochs": 1, "minibatch_size": 32, "channels": 4, "layers": 1},
    **{"eval_every": 50, "eval_games": 2, "checkpoint_every": 2, "snapshot_every": 50, "threads": 1, "device": "cpu"},
}
DESIGNS = EvolveOptions(
    rounds=2, iterations=1, batch=8, screen=4, matches=4, agents=("random",), pool=4, cells=3, games=4
)


def league(out: Path, **options: Any) -> object:
    base = PPOArguments.fitted(GAME, **TINY, total_steps=70, eval_opponents=("random",))
    return train_league(base, out, LeagueOptions(**{"rounds": 2, "games": 4, **options}))


def exploiter(out: Path, *, resume: bool = True, seed: int = 0) -> object:
    arguments = exploiter_arguments(GAME, "weak=random", "ppo", **TINY, total_steps=70, seed=seed)
    return exploit(arguments, out, ExploitOptions(games=8, resume=resume))


def evolution(out: Path, *, resume: bool = True, **options: Any) -> object:
    return lab.evolve(CUP, dataclasses.replace(DESIGNS, **options), out, resume=resume)


CASES = {
    "league": Case(league, "league.json", fixed="games", other={"games": 6}, small={"rounds": 1}, grows="rounds"),
    "global": Case(
        partial(league, method="global"),
        "league.json",
        fixed="games",
        other={"games": 6},
        small={"rounds": 1},
        grows="rounds",
    ),
    "exploiter": Case(exploiter, "exploit.json", fixed="arguments.seed", lines="holes.jsonl", reads=False),
    "evolution": Case(evolution, "settings.json", small={"rounds": 1}, grows="rounds", reads=False),
}
