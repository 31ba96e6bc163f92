"""The sections of a report on Grid Adaptation: who profits from whom, and what players spend.

Every tile on the board gives every player the digits that it shares with the player's sequence: 3 less the Hamming
distance (`envs/grid_adaptation/rules.py`). So points flow from tiles of one sequence to players of another, and who
has a similar sequence gains by one's tiles too.

Letters: `G` games, `R` rounds, `P` seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.analyse.reader import without_forfeits
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation import rules
from cellgames.runs.seeds import derive
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import COLOURS, INK, Curve, Scale, remove_frame
from cellgames.utils.report.plots import matrix as draw_matrix
from cellgames.utils.statistics import bootstrap_weights, percentile_interval

from .grid_rounds import Flows, Spending, read
from .life_stats import curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Alliance", "Flows", "Spending", "alliances", "by_distance", "flows", "read", "round_alliances", "sections"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

_SEQUENCES = [f"{sequence:03b}" for sequence in range(8)]
_DISTANCE = np.array([[(a ^ b).bit_count() for b in range(8)] for a in range(8)])
_DRAWS = 2000  # of the bootstrap
_FEW = 20  # games; fewer make no interval


# ---------------------------------------------------------------- points


def flows(read: Flows) -> Floats:
    """Return points a round that a player of the column's sequence has from tiles of the row's, float64 [8, 8].

    NaN where nobody ever had the sequence.
    """
    worth = np.stack([rules.bits_matched(1, [int(tile & value > 0) for value in rules.DIGITS]) for tile in range(8)])
    held = np.stack([(read.sequence == sequence).sum(2) for sequence in range(8)], 2)  # [G, R, 8] players
    total = np.einsum("grt,grs->ts", read.tiles, held) * worth
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(held.sum((0, 1)) > 0, total / held.sum((0, 1)), np.nan))


def by_distance(read: Flows) -> Ints:
    """Return the points of each player from tiles at Hamming distance 0 to 3 from its own sequence, int64 [G, P, 4]."""
    distance = _DISTANCE[read.sequence]  # [G, R, P, 8]
    counts = np.stack([(read.tiles[:, :, None] * (distance == far)).sum((1, 3)) for far in range(4)], -1)
    return np.asarray(counts * (3 - np.arange(4)))


@dataclass(frozen=True)
class Alliance:
    """The correlation of the points of two players whose sequences are this far apart.

    Attributes:
        distance: Hamming distance of the sequences.
        pairs: Pairs of seats, in all games or in all rounds.
        correlation: Correlation of their points, each less the mean of the game or the round.
        low: Lower end of the 95 % interval by bootstrap over games; NaN for few games.
        high: Its upper end.
        chance: Correlation by arithmetic alone, from the sequences held: if the numbers of tiles are independent of
            each other and vary alike in all eight sequences.
    """

    distance: int
    pairs: int
    correlation: float
    low: float
    high: float
    chance: float


def alliances(read: Flows, agents: Sequence[Sequence[str]], seed: int = 0) -> list[Alliance]:
    """Return correlations of final scores by the distance of the sequences that were dealt, which nobody has chosen.

    Scores are less the mean of their agent, too. Flips move sequences apart and together later in the game.

    Args:
        read: The games.
        agents: Names by seat of each game.
        seed: Seed of the bootstrap.
    """
    scores = read.scores.astype(float)
    less = scores - scores.mean(1, keepdims=True)
    names = np.array(agents)
    for name in sorted(set(names.ravel().tolist())):
        less[names == name] -= less[names == name].mean()
    return _together(less[:, None], read.dealt[:, None], seed)


def round_alliances(read: Flows, seed: int = 0) -> list[Alliance]:
    """Return correlations of the points of a round by the distance of the sequences that players hold then."""
    points = read.points.astype(float)
    return _together(points - points.mean(2, keepdims=True), read.sequence, seed)


def _together(less: Floats, sequence: Ints, seed: int) -> list[Alliance]:
    """Return the correlations by distance, of values and sequences [G, R, P]."""
    distance = _DISTANCE[sequence[..., :, None], sequence[..., None, :]]
    upper = np.triu(np.ones(distance.shape[-2:], dtype=bool), 1)
    product = less[..., :, None] * less[..., None, :]
    squares = (less[..., :, None] ** 2 + less[..., None, :] ** 2) / 2
    generator = np.random.default_rng(derive("alliances", seed))
    games = len(less)
    weights = bootstrap_weights(generator, games, _DRAWS) if games >= _FEW else None
    alike, sizes = _by_arithmetic(sequence)
    found = []
    for far in range(4):
        chosen = (distance == far) & upper
        above, under = ((values * chosen).sum((1, 2, 3)) for values in (product, squares))
        if not under.sum():
            continue
        low = high = float("nan")
        if weights is not None:
            below = weights @ under
            low, high = map(float, percentile_interval((weights @ above)[below > 0] / below[below > 0]))
        size = float((sizes * chosen).sum())
        chance = float((alike * chosen).sum()) / size if size else float("nan")
        found.append(Alliance(far, int(chosen.sum()), float(above.sum() / under.sum()), low, high, chance))
    return found


def _by_arithmetic(sequence: Ints) -> tuple[Floats, Floats]:
    """Return covariances of two players' points and means of their variances, by the tiles alone; [G, R, P, P].

    A tile gives a player 3/2 and half the product of their digits, written as 1 and -1. So points, less the mean of the
    game, vary as the digits less the mean of the players' digits do.
    """
    digits = np.array([[1 - 2 * (number >> place & 1) for place in range(3)] for number in range(8)], dtype=float)
    signs = digits[sequence]
    signs -= signs.mean(2, keepdims=True)
    size = (signs**2).sum(-1)
    return np.einsum("grpk,grqk->grpq", signs, signs), (size[..., :, None] + size[..., None, :]) / 2


# ---------------------------------------------------------------- sections


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the sections on score flows, alliances, contested spaces and spending of Grid Adaptation.

    Args:
        game: Grid Adaptation with its parameters.
        records: Games with these rules; those that ended by a forfeit are left out.

    Raises:
        ReplayError: A record does not reproduce.
    """
    played = without_forfeits(records)
    if not played:
        return []
    found = read(game, played)
    return [_profit(found, played), _spending(found, played)]


def _profit(found: Flows, records: Sequence[Record]) -> Section:
    matrix, distance = flows(found), by_distance(found)
    allied = {
        "game": alliances(found, [record.agents for record in records]),
        "round": round_alliances(found),
    }
    first = found.places == 1
    points = found.scores.sum()
    rows: list[tuple[Cell, ...]] = [
        (
            far,
            round(float(distance[..., far].mean()), 2),
            round(100 * float(distance[..., far].sum() / max(points, 1)), 2),
            round(100 * float(distance[first][:, far].sum() / max(found.scores[first].sum(), 1)), 2),
        )
        for far in range(4)
    ]
    same, near = rows[0][2], rows[1][2]
    text = [
        f"Of all points {same} % come from tiles of one's own sequence, {near} % from tiles that differ in one digit, "
        f"{rows[2][2]} % from those that differ in two. Of the points of those who finish first, {rows[0][3]} % are "
        "from their own sequence.",
        "Two sequences that are near each other earn by the same tiles, so that points go together by arithmetic "
        "alone: so much as tiles that come and go alike in all sequences would make among the sequences held. How the "
        "points of a round go together, by the distance of the sequences held then: "
        + "; ".join(map(_sentence, allied["round"]))
        + ".",
        "How final scores go together, each less the mean of its game and of its agent, by the distance of the "
        "sequences that were dealt (arithmetic as if nobody flipped a digit): "
        + "; ".join(map(_sentence, allied["game"]))
        + ".",
    ]
    tables = (
        Table("flows_distance", ("distance", "points a player", "% of points", "% of points of first places"), rows),
        Table(
            "flows_sequences",
            ("tiles", *_SEQUENCES),
            [(_SEQUENCES[tile], *map(_number, matrix[tile].tolist())) for tile in range(8)],
        ),
        Table(
            "flows_alliances",
            ("points of a", "distance", "pairs", "correlation", "low", "high", "by arithmetic"),
            [
                (of, a.distance, a.pairs, *(_number(value, 4) for value in (a.correlation, a.low, a.high, a.chance)))
                for of, some in allied.items()
                for a in some
            ],
        ),
    )
    plots = (
        Plot(
            "flows_sequences",
            "Points a round that a player with the sequence of the column has from tiles of the row's.",
            partial(_draw_flows, matrix=matrix),
        ),
        Plot(
            "flows_alliances",
            "How points go together by the Hamming distance of two players' sequences (95 % intervals); the marks are "
            "what arithmetic alone makes among the sequences held, or dealt "
            "if nobody flipped a digit.",
            partial(_draw_alliances, allied=allied),
        ),
    )
    data = {
        "points by distance": [row[1] for row in rows],
        "flows": [[_number(value) for value in line] for line in matrix.tolist()],
        "alliances": {
            of: [{name: _number(value, 4) for name, value in vars(alliance).items()} for alliance in some]
            for of, some in allied.items()
        },
    }
    return Section("Who profits from whom", (*text, *tables, *plots), data)


def _number(value: float, digits: int = 2) -> float | int | None:
    """Return the number as tables and JSON hold it; None for NaN."""
    return None if value != value else value if isinstance(value, int) else round(value, digits)


def _sentence(allied: Alliance) -> str:
    parts = [] if allied.low != allied.low else [f"interval {allied.low:+.2f} to {allied.high:+.2f}"]
    parts += [] if allied.chance != allied.chance else [f"by arithmetic {allied.chance:+.2f}"]
    return f"{allied.distance} apart {allied.correlation:+.2f}" + (f" ({', '.join(parts)})" if parts else "")


_RANKS = ("first", "middle", "last")


def _ranks(found: Flows) -> dict[str, npt.NDArray[np.bool_]]:
    """Return masks of players who finish first, last and between, bool [G, P]; if all are level they are first."""
    scores = found.scores
    first = found.places == 1
    last = (scores == scores.min(1, keepdims=True)) & ~first
    return dict(zip(_RANKS, (first, ~first & ~last, last), strict=True))


def _spending(found: Flows, records: Sequence[Record]) -> Section:
    spent = found.spending
    names = np.array([record.agents for record in records])
    groups = {"all": np.ones(names.shape, dtype=bool)}
    groups |= {f"finish {rank}": who for rank, who in _ranks(found).items()}
    groups |= {f"agent {name}": names == name for name in sorted(set(names.ravel().tolist()))}
    columns = Spending.__annotations__
    rows: list[tuple[Cell, ...]] = []
    means: dict[str, Floats] = {}
    for group, who in groups.items():
        if not who.any():
            continue
        values = np.stack([getattr(spent, name).swapaxes(1, 2)[who].mean(0) for name in columns], 1)  # [R, columns]
        means[group] = values
        rows += [(number, group, *line) for number, line in enumerate(np.round(values, 4).tolist(), 1)]
        rows.append(("all", group, *np.round(values.sum(0), 4).tolist()))
    total = {name: int(getattr(spent, name).sum()) for name in columns}
    each = found.scores.size
    text = (
        f"Of {total['named']} spaces named, {total['clashed']} ({100 * total['clashed'] / max(total['named'], 1):.1f} "
        f"%) were contested, so that their tiles were lost. A player played {total['reserves'] / each:.2f} reserve "
        f"tiles a game, bought {total['bought'] / each:.2f} and flipped a digit {total['flips'] / each:.2f} times."
    )
    caption = "What a player does in each round, by where it finishes."
    return Section(
        "Contested spaces, reserves and flips",
        (
            text,
            Table("flows_spending", ("round", "players", *columns), rows),
            Plot("flows_spending", caption, partial(_draw_spending, means=means)),
        ),
        {**total, "players": each},
    )


# ---------------------------------------------------------------- plots


def _draw_flows(figure: Figure, *, matrix: Floats) -> None:
    high = float(np.nanmax(matrix)) or 1.0
    title = "Points a round, from tiles (rows) to players (columns)"
    draw_matrix(figure, title, _SEQUENCES, _SEQUENCES, matrix, Scale(high, factor=1.0, digits=1, unit=""))


def _draw_alliances(figure: Figure, *, allied: dict[str, list[Alliance]]) -> None:
    titles = {"round": "points of a round, by sequences held", "game": "final scores, by sequences dealt"}
    figure.set_size_inches(6.8, 4.6)
    for number, (of, title) in enumerate(titles.items()):
        axes = figure.add_axes((0.16, 0.55 - 0.43 * number, 0.8, 0.29))
        remove_frame(axes)
        axes.axvline(0, color=INK, linewidth=0.8)
        for place, found in enumerate(allied[of]):
            axes.plot([found.low, found.high], [place, place], color=COLOURS[0], linewidth=2.2, alpha=0.55)
            axes.plot(found.correlation, place, "o", color=COLOURS[0], markersize=7)
            axes.plot(found.chance, place, "|", color=COLOURS[1], markersize=15, markeredgewidth=2)
        axes.set_yticks(range(len(allied[of])), [f"{found.distance} apart" for found in allied[of]], fontsize=9)
        axes.set_ylim(len(allied[of]) - 0.5, -0.5)
        axes.set_xlim(-1.08, 1.08)
        axes.grid(axis="x", linewidth=0.5, alpha=0.6)
        axes.set_xlabel(f"correlation of {title}", fontsize=9, color=INK)
    figure.text(
        0.02, 0.93, "Points of two players, by the distance of their sequences", fontsize=12, weight="bold", color=INK
    )


_TITLES = {
    "clashed": "spaces contested",
    "reserves": "reserve tiles played",
    "flips": "digits flipped",
    "bought": "tiles bought",
}


def _draw_spending(figure: Figure, *, means: dict[str, Floats]) -> None:
    columns = list(Spending.__annotations__)
    steps = range(1, len(means["all"]) + 1)
    none = [np.nan] * len(steps)
    chosen = [name for name in (f"finish {rank}" for rank in _RANKS) if name in means]
    parts = [
        (title, [Curve(name, means[name][:, columns.index(column)].tolist(), none, none) for name in chosen])
        for column, title in _TITLES.items()
    ]
    curves(figure, "What players do, by where they finish", list(steps), parts, "round")
