"""The section of a report on behaviour: distances between agents as text, tables and plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import matrix, scatter
from cellgames.utils.report.text import escape

from .behaviour import DRAWS, NOISY, POSITIONS, Behaviour, Numbers, compare, embed, ordered
from .queries import draw_positions

__all__ = ["distance_plot", "percent_cell", "section", "to_data"]


def section(
    game: Game,
    agents: Mapping[str, AnyAgent],
    records: Sequence[Record],
    *,
    positions: int = POSITIONS,
    draws: int = DRAWS,
    seed: int = 0,
    shown: bool = False,
) -> Section:
    """Return the section on agents that were asked about positions of games; see `compare` and `draw_positions`.

    Raises:
        ValueError: Fewer than two agents, or games without moves of agents.
    """
    if len(agents) < 2:
        raise ValueError(f"expected at least two agents to compare, got {len(agents)}")
    found = compare(game, agents, draw_positions(game, records, positions, seed), draws=draws, seed=seed, shown=shown)
    order = ordered(found.distance)
    places, kept = embed(found.distance)
    names = [found.agents[place] for place in order]
    turned = np.ix_(order, order)
    caption = "How differently agents behave: 0 is alike, 100 never the same; grey where more draws are needed."
    parts = [distance_plot("behaviour_distance", caption, names, found.distance[turned])]
    if len(agents) > 2:
        note = f"distances of behaviour in the plane ({kept:.0%} of the variance)"
        caption = "A map of the agents: the nearer, the more alike they behave (classical scaling)."
        draw = partial(scatter, title="A map of behaviour", names=names, places=places[order], note=note)
        parts.append(Plot("behaviour_map", caption, draw))
    table = Table("behaviour", _COLUMNS, list(_rows(found)))
    return Section("Behaviour", (_text(found), table, *parts), to_data(found))


def distance_plot(name: str, caption: str, agents: Sequence[str], distance: Numbers) -> Plot:
    """Return a plot of distances between agents, float [K, K]."""
    title = "Distance of behaviour"
    return Plot(name, caption, partial(matrix, title=title, rows=agents, columns=agents, values=distance))


def percent_cell(share: float) -> float | None:
    """Return a share in percent with one decimal; None for NaN."""
    return _rounded(100 * float(share), 1)


def to_data(found: Behaviour) -> dict[str, Any]:
    """Return the behaviour as JSON holds it; null where a number is not known."""

    def plain(numbers: Numbers) -> Any:
        return [plain(row) for row in numbers] if numbers.ndim else _rounded(float(numbers), 6)

    data = {name: plain(getattr(found, name)) for name in ("distance", "low", "high", "agreement", "noise", "entropy")}
    places, kept = embed(found.distance)
    return {
        "agents": list(found.agents),
        "positions": found.positions,
        "draws": found.draws,
        **data,
        "order": ordered(found.distance),
        "map": plain(places),
        "map keeps": _rounded(kept, 6),
    }


_COLUMNS = ("agent", "other", "distance %", "low %", "high %", "chance to choose alike %")


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(value, digits) + 0.0


def _rows(found: Behaviour) -> Iterator[tuple[Cell, ...]]:
    pairs = sorted(
        combinations(range(len(found.agents)), 2), key=lambda pair: -np.nan_to_num(found.distance[pair], nan=-1)
    )
    for pair in pairs:
        numbers = [percent_cell(part[pair]) for part in (found.distance, found.low, found.high, found.agreement)]
        yield found.agents[pair[0]], found.agents[pair[1]], *numbers


def _text(found: Behaviour) -> str:
    rows = [row for row in _rows(found) if row[2] is not None]
    lines = [
        f"{len(found.agents)} agents were asked about the same {found.positions} positions of these games. Their "
        "distance is the total variation of what they do, less the noise of sampling: 0 % is alike, 100 % never the "
        "same. Agents did not see the games before these positions."
    ]
    if rows:
        far, near = rows[0], rows[-1]
        lines.append(f"Most apart are {_pair(far)}" + (f", nearest {_pair(near)}." if len(rows) > 1 else "."))
    noisy = [
        f"{escape(name)} {noise:.0%}" for name, noise in zip(found.agents, found.noise, strict=True) if noise > 0.005
    ]
    if noisy:
        lines.append(
            f"Two samples of {found.draws} answers of one agent differ by chance: {', '.join(noisy)}; where it is "
            f"about {NOISY:.0%} or more, distances are not known, and more draws are needed."
        )
    return "\n\n".join(lines)


def _pair(row: Sequence[Cell]) -> str:
    return f"{escape(str(row[0]))} and {escape(str(row[1]))} ({row[2]} %, interval {row[3]} to {row[4]})"
