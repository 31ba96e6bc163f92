"""The report of a round robin or of free-for-all games: ratings, cross table, payoffs and seats.

The files hold nothing but what follows from the games, so that equal games give equal bytes: no dates, no durations,
fixed order, rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.payoffs import Cycle, NashAverage, Payoffs
from cellgames.arena.stats.tables import Standing, Tables
from cellgames.envs.titles import setting_title
from cellgames.utils.report.model import (
    Column,
    Part,
    Plot,
    Report,
    Section,
    Table,
    csv_table,
    escape,
    people_table,
    rounded,
    row_data,
)

from .rating_tables import (
    AHEAD,
    SCORES,
    cross_columns,
    draw_cross_table,
    failure_headline,
    notes,
    pair_columns,
    pairs_met,
    rating_columns,
    ratings_plot,
    seat_table,
    seats_line,
    side_columns,
    tables_data,
)

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
        found = {"nash": [row_data(columns, k) for k in range(len(average.agents))], "left_out": list(average.left_out)}
    return {**found, "cycles": cycles_data(payoffs.rings)}


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


REPORT_FILES = (
    *("ratings.json", "ratings.csv", "cross_table.csv", "pairs.csv", "seats.csv", "order.csv", "report.md"),
    *("ratings.png", "ratings.svg", "cross_table.png", "cross_table.svg"),
)
"""Files that the report of a run may have."""
FORMER_FILES = ("deviation_ratings.csv", "cycles.png")
"""Files of reports of earlier versions."""


def run_report(
    tables: Tables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    simultaneous: bool = False,
    order: Sequence[Adjacency] | None = None,
    costs: Sequence[str] = (),
) -> Report:
    """Return the report of a run.

    Args:
        tables: What follows from the games.
        run: The settings of the run, as in its run.json.
        players: Names of the seats.
        simultaneous: Whether all players act at once, as `GameInfo` says.
        order: Of a run until the order is certain, how certain it is, from the top; None for other runs.
        costs: Sentences on what language models took.
    """
    columns = rating_columns(tables)
    told = map(escape, [*notes(tables), *costs])
    games = (
        "`games.jsonl` holds every game. `cellgames replay games.jsonl` plays them again and compares the results; "
        "`cellgames replay games.jsonl --record 1 --show` shows one."
    )
    parts: list[Part] = [
        *filter(None, [escape(failure_headline(tables.forfeits))]),
        f"{_settings(run, len(players))} {tables.distinct} of {tables.games} games differ.",
        *sections(tables, players, columns, told, simultaneous=simultaneous),
        Section("The games", (games,)),
    ]
    files = tables_of(tables, players, columns)
    if order is not None:
        told_order = (escape(order_text(order, tables.games)), people_table(ORDER, order), _COLUMNS_OF_ORDER)
        parts.append(Section("Is the order certain?", told_order))
        files.append(csv_table("order", ORDER, order))
    data = {
        "run": dict(run),
        **tables_data(tables, players, columns),
        "payoffs": payoff_data(tables.payoffs),
        "notes": notes(tables),
    }
    return Report(
        f"{'Free-for-all' if 'games' in run else 'Round robin'}: {run['game']}",
        parts,
        data,
        more_tables=files,
        data_file="ratings.json",
        subject=setting_title(run["game"], run["parameters"]),
    )


def sections(
    tables: Tables,
    players: Sequence[str],
    columns: Sequence[Column[Standing]],
    notes: Iterable[str],
    *,
    simultaneous: bool = False,
) -> list[Section]:
    """Return the sections on ratings, with these columns and notes, on pairs, payoffs and seats."""
    by_score = tables.by_score
    cross = "Who finishes ahead of whom" if by_score else "Cross table"
    line = "" if by_score else escape(seats_line(tables, players, simultaneous=simultaneous))
    plot = Plot("cross_table", "", partial(draw_cross_table, tables=tables), cross)
    payoffs = [payoff_section(tables.payoffs)] if len(tables.payoffs.agents) > 2 else []
    return [
        Section("Ratings", (people_table(columns, tables.standings), *notes, ratings_plot(tables))),
        Section(cross, (AHEAD if by_score else SCORES, people_table(cross_columns(tables), tables.agents), plot)),
        *payoffs,
        Section("Seats", (line, seat_table(tables, players))),
    ]


def tables_of(tables: Tables, players: Sequence[str], columns: Sequence[Column[Standing]]) -> list[Table]:
    """Return the contents of the CSV files; ratings have these columns."""
    return [
        csv_table("ratings", columns, tables.standings),
        csv_table("cross_table", cross_columns(tables), tables.agents),
        *([] if tables.by_score else [csv_table("pairs", pair_columns(), pairs_met(tables))]),
        _seats_csv(tables, players),
    ]


def ratings_table(tables: Tables) -> Table:
    """Return the ratings for people: with wins and losses, or with finishing places."""
    return people_table(rating_columns(tables), tables.standings)


def _settings(run: Mapping[str, Any], seats: int) -> str:
    """Return the settings of a run as a sentence."""
    plies, parameters = run["opening_plies"], ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    if "games" in run:
        openings = f", each after a random opening of {plies} plies" if plies else ""
        played = f"{run['games']} games of {seats} seats{openings}"
    else:
        games = run["games_per_pair"]
        openings = f"random openings of {plies} plies, each played in both seats"
        played = f"{games} games a pair from {games // 2} {openings}"
        if run.get("until_certain"):
            ended = f"until the order was certain or {run['budget']} were played"
            played = f"{games} games a pair at first, then more {ended}, from {openings}"
    return f"{parameters + '; ' if parameters else ''}{played}; seed {run['seed']}; cellgames {run['version']}."


# ---------------------------------------------------------------- the order


ORDER: tuple[Column[Adjacency], ...] = (
    Column("better", lambda pair: pair.better, "agent"),
    Column("worse", lambda pair: pair.worse, "ahead of"),
    Column("elo_apart", lambda pair: pair.elo, "Elo apart", ".0f", ".1f"),
    Column("games", lambda pair: pair.games, "games"),
    Column("z", lambda pair: pair.z, "z", ".1f"),
    Column("z_needed", lambda pair: pair.needed, "needed", ".1f"),
    Column("certain", lambda pair: int(pair.certain)),
    Column("", lambda pair: "certain" if pair.certain else "undecided", "order"),
)
"""Columns of every two neighbours in the ranking."""


_COLUMNS_OF_ORDER = (
    "`z` is the lead in standard errors, `needed` what it must be to be certain however often one looks; `games` are "
    "those of the two, and games with others count, too."
)


def order_text(order: Sequence[Adjacency], games: int) -> str:
    """Return sentences that say between which agents the order is not certain after this number of games."""
    undecided = [f"{pair.better} and {pair.worse}" for pair in order if not pair.certain]
    if not undecided:
        return f"The order of all neighbours in the ranking is certain at 95 % after {games} games."
    return (
        f"After {games} games the order is undecided between {'; '.join(undecided)}. A larger budget may decide it, if "
        "they differ."
    )


# ---------------------------------------------------------------- for programs


def _seats_csv(tables: Tables, players: Sequence[str]) -> Table:
    rows = [("all", player, tally) for player, tally in zip(players, tables.seats, strict=True)]
    rows += [
        (agent, player, tables.agent_seats[agent, seat])
        for agent in tables.agents
        for seat, player in enumerate(players)
        if (agent, seat) in tables.agent_seats
    ]
    agent, seat, *counts = pair_columns(side_columns(tables))
    return csv_table("seats", [agent, seat.but(name="seat"), *counts], rows)
