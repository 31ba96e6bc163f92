"""Nash averaging and rings of agents, as a section of a report and as data for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cellgames.arena.stats.payoffs import Cycle, NashAverage, Payoffs
from cellgames.utils.report.model import Column, Part, Section, escape, people_table, rounded, row_data

_SHOWN = 8  # rings in the text


def payoff_section(payoffs: Payoffs) -> Section:
    """Return Nash averaging (with SciPy) and cycles in short, for the report of a run."""
    try:
        parts = _nash_parts(payoffs.average, payoffs.level)
    except ImportError as error:
        parts = [escape(f"No Nash averaging: {error}.")]
    return Section("Nash averaging and cycles", [*parts, *_cycles_text(payoffs)])


def payoff_data(payoffs: Payoffs) -> dict[str, Any]:
    """Return Nash averaging, None without SciPy, and cycles as JSON."""
    try:
        average = payoffs.average
    except ImportError:
        return {"nash": None, "cycles": cycles_data(payoffs.rings)}
    shares = [row_data(_nash_columns(average, payoffs.level), k) for k in range(len(average.agents))]
    return {"nash": shares, "left_out": list(average.left_out), "cycles": cycles_data(payoffs.rings)}


def _nash_columns(average: NashAverage, level: float) -> list[Column[int]]:
    """Return the columns of Nash averaging, whose rows are places of agents."""
    return [
        Column("agent", lambda k: average.agents[k], "agent"),
        Column("share", average.strategy.item, "Nash share %", "%"),
        Column("", lambda k: (average.low.item(k), average.high.item(k)), f"{100 * level:.0f} % interval", "%"),
        Column("share_low", average.low.item),
        Column("share_high", average.high.item),
        Column("in_mixture", average.support.item),
        Column("rating", average.rating.item, "rating", "+.3f"),
    ]


def cycles_data(cycles: Iterable[Cycle]) -> list[dict[str, Any]]:
    """Return cycles as JSON."""
    return [{"agents": list(cycle.agents), "scores": list(map(rounded, cycle.scores))} for cycle in cycles]


def _nash_parts(average: NashAverage, level: float) -> list[Part]:
    """Return sentences on the agents in the mixture, and all that have met all others: by share, rating and name."""
    share, rating, support = (values.tolist() for values in (average.strategy, average.rating, average.support))
    met = [k for k, value in enumerate(rating) if not np.isnan(value)]
    met.sort(key=lambda k: (-round(share[k], 6), -round(rating[k], 6), k))
    inside = [f"{average.agents[k]} {100 * share[k]:.1f} %" for k in met if share[k] >= 0.0005]
    close = [
        f"{name} {100 * often:.0f} %"
        for name, often in zip(average.agents, support, strict=True)
        if 0.025 < often < 0.975
    ]
    told = (
        ("The mixture", inside),
        ("Uncertain members, and how often they are in it when scores are drawn again from their errors", close),
        ("Left out, since they have not met all others", average.left_out),
    )
    return [
        "*Nash averaging*: the mixture of agents that none of them beats, of all such mixtures the one of greatest "
        "entropy; copies of an agent share its part and change nothing else. The Nash rating is the score against the "
        "mixture above or below one half: 0 for those in it.",
        *(escape(f"{text}: {', '.join(agents)}.") for text, agents in told if agents),
        people_table(_nash_columns(average, level), met),
    ]


def _cycles_text(payoffs: Payoffs) -> list[str]:
    """Return the rings in sentences, Markdown."""
    found, level = payoffs.rings, f"{100 * payoffs.level:.0f} % interval"
    if not found:
        return [
            f"No ring: nowhere does a beat b, b beat c and c beat a with the {level} of every score above one half."
        ]
    count = "One ring" if len(found) == 1 else f"{len(found)} rings"
    return [
        f"{count} in which each beats the next, with the {level} of every score above one half. Rings that an arrow "
        "across them cuts short are left out; the ring with the best weakest link comes first.",
        "\n".join(f"- {escape(str(cycle))}" for cycle in found[:_SHOWN]),
        *([f"... and {len(found) - _SHOWN} more."] if len(found) > _SHOWN else []),
    ]
