"""Kinds of runs of the core for `run_suite`: small ones, which take tenths of a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena_bots import First, Last
from run_suite import Case
from season_coin import Coin, made_up
from training_runs import tiny

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.arena import SeasonOptions, climb, free_for_all, play_season, round_robin
from cellgames.arena.play.match_options import FreeForAllOptions, LadderOptions, RoundRobinOptions
from cellgames.cli.main import main
from cellgames.training import RunError, train

GAME = cellgames.make("torus-v0", size=3)
LADDER = Path(__file__).with_name("ladder_of_three")


def robin(out: Path, **options: Any) -> object:
    given = {"games": 8, "chunk": 2, "gif": False, **options}
    return round_robin(GAME, ["random", "greedy", "rollout:4"], RoundRobinOptions(**given), out=out)


def certain(out: Path, **options: Any) -> object:
    given = {"games": 4, "chunk": 1, "gif": False, "until_certain": True, "budget": 24, **options}
    agents: dict[str, AnyAgent] = {"one": First("one"), "two": Last("two"), "three": First("three")}
    return round_robin(GAME, agents, RoundRobinOptions(**given), out=out)


def many(out: Path, **options: Any) -> object:
    given = {"games": 9, "chunk": 2, **options}
    return free_for_all(GAME, ["random", "greedy", "rollout:4"], FreeForAllOptions(**given), out=out)


def ladder(out: Path, **options: Any) -> object:
    given = {"games": 16, "chunk": 2, "within": 1.0, "rungs": str(LADDER), **options}
    return climb(GAME, ["rollout:4"], LadderOptions(**given), out=out)


def season(out: Path, **options: Any) -> object:
    return play_season(made_up(9), Coin(30), SeasonOptions(**{"days": 3, **options}), out=out)


def training(out: Path, *, resume: bool = True, **options: Any) -> object:
    snapshots = {"snapshot_every": 1, "pool_limit": 2}  # so that some go before a run is killed
    return train(tiny(**{"total_steps": 260, **snapshots, **options}), out, resume=resume)


def evaluation(out: Path, *, resume: bool = True, seed: int = 0) -> None:
    words = f"evaluate torus-v0 --size 3 --agents random greedy --games 8 --no-store --quiet --seed {seed}"
    if main([*words.split(), "--out", str(out)]):
        raise RunError("--out")


CASES = {
    "round robin": Case(robin, "run.json", small={"games": 4}, grows="games_per_pair"),
    "until certain": Case(certain, "run.json", small={"budget": 12}, grows="budget"),
    "free-for-all": Case(many, "run.json", small={"games": 5}, grows="games"),
    "ladder": Case(ladder, "run.json", small={"games": 8}, grows="games"),
    "season": Case(season, "season.json"),
    "training": Case(training, "arguments.json"),
    "evaluation": Case(evaluation, "evaluation.json", fixed="", reads=False),
}
