"""Sections on the payoff matrix: Nash averaging, and rings of agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cellgames.arena.stats.payoffs import Cycle, FloatArray, NashAverage, Payoffs
from cellgames.utils.report.columns import Column, people_table, row_data
from cellgames.utils.report.model import Part, Section
from cellgames.utils.report.text import escape, rounded

_SHOWN = 8  # rings in the text


def payoff_section(payoffs: Payoffs) -> Section:
    """Return Nash averaging (with SciPy) and cycles in short, for the report of a run."""
    average, missing = _solved(payoffs)
    parts: list[Part] = []
    if average is None:
        parts.append(escape(f"No Nash averaging: {missing}."))
    else:
        rows = [k for k in _by_share(average) if not np.isnan(average.rating[k])]
        parts += [*_nash_text(payoffs, average), people_table(_nash_columns(average, payoffs.level), rows)]
    parts += _cycles_text(payoffs)
    return Section("Nash averaging and cycles", parts)


def payoff_data(payoffs: Payoffs) -> dict[str, Any]:
    """Return Nash averaging, None without SciPy, and cycles as JSON."""
    average, _ = _solved(payoffs)
    found: dict[str, Any] = {"nash": None}
    if average is not None:
        columns = _nash_columns(average, payoffs.level)
        found = {
            "nash": [row_data(columns, k) for k in range(len(average.agents))],
            "left_out": list(average.left_out),
        }
    return {**found, "cycles": cycles_data(payoffs.rings)}


def _nash_columns(average: NashAverage, level: float) -> list[Column[int]]:
    """Return the columns of Nash averaging, whose rows are places of agents."""

    def number(values: FloatArray) -> Callable[[int], float]:
        return lambda k: float(values[k])

    def bounds(k: int) -> tuple[float, float]:
        return float(average.low[k]), float(average.high[k])

    return [
        Column("agent", lambda k: average.agents[k], "agent"),
        Column("share", number(average.strategy), "Nash share %", "%"),
        Column("", bounds, f"{100 * level:.0f} % interval", "%"),
        Column("share_low", number(average.low)),
        Column("share_high", number(average.high)),
        Column("in_mixture", number(average.support)),
        Column("rating", number(average.rating), "rating", "+.3f"),
    ]


def cycles_data(cycles: Sequence[Cycle]) -> list[dict[str, Any]]:
    """Return cycles as JSON."""
    return [{"agents": list(cycle.agents), "scores": list(map(rounded, cycle.scores))} for cycle in cycles]


def _nash_text(payoffs: Payoffs, average: NashAverage) -> list[str]:
    """Return sentences on the agents in the mixture."""
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


def _cycles_text(payoffs: Payoffs) -> list[str]:
    """Return the rings in sentences, Markdown."""
    found = payoffs.rings
    level = f"{100 * payoffs.level:.0f} % interval"
    if not found:
        return [
            f"No ring: nowhere does a beat b, b beat c and c beat a with the {level} of every score above one half."
        ]
    count = "One ring" if len(found) == 1 else f"{len(found)} rings"
    lines = [f"- {escape(str(cycle))}" for cycle in found[:_SHOWN]]
    rest = [f"... and {len(found) - _SHOWN} more."] if len(found) > _SHOWN else []
    return [
        f"{count} in which each beats the next, with the {level} of every score above one half. Rings that an arrow "
        "across them cuts short are left out; the ring with the best weakest link comes first.",
        "\n".join(lines),
        *rest,
    ]


def _solved(payoffs: Payoffs) -> tuple[NashAverage | None, str]:
    """Return Nash averaging, or None and the reason."""
    try:
        return payoffs.average, ""
    except ImportError as error:
        return None, str(error)


def _by_share(average: NashAverage) -> list[int]:
    """Return the agents by share, then by rating, then by name; those left out come last."""
    rating = np.nan_to_num(average.rating, nan=-1.0)
    return sorted(
        range(len(rating)), key=lambda k: (-round(float(average.strategy[k]), 6), -round(float(rating[k]), 6), k)
    )
