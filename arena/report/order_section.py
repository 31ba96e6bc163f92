"""The certainty of an order as a section of a report, and as a table for programs."""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.arena.stats.order import Adjacency
from cellgames.utils.report.columns import Column, csv_table, people_table
from cellgames.utils.report.model import Section, Table
from cellgames.utils.report.text import escape

__all__ = ["order_csv", "order_section", "order_table", "order_text"]


_COLUMNS: tuple[Column[Adjacency], ...] = (
    Column("better", lambda pair: pair.better, "agent"),
    Column("worse", lambda pair: pair.worse, "ahead of"),
    Column("elo_apart", lambda pair: pair.elo, "Elo apart", ".0f", ".1f"),
    Column("games", lambda pair: pair.games, "games"),
    Column("z", lambda pair: pair.z, "z", ".1f"),
    Column("z_needed", lambda pair: pair.needed, "needed", ".1f"),
    Column("certain", lambda pair: int(pair.certain)),
    Column("", lambda pair: "certain" if pair.certain else "undecided", "order"),
)


def order_table(order: Sequence[Adjacency]) -> Table:
    """Return a row for every two neighbours in the ranking."""
    return people_table(_COLUMNS, order)


def order_text(order: Sequence[Adjacency], games: int) -> str:
    """Return sentences that say between which agents the order is not certain after this number of games."""
    undecided = [f"{pair.better} and {pair.worse}" for pair in order if not pair.certain]
    if not undecided:
        return f"The order of all neighbours in the ranking is certain at 95 % after {games} games."
    return (
        f"After {games} games the order is undecided between {'; '.join(undecided)}. A larger budget may decide it, if "
        "they differ."
    )


def order_section(order: Sequence[Adjacency], games: int) -> Section:
    """Return the same for a page."""
    return Section(
        "Is the order certain?",
        (
            escape(order_text(order, games)),
            order_table(order),
            "`z` is the lead in standard errors, `needed` what it must be to be certain however often one looks; "
            "`games` are those of the two, and games with others count, too.",
        ),
    )


def order_csv(order: Sequence[Adjacency]) -> Table:
    """Return the content of order.csv."""
    return csv_table("order", _COLUMNS, order)
