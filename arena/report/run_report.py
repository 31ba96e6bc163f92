"""The report of a round robin or of free-for-all games: ratings, cross table, payoffs and seats.

The files hold nothing but what follows from the games, so that equal games give equal bytes: no dates, no durations,
fixed order, rounded numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.tables import Tables
from cellgames.envs.registry import setting_title
from cellgames.utils.report.model import Column, Report, Section, csv_table, escape, people_table

from .rating_tables import failure_headline, notes, payoff_data, rated_report, rating_columns, tables_data

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
    title = f"{'Free-for-all' if 'games' in run else 'Round robin'}: {run['game']}"
    settings = f"{_settings(run, len(players))} {tables.distinct} of {tables.games} games differ."
    lead, told = [escape(failure_headline(tables.forfeits)), settings], notes(tables)
    columns, subject = rating_columns(tables), setting_title(run["game"], run["parameters"])
    report = rated_report(
        title, lead, tables, players, columns, [*told, *costs], simultaneous=simultaneous, subject=subject
    )
    games = (
        "`games.jsonl` holds every game. `cellgames replay games.jsonl` plays them again and compares the results; "
        "`cellgames replay games.jsonl --record 1 --show` shows one."
    )
    parts, files = [*report.parts, Section("The games", (games,))], [*report.more_tables]
    if order is not None:
        told_order = (escape(order_text(order, tables.games)), people_table(ORDER, order), _COLUMNS_OF_ORDER)
        parts.append(Section("Is the order certain?", told_order))
        files.append(csv_table("order", ORDER, order))
    numbers = {**tables_data(tables, players, columns), "payoffs": payoff_data(tables.payoffs), "notes": told}
    data = {"run": dict(run), **numbers}
    return replace(report, parts=parts, data=data, more_tables=files, data_file="ratings.json")


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
