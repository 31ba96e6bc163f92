"""The payoff matrix and its cycles as plots; drawing needs matplotlib (`pip install "cellgames[render]"`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cellgames.arena.stats.cycles import Cycle, beats
from cellgames.arena.stats.payoffs import Payoffs
from cellgames.utils.report.plots import FAINT, INK, draw_title, heat_map, remove_frame, shorten

__all__ = ["draw_cycles", "draw_matrix"]

_RINGS = ("#d55e00", "#0072b2", "#009e73")  # Okabe and Ito: told apart in every kind of colour vision
_MOST_AGENTS = 9  # on the circle of rings; of more, arrows hide each other


def draw_matrix(figure: Figure, payoffs: Payoffs, order: Sequence[str] | None = None) -> None:
    """Draw every score with its interval as a heat map; rows and columns are in the order given, or that of agents."""
    agents = payoffs.agents if order is None else tuple(order)
    part = [payoffs.agents.index(agent) for agent in agents]
    scores, low, high = (x[np.ix_(part, part)].tolist() for x in (payoffs.score, payoffs.low, payoffs.high))
    places = range(len(agents))
    below = [[_interval(low[row][column], high[row][column]) for column in places] for row in places]
    counts = f"and its {100 * payoffs.level:.0f} % interval"
    heat_map(figure, agents, scores, below, "Score of the row against the column", counts)


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{100 * low:.0f} to {100 * high:.0f}"


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
