"""Behaviour as a part of a report: distances between agents in words, tables and plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Record
from cellgames.arena.report.report_parts import escape
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Plot, Section, Table

from .behaviour import DRAWS, NOISY, POSITIONS, Behaviour, Numbers, compare, embed, ordered
from .queries import draw_positions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["section", "to_data"]


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
    """Behaviour as a part of a report: agents asked about positions of games; see `compare` and `draw_positions`.

    Raises:
        ValueError: fewer than two agents, or games without moves of agents.
    """
    if len(agents) < 2:
        raise ValueError(f"expected at least two agents to compare, got {len(agents)}")
    found = compare(game, agents, draw_positions(game, records, positions, seed), draws=draws, seed=seed, shown=shown)
    order = ordered(found.distance)
    places, kept = embed(found.distance)
    names = [found.agents[place] for place in order]
    turned = np.ix_(order, order)
    plots = [
        Plot(
            "behaviour_distance",
            "How differently agents behave: 0 is alike, 100 never the same; grey where more draws are needed.",
            _matrix_of(names, found.distance[turned]),
        )
    ]
    if len(agents) > 2:
        note = f"distances of behaviour in the plane ({kept:.0%} of the variance)"
        caption = "A map of the agents: the nearer, the more alike they behave (classical scaling)."
        plots.append(Plot("behaviour_map", caption, _scatter_of(names, places[order], note)))
    table = Table("behaviour", _COLUMNS, list(_rows(found)))
    return Section("Behaviour", (_told(found), table, *plots), to_data(found))


def to_data(found: Behaviour) -> dict[str, Any]:
    """As JSON holds it; null where nothing is known."""

    def plain(numbers: Numbers) -> Any:
        return [plain(row) for row in numbers] if numbers.ndim else _known(float(numbers), 6)

    data = {name: plain(getattr(found, name)) for name in ("distance", "low", "high", "agreement", "noise", "entropy")}
    places, kept = embed(found.distance)
    return {
        "agents": list(found.agents),
        "positions": found.positions,
        "draws": found.draws,
        **data,
        "order": ordered(found.distance),
        "map": plain(places),
        "map keeps": _known(kept, 6),
    }


_COLUMNS = ("agent", "other", "distance %", "low %", "high %", "chance to choose alike %")


def _known(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(value, digits) + 0.0


def _rows(found: Behaviour) -> Iterator[tuple[Cell, ...]]:
    pairs = sorted(
        combinations(range(len(found.agents)), 2), key=lambda pair: -np.nan_to_num(found.distance[pair], nan=-1)
    )
    for pair in pairs:
        numbers: list[Cell] = [
            _known(100 * float(part[pair]), 1) for part in (found.distance, found.low, found.high, found.agreement)
        ]
        yield found.agents[pair[0]], found.agents[pair[1]], *numbers


def _told(found: Behaviour) -> str:
    rows = [row for row in _rows(found) if row[2] is not None]
    lines = [
        f"{len(found.agents)} agents were asked about the same {found.positions} positions of these games. Their "
        "distance is the total variation of what they do, less the noise of sampling: 0 % is alike, 100 % never the "
        "same. Agents were told nothing of the games before these positions."
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
            f"about {NOISY:.0%} or more, distances cannot be told, and more draws are needed."
        )
    return "\n\n".join(lines)


def _pair(row: Sequence[Cell]) -> str:
    return f"{escape(str(row[0]))} and {escape(str(row[1]))} ({row[2]} %, interval {row[3]} to {row[4]})"


def _matrix_of(names: Sequence[str], distance: Numbers) -> Any:
    def draw(figure: Figure) -> None:
        from cellgames.utils.report.plots import matrix

        matrix(figure, "Distance of behaviour", names, names, distance)

    return draw


def _scatter_of(names: Sequence[str], places: Numbers, note: str) -> Any:
    def draw(figure: Figure) -> None:
        from cellgames.utils.report.plots import scatter

        scatter(figure, "A map of behaviour", names, places, note)

    return draw
