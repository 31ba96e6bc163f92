"""Counterfactual replays of the Toroidal Cup: their speed, and their predictions for games that were not replayed.

Run it by `python -m cellgames.lab.studies.worth_of_objects`.

**Speed.** 1,000 games on the real board of 40 x 280, each the same game without another cell, to the end.

**Prediction.** In games of some seasons every Life object is taken from the board of one generation, and the game goes
on for the first half of what is left of it. The change of the lead is the object's worth. Two numbers come of all
objects: the worth of a live cell of objects at rest (still lifes, oscillators, spaceships) and of one in motion. In
other seasons, a team's objects at that generation are added up at these worths, and their difference is to tell who
will win; the difference of the populations at the same generation is the baseline.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from benchmarks.pages import check_least, head, write_page

from cellgames.arena.season.cup import CupUmpire, start_of
from cellgames.arena.season.games import Fixture
from cellgames.envs.registry import make
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.simulator import boards, run
from cellgames.lab import Options
from cellgames.lab.interventions.cup_world import CupWorld
from cellgames.lab.life.census import Census, census
from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Table
from cellgames.utils.statistics import mean_interval, percentile_interval

Numbers: TypeAlias = npt.NDArray[np.float64]

REPLAYS = 1000
_RESAMPLES = 2000


@dataclass(frozen=True)
class Moment:
    """Games of a season at one generation.

    Attributes:
        boards: int8 [B, H, W].
        left: int64 [B], generations until the end.
        first_won: bool [B], the first team won.
        census: The objects of the boards.
        population: float64 [B], the first team's lead in live cells.
    """

    boards: npt.NDArray[np.int8]
    left: npt.NDArray[np.int64]
    first_won: npt.NDArray[np.bool_]
    census: Census
    population: Numbers

    @property
    def still(self) -> npt.NDArray[np.bool_]:
        """Objects that come back to themselves, bool [N]."""
        of_kind = np.array([kind.form != "active" for kind in self.census.kinds], dtype=bool)
        found: npt.NDArray[np.bool_] = of_kind[self.census.kind]
        return found


@dataclass(frozen=True)
class Worths:
    """The mean worth of a live cell of objects at rest and in motion, with 95 % intervals over games."""

    still: float
    still_interval: tuple[float, float]
    active: float
    active_interval: tuple[float, float]
    replays: int

    def predict(self, moment: Moment) -> Numbers:
        """Return the first team's lead in worth, [B]."""
        found = moment.census
        worth = np.where(moment.still, self.still, self.active) * found.cells
        lead = np.bincount(found.board, np.where(found.owner == 1, worth, -worth), len(moment.boards))
        return lead.astype(np.float64)


def moment_of(season: int, games: int, generation: int) -> Moment:
    """Return games of a season that are still played at a generation and have a winner."""
    umpire = CupUmpire()
    fixtures = [Fixture("day 1", number, ("first", "second")) for number in range(1, games + 1)]
    starts = boards([start_of(umpire._start(fixture, season)) for fixture in fixtures])
    played = run(starts, 2, keep=[generation])
    board, left = played.boards[generation].numpy(), played.generations.numpy() - generation
    there = (left > 1) & (played.winner.numpy() > 0)
    board = board[there]
    lead = (board == 1).sum((1, 2)) - (board == 2).sum((1, 2))
    found = census(board > 0, owners=board.astype(np.int64))
    return Moment(board, left[there], played.winner.numpy()[there] == 1, found, lead.astype(np.float64))


def measure_worths(moment: Moment) -> Worths:
    """Take every object from its board, and play the first half of what is left of the game."""
    found, size = moment.census, moment.boards[0].size
    worth = np.zeros(len(found))
    order = np.argsort(found.whose, kind="stable")
    ends = np.searchsorted(found.whose[order], np.arange(len(found) + 1))
    for game, board in enumerate(moment.boards):
        objects = np.flatnonzero(found.board == game)
        changed = np.repeat(board.reshape(1, -1), len(objects) + 1, 0)
        for row, number in enumerate(objects, 1):
            changed[row, found.place[order[ends[number] : ends[number + 1]]] - game * size] = 0
        half = max(1, int(moment.left[game]) // 2)
        scores = run(torch.from_numpy(changed.reshape(-1, *board.shape)), 2, max_generations=half).scores.numpy()
        lead = scores[:, 0] - scores[:, 1]
        worth[objects] = np.where(found.owner[objects] == 1, 1, -1) * (lead[0] - lead[1:])
    still, count = moment.still, len(moment.boards)
    parts: list[tuple[float, tuple[float, float]]] = []
    for chosen in (still, ~still):
        total, cells = (
            np.bincount(found.board[chosen], values[chosen], count) for values in (worth, found.cells.astype(float))
        )
        weights = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), _RESAMPLES)
        low, high = percentile_interval((weights @ total) / np.maximum(weights @ cells, 1))
        parts.append((float(total.sum() / max(1.0, cells.sum())), (float(low), float(high))))
    return Worths(*parts[0], *parts[1], len(found))


def area_under_curve(scores: Numbers, won: npt.NDArray[np.bool_]) -> float:
    """Return the chance that a won game has a higher score than a lost one; equal ones count half."""
    from scipy.stats import rankdata

    ranks, wins = rankdata(scores), int(won.sum())
    return float((ranks[won].sum() - wins * (wins + 1) / 2) / (wins * (len(won) - wins)))


def compare(moments: Sequence[Moment], worths: Worths) -> dict[str, Any]:
    """Return both predictors' areas under the curve on held-out games, and their difference, with 95 % intervals."""
    won = np.concatenate([moment.first_won for moment in moments])
    by = {
        "worth": np.concatenate([worths.predict(moment) for moment in moments]),
        "population": np.concatenate([moment.population for moment in moments]),
    }
    generator = np.random.default_rng(0)
    drawn = [generator.integers(0, len(won), len(won)) for _ in range(_RESAMPLES)]
    resampled = {name: np.array([area_under_curve(x[rows], won[rows]) for rows in drawn]) for name, x in by.items()}
    found: dict[str, Any] = {"games": len(won)}
    for name, x in by.items():
        low, high = percentile_interval(resampled[name])
        found[name] = {"auc": area_under_curve(x, won), "low": float(low), "high": float(high)}
    low, high = percentile_interval(resampled["worth"] - resampled["population"])
    apart = found["worth"]["auc"] - found["population"]["auc"]
    return {**found, "difference": {"auc": apart, "low": float(low), "high": float(high)}}


def measure_speed(rounds: int, threads: int) -> dict[str, Any]:
    """Return the seconds of 1,000 replays of a game on the real board, once a round."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        game = make("toroidal-cup-v0")
        assert isinstance(game, ToroidalCup)
        seconds, generations = [], []
        for number in range(rounds + 1):
            fixture = Fixture("day 1", number, ("first", "second"))
            start = boards([start_of(CupUmpire()._start(fixture, 1))])[0].numpy()
            world = CupWorld(game, start, (), Options())
            sets = [(item,) for item in [*world.interventions("cell"), *world.interventions("empty")][:REPLAYS]]
            begin = time.perf_counter()
            world.replay("cell", sets)
            seconds.append(time.perf_counter() - begin)
            generations.append(world.generations)
    finally:
        torch.set_num_threads(before)
    mean, margin = mean_interval(seconds[1:])
    return {
        "replays": REPLAYS,
        "threads": threads,
        "seconds": seconds[1:],
        "median": statistics.median(seconds[1:]),
        "mean": mean,
        "margin": margin,
        "generations": generations[1:],
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="python -m cellgames.lab.studies.worth_of_objects", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--games", type=int, default=400, help="games of a season (default 400)")
    parser.add_argument("--generation", type=int, default=800, help="the moment (default 800)")
    parser.add_argument("--rounds", type=int, default=9, help="games of the speed test (default 9)")
    parser.add_argument("--threads", type=int, default=2, help="of the speed test (default 2)")
    parser.add_argument("--out", type=Path, default=Path("results/toroidal_cup/worth.md"), help="the page")
    options = parser.parse_args(arguments)
    check_least(parser, options, games=1, generation=0, rounds=1, threads=1)
    speed = measure_speed(options.rounds, options.threads)
    print(f"1,000 replays: median {speed['median']:.2f} s", file=sys.stderr)
    worths = measure_worths(moment_of(1, options.games, options.generation))
    print(f"{worths}", file=sys.stderr)
    held_out = [moment_of(season, options.games, options.generation) for season in (101, 102, 103)]
    found = compare(held_out, worths)
    command = " ".join(["python -m cellgames.lab.studies.worth_of_objects", *arguments])
    print(_page(options, command, speed, worths, found))
    return 0


def _page(
    options: argparse.Namespace, command: str, speed: dict[str, Any], worths: Worths, found: dict[str, Any]
) -> str:
    rows = [
        (name, f"{found[name]['auc']:.3f}", f"{found[name]['low']:.3f} to {found[name]['high']:.3f}")
        for name in ("worth", "population", "difference")
    ]
    parts = (
        f"`{command}`; {cpu_model()}.",
        f"1,000 replays of a whole game on the board of 40 x 280, each without another cell: median "
        f"{speed['median']:.2f} s on {speed['threads']} threads, over {len(speed['seconds'])} games of "
        f"{min(speed['generations'])} to {max(speed['generations'])} generations.",
        f"At generation {options.generation}, {worths.replays:,} objects were taken from the boards of {options.games} "
        f"games, one at a time, and the first half of what was left of the game was played. A live cell of an object "
        f"at rest was worth {worths.still:.2f} ({_span(worths.still_interval)}) live cells of lead, one in motion "
        f"{worths.active:.2f} ({_span(worths.active_interval)}).",
        f"With these two numbers, the objects of {found['games']} games of three other seasons at the same generation "
        "tell the winner. The area under the curve is the chance that a won game has a higher score than a lost one.",
        Table("", ("predictor", "area under the curve", "95 % interval"), rows),
        "Intervals are from 2,000 resamples of games; the difference is resampled in pairs.",
    )
    data = {**head(command), "speed": speed, "worths": vars(worths), "prediction": found}
    return write_page(options.out, "What Life objects of the Toroidal Cup are worth", parts, data)


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2f} to {interval[1]:.2f}"


if __name__ == "__main__":
    sys.exit(main())
