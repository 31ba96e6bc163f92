"""The section of a report on how training changed a network's play, from checkpoint to checkpoint.

All networks that the run has kept (`checkpoints`) play by chance, as they did when they learned, and are asked about
the same positions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import Curve, curves
from cellgames.utils.report.text import escape
from cellgames.utils.statistics import normal_quantile

from .behaviour import DRAWS, POSITIONS, Behaviour, Numbers, compare
from .behaviour_section import distance_plot, percent_cell
from .network_checkpoints import Checkpoint, first_steps, games_between, load
from .queries import draw_positions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drift_section"]

_STARTS = 256  # games whose first steps are played
_FAVOURITES = 7  # openings that a plot shows


def drift_section(
    game: Game,
    found: Sequence[Checkpoint],
    references: Mapping[str, AnyAgent],
    records: Sequence[Record] = (),
    *,
    positions: int = POSITIONS,
    draws: int = DRAWS,
    seed: int = 0,
    shown: bool = False,
) -> Section:
    """Return the section on how the play of a run's networks changed.

    Args:
        game: The game that the networks play; `network_checkpoints.game_of_run`.
        found: The run's networks.
        references: Agents by name to compare with.
        records: Games from which positions come; none for games that the run's networks play first.
        positions: Number of positions, at most.
        draws: As in `behaviour.compare`.
        seed: Seed that all random draws follow from.
        shown: True to report progress on standard error.
    """
    selves = load(found)
    sources = list(records) or games_between(game, selves, 2 * math.ceil(positions / 12), seed)
    asked = draw_positions(game, sources, positions, seed)
    behaviour = compare(game, {**selves, **references}, asked, draws=draws, seed=seed, shown=shown)
    starts = [first_steps(game, agent, _STARTS, seed) for agent in selves.values()]
    steps = [checkpoint.steps for checkpoint in found]
    rows = _rows(behaviour, steps, list(references))
    columns = ("steps", *(name for name, _ in rows[0]))
    table = Table(
        "drift", columns, [(at, *(value for _, value in row)) for at, row in zip(steps, rows, strict=True)], 25
    )
    favourites = [name for name, _ in sum(starts, Counter()).most_common(_FAVOURITES)]
    shares = np.array([[part[name] / part.total() for name in favourites] for part in starts])
    openings = Table(
        "drift_openings",
        ("steps", *favourites),
        [(at, *map(percent_cell, row)) for at, row in zip(steps, shares, strict=True)],
        25,
    )
    plots = (
        Plot(
            "drift",
            "Behaviour over steps of training, with 95 % intervals over positions.",
            partial(_draw_distances, behaviour=behaviour, steps=steps, references=list(references)),
        ),
        distance_plot(
            "drift_distance",
            "Distance of behaviour between all checkpoints and references.",
            behaviour.agents,
            behaviour.distance,
        ),
        Plot(
            "drift_openings",
            "How games of each checkpoint with itself begin.",
            partial(_draw_openings, steps=steps, names=favourites, shares=shares),
        ),
    )
    source = "these games" if records else f"{len(sources)} games of the run's first, middle and last network"
    data = {
        "steps": steps,
        "references": list(references),
        "positions": behaviour.positions,
        "rows": [dict(row) for row in rows],
        "openings": [dict(sorted(part.items(), key=lambda item: (-item[1], item[0]))) for part in starts],
    }
    text = _text(behaviour, steps, list(references), favourites, shares, source)
    return Section("From checkpoint to checkpoint", (text, table, openings, *plots), data)


def _rows(behaviour: Behaviour, steps: Sequence[int], references: Sequence[str]) -> list[list[tuple[str, Cell]]]:
    """Return the names and values of each checkpoint's numbers, in percent."""
    last = len(steps) - 1
    rows: list[list[tuple[str, Cell]]] = []
    for at in range(len(steps)):
        row: list[tuple[str, Cell]] = [
            ("from the one before %", percent_cell(behaviour.distance[at, at - 1]) if at else None),
            ("from the first %", percent_cell(behaviour.distance[at, 0])),
            ("from the last %", percent_cell(behaviour.distance[at, last])),
        ]
        for place, name in enumerate(references, len(steps)):
            row += [(f"from {name} %", percent_cell(behaviour.distance[at, place]))]
            row += [(f"like {name} %", percent_cell(behaviour.agreement[at, place]))]
        entropy = float(behaviour.entropy[at])
        rows.append([*row, ("entropy, nats", None if math.isnan(entropy) else round(entropy, 4))])
    return rows


def _text(
    behaviour: Behaviour,
    steps: Sequence[int],
    references: Sequence[str],
    favourites: Sequence[str],
    shares: Numbers,
    source: str,
) -> str:
    last = len(steps) - 1
    moved = [float(behaviour.distance[at, at - 1]) for at in range(1, len(steps))]
    lines = [
        f"{len(steps)} networks of the run, from step {steps[0]:,} to {steps[-1]:,}, were asked about "
        f"{behaviour.positions} positions of {source}."
        + ("" if math.isnan(far := behaviour.distance[last, 0]) else f" The last one is {far:.0%} away from the first.")
    ]
    if np.isfinite(moved).any():
        place = int(np.nanargmax(moved))
        lines.append(
            f"Play changed most from step {steps[place]:,} to {steps[place + 1]:,} ({moved[place]:.0%})"
            + ("." if math.isnan(moved[-1]) else f", and {moved[-1]:.0%} in the last stretch.")
        )
    first, final = behaviour.entropy[[0, last]]
    if math.isfinite(first + final):
        lines.append(
            f"The entropy of its decisions went from {first:.2f} to {final:.2f} nats, that of "
            f"{math.exp(first):.1f} and {math.exp(final):.1f} equally "
            "likely choices."
        )
    for place, name in enumerate(references, len(steps)):
        lines.append(
            f"It chose like {escape(name)} with chance {behaviour.agreement[0, place]:.0%} at first and "
            f"{behaviour.agreement[last, place]:.0%} in the end."
        )
    early, late = (int(shares[at].argmax()) for at in (0, last))
    lines.append(
        f"Of the openings that are frequent in its games with itself, `{favourites[early]}` led at first "
        f"({shares[0, early]:.0%}) and `{favourites[late]}` in the end ({shares[last, late]:.0%})."
    )
    return "\n\n".join(lines)


def _draw_distances(figure: Figure, behaviour: Behaviour, steps: Sequence[int], references: Sequence[str]) -> None:
    many = range(len(steps))

    def line(name: str, other: Any) -> Curve:
        pairs = [(at, other(at)) for at in many]
        parts = [
            [math.nan if b < 0 else 100 * float(part[a, b]) for a, b in pairs]
            for part in (behaviour.distance, behaviour.low, behaviour.high)
        ]
        return Curve(name, *parts)

    distances = [line("the one before", lambda at: at - 1), line("the last", lambda at: len(steps) - 1)]
    others = [line(name, lambda at, place=place: place) for place, name in enumerate(references, len(steps))]
    parts: list[tuple[str, Sequence[Curve]]] = [("distance from, %", distances)]
    parts += [("distance from, %", others)] if others else []
    if np.isfinite(behaviour.entropy[: len(steps)]).any():
        interval = behaviour.entropy_interval[: len(steps)]
        entropy = Curve(
            "of its decisions", list(behaviour.entropy[: len(steps)]), list(interval[:, 0]), list(interval[:, 1])
        )
        parts.append(("entropy, nats", [entropy]))
    curves(figure, "From checkpoint to checkpoint", steps, parts, "steps of training")


def _draw_openings(figure: Figure, steps: Sequence[int], names: Sequence[str], shares: Numbers) -> None:
    lines = []
    for place, name in enumerate(names):
        share = shares[:, place]
        margin = normal_quantile(0.95) * np.sqrt(share * (1 - share) / _STARTS)
        values = [list(100 * np.clip(part, 0, 1)) for part in (share, share - margin, share + margin)]
        lines.append(Curve(name, *values))
    curves(figure, "How games of the checkpoints begin", steps, [("share, %", lines)], "steps of training")
