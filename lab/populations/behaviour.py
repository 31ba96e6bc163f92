"""Distances between agents: all of them are asked about the same positions.

The distance of two agents in a position is the total variation of what they do, half the sum of |p - q|: 0 if they do
the same with the same chances, 1 if they never do the same. It is the mean over positions. Agents that do not tell
their chances are asked several times, and two samples of one agent differ, too; that noise is measured and taken out:

    distance = (D - F) / (1 - F),  F = sqrt(F_a F_b)

with D the mean total variation of samples of a and of b, and F_a that of two samples of a. Where only one of them tells
its chances, samples are drawn from these. So an agent has distance 0 to itself and, but for chance, to another one that
does the same; agents that never do the same have distance 1.

Letters: `K` agents, `L` positions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.runs.run_folder import derive
from cellgames.utils.progress import progress
from cellgames.utils.report.model import Cell, Plot, Section, Table, escape
from cellgames.utils.report.plots import (
    COLOURS,
    FAINT,
    INK,
    MARKS,
    draw_title,
    matrix,
    name_width,
    remove_frame,
    shorten,
)
from cellgames.utils.statistics import bootstrap_weights, percentile_interval

from .queries import Answers, Positions, ask, draw_positions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = npt.NDArray[np.float64]

POSITIONS, DRAWS = 200, 8
_RESAMPLES = 1000
NOISY = 0.98  # noise above which distances are not known
_LEVEL = 0.95


@dataclass(frozen=True)
class Behaviour:
    """Distances, agreement and entropy of agents.

    Attributes:
        agents: Names, `K`.
        distance: Float [K, K], NaN where samples are too few for it or its interval.
        low: Float [K, K], lower ends of its 95 % intervals, by resampling the positions.
        high: Float [K, K], upper ends.
        agreement: Float [K, K], the chance that both choose alike; of an agent with itself, how sure it is of its
            choice.
        noise: Float [K], mean total variation of two samples of an agent; 0 if it gave its probabilities.
        entropy: Float [K], mean entropy of its decisions in nats; NaN if it is not known.
        entropy_interval: Float [K, 2], its 95 % interval.
        positions: Number of positions, `L`.
        draws: Number of draws in each of the two samples.
    """

    agents: tuple[str, ...]
    distance: Numbers
    low: Numbers
    high: Numbers
    agreement: Numbers
    noise: Numbers
    entropy: Numbers
    entropy_interval: Numbers
    positions: int
    draws: int


def compare(
    game: Game,
    agents: Mapping[str, AnyAgent],
    positions: Positions,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    shown: bool = False,
) -> Behaviour:
    """Ask all agents about the same positions.

    Args:
        game: The game with its parameters.
        agents: Agents by name; the answers of one of them do not depend on the others.
        positions: The positions that they are asked about.
        draws: Samples for each of two answers, of agents that do not tell their chances.
        seed: Seed that all random draws follow from.
        shown: True to report progress on standard error.
    """
    with progress(len(agents) * len(positions), label="behaviour", unit="positions", shown=shown) as finished:
        answers = [
            ask(game, agent, positions, draws, seed, "behaviour", name, finished=finished)
            for name, agent in agents.items()
        ]
    chance = np.random.default_rng(derive(seed, "behaviour", "intervals"))
    return measure(tuple(agents), answers, draws, chance)


def measure(agents: Sequence[str], answers: Sequence[Answers], draws: int, chance: np.random.Generator) -> Behaviour:
    """Return the distances between answers; the generator, which resamples positions, is consumed."""
    count, positions = len(agents), answers[0].shares.shape[1]
    apart, alike = np.zeros((2, count, count, positions))
    known = np.zeros((count, count), dtype=bool)
    noise = np.stack([_variation(found.samples, found.samples, found, ((0, 1),)) for found in answers])
    for a in range(count):
        alike[a, a] = _agreement(answers[a], answers[a], ((0, 1),))
    for a, b in combinations(range(count), 2):
        one, other = answers[a], answers[b]
        known[a, b] = known[b, a] = exact = one.exact and other.exact
        shares = (one.shares, other.shares) if exact else (one.samples, other.samples)
        apart[a, b] = apart[b, a] = _variation(*shares, one, ((0, 0), (0, 1), (1, 0), (1, 1)))
        alike[a, b] = alike[b, a] = _agreement(one, other, ((0, 0), (1, 1)))
    times = bootstrap_weights(chance, positions, _RESAMPLES) / positions
    distance = _corrected(apart.mean(2)[None], noise.mean(1)[None], known)[0]
    low, high = percentile_interval(_corrected(np.einsum("abl,rl->rab", apart, times), times @ noise.T, known), _LEVEL)
    # Without an interval a distance says nothing.
    distance, low, high = np.where(np.isnan(distance + low + high), math.nan, np.stack([distance, low, high]))
    entropies = np.stack(
        [np.full(positions, math.nan) if found.entropy is None else found.entropy.numpy() for found in answers]
    )
    return Behaviour(
        tuple(agents),
        distance,
        low,
        high,
        alike.mean(2),
        np.where([found.exact for found in answers], 0.0, noise.mean(1)),
        entropies.mean(1),
        np.stack(percentile_interval(times @ entropies.T, _LEVEL), 1),
        positions,
        draws,
    )


def _variation(p: Tensor, q: Tensor, like: Answers, halves: Sequence[tuple[int, int]]) -> Numbers:
    """Return the total variation, float [L]: mean over groups in which there is a choice, and over pairs of samples."""
    total: Tensor = torch.zeros(len(like.weights), dtype=torch.float32, device="cpu")
    for a, b in halves:
        apart = [part.sum(1) / 2 for part in (p[a] - q[b]).abs().split(list(like.widths), 1)]
        total = total + _mean_of_groups(torch.stack(apart, 1), like.weights)
    return np.asarray((total / len(halves)).double().numpy())


def _agreement(one: Answers, other: Answers, halves: Sequence[tuple[int, int]]) -> Numbers:
    """Return the chance of a choice in common, float [L]."""
    total: Tensor = torch.zeros(len(one.weights), dtype=torch.float32, device="cpu")
    for a, b in halves:
        alike = [part.sum(1) for part in (one.shares[a] * other.shares[b]).split(list(one.widths), 1)]
        total = total + _mean_of_groups(torch.stack(alike, 1), one.weights)
    return np.asarray((total / len(halves)).double().numpy())


def _mean_of_groups(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum(1) / weights.sum(1).clamp(min=1)


def _corrected(apart: Numbers, noise: Numbers, known: npt.NDArray[np.bool_]) -> Numbers:
    """Return distances [R, K, K] from mean total variations and the noise of samples, [R, K]; see the module."""
    floor = np.where(known, 0.0, np.sqrt(noise[:, :, None] * noise[:, None, :]))
    with np.errstate(invalid="ignore", divide="ignore"):
        distance = np.where(floor > NOISY, math.nan, np.clip((apart - floor) / (1 - floor), 0, 1))
    agents = np.arange(apart.shape[1])
    distance[:, agents, agents] = 0
    return distance


# ---------------------------------------------------------------- a map of agents


def embed(distance: Numbers) -> tuple[Numbers, float]:
    """Return points in the plane whose distances are about those given, and the share of the variance that they keep.

    Classical scaling (Torgerson, "Multidimensional Scaling: I. Theory and Method", Psychometrika 17, 1952): the two
    greatest eigenvalues of the doubly centred squares. Unknown distances count as the mean of the others.

    Args:
        distance: [K, K], symmetric; NaN where it is not known.

    Returns:
        Float [K, 2], each axis with its largest number positive, and a share from 0 to 1.
    """
    known = distance[np.isfinite(distance) & ~np.eye(len(distance), dtype=bool)]
    filled = np.where(np.isfinite(distance), distance, known.mean() if len(known) else 0.0)
    centre = np.eye(len(filled)) - 1 / len(filled)
    values, vectors = np.linalg.eigh(-centre @ filled**2 @ centre / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    places = np.zeros((len(filled), 2))
    for axis in range(min(2, len(filled))):
        column = vectors[:, axis] * math.sqrt(max(values[axis], 0.0))
        places[:, axis] = column * (-1 if column[np.abs(column).argmax()] < 0 else 1)
    total = np.abs(values).sum()
    return places, float(np.clip(values[:2], 0, None).sum() / total) if total > 1e-12 else 1.0


# ---------------------------------------------------------------- the section


def sections(
    game: Game,
    agents: Mapping[str, AnyAgent],
    records: Sequence[Record],
    *,
    positions: int = POSITIONS,
    draws: int = DRAWS,
    seed: int = 0,
    shown: bool = False,
) -> list[Section]:
    """Return the section on agents that were asked about positions of games; no section on a single agent.

    See `compare` and `draw_positions`.

    Raises:
        ValueError: Games without moves of agents.
    """
    if len(agents) < 2:
        return []
    found = compare(game, agents, draw_positions(game, records, positions, seed), draws=draws, seed=seed, shown=shown)
    places, kept = embed(found.distance)
    order = _ordered(places)
    names = [found.agents[place] for place in order]
    turned = np.ix_(order, order)
    caption = "How differently agents behave: 0 is alike, 100 never the same; grey where more draws are needed."
    draw = partial(matrix, title="Distance of behaviour", rows=names, columns=names, values=found.distance[turned])
    parts = [Plot("behaviour_distance", caption, draw)]
    if len(agents) > 2:
        note = f"distances of behaviour in the plane ({kept:.0%} of the variance)"
        caption = "A map of the agents: the nearer, the more alike they behave (classical scaling)."
        draw = partial(_scatter, title="A map of behaviour", names=names, places=places[order], note=note)
        parts.append(Plot("behaviour_map", caption, draw))
    table = Table("behaviour", _COLUMNS, list(_rows(found)))
    return [Section("Behaviour", (_text(found), table, *parts), to_data(found))]


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
        "order": _ordered(places),
        "map": plain(places),
        "map keeps": _rounded(kept, 6),
    }


_COLUMNS = ("agent", "other", "distance %", "low %", "high %", "chance to choose alike %")


def _ordered(places: Numbers) -> list[int]:
    """Return an order in which agents that behave alike are neighbours: along the first axis of the map."""
    return [int(place) for place in np.argsort(places[:, 0], kind="stable")]


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(value, digits) + 0.0


def _rows(found: Behaviour) -> Iterator[tuple[Cell, ...]]:
    pairs = sorted(
        combinations(range(len(found.agents)), 2), key=lambda pair: -np.nan_to_num(found.distance[pair], nan=-1)
    )
    for pair in pairs:
        numbers = [
            _rounded(100 * float(part[pair]), 1) for part in (found.distance, found.low, found.high, found.agreement)
        ]
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


def _scatter(figure: Figure, title: str, names: Sequence[str], places: npt.NDArray[np.float64], note: str) -> None:
    """Draw named points, [K, 2], in one scale, with a legend; `note` stands below."""
    shown = [shorten(name) for name in names]
    width, height = 5.6 + name_width(shown), max(4.6, 1.1 + 0.22 * len(shown))
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0.7 / width, 0.65 / height, 4.3 / width, (height - 1.25) / height))
    remove_frame(axes)
    axes.axhline(0, color=FAINT, linewidth=0.5)
    axes.axvline(0, color=FAINT, linewidth=0.5)
    for place, (x, y) in enumerate(places):
        lap, colour = divmod(place, len(COLOURS))
        # See-through, so that a point below another one is seen.
        style: dict[str, Any] = {"color": COLOURS[colour], "alpha": 0.75, "markersize": 10, "linestyle": "none"}
        edge: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.6}
        axes.plot(x, y, MARKS[lap % len(MARKS)], label=shown[place], **style, **edge)
    axes.set_aspect("equal", "datalim")
    axes.margins(0.15)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(note, fontsize=9, color=INK)
    axes.legend(
        fontsize=8.5, frameon=False, loc="center left", bbox_to_anchor=(1.03, 0.5), labelcolor=INK, markerscale=0.8
    )
    draw_title(figure, title)
