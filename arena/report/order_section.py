"""The certainty of an order as a section of a report, and as a table for programs."""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.arena.stats.order import Adjacency
from cellgames.utils.report.model import Section, Table
from cellgames.utils.report.text import escape

__all__ = ["order_csv", "order_section", "order_table", "order_text"]


def order_table(order: Sequence[Adjacency]) -> Table:
    """Return a row for every two neighbours in the ranking."""
    rows = [
        (
            *(pair.better, pair.worse, f"{pair.elo:.0f}", pair.games, f"{pair.z:.1f}", f"{pair.needed:.1f}"),
            "certain" if pair.certain else "undecided",
        )
        for pair in order
    ]
    columns = ("agent", "ahead of", "Elo apart", "games", "z", "needed", "order")
    return Table("", columns, rows, text=("agent", "ahead of", "order"))


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
    rows = [
        (
            *(pair.better, pair.worse, f"{pair.elo:.1f}", pair.games, f"{pair.z:.4f}", f"{pair.needed:.4f}"),
            int(pair.certain),
        )
        for pair in order
    ]
    return Table("order", ("better", "worse", "elo_apart", "games", "z", "z_needed", "certain"), rows)
