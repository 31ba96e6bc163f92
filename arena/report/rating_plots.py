"""Ratings, cross tables and cycles as plots; needs matplotlib (`pip install "cellgames[render]"`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cellgames.arena.stats.cycles import Cycle, beats
from cellgames.arena.stats.payoffs import Payoffs
from cellgames.arena.stats.ratings import Ratings
from cellgames.arena.stats.tables import Standing, Tables
from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, heat_map, remove_frame, shorten

__all__ = ["draw_cross_table", "draw_cycles", "draw_ratings"]

_RINGS = ("#d55e00", "#0072b2", "#009e73")  # Okabe and Ito: told apart in every kind of colour vision
_MOST_AGENTS = 9  # on the circle of rings; of more, arrows hide each other


def draw_ratings(figure: Figure, lines: Sequence[Standing], rated: Ratings) -> None:
    """Draw the ratings, best on top, each with its interval."""
    names = [shorten(line.agent, 34) for line in lines]
    label = 0.35 + 0.085 * max(map(len, names))  # inches for the names
    width, height = label + 5.6, 1.15 + 0.36 * len(lines)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.62 / height, (width - label - 0.3) / width, (height - 1.05) / height))
    remove_frame(axes)
    for place, line in enumerate(lines):
        low, high = (line.elo if x is None else x for x in (line.low, line.high))
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        axes.plot(line.elo, place, "o", color=COLOURS[0], markersize=7)
        style: dict[str, Any] = {
            "textcoords": "offset points",
            "ha": "center",
            "va": "bottom",
            "fontsize": 8.5,
            "color": INK,
        }
        axes.annotate(f"{line.elo:+.0f}".replace("-", "\N{MINUS SIGN}"), (line.elo, place), (0, 6), **style)
    axes.set_yticks(range(len(lines)), names, fontsize=10)
    axes.set_ylim(len(lines) - 0.45, -0.75)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    zero = "mean of all" if rated.anchor is None else shorten(rated.anchor, 34)
    axes.set_xlabel(f"Elo ({zero} = 0), bars: {100 * rated.level:.0f} % interval", fontsize=9, color=INK)
    draw_title(figure, "Ratings")


def draw_cross_table(figure: Figure, tables: Tables) -> None:
    """Draw the cross table as a heat map, best agents first."""
    title, counts = "Score of the row against the column", "wins-draws-losses"
    if tables.by_score:
        title, counts = "Row finishes ahead of column", "ahead-level-behind"
    met = [[tables.cross.get((a, b)) for b in tables.agents] for a in tables.agents]
    scores = [[math.nan if tally is None else tally.score for tally in row] for row in met]
    below = [["" if t is None else f"{t.wins}-{t.draws}-{t.losses}" for t in row] for row in met]
    heat_map(figure, tables.agents, scores, below, title, counts)


def draw_cycles(figure: Figure, payoffs: Payoffs, cycles: Sequence[Cycle], level: float = 0.95) -> None:
    """Draw agents of rings on a circle, with arrows from winner to loser; the strongest rings have colours and scores.

    Args:
        figure: empty; gets its size here.
        payoffs: the matrix.
        cycles: strongest first; whole rings are taken while there is room for their agents.
        level: of the arrows.

    Raises:
        ValueError: no cycles.
    """
    if not cycles:
        raise ValueError("expected at least one cycle, got none to draw")
    shown: list[str] = []
    for cycle in cycles:
        if len(joined := [*shown, *(a for a in cycle.agents if a not in shown)]) <= max(
            _MOST_AGENTS, len(cycle.agents)
        ):
            shown = joined
    bold = [cycle for cycle in cycles if set(cycle.agents) <= set(shown)][: len(_RINGS)]
    # The strongest ring runs clockwise, spread over the whole circle; all others stand between, by name.
    first = cycles[0].agents
    others = sorted(set(shown) - set(first))
    parts = [others[k * len(others) // len(first) : (k + 1) * len(others) // len(first)] for k in range(len(first))]
    around = [agent for head, part in zip(first, parts, strict=True) for agent in (head, *part)]
    angle = {a: math.pi / 2 - 2 * math.pi * k / len(around) for k, a in enumerate(around)}
    places = {agent: (math.cos(turn), math.sin(turn)) for agent, turn in angle.items()}
    names = {agent: shorten(agent, 28) for agent in around}
    label, side = 0.3 + 0.08 * max(map(len, names.values())), 5.0  # inches
    width, height = side + 2 * label, side + 1.3 + 0.24 * len(bold)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, (0.45 + 0.24 * len(bold)) / height, side / width, side / height))
    remove_frame(axes)
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), xticks=[], yticks=[], aspect="equal")
    coloured = {
        link: colour
        for cycle, colour in zip(bold[::-1], _RINGS[: len(bold)][::-1], strict=True)
        for link in cycle.links
    }
    wins = beats(payoffs, level)
    index = {agent: k for k, agent in enumerate(payoffs.agents)}
    for winner, loser in product(around, repeat=2):
        if wins[index[winner], index[loser]] and (winner, loser) not in coloured:
            _arrow(axes, places[winner], places[loser], FAINT, 0.7)
    for (winner, loser), colour in coloured.items():
        _arrow(axes, places[winner], places[loser], colour, 2.4)
        _score(axes, places[winner], places[loser], payoffs.score[index[winner], index[loser]], colour)
    for agent in around:
        x, y = places[agent]
        axes.plot(x, y, "o", color=INK, markersize=9, zorder=4)
        beside = "center" if abs(x) < 0.15 else "left" if x > 0 else "right"
        above = "center" if beside != "center" else "bottom" if y > 0 else "top"
        axes.text(1.09 * x, 1.09 * y, names[agent], ha=beside, va=above, fontsize=10, color=INK)
    draw_title(figure, "Who beats whom in a ring")
    for row, (cycle, colour) in enumerate(zip(bold, _RINGS, strict=False)):
        chain = " \N{RIGHTWARDS ARROW} ".join(shorten(a, 28) for a in (*cycle.agents, cycle.agents[0]))
        y = (0.22 + 0.24 * (len(bold) - 1 - row)) / height
        figure.text(0.12 / width, y, chain, fontsize=8.5, color=colour)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": width, "mutation_scale": 9 + 4 * width}
    axes.annotate("", end, start, arrowprops={**style, "shrinkA": 9, "shrinkB": 9}, zorder=1 if colour == FAINT else 3)


def _score(axes: Axes, start: tuple[float, float], end: tuple[float, float], score: float, colour: str) -> None:
    """Write a score on an arrow, two fifths of the way, where arrows through the middle do not meet."""
    x, y = (0.6 * s + 0.4 * e for s, e in zip(start, end, strict=True))
    box = {"boxstyle": "round,pad=0.18", "facecolor": "#ffffff", "edgecolor": "none", "alpha": 0.9}
    axes.text(x, y, f"{100 * score:.0f} %", ha="center", va="center", fontsize=9, color=colour, bbox=box, zorder=5)
