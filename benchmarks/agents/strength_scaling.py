"""A study: what do network size, training and search buy on Torus? `python -m benchmarks.agents.strength_scaling`.

AlphaZero trains networks of several sizes for several numbers of steps; each learns boards of size 3, 4 and 5 at the
same time, by the same weights. Every network then plays by its policy alone, and in searches of several lengths. Agents
that are neighbours in this grid meet on each board, and a fit of all results gives ratings and the Elo that a doubling
buys. Solved positions say how often each agent throws a win away. A page, its numbers and its plots go to
results/studies/torus_scaling/. Finished runs and measurements are kept in `--runs`, so that the same command goes on
after Ctrl-C.

Letters: `K` agents, `R` resamples, `S` network sizes, `T` numbers of steps, `E` numbers of evaluations.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cellgames
from benchmarks.agents import truth
from benchmarks.commands import typed_command
from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.file_names import WEIGHTS_FILE
from cellgames.agents.networks.networks import Size
from cellgames.agents.networks.saved import load_network
from cellgames.agents.networks.trained import from_file, search_network
from cellgames.agents.search import GumbelSearch, NetworkEvaluator
from cellgames.agents.search.search_agent import SearchAgent
from cellgames.arena.stats.ratings import ELO_PER_LOG, fit
from cellgames.envs.torus.game import Torus
from cellgames.training import train
from cellgames.training.alphazero.alphazero_arguments import AlphaZeroArguments
from cellgames.training.selfplay.eval_opponents import OPENING_PLIES, compare
from cellgames.utils.progress import progress
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Plot, Report, Section, Table
from cellgames.utils.report.plots import FAINT, line_style, prepare, remove_frame
from cellgames.utils.report.text import percent
from cellgames.utils.run_folders import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Agent", "Grid", "main", "neighbours", "per_doubling", "rated"]

FloatArray = NDArray[np.float64]

BOARDS = (3, 4, 5)
OUT = Path("results/studies/torus_scaling")
RUNS = Path("results/train/torus_scaling")

_POLICY = 2  # evaluations of a position by the policy alone: as it stands, and after a half turn
_RESAMPLES = 400
_AXES = ("network", "training", "search")


class Agent(NamedTuple):
    """A point of the grid, as places on its three axes."""

    network: int
    training: int
    search: int


class Grid(NamedTuple):
    """The levels of the three axes, each from the least to the most.

    Attributes:
        networks: channels and layers.
        steps: positions that training learns from, of all boards together.
        evaluations: of positions for a move; the first is the policy alone, which takes two.
    """

    networks: tuple[Size, ...]
    steps: tuple[int, ...]
    evaluations: tuple[int, ...]

    def agents(self) -> list[Agent]:
        """Return all agents, the search changing fastest."""
        return [Agent(*places) for places in itertools.product(*map(range, map(len, self)))]

    def spec(self, agent: Agent, runs: Path) -> str:
        """Return the name of an agent: its weights, and before them the search."""
        weights = str(self.folder(agent, runs) / WEIGHTS_FILE)
        return f"gumbel:{self.evaluations[agent.search]}:{weights}" if agent.search else weights

    def folder(self, agent: Agent, runs: Path) -> Path:
        """Return the folder of the run that made an agent's weights."""
        size = self.networks[agent.network]
        return runs / f"{size.channels}x{size.layers}-{self.steps[agent.training]}"


GRID = Grid((Size(8, 2), Size(16, 3), Size(32, 4)), (3000, 6000, 12000), (_POLICY, 8, 32, 128))


# ---------------------------------------------------------------- measurements


def loaded(spec: str) -> AnyAgent:
    """Return the agent of `Grid.spec`; its search does not ask the solver, which would hide the network's errors."""
    if not spec.startswith("gumbel:"):
        return from_file(Path(spec))
    _, count, path = spec.split(":", 2)
    simulations = int(count)
    return SearchAgent(
        spec,
        lambda game: GumbelSearch(game, NetworkEvaluator(search_network(game, Path(path))), simulations),
        solve=False,
    )


def trained(grid: Grid, runs: Path, seed: int) -> list[int]:
    """Train what is not trained yet; return the parameters of each network size, int [S]."""
    game, counts = Torus(BOARDS[-1]), list[int]()
    for network, size in enumerate(grid.networks):
        for training, steps in enumerate(grid.steps):
            folder = grid.folder(Agent(network, training, 0), runs)
            arguments = AlphaZeroArguments.fitted(
                game,
                variants=tuple(f"size={board}" for board in BOARDS[:-1]),
                channels=size.channels,
                layers=size.layers,
                total_steps=steps,
                num_envs=32,
                num_steps=8,
                num_epochs=4,
                minibatch_size=256,
                random_plies=8,
                buffer_size=24_000,
                checkpoint_every=1_000_000,
                snapshot_every=1_000_000,
                eval_every=1_000_000,
                eval_games=2,
                eval_opponents=("random",),
                threads=1,
                device="cpu",
                seed=seed,
            )
            finished = train(arguments, folder)
            if finished.before < finished.steps:
                print(f"{folder.name}: {finished.seconds:.0f} s", file=sys.stderr)
        counts.append(sum(value.numel() for value in load_network(finished.agent).network.parameters()))
    return counts


def neighbours(grid: Grid) -> list[tuple[Agent, Agent]]:
    """Return the pairs of agents that differ by one level of one axis, the one with more of it first."""
    found = []
    for agent in grid.agents():
        for axis in range(3):
            more = list(agent)
            more[axis] += 1
            if more[axis] < len(grid[axis]):
                found.append((Agent(*more), agent))
    return found


class _Kept:
    """Numbers that were measured, in a file that grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def get(self, key: Sequence[Any], measure: Callable[[], float]) -> float:
        """Return a number, measured if it is not known."""
        name = json.dumps(list(key))
        if name not in self.known:
            self.known[name] = measure()
            write_atomic(self.path, json.dumps(self.known, indent=0))
        return self.known[name]


def matches(grid: Grid, board: int, games: int, seed: int, runs: Path, kept: _Kept) -> list[float]:
    """Let all `neighbours` meet; return the share of the games that the first of each pair won."""
    game, pairs, shares = Torus(board), neighbours(grid), list[float]()
    with progress(len(pairs), label=f"size {board}", unit="matches") as finished:
        for number, pair in enumerate(pairs):
            more, less = (grid.spec(agent, runs) for agent in pair)
            play = partial(_share, game, more, less, games, seed + 1000 * number)
            shares.append(kept.get(("match", board, more, less, games, seed), play))
            finished(1)
    return shares


def _share(game: Torus, more: str, less: str, games: int, seed: int) -> float:
    return compare(game, loaded(more), loaded(less), games, seed).ahead


def errors(grid: Grid, positions: truth.Judged, seed: int, runs: Path, kept: _Kept) -> FloatArray:
    """Return the share of won positions that each agent throws away, [S, T, E]."""
    found, agents = np.zeros([len(axis) for axis in grid]), grid.agents()
    with progress(len(agents), label=f"size {positions.game.size}, solved positions", unit="agents") as finished:
        for agent in agents:
            spec = grid.spec(agent, runs)
            measure = partial(_thrown_away, positions, spec, seed)
            found[agent] = kept.get(("errors", positions.game.size, spec, len(positions), seed), measure)
            finished(1)
    return found


def _thrown_away(positions: truth.Judged, spec: str, seed: int) -> float:
    return 1 - truth.answers(positions, loaded(spec), seed).double().mean().item()


# ---------------------------------------------------------------- ratings


def rated(grid: Grid, shares: Sequence[float], games: int, seed: int) -> FloatArray:
    """Return the Elo ratings of all agents, [1 + R, S, T, E]: the estimates, then those of resamples; mean 0.

    In a resample the share of each match is drawn from Jeffreys' posterior; the estimates take the means of these.

    Args:
        grid: of the agents.
        shares: those of `matches`.
        games: of each match.
        seed: of the resamples.
    """
    agents, chance = grid.agents(), np.random.default_rng(seed)
    place = {agent: number for number, agent in enumerate(agents)}
    wins = np.zeros((1 + _RESAMPLES, len(agents), len(agents)))
    for (more, less), share in zip(neighbours(grid), shares, strict=True):
        drawn = chance.beta(games * share + 0.5, games * (1 - share) + 0.5, _RESAMPLES)
        won = games * np.concatenate([[(games * share + 0.5) / (games + 1)], drawn])
        wins[:, place[more], place[less]], wins[:, place[less], place[more]] = won, games - won
    strengths = ELO_PER_LOG * fit(wins).log_strength
    return strengths.reshape(-1, *(len(axis) for axis in grid))


def per_doubling(ratings: FloatArray, axis: int, levels: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Return the Elo that a doubling along an axis buys: from each level to the next, and over all of them.

    Both have a last dimension of (estimate, lower bound, upper bound) with 95 % coverage.

    Args:
        ratings: those of `rated`.
        axis: 0 to 2.
        levels: parameters, steps or evaluations of each level.
    """
    others = tuple(1 + other for other in range(3) if other != axis)
    means, doublings = ratings.mean(others), np.log2(np.asarray(levels, dtype=np.float64))
    steps = np.diff(means, axis=1) / np.diff(doublings)
    centred = doublings - doublings.mean()
    slope = (means * centred).sum(1, keepdims=True) / (centred**2).sum()
    return _with_bounds(steps), _with_bounds(slope)[0]


def _with_bounds(samples: FloatArray) -> FloatArray:
    """Return the first row with the 95 % quantiles of the others, [..., 3]."""
    low, high = np.quantile(samples[1:], (0.025, 0.975), axis=0)
    return np.stack((samples[0], low, high), -1)


# ---------------------------------------------------------------- the page


def _draw(axes: Axes, across: Sequence[float], lines: Mapping[str, FloatArray], name: str) -> None:
    """Draw a line each, with its numbers over logarithms of base 2."""
    for place, (label, values) in enumerate(lines.items()):
        axes.plot(across, values, label=label, linewidth=1.4, markersize=3.5, **line_style(place))
    axes.set_xscale("log", base=2)
    axes.set_xticks(across, [f"{number / 1000:g}k" if number >= 1000 else f"{number:g}" for number in across])
    axes.minorticks_off()
    axes.set_xlabel(name)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    remove_frame(axes)


def _lines(grid: Grid, table: FloatArray) -> dict[str, dict[str, FloatArray]]:
    """Return the lines of `_draw` for each of the plots' two columns, of a table [S, T, E]."""
    search = {f"{size.channels} x {size.layers}": table[place, -1] for place, size in enumerate(grid.networks)}
    training = {_player(count): table[-1, :, place] for place, count in enumerate(grid.evaluations)}
    return {"search": search, "training": training}


def _player(evaluations: int) -> str:
    return "policy" if evaluations == _POLICY else f"gumbel:{evaluations}"


def _draw_all(figure: Figure, grid: Grid, tables: Mapping[int, FloatArray], what: str, log: bool) -> None:
    """Draw a table [S, T, E] of each board: over the search, and over the training."""
    prepare(figure, f"Torus: {what} by search and by training", 8.4, 2.5 * len(tables) + 0.8)
    panels = figure.subplots(len(tables), 2, sharey="row", squeeze=False)
    for row, (board, table) in zip(panels, tables.items(), strict=True):
        lines = _lines(grid, table)
        _draw(row[0], grid.evaluations, lines["search"], "evaluations for a move")
        _draw(row[1], grid.steps, lines["training"], "steps of training")
        for axes in row:
            axes.set_title(f"size {board}", fontsize=10)
            if log:
                axes.set_yscale("log", base=2)
                axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        row[0].set_ylabel(what)
    panels[0, 0].legend(title=f"network, {grid.steps[-1]:,} steps", fontsize=8, title_fontsize=8, frameon=False)
    last = grid.networks[-1]
    title = f"player, {last.channels} x {last.layers}"
    panels[0, 1].legend(title=title, fontsize=8, title_fontsize=8, frameon=False)


def _interval(numbers: Sequence[float]) -> str:
    value, low, high = numbers
    return f"{value:+.0f} ({low:+.0f} to {high:+.0f})"


def _report(options: argparse.Namespace, grid: Grid, data: dict[str, Any]) -> Report:
    """Return the report."""
    boards = data["boards"]
    tables = {board: np.array(numbers["errors"]) for board, numbers in boards.items()}
    drawn = {board: 100 * np.maximum(table, 0.5 / options.positions) for board, table in tables.items()}
    ratings = {board: np.array(numbers["ratings"]) for board, numbers in boards.items()}
    slopes = [(board, *(_interval(numbers["slopes"][axis]) for axis in _AXES)) for board, numbers in boards.items()]
    levels = [
        (board, axis, f"{less} to {more}", _interval(step))
        for board, numbers in boards.items()
        for axis in _AXES
        for (less, more), step in zip(itertools.pairwise(data["levels"][axis]), numbers["steps"][axis], strict=True)
    ]
    thrown = [
        (board, f"{size.channels} x {size.layers}", f"{steps:,}", *(percent(share) for share in tables[board][s, t]))
        for board in boards
        for s, size in enumerate(grid.networks)
        for t, steps in enumerate(grid.steps)
        if t in (0, len(grid.steps) - 1)
    ]
    players = tuple(map(_player, grid.evaluations))
    names = ", ".join(
        f"{size.channels} channels and {size.layers} layers ({count:,} parameters)"
        for size, count in zip(grid.networks, data["parameters"], strict=True)
    )
    rates = "; ".join(
        f"at size {board} a doubling of training is worth {numbers['exchange']:.1f} doublings of search"
        for board, numbers in boards.items()
    )
    parts = (
        f"`{options.command}`; cellgames {cellgames.__version__}. Seed {options.seed}, {options.games} games a pair.",
        f"AlphaZero trained networks with {names}, for {', '.join(f'{steps:,}' for steps in grid.steps)} steps each, "
        f"on boards of size 3, 4 and 5 at the same time. Each plays by its policy alone, which evaluates two positions "
        f"for a move, and by searches of {', '.join(map(str, grid.evaluations[1:]))} simulations, which do not ask the "
        f"solver: {len(grid.agents())} agents.",
        Section(
            "What a doubling buys",
            (
                "Elo points for twice the parameters, twice the steps of training, and twice the evaluations for a "
                "move, as the slope over all levels, the mean of all agents; with 95 % intervals:",
                Table("", ("size", *_AXES), slopes, text=_AXES),
                f"Where two lines are equally steep, one can be had for the other: {rates}.",
                Plot(
                    "ratings",
                    "",
                    partial(_draw_all, grid=grid, tables=ratings, what="Elo", log=False),
                    "Elo ratings over the evaluations for a move and over the steps of training",
                ),
                "From each level to the next, Elo for a doubling:",
                Table("", ("size", "axis", "levels", "Elo"), levels, shown=100, text=("axis", "levels", "Elo")),
            ),
        ),
        Section(
            "Against the truth",
            (
                f"Share of {options.positions} solved positions in which the agent throws a win away, in % (see "
                "`python -m benchmarks.agents.truth`), after the shortest and the longest training:",
                Table("", ("size", "network", "steps", *players), thrown, shown=100, text=("network",)),
                Plot(
                    "errors",
                    "",
                    partial(
                        _draw_all,
                        grid=grid,
                        tables=drawn,
                        what="wins thrown away, %",
                        log=True,
                    ),
                    "Share of won positions thrown away, over the evaluations for a move and the steps of training",
                ),
                f"No error in {options.positions} positions is drawn as half an error.",
            ),
        ),
        Section(
            "Beside Hex",
            (
                'Jones (2021, "Scaling Scaling Laws with Board Games", arXiv:2104.03113) trained AlphaZero on Hex of '
                "size 3 to 9. Strength rose by about 500 Elo for ten times the compute of training, which is 150 for "
                "a doubling, until it was near that of perfect play; and ten times the training replaced about fifteen "
                "times the search, so that a doubling of one was worth 1.2 doublings of the other. There compute is "
                "network size and training together, at the best mixture of both; here each axis stands alone.",
            ),
        ),
        Section(
            "Limits",
            (
                "One run for each network and number of steps, with one seed: the intervals hold the luck of the games "
                f"and not that of training. The networks here are small, and {grid.steps[-1]:,} steps take less than a "
                "minute of one core; the shipped weights learned from three million. Small boards are soon played "
                "almost perfectly, so slopes flatten at the upper end. "
                f"Games begin with {OPENING_PLIES} random moves; the solved positions come from random play, with at "
                f"least {truth.LEAST_STONES[5]} stones at size 5. Ratings join matches of neighbours only, so that "
                "an Elo difference between distant agents is a sum of steps and no measured result.",
            ),
        ),
    )
    return Report("How Torus agents scale with network, training and search", parts, data)


def main(arguments: Sequence[str] | None = None, grid: Grid = GRID) -> int:
    """Train, measure and write; the exit code."""
    name = "benchmarks.agents.strength_scaling"
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=24, metavar="N", help="of each pair, even (default 24)")
    parser.add_argument("--positions", type=int, default=500, metavar="N", help="of each board (default 500)")
    parser.add_argument("--boards", type=int, nargs="+", choices=BOARDS, default=[*BOARDS], metavar="N", help="sizes")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--runs", type=Path, default=RUNS, metavar="DIR", help=f"what is kept (default {RUNS})")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if options.games < 2 or options.games % 2:
        parser.error(f"--games must be even and at least 2, got {options.games}")
    if not 1 <= options.positions <= truth.MOST:
        parser.error(f"--positions must be from 1 to {truth.MOST}, got {options.positions}")
    options.command = typed_command(name, given)
    try:
        data = _measured(options, grid)
    except KeyboardInterrupt:
        print("\nStopped. Finished runs and matches are kept; the same command goes on.", file=sys.stderr)
        return 130
    write_report(options.out, _report(options, grid, data))
    print(f"Written to {options.out}")
    return 0


def _measured(options: argparse.Namespace, grid: Grid) -> dict[str, Any]:
    """Return all numbers of the study."""
    parameters = trained(grid, options.runs, options.seed)
    kept = _Kept(options.runs / "measured.json")
    levels = dict(zip(_AXES, (parameters, grid.steps, grid.evaluations), strict=True))
    boards: dict[int, Any] = {}
    for board in options.boards:
        solved = truth.judged(Torus(board), options.positions, 0, truth.OUT / f"torus-n{board}-positions.json")
        thrown = errors(grid, solved, options.seed, options.runs, kept)
        shares = matches(grid, board, options.games, options.seed, options.runs, kept)
        ratings = rated(grid, shares, options.games, options.seed)
        found = {name: per_doubling(ratings, axis, levels[name]) for axis, name in enumerate(_AXES)}
        boards[board] = {
            "slopes": {name: slope.tolist() for name, (_, slope) in found.items()},
            "steps": {name: steps.tolist() for name, (steps, _) in found.items()},
            "exchange": float(found["training"][1][0] / found["search"][1][0]),
            "ratings": ratings[0].round(1).tolist(),
            "errors": thrown.tolist(),
            "shares": shares,
        }
    head = {"command": options.command, "version": cellgames.__version__, "seed": options.seed}
    return {**head, "parameters": parameters, "levels": levels, "boards": boards}


if __name__ == "__main__":
    sys.exit(main())
