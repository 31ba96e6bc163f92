"""The result of a league and its report: payoffs, meta-strategy, exploitability and diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cellgames.agents.loading import load
from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.payoffs import Payoffs
from cellgames.envs.core import Game
from cellgames.envs.registry import board_title
from cellgames.lab.populations.behaviour import compare
from cellgames.lab.populations.queries import draw_positions
from cellgames.utils.report.model import Cell, Plot, Report, Section, Table, escape, percent, rounded
from cellgames.utils.report.plots import COLOURS, FAINT, INK, escape_math, heat_map, prepare, shorten

from .league_plan import GLOBAL, PSRO, Planned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = (
    *("report.md", "result.json", "members.csv", "payoffs.csv", "rounds.csv", "strategy.csv"),
    *(f"{plot}.{kind}" for plot in ("payoffs", "strategy", "exploitability") for kind in ("png", "svg")),
)

_POSITIONS, _DRAWS = 200, 8
_MOST_LINES = 8  # members of the plot of the meta-strategy, those with the largest weights


@dataclass(frozen=True)
class RoundResult:
    """The league after a round.

    Attributes:
        number: number of the round, from 1.
        members: number of members.
        steps: actions that all members have learned from.
        weights: the meta-strategy, by member.
        exploiter: the new member whose score estimates the exploitability; "" for none.
        response: that score against what it was trained against, with the bounds of its 95 % interval; None for none.
        exact: exploitability of the mixture, where the game is solved; else None.
        dimension: effective dimension of the payoffs.
        effective_members: exponential of the entropy of the meta-strategy.
    """

    number: int
    members: int
    steps: int
    weights: Mapping[str, float]
    exploiter: str
    response: tuple[float, float, float] | None
    exact: float | None
    dimension: float
    effective_members: float


@dataclass(frozen=True)
class League:
    """A finished league.

    Attributes:
        out: folder; `league:FOLDER` is the mixture as an agent.
        game: the rules.
        method: `psro`, `global` or `league`.
        solver: name of the meta-solver.
        first: the agent that the first round met.
        steps: steps of each member's training.
        plans: members in the order in which they were trained.
        table: payoffs of all pairs.
        strategy: the meta-strategy: each member's weight, or its share of the seats.
        rounds: measurements after each round.
        behaviour: mean distance of the policies of two members, by their names; see `behaviour_distances`.
        games: number of games between members.
    """

    out: Path
    game: Game
    method: str
    solver: str
    first: str
    steps: int
    plans: Sequence[Planned]
    table: Payoffs
    strategy: Mapping[str, float]
    rounds: Sequence[RoundResult]
    behaviour: Mapping[tuple[str, str], float]
    games: int

    @property
    def diversity(self) -> float:
        """Return the mean behaviour distance of two members that the meta-strategy draws, from 0 to 1."""
        return 2 * sum(
            self.strategy[one] * self.strategy[other] * distance
            for (one, other), distance in self.behaviour.items()
            if distance == distance
        )


def behaviour_distances(
    game: Game, specs: Mapping[str, str], records: Sequence[Record], seed: int
) -> dict[tuple[str, str], float]:
    """Return the distance of the policies of every two agents: total variation, averaged over positions of games."""
    names = list(specs)
    agents = {name: load(spec, game, name=name) for name, spec in specs.items()}
    positions = draw_positions(game, records, _POSITIONS, seed)
    found = compare(game, agents, positions, draws=_DRAWS, seed=seed)
    return {
        (one, other): float(found.distance[names.index(one), names.index(other)])
        for one, other in combinations(names, 2)
    }


# ---------------------------------------------------------------- report


def league_report(found: League, asked: Mapping[str, Any]) -> Report:
    """Return the report; `asked` is the content of the file of settings."""
    last, names = found.rounds[-1], list(found.strategy)
    best = sorted(found.strategy.items(), key=lambda pair: -pair[1])
    playing = ", ".join(f"{escape(name)} {percent(weight)} %" for name, weight in best[:6] if weight >= 0.005)
    how = {PSRO: "policy-space response oracles", GLOBAL: "Global PSRO"}.get(found.method, "main agents and exploiters")
    summary = (
        f"{len(found.plans)} members by {how}, {found.steps:,} steps each, {last.steps:,} in all, and "
        f"{escape(found.first)}. The meta-strategy by `{found.solver}` plays {playing}."
    )
    behaviour = (
        f"The payoffs have an effective dimension of {last.dimension:.2f} (2 where strength is one number). The "
        f"meta-strategy is as mixed as {last.effective_members:.2f} equally likely members. Two members that it draws "
        f"choose differently in {percent(found.diversity)} % of positions (total variation)."
    )
    return Report(
        f"League in {found.game.info.title}",
        [
            summary,
            f"`league:FOLDER`, with this folder, is the mixture as an agent.{_meaning(found)}",
            Section(
                "Exploitability", [_exploitability_text(found), *_exploitability_plot(found), _rounds_table(found)]
            ),
            Section(
                "Meta-strategy",
                [Plot("strategy", "", partial(_draw_strategy, found), "weights over rounds"), _strategy_table(found)],
            ),
            Section(
                "Payoffs",
                [
                    "The row's score against the column. `payoffs.csv` has 95 % intervals and the numbers of games.",
                    Plot("payoffs", "", partial(_draw_payoffs, found), "who beats whom"),
                ],
            ),
            Section("Diversity", [behaviour]),
            Section("Members", [_members_table(found)]),
        ],
        subject=board_title(found.game),
        data={
            "method": found.method,
            "meta_solver": found.solver,
            "steps": last.steps,
            "strategy": {name: rounded(found.strategy[name]) for name in names},
            "exploitability": last.exact,
            "exploiter": last.exploiter,
            "response": None if last.response is None else [rounded(value) for value in last.response],
            "effective_dimension": rounded(last.dimension),
            "effective_members": rounded(last.effective_members),
            "behaviour_distance": rounded(found.diversity),
            "seed": asked["arguments"]["seed"],
        },
        data_file="result.json",
        more_tables=[_payoffs_table(found)],
    )


def _meaning(found: League) -> str:
    if found.solver == "cce":
        return " It draws a whole table for each game, and plays the seats that are its own."
    return " It draws a member for each game, who plays it to its end."


def _exploitability_text(found: League) -> str:
    last = found.rounds[-1]
    parts = []
    if last.exact is not None:
        parts.append(
            f"The exact exploitability of the mixture is **{100 * last.exact:.2f}** points of 100: so far above "
            "50 % is the mean score, over both seats, of a best response that knows the members and their weights, but "
            "not which one was drawn."
        )
    if last.response is not None:
        score, low, high = last.response
        parts.append(
            f"The last exploiter, {escape(last.exploiter)}, scores {percent(score)} % (95 %: {percent(low)} to "
            f"{percent(high)}) against what it was trained against, after {found.steps:,} steps. It is a lower bound: "
            "a better exploiter may exist."
        )
    return " ".join(parts) or "No exploiter has been trained yet; `cellgames exploit league:FOLDER` trains one."


def _rounds_table(found: League) -> Table:
    columns = (
        *("round", "members", "steps", "exploiter", "score", "low", "high"),
        *("exact exploitability", "effective dimension", "effective members"),
    )
    rows: list[tuple[Cell, ...]] = []
    for row in found.rounds:
        response = (None,) * 3 if row.response is None else tuple(rounded(value) for value in row.response)
        rest = (row.exact, rounded(row.dimension), rounded(row.effective_members))
        rows.append((row.number, row.members, row.steps, row.exploiter, *response, *rest))
    return Table("rounds", columns, rows, text=("exploiter",))


def _strategy_table(found: League) -> Table:
    rows = [
        (row.number, name, rounded(weight)) for row in found.rounds for name, weight in row.weights.items() if weight
    ]
    last = [row for row in rows if row[0] == found.rounds[-1].number]
    rows = [*last, *(row for row in rows if row[0] != found.rounds[-1].number)]
    return Table("strategy", ("round", "member", "weight"), rows, text=("member",), shown=len(last))


def _payoffs_table(found: League) -> Table:
    table = found.table
    rows = [
        (
            *(one, other),
            *(rounded(float(values[i, j])) for values in (table.score, table.low, table.high)),
            int(table.games[i, j]),
        )
        for i, one in enumerate(table.agents)
        for j, other in enumerate(table.agents)
        if i != j
    ]
    return Table("payoffs", ("member", "against", "score", "low", "high", "games"), rows)


def _members_table(found: League) -> Table:
    rows = []
    for planned in found.plans:
        mix = ", ".join(f"{name} {percent(share)} %" for name, share in planned.mix.items())
        rows.append((planned.name, planned.role, planned.after, mix, rounded(found.strategy[planned.name])))
    return Table("members", ("member", "role", "starts from", "trained against", "weight"), rows, shown=100)


# ---------------------------------------------------------------- plots


def _draw_payoffs(found: League, figure: Figure) -> None:
    names = list(found.strategy)
    places = [found.table.agents.index(name) for name in names]
    scores: NDArray[np.float64] = found.table.score[np.ix_(places, places)]
    games = found.table.games[np.ix_(places, places)].tolist()
    below = [[str(count) if count else "" for count in row] for row in games]
    heat_map(figure, names, scores.tolist(), below, "Score of the row against the column", "games below")


def _draw_strategy(found: League, figure: Figure) -> None:
    """Draw the weights of members over rounds as stacked areas, those with little weight together."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    prepare(figure, "Weights of the members by round", 7.6, 4.2)
    axes = figure.add_subplot()
    most = {name: max(row.weights.get(name, 0.0) for row in found.rounds) for name in found.strategy}
    shown = sorted(most, key=lambda name: -most[name])[: _MOST_LINES - 1]
    shown = [name for name in found.strategy if name in shown and most[name] > 0]
    bottom = np.zeros(len(found.rounds))
    numbers = [row.number for row in found.rounds]
    for place, name in enumerate(shown):
        values = np.array([row.weights.get(name, 0.0) for row in found.rounds])
        axes.bar(numbers, values, bottom=bottom, color=COLOURS[place], width=0.75, label=shorten(name, 26))
        bottom += values
    if (bottom < 1 - 1e-6).any():
        axes.bar(numbers, 1 - bottom, bottom=bottom, color=FAINT, width=0.75, label="others")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("round", fontsize=9, color=INK)
    axes.set_ylabel(escape_math(f"weight by {found.solver}"), fontsize=9, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5, loc="center left", bbox_to_anchor=(1.01, 0.5))


def _exploitability_plot(found: League) -> list[Plot]:
    if not any(row.exact is not None or row.response is not None for row in found.rounds):
        return []
    return [Plot("exploitability", "", partial(_draw_exploitability, found), "exploitability over steps")]


def _draw_exploitability(found: League, figure: Figure) -> None:
    """Draw the score of best responses over the steps of the league: the exact one, and that of its own exploiters."""
    from matplotlib.ticker import EngFormatter, PercentFormatter

    prepare(figure, "What a best response scores", 7.6, 4.2)
    axes = figure.add_subplot()
    exact = [(row.steps, 0.5 + row.exact) for row in found.rounds if row.exact is not None]
    if exact:
        x, y = zip(*exact, strict=True)
        axes.plot(x, y, color=COLOURS[1], linewidth=1.8, marker="s", markersize=4, label="exact best response")
    tried = [(row.steps, *row.response) for row in found.rounds if row.response is not None]
    if tried:
        x, y, low, high = zip(*tried, strict=True)
        axes.fill_between(x, low, high, color=COLOURS[0], alpha=0.16, linewidth=0)
        axes.plot(x, y, color=COLOURS[0], linewidth=1.8, marker="o", markersize=3, label="the league's exploiter")
    axes.axhline(0.5, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions that all members have learned from", fontsize=9, color=INK)
    axes.set_ylabel("score of a best response", fontsize=9, color=INK)
    axes.grid(color=FAINT, linewidth=0.6, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
