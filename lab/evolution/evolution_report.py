"""The report of an evolution: scores of the champion, progress of each family, and its archive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.arena.play.evaluation import note, table
from cellgames.arena.records.record_lines import plain
from cellgames.envs.core import Game
from cellgames.envs.registry import board_title
from cellgames.lab.life.census import census
from cellgames.utils.report.model import Cell, Part, Plot, Report, Section, Table
from cellgames.utils.statistics import wilson_interval
from cellgames.utils.version import __version__

from .evolve_options import EvolveOptions
from .family import FamilyRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 16  # families of a plot
_OBJECTS = 4  # kinds that are named
_WIDE = 4  # plots beside each other

Starts = Mapping[str, tuple[float, int]]


def evolution_report(
    game: Game,
    options: EvolveOptions,
    families: Mapping[str, FamilyRun],
    results: Sequence[Mapping[str, Any]],
    starts: Starts,
    command: str,
) -> Report:
    """Return the report of an evolution that is over.

    Args:
        game: the rules.
        options: options of the run.
        families: by name.
        results: results of the champion's games, a row for each opponent.
        starts: points against published arrangements, and games, by family.
        command: the command line, "" for a run from Python.
    """
    games = sum(family.games for family in families.values())
    settings = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    intro = f"`{command}`. " if command else ""
    parts: list[Part] = [
        f"{intro}{game.id} with {settings}. {games:,} games, of which a part was cut short.",
        *([_results(game, options, families, results)] if results else []),
        _families(families, starts),
        _alone(families),
        _rounds(families),
        _archives(families),
    ]
    data = {
        "command": command,
        "version": __version__,
        "game": game.id,
        "parameters": plain(game.parameters),
        "seed": options.seed,
        "results": [{name: None if value != value else value for name, value in row.items()} for row in results],
        "families": {name: _data(family, starts.get(name)) for name, family in families.items()},
    }
    return Report(f"Evolved designs for {game.id}", parts, data, subject=board_title(game))


def _results(
    game: Game, options: EvolveOptions, families: Mapping[str, FamilyRun], results: Sequence[Mapping[str, Any]]
) -> Section:
    text = (
        f"`champion` plays {options.games} whole games against each opponent, half of them in each seat, without "
        f"random openings. {next(iter(families.values())).space.playing} Scores in %."
    )
    return Section("The champion", (text, table(results), note(game)))


def families_table(families: Mapping[str, FamilyRun], starts: Starts) -> Table:
    """Return a row for each family: its best design's points against the agents, and its measures."""
    agents = list(next(iter(families.values())).pools)
    names = [measure.name for measure in next(iter(families.values())).space.measures]
    rows: list[list[Cell]] = []
    for name, family in families.items():
        best = family.mixture[0]
        points: list[Cell] = []
        for agent in agents:
            low, high = wilson_interval(best["points"][agent], best["games"])
            points.append(f"{100 * best['points'][agent]:.0f} ({100 * low:.0f} to {100 * high:.0f})")
        published: Cell = None
        if name in starts:
            share, count = starts[name]
            low, high = wilson_interval(share, count)
            published = f"{100 * share:.0f} ({100 * low:.0f} to {100 * high:.0f})"
        beaten = [f"{sum(value > 0.5 for value in one.against)} of {len(one.against)}" for one in family.champions[-1:]]
        measures = [round(value, 2) for value in best["measures"]]
        rows.append([name, family.games, *points, published, *beaten, len(family.mixture), *measures])
    columns = ["family", "games", *agents, "published", "beats", "designs", *names]
    return Table("families", columns, rows, shown=40, text=["family", *agents, "published", "beats"])


def _families(families: Mapping[str, FamilyRun], starts: Starts) -> Section:
    first = next(iter(families.values()))
    space = first.space
    measures = "; ".join(f"{measure.name}: {measure.summary}" for measure in space.measures)
    text = (
        f"The best design of each family, never changed: its points in % with 95 % intervals {space.meeting}, and "
        "against published ones, where there are some. "
        "`beats` says how many former champions the last one beats, and `designs` how many the champion mixes."
    )
    designs = "\n".join(["```", *(f"{name}: {text}" for name, one in families.items() for text in _lines(one)), "```"])
    return Section("Families", (text, families_table(families, starts), f"Measures: {measures}.", designs))


def _alone(families: Mapping[str, FamilyRun]) -> Section:
    """Return the census of the best designs after they have lived alone."""
    rows: list[list[Cell]] = []
    for name, family in families.items():
        board = family.space.alone(np.array([family.mixture[0]["design"]]))
        counts = census(board, wrap=family.space.wrap).counts()
        commonest = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_OBJECTS]
        objects = ", ".join(f"{count} {kind}" for kind, count in commonest)
        rows.append([name, int(board.sum()), sum(counts.values()), objects])
    generations = next(iter(families.values())).space.alone_generations
    text = (
        f"The best design of each family after {generations:,} generations of Life alone: live cells, objects and the "
        "commonest."
    )
    return Section("Alone", (text, Table("", ("family", "cells", "objects", "commonest"), rows, shown=40)))


def _lines(family: FamilyRun) -> list[str]:
    """Return the best design as text."""
    return family.space.lines(np.array(family.mixture[0]["design"]))


def _rounds(families: Mapping[str, FamilyRun]) -> Section:
    text = (
        "The best fitness in the archive after each batch of designs. Fitness is the mean of the points and of the "
        "share of the live cells. Each round has one opponent more, so the curves fall where one begins."
    )
    plot = Plot("fitness", "Best fitness in the archive by iteration.", partial(_draw_fitness, families=families))
    agents = list(next(iter(families.values())).pools)
    rows: list[list[Cell]] = [
        [
            name,
            number,
            *(round(100 * one.points[agent], 1) for agent in agents),
            round(100 * min(one.against), 1) if one.against else None,
        ]
        for name, family in families.items()
        for number, one in enumerate(family.champions, 1)
    ]
    columns = ["family", "round", *agents, "worst duel"]
    told = "The champions of the rounds: points in % against the agents, and the worst ones against a former champion."
    return Section("Rounds", (text, plot, told, Table("champions", columns, rows, shown=60)))


def _archives(families: Mapping[str, FamilyRun]) -> Section:
    caption = "Fitness of the elites in the last archive of each family, by its two measures. Grey cells are empty."
    more = f" Of {len(families)} families the first {_SHOWN} are shown." if len(families) > _SHOWN else ""
    return Section("Archives", (Plot("archives", caption + more, partial(_draw_archives, families=families)),))


def _data(family: FamilyRun, starts: tuple[float, int] | None) -> dict[str, Any]:
    return {
        "games": family.games,
        "champions": [champion.to_data() for champion in family.champions],
        "mixture": family.mixture,
        "published": None if starts is None else {"points": starts[0], "games": starts[1]},
        "filled": len(family.elites["objective"]),
    }


# ---------------------------------------------------------------- plots


def _draw_fitness(figure: Figure, *, families: Mapping[str, FamilyRun]) -> None:
    from matplotlib.ticker import MaxNLocator

    from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, line_style, remove_frame, shorten

    shown = list(families.items())[:_SHOWN]
    figure.set_size_inches(8.2, max(3.6, 1.4 + 0.24 * len(shown)))
    width, height = figure.get_size_inches()
    axes = figure.add_axes((0.7 / width, 0.6 / height, 5.0 / width, (height - 1.15) / height))
    remove_frame(axes)
    axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
    for place, (name, family) in enumerate(shown):
        best = [row["best"] for row in family.history]
        style = {**line_style(place), "marker": ("", *"osD^v")[place // len(COLOURS) % 6], "markevery": 0.1}
        axes.plot(best, linewidth=1.6, markersize=4, label=shorten(name, 26), **style)
    longest = max((family for _, family in shown), key=lambda family: len(family.history))
    for number, row in enumerate(longest.history):
        if number and row["iteration"] == 0:
            axes.axvline(number, color=INK, linewidth=0.8, alpha=0.5)
    axes.set_xlabel("iteration; lines where a round begins", fontsize=9, color=INK)
    axes.set_ylabel("best fitness", fontsize=9, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=INK)
    draw_title(figure, "Fitness by round")


def _draw_archives(figure: Figure, *, families: Mapping[str, FamilyRun]) -> None:
    import matplotlib

    from cellgames.utils.report.plots import AMOUNT, INK, colour_bar, draw_title, remove_frame, shorten

    shown = list(families.items())[:_SHOWN]
    wide = min(_WIDE, len(shown))
    tall = -(-len(shown) // wide)
    side, gap_x, gap_y = 1.75, 0.75, 0.85
    width, height = max(4.6, 0.6 + wide * (side + gap_x) + 0.8), 0.7 + tall * (side + gap_y)
    figure.set_size_inches(width, height)
    grids = [_grid(family) for _, family in shown]
    low = min(float(np.nanmin(grid)) for grid in grids)
    high = max(float(np.nanmax(grid)) for grid in grids)
    palette = matplotlib.colormaps[AMOUNT].with_extremes(bad="#dcdcdc")
    for place, ((name, family), grid) in enumerate(zip(shown, grids, strict=True)):
        row, column = divmod(place, wide)
        left, bottom = 0.75 + column * (side + gap_x), height - 0.75 - row * (side + gap_y) - side
        axes = figure.add_axes((left / width, bottom / height, side / width, side / height))
        remove_frame(axes)
        (x_low, x_high), (y_low, y_high) = family.ranges
        extent = (x_low, x_high, y_low, y_high)
        image = axes.imshow(
            grid.T, origin="lower", extent=extent, aspect="auto", cmap=palette, vmin=low, vmax=max(high, low + 1e-6)
        )
        axes.set_title(shorten(name, 24), fontsize=9, color=INK)
        axes.tick_params(labelsize=7)
        axes.locator_params(nbins=4)
        axes.set_xlabel(family.measures[0].name, fontsize=8, color=INK, labelpad=1)
        axes.set_ylabel(family.measures[1].name, fontsize=8, color=INK, labelpad=1)
    bar = figure.add_axes(((width - 0.62) / width, (height - 0.75 - side) / height, 0.12 / width, side / height))
    ticks = [low, (low + high) / 2, high]
    colour_bar(figure, image, bar, ticks, [f"{tick:.2f}" for tick in ticks])
    draw_title(figure, "Fitness of the elites")


def _grid(family: FamilyRun) -> Any:
    """Return the fitness of the elites by cell, float64 [cells, cells], NaN in empty cells."""
    cells = family.options.cells
    grid = np.full((cells, cells), math.nan)
    elites = family.elites
    index = np.unravel_index(elites["index"], (cells, cells)) if len(elites["index"]) else None
    if index is not None:
        grid[index] = elites["objective"]
    return grid
