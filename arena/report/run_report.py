"""The report of a round robin or of free-for-all games: ratings, cross table, payoffs and seats.

The files hold nothing but what follows from the games, so that equal games give equal bytes: no dates, no durations,
fixed order, rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.tables import Standing, Tables
from cellgames.envs.titles import setting_title
from cellgames.utils.report.columns import Column, csv_table, people_table
from cellgames.utils.report.model import Part, Plot, Report, Section, Table
from cellgames.utils.report.text import escape

from .payoff_sections import payoff_data, payoff_section
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
    columns = rating_columns(tables, side_columns(tables))
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
        told_order = (escape(order_text(order, tables.games)), order_table(order), _COLUMNS_OF_ORDER)
        parts.append(Section("Is the order certain?", told_order))
        files.append(csv_table("order", _ORDER, order))
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
        Section(cross, (AHEAD if by_score else SCORES, cross_table(tables), plot)),
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
    return people_table(rating_columns(tables, side_columns(tables)), tables.standings)


def cross_table(tables: Tables) -> Table:
    """Return the score of each agent against each other in percent, with the three counts."""
    return people_table(cross_columns(tables), tables.agents)


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


_ORDER: tuple[Column[Adjacency], ...] = (
    Column("better", lambda pair: pair.better, "agent"),
    Column("worse", lambda pair: pair.worse, "ahead of"),
    Column("elo_apart", lambda pair: pair.elo, "Elo apart", ".0f", ".1f"),
    Column("games", lambda pair: pair.games, "games"),
    Column("z", lambda pair: pair.z, "z", ".1f"),
    Column("z_needed", lambda pair: pair.needed, "needed", ".1f"),
    Column("certain", lambda pair: int(pair.certain)),
    Column("", lambda pair: "certain" if pair.certain else "undecided", "order"),
)


_COLUMNS_OF_ORDER = (
    "`z` is the lead in standard errors, `needed` what it must be to be certain however often one looks; `games` are "
    "those of the two, and games with others count, too."
)


def order_table(order: Sequence[Adjacency]) -> Table:
    """Return a row for every two neighbours in the ranking."""
    return people_table(_ORDER, order)


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
