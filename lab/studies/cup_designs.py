"""A study: which designs win in the Toroidal Cup, and do evolutions converge?

The command is `python -m cellgames.lab.studies.cup_designs`.
Evolves designs for the small board from several seeds, and compares the champions: how they score, how far they are
from each other, beside random designs, and how they do against each other. A page and its numbers go to
results/studies/cup_designs/. Runs are kept, and a study that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from benchmarks.commands import check_least, typed_command
from benchmarks.pages import head, write_page

from cellgames.agents.loading import load
from cellgames.agents.toroidal_cup.champion import ToroidalCupChampion
from cellgames.agents.toroidal_cup.champion_files import read_champion, shipped_champion
from cellgames.arena.play.match import play_chunk
from cellgames.arena.play.match_options import MatchOptions
from cellgames.envs import registry
from cellgames.envs.toroidal_cup.dealing import deal
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.lab.evolution.cup_space import CupSpace, cup_spaces, read_starts
from cellgames.lab.evolution.design_space import Floats, Ints
from cellgames.lab.evolution.evolution import evolve
from cellgames.lab.evolution.evolve_options import EvolveOptions
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Cell, Part, Plot, Section, Table
from cellgames.utils.statistics import mean_interval, wilson_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["compare", "main", "real_board"]

OUT = Path("results/studies/cup_designs")
SMALL = "toroidal-cup-small-v0"
_WAYS = {"champion": None, "alone": 0}
"""Games of Life for a last placement, None for the default; with 0 the champion plays designs that never change."""
_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}
_RANDOM, _FRESH = 200, 1000  # random designs to compare with, and opponents that no evolution met


def compare(space: CupSpace, designs: Ints, seed: int) -> dict[str, Any]:
    """Return how champions [N, G] of several evolutions score, how far apart they are, and their duels.

    Points are against arrangements of `random` and `greedy` that no evolution met, and beside them those of random
    designs, the best of which shows what selection without variation gives.
    """
    generator = np.random.default_rng(seed)
    others = space.random(_RANDOM, generator)
    points: dict[str, Any] = {}
    for agent, count in (("random", _FRESH), ("greedy", _FRESH // 5)):
        fresh = space.draw(space.pool(agent, count, seed + 7), count, generator)
        played = space.play(np.concatenate((designs, others)), fresh).points.mean(1)
        points[agent] = {**_both(played, len(designs)), "games": count}
    apart = space.distance(designs, designs)
    upper = np.triu_indices(len(designs), 1)
    strangers = space.distance(others, others)[np.triu_indices(len(others), 1)]
    duels = np.stack(
        [space.play(designs, space.champion_pool(one, space.versions, generator)).points.mean(1) for one in designs],
        1,
    )
    measures = np.concatenate((space.describe(designs), space.describe(others)))
    strength = np.array(points["random"]["random designs"])
    return {
        "points": points,
        "correlation": {
            measure.name: float(np.corrcoef(measures[len(designs) :, place], strength)[0, 1])
            for place, measure in enumerate(space.measures)
        },
        "distance": {
            "champions": apart[upper].tolist(),
            "random designs": {"mean": float(strangers.mean()), "twentieth": float(np.quantile(strangers, 0.05))},
        },
        "distances": apart.tolist(),
        "duels": duels.tolist(),
        "measures": {
            measure.name: _both(measures[:, place], len(designs)) for place, measure in enumerate(space.measures)
        },
    }


def _both(values: Floats, champions: int) -> dict[str, Any]:
    """Return the values of the champions, which come first, and those of the random designs."""
    return {"champions": values[:champions].tolist(), "random designs": values[champions:].tolist()}


def real_board(file: Path, games: int) -> list[dict[str, Any]]:
    """Play the shipped champion on the real board, as it plays and as designs that never change; return the results.

    Games are kept in a file chunk by chunk. A pair that has more of them there keeps them.

    Args:
        file: of the results so far.
        games: of each pair.
    """
    game = registry.make(ToroidalCup.id)
    assert isinstance(game, ToroidalCup)
    kept: dict[str, dict[str, list[float]]] = json.loads(file.read_bytes()) if file.exists() else {}
    rows = []
    for name, searched in _WAYS.items():
        for against in ("random", "greedy"):
            one = kept.setdefault(f"{name} {against}", {"points": [], "seeds": []})
            options = MatchOptions(games=max(2, games), seed=0, opening_plies=0)
            for openings in options.chunks() if games else ():
                if len(one["points"]) >= 2 * openings.stop:
                    continue
                agents = {name: ToroidalCupChampion(None, name, games=searched), against: load(against, game)}
                for record in play_chunk(game, agents, options, openings):
                    one["points"].append(_POINTS[record.result.outcome[record.agents.index(name)]])
                    one["seeds"].append(record.seed)
                write_atomic(file, json.dumps(kept))
                print(f"{name} against {against}: {len(one['points'])} games", file=sys.stderr)
            if not one["points"]:
                continue
            score = float(np.mean(one["points"]))
            low, high = wilson_interval(score, len(one["points"]))
            rows.append(
                {
                    **{"agent": name, "against": against, "games": len(one["points"])},
                    **{"score": score, "low": low, "high": high},
                    "patterns": _by_pattern(game, one["points"], one["seeds"]),
                }
            )
    return rows


def _by_pattern(game: ToroidalCup, points: Sequence[float], seeds: Sequence[float]) -> dict[str, list[float]]:
    """Return the score and the number of games of each pattern."""
    dealt, _ = deal(torch.tensor(seeds, dtype=torch.int64), game.patterns, game.teams, game.shapes)
    found = {}
    for number, pattern in enumerate(game.patterns):
        here = np.array(points)[dealt.numpy() == number]
        if len(here):
            found[pattern] = [float(here.mean()), len(here)]
    return found


def published(folder: Path) -> dict[str, Any]:
    """Return points of the shipped designs, and of random ones, against published arrangements, by family."""
    game = registry.make(ToroidalCup.id)
    assert isinstance(game, ToroidalCup)
    shipped = read_champion(shipped_champion(game.id, game.parameters)).designs
    found = {}
    for space in cup_spaces(game):
        opponents = read_starts(folder, space)
        own = [one for one in shipped if (one.pattern, one.shapes) == (space.game.pattern, space.count)]
        if not len(opponents) or not own:
            continue
        best = max(own, key=lambda one: one.weight)
        actions = [space.game.lattice.action(*placed) for placed in best.placements[space.game.stamps[0]]]
        others = space.random(_RANDOM // 4, np.random.default_rng(0))
        found[space.name] = {
            "games": len(opponents),
            "champion": float(space.play(np.array([actions], dtype=np.int64), opponents).points.mean()),
            "random designs": float(space.play(others, opponents).points.mean()),
        }
    return found


def _page(numbers: Mapping[str, Any], command: str) -> list[Part]:
    found, seeds = numbers["small board"], numbers["seeds"]
    text = found["points"]
    best = [max(text[agent]["random designs"]) for agent in text]
    rows = []
    for agent, best_random in zip(text, best, strict=True):
        champions, others = text[agent]["champions"], text[agent]["random designs"]
        low, high = mean_interval(champions)
        rows.append(
            (agent, *(round(100 * x, 1) for x in (np.mean(champions), low, high, np.mean(others), best_random)))
        )
    columns = ("against", "champions", "low", "high", "random designs", f"best of {_RANDOM} random designs")
    apart, strangers = found["distance"]["champions"], found["distance"]["random designs"]
    near, pairs = sum(value < strangers["twentieth"] for value in apart), len(apart)
    measured = []
    for name, values in found["measures"].items():
        ours, others = values["champions"], values["random designs"]
        figures = (np.mean(ours), np.std(ours), np.mean(others), np.std(others))
        tied = found["correlation"][name]
        low, high = np.tanh(np.arctanh(tied) + np.array((-1.96, 1.96)) / math.sqrt(len(others) - 3))
        told = f"{tied:+.2f} ({low:+.2f} to {high:+.2f})"
        measured.append((name, *(round(float(value), 3) for value in figures), told))
    duels = np.array(found["duels"])
    off = duels[~np.eye(len(duels), dtype=bool)]
    cycles = sum(
        duels[a, b] > 0.5 and duels[b, c] > 0.5 and duels[c, a] > 0.5
        for a in range(len(duels))
        for b in range(len(duels))
        for c in range(len(duels))
        if a < b and a < c and b != c
    )
    parts: list[Part] = [
        f"`{command}`. {seeds} evolutions of `{SMALL}`, seeds 0 to {seeds - 1}.",
        Section(
            "Questions",
            (
                "Which designs win in the Toroidal Cup, and why? Do evolutions from several seeds converge to one "
                "design? The baseline is a set of random designs: an evolution that finds no more than the best of "
                "them is only selection, and champions that are as far from each other as random designs have not "
                "converged. What would change our mind: a mean distance of champions clearly below that of random "
                "designs would be convergence.",
            ),
        ),
        Section("Findings", _findings(numbers)),
        Section(
            "Strength",
            (
                "Points in % of the champions, designs alone, against arrangements that no evolution met "
                f"({text['random']['games']} of `random`, {text['greedy']['games']} of `greedy`). The interval is that "
                "of the mean over the seeds, 95 %. The best random designs are chosen by these very games, which "
                "flatters them. What champions have more than these is what variation adds to selection, at least.",
                Table("", columns, rows),
            ),
        ),
        Section(
            "Convergence",
            (
                "The distance of two designs is 1 minus the overlap of their smoothed arrangements, in the best of all "
                f"shifts and mirror images. Champions of two seeds are {np.mean(apart):.3f} apart, random designs "
                f"{strangers['mean']:.3f}. Of the {pairs} pairs of seeds, {near} are closer than all but one in twenty "
                f"pairs of random designs ({strangers['twentieth']:.3f}); without convergence {pairs / 20:.1f} would "
                "be. Champions that resemble each other in groups are convergence to a few kinds, not to one.",
                Plot("distances", "Distances of the champions of each pair of seeds.", partial(_draw, found=found)),
            ),
        ),
        Section(
            "Why they win",
            (
                "Measures: mean and standard deviation over the champions and over random designs, and over random "
                "designs the correlation with the points against `random`, with Fisher's 95 % interval. `spread`, "
                "`seam` and `rows` tell where the shapes lie; `growth` is the share of live cells after 500 "
                "generations alone, and `speed` the share of the columns that are reached after 100.",
                Table("", ("measure", "champions", "std", "random designs", "std of these", "correlation"), measured),
            ),
        ),
        Section(
            "Duels",
            (
                f"Champions of different seeds against each other, in all shifts and both seats: points from "
                f"{100 * off.min():.0f} to {100 * off.max():.0f} %. Of the {math.comb(len(duels), 3)} triples, "
                f"{cycles} make a cycle, in which each beats the next.",
            ),
        ),
    ]
    if numbers["real board"]:
        shares = ("score", "low", "high")
        real = [
            (row["agent"], row["against"], row["games"], *(round(100 * row[name], 1) for name in shares))
            for row in numbers["real board"]
        ]
        parts.append(
            Section(
                "The real board",
                (
                    "The shipped champion on `toroidal-cup-v0`, both seats, without random openings; scores in %, with "
                    "Wilson's 95 % intervals. `alone` plays its designs and never changes them.",
                    Table("", ("agent", "against", "games", "score", "low", "high"), real),
                    "`greedy` sees what is placed and answers it. Evolution meets arrangements that do not answer, so "
                    "a design that wins most games there may lose to `greedy`, which answers it; what the champion "
                    "gains by varying its plan is the difference between its rows.",
                    "By pattern, in % (games):",
                    _patterns(numbers["real board"]),
                ),
            )
        )
    if numbers["published"]:
        general = [
            (name, one["games"], f"{100 * one['champion']:.0f}", f"{100 * one['random designs']:.0f}")
            for name, one in numbers["published"].items()
        ]
        parts.append(
            Section(
                "Generality",
                (
                    "The shipped designs, alone, against arrangements of published games of golly.life, which no "
                    "evolution met, and random designs against the same; points in %. Only published teams that lie "
                    "in one half of the board count.",
                    Table("", ("family", "games", "shipped design", "random designs"), general, text=("family",)),
                ),
            )
        )
    parts.append(
        Section(
            "Limits",
            (
                "Measures explain a part of a design's strength at most, and correlations are not causes. The "
                "evolutions of the small board are short and few. Those of the shipped designs for the real board "
                "(`cellgames evolve toroidal-cup-v0 --iterations 15`) had 3 rounds of 15 iterations for each pattern, "
                "which its numbers of shapes shared. `greedy` tries 128 pairs of placements for "
                "each shape; the champion plays no games for the first half of its shapes, 256 for each one after "
                "that, 513 for the last but one, and 2,053 for the last. Longer evolutions against opponents that "
                "answer would show how much of that search designs can save.",
            ),
        )
    )
    return parts


def _findings(numbers: Mapping[str, Any]) -> list[str]:
    """Return a sentence on each question."""
    found = numbers["small board"]
    by_size = sorted(found["correlation"].items(), key=lambda pair: -abs(pair[1]))
    (first, most), (second, less) = by_size[:2]
    lines = [
        f"- Of the measures, `{first}` tells most of a design's strength (correlation {most:+.2f}), then `{second}` "
        f"({less:+.2f})."
    ]
    near = sum(value < found["distance"]["random designs"]["twentieth"] for value in found["distance"]["champions"])
    pairs = len(found["distance"]["champions"])
    lines.append(
        f"- Evolutions do not converge to one design: {near} of {pairs} pairs of seeds end close to each other, and "
        f"champions are {np.mean(found['distance']['champions']):.3f} apart in the mean, random designs "
        f"{found['distance']['random designs']['mean']:.3f}."
    )
    for row in numbers["real board"]:
        if row["agent"] == "champion":
            score, low, high = (100 * row[name] for name in ("score", "low", "high"))
            lines.append(
                f"- On the real board `champion` scores {score:.1f} % against `{row['against']}` in {row['games']} "
                f"games ({low:.1f} to {high:.1f})."
            )
    return ["\n".join(lines)]


def _patterns(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the scores by pattern, a column for each agent and opponent."""
    names = sorted({pattern for row in rows for pattern in row["patterns"]})
    cells: list[list[Cell]] = []
    for name in names:
        found = [row["patterns"].get(name) for row in rows]
        cells.append([name, *("" if one is None else f"{100 * one[0]:.0f} ({one[1]:.0f})" for one in found)])
    columns = ("pattern", *(f"{row['agent']} against {row['against']}" for row in rows))
    return Table("", columns, cells, text=columns)


def _draw(figure: Figure, *, found: Mapping[str, Any]) -> None:
    from cellgames.utils.report.plots import Scale, matrix

    distances: Floats = np.array(found["distances"])
    names = [f"seed {seed}" for seed in range(len(distances))]
    high = max(float(distances.max()), 0.01)
    matrix(figure, "Toroidal Cup, small board: distance of champions", names, names, distances, Scale(high, 1.0, 2, ""))


def main(arguments: Sequence[str] | None = None) -> int:
    """Evolve, compare and write the page; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m cellgames.lab.studies.cup_designs", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="evolutions (default 10)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of each (default 3)")
    parser.add_argument("--iterations", type=int, default=15, metavar="N", help="of a round (default 15)")
    parser.add_argument(
        "--games",
        type=int,
        default=0,
        metavar="N",
        help="of each pair on the real board (default 0: no more)",
    )
    parser.add_argument("--starts", type=Path, metavar="DIR", help="folder with recorded_games.jsonl.gz of golly.life")
    parser.add_argument("--runs", type=Path, default=Path("results/evolve"), metavar="DIR", help="folder of the runs")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, seeds=1, rounds=1, iterations=1, games=0)
    numbers_given = {name: getattr(options, name) for name in ("seeds", "rounds", "iterations", "games")}
    words = [word for name, value in numbers_given.items() for word in (f"--{name}", str(value))]
    command = typed_command("cellgames.lab.studies.cup_designs", words)
    game = registry.make(SMALL)
    assert isinstance(game, ToroidalCup)
    (space,) = cup_spaces(game)
    designs = []
    for seed in range(options.seeds):
        evolving = EvolveOptions(rounds=options.rounds, iterations=options.iterations, seed=seed, games=0)
        found = evolve(game, evolving, options.runs / f"{SMALL}-seed={seed}")
        mixture = found.families[space.name].mixture
        designs.append(max(mixture, key=lambda one: float(np.mean(list(one["points"].values()))))["design"])
        print(f"seed {seed}: {json.dumps(mixture[0]['points'])}", file=sys.stderr)
    numbers = {
        **head(command),
        "seeds": options.seeds,
        "designs": designs,
        "small board": compare(space, np.array(designs), 1),
        "published": {} if options.starts is None else published(options.starts),
        "real board": real_board(options.runs / "real_board.json", options.games),
    }
    print(write_page(options.out / "report.md", "Designs for the Toroidal Cup", _page(numbers, command), numbers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
