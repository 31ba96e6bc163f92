"""What a report says of the payoff matrix: Nash averaging, alpha-Rank, and rings of agents that beat each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.arena.stats.cycles import Cycle, components
from cellgames.arena.stats.payoffs import FloatArray, NashAverage, Payoffs
from cellgames.utils.report.model import Cell, Part, Plot, Section, Table

from .report_parts import escape, markdown_table, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "by_strength",
    "cycles_data",
    "cycles_text",
    "nash_text",
    "payoff_data",
    "payoff_images",
    "payoff_parts",
    "sections",
]

_SHOWN = 8  # rings in the text


def sections(payoffs: Payoffs) -> list[Section]:
    """See `payoffs.sections`."""
    return [_matrix(payoffs), _averages(payoffs), _rings(payoffs)]


def by_strength(payoffs: Payoffs) -> tuple[str, ...]:
    """Agents by their mean score against all whom they met, best first; equal ones by name."""
    mean = np.nanmean(payoffs.score, axis=1)
    return tuple(payoffs.agents[k] for k in sorted(range(len(mean)), key=lambda k: (-round(float(mean[k]), 9), k)))


def _matrix(payoffs: Payoffs) -> Section:
    rows: list[tuple[Cell, ...]] = []
    order = by_strength(payoffs)
    for agent in order:
        for opponent in order:
            at = payoffs.agents.index(agent), payoffs.agents.index(opponent)
            if payoffs.games[at]:
                numbers = (rounded(x[at]) for x in (payoffs.score, payoffs.low, payoffs.high))
                rows.append((agent, opponent, int(payoffs.games[at]), *numbers))

    def draw(figure: Figure) -> None:
        from .payoff_plots import draw_matrix

        draw_matrix(figure, payoffs, order)

    level = f"{100 * payoffs.level:.0f} %"
    return Section(
        "Payoffs",
        (
            "The row's mean score against the column's agent: a win 1, a draw 1/2; with more than two seats, pairs "
            f"of seats ahead, level or behind. Intervals ({level}) take the games of an opening together.",
            Table("payoffs", ("agent", "opponent", "games", "score", "low", "high"), rows),
            Plot("payoff_matrix", "Every agent against every other; best mean score on top.", draw),
        ),
        {
            "agents": list(payoffs.agents),
            "score": [[rounded(x) for x in row] for row in payoffs.score.tolist()],
            "games": payoffs.games.tolist(),
        },
    )


def _averages(payoffs: Payoffs) -> Section:
    """One table of both solutions; where a library is missing, the text names its extra."""
    said, columns = [], ["agent", "mean score"]
    values: list[FloatArray] = [np.nanmean(payoffs.score, axis=1)]
    try:
        average = payoffs.average
        said += nash_text(payoffs, average)
        columns += ["Nash share", "share low", "share high", "in the mixture", "Nash rating"]
        values += [average.strategy, average.low, average.high, average.support, average.rating]
    except ImportError as error:
        said.append(escape(f"No Nash averaging: {error}."))
    try:
        values.append(payoffs.shares)
        columns.append("alpha-Rank")
        said.append(
            "*alpha-Rank*: share of the time that a population of imitators spends on each agent, when who beats whom "
            "is all that counts."
        )
    except ImportError as error:
        said.append(escape(f"No alpha-Rank: {error}."))
    key = values[1] if len(values) > 2 else values[0]
    order = sorted(range(len(payoffs.agents)), key=lambda k: (-round(float(key[k]), 6), -float(values[0][k]), k))
    rows = [(payoffs.agents[k], *(rounded(float(x[k])) for x in values)) for k in order]
    data = [dict(zip(columns, row, strict=True)) for row in rows]
    return Section("Nash averaging and alpha-Rank", (*said, Table("averages", columns, rows)), data)


def nash_text(payoffs: Payoffs, average: NashAverage) -> list[str]:
    """Who is in the mixture, in sentences."""
    inside = [k for k in _by_share(average) if average.strategy[k] >= 0.0005]
    mixture = ", ".join(f"{payoffs.agents[k]} {100 * average.strategy[k]:.1f} %" for k in inside)
    said = [
        "*Nash averaging*: the mixture of agents that none of them beats, of all such mixtures the one of greatest "
        "entropy; copies of an agent share its part and change nothing else. The Nash rating is the score against the "
        "mixture above or below one half: 0 for those in it.",
        escape(f"The mixture: {mixture}."),
    ]
    close = [
        f"{average.agents[k]} {100 * average.support[k]:.0f} %"
        for k in range(len(average.agents))
        if 0.025 < average.support[k] < 0.975
    ]
    if close:
        said.append(
            escape(
                f"Uncertain members, and how often they are in it when scores are drawn again from "
                f"their errors: {', '.join(close)}."
            )
        )
    if average.left_out:
        said.append(escape(f"Left out, since they have not met all others: {', '.join(average.left_out)}."))
    return said


def _rings(payoffs: Payoffs) -> Section:
    found = payoffs.rings

    def draw(figure: Figure) -> None:
        from .payoff_plots import draw_cycles

        draw_cycles(figure, payoffs, found, payoffs.level)

    caption = (
        "Arrows lead from winner to loser where the score is surely above one half; the strongest rings in colour."
    )
    rows: list[tuple[Cell, ...]] = [
        (len(c.agents), " > ".join(c.agents), rounded(c.weakest), rounded(min(c.lows))) for c in found
    ]
    parts: list[Part] = [*cycles_text(payoffs, found)]
    if found:
        parts.append(Table("cycles", ("length", "ring", "weakest link", "its lower bound at least"), rows))
        parts.append(Plot("cycles", caption, draw))
    return Section("Cycles", parts, cycles_data(found))


def cycles_text(payoffs: Payoffs, found: Sequence[Cycle]) -> list[str]:
    """The rings in sentences, Markdown."""
    level = f"{100 * payoffs.level:.0f} % interval"
    if not found:
        return [
            f"No ring: nowhere does a beat b, b beat c and c beat a with the {level} of every score above one half."
        ]
    count = "One ring" if len(found) == 1 else f"{len(found)} rings"
    lines = [f"- {escape(str(cycle))}" for cycle in found[:_SHOWN]]
    rest = [f"... and {len(found) - _SHOWN} more."] if len(found) > _SHOWN else []
    groups = " | ".join(", ".join(group) for group in components(payoffs, payoffs.level))
    return [
        f"{count} in which each beats the next, with the {level} of every score above one half. Rings that an arrow "
        "across them cuts short are not told; the best weakest link comes first.",
        "\n".join(lines),
        *rest,
        escape(f"Rings tie together: {groups}."),
    ]


# ---------------------------------------------------------------- in the report of a run


def _solved(payoffs: Payoffs) -> tuple[NashAverage | None, str]:
    """Nash averaging, or None and why there is none."""
    try:
        return payoffs.average, ""
    except ImportError as error:
        return None, str(error)


def payoff_parts(payoffs: Payoffs, plots: bool) -> list[str]:
    """Nash averaging (with SciPy) and rings as parts of a Markdown page; `plots` links `cycles.png`. None for two."""
    if len(payoffs.agents) < 3:
        return []
    average, missing = _solved(payoffs)
    parts = ["## Nash averaging and cycles"]
    if average is None:
        parts.append(escape(f"No Nash averaging: {missing}."))
    else:
        rows: list[tuple[object, ...]] = [("agent", "Nash share %", f"{100 * payoffs.level:.0f} % interval", "rating")]
        for k in _by_share(average):
            if not math.isnan(average.rating[k]):
                bounds = f"{100 * average.low[k]:.1f} to {100 * average.high[k]:.1f}"
                share = f"{100 * average.strategy[k]:.1f}"
                rows.append((average.agents[k], share, bounds, f"{average.rating[k] + 0.0:+.3f}"))
        parts += [*nash_text(payoffs, average), markdown_table(rows)]
    pictures = "![Rings](cycles.png)" if plots and payoffs.rings else ""
    return [*parts, *cycles_text(payoffs, payoffs.rings), pictures]


def payoff_images(payoffs: Payoffs) -> dict[str, bytes]:
    """`cycles.png`, if there are rings; needs matplotlib."""
    if not payoffs.rings:
        return {}
    from matplotlib.figure import Figure

    from .payoff_plots import draw_cycles
    from .rating_plots import png

    figure = Figure()
    draw_cycles(figure, payoffs, payoffs.rings, payoffs.level)
    return {"cycles.png": png(figure)}


def payoff_data(payoffs: Payoffs) -> dict[str, Any]:
    """Nash averaging, None without SciPy, and rings, as JSON."""
    average, _ = _solved(payoffs)
    rings = cycles_data(payoffs.rings)
    if average is None:
        return {"nash": None, "cycles": rings}
    columns = ("share", "share_low", "share_high", "in_mixture", "rating")
    values = (average.strategy, average.low, average.high, average.support, average.rating)
    shares = [
        {"agent": agent, **{name: rounded(float(x[k])) for name, x in zip(columns, values, strict=True)}}
        for k, agent in enumerate(average.agents)
    ]
    return {"nash": shares, "left_out": list(average.left_out), "cycles": rings}


def cycles_data(found: Sequence[Cycle]) -> list[dict[str, Any]]:
    """Rings as JSON."""
    return [{"agents": list(c.agents), "scores": [rounded(x) for x in c.scores]} for c in found]


def _by_share(average: NashAverage) -> list[int]:
    """Biggest share first, then best rating, then by name; those left out last."""
    rating = np.nan_to_num(average.rating, nan=-1.0)
    return sorted(
        range(len(rating)), key=lambda k: (-round(float(average.strategy[k]), 6), -round(float(rating[k]), 6), k)
    )
