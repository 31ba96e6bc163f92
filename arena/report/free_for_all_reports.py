"""Tables of free-for-all games as files: CSV, Markdown, JSON and, where matplotlib is installed, PNG.

As in `reports`, the files hold nothing but what follows from the games.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.stats.free_for_all_tables import Finish, FreeForAllTables
from cellgames.utils.run_folders import PathLike

from .payoff_sections import payoff_data, payoff_images, payoff_parts
from .report_parts import (
    THE_GAMES,
    Rows,
    cross_rows,
    csv_text,
    elo_csv,
    elo_texts,
    escape,
    forfeited,
    markdown_table,
    matrix_csv,
    percent,
    plain_table,
    ratings_data,
    repeated,
    rounded,
    scale,
    settings_text,
    standing_data,
    swept,
    unlinked,
    write_files,
)

__all__ = ["AHEAD", "FILES", "cross_text", "notes", "ratings_text", "seats_text", "write_reports"]

FILES = (
    "ratings.json",
    "ratings.csv",
    "cross_table.csv",
    "seats.csv",
    "report.md",
    "ratings.png",
    "cross_table.png",
    "cycles.png",
)
"""What `write_reports` may write; `cycles.png` where agents beat each other in a ring."""

AHEAD = "How often the row finished ahead of the column in %, a tie half, with ahead-level-behind."
"""What the cross table shows."""


# ---------------------------------------------------------------- rows


def _ratings_rows(tables: FreeForAllTables) -> Rows:
    """A header and one line an agent, for people."""
    level = f"{100 * tables.ratings.level:.0f} % interval"
    header = ("rank", "agent", "Elo", level, "seats", "mean place", "first %", "alone first %", "mean score")
    rows: list[Sequence[object]] = [(*header, "forfeits") if tables.forfeits else header]
    for line in tables.standings:
        finishes = tables.finishes[line.agent]
        numbers = (finishes.seats, _mean(finishes.place), *_firsts(finishes), _mean(finishes.score))
        failed = (_forfeits(tables, line.agent),) if tables.forfeits else ()
        rows.append((line.rank, line.agent, *elo_texts(line), *numbers, *failed))
    return rows


def _forfeits(tables: FreeForAllTables, agent: str) -> int:
    return tables.forfeits[agent].games if agent in tables.forfeits else 0


def _mean(value: float) -> str:
    """With two decimals; "" for NaN."""
    return "" if math.isnan(value) else f"{value:.2f}"


def _firsts(finish: Finish) -> tuple[str, str]:
    if not finish.seats:
        return "", ""
    return percent(finish.first / finish.seats), percent(finish.alone / finish.seats)


def _seat_rows(tables: FreeForAllTables, players: Sequence[str]) -> Rows:
    """A header and one line a seat: how all fared there, and each agent's mean place."""
    header = ("seat", "mean place", "first %", "alone first %", "mean score", *(f"{a}: place" for a in tables.agents))
    rows: list[Sequence[object]] = [header]
    for seat, (player, everyone) in enumerate(zip(players, tables.seats, strict=True)):
        sat = (tables.agent_seats.get((agent, seat)) for agent in tables.agents)
        places = ("" if finish is None else _mean(finish.place) for finish in sat)
        rows.append((player, _mean(everyone.place), *_firsts(everyone), _mean(everyone.score), *places))
    return rows


def notes(tables: FreeForAllTables) -> list[str]:
    """What a reader of the tables must know, one sentence a line."""
    seats = len(tables.seats)
    said = [
        f"{scale(tables.ratings)} The intervals come from resampling games, since the places of a game depend on each "
        "other.",
        f"Places are those of the final scores; equal scores share the mean of their places. The mean over all seats "
        f"is {(seats + 1) / 2:g}.",
    ]
    if len(tables.agents) < seats:
        said.append("Agents have several seats in a game; how their own seats finish against each other is not rated.")
    said += swept(
        tables.standings, "finished ahead of all others in every game", "finished behind all others in every game"
    )
    said += unlinked(tables.ratings)
    return [*said, *forfeited(tables.forfeits, several=seats > 2), *repeated(tables.distinct, tables.games)]


# ---------------------------------------------------------------- text


def ratings_text(tables: FreeForAllTables) -> str:
    """The ratings for a terminal."""
    return plain_table(_ratings_rows(tables))


def cross_text(tables: FreeForAllTables) -> str:
    """The cross table for a terminal."""
    return plain_table(cross_rows(tables.agents, tables.cross))


def seats_text(tables: FreeForAllTables, players: Sequence[str]) -> str:
    """The seat table for a terminal."""
    return plain_table(_seat_rows(tables, players))


def _markdown(tables: FreeForAllTables, run: Mapping[str, Any], players: Sequence[str], *, plots: bool) -> str:
    """All tables as one page; `plots` links the PNG files beside it."""
    plies = run["opening_plies"]
    openings = f", each after a random opening of {plies} plies" if plies else ""
    parts = [
        f"# Free-for-all: {run['game']}",
        settings_text(run, f"{run['games']} games of {len(players)} seats{openings}")
        + f" {tables.distinct} of {tables.games} games differ.",
        "## Ratings",
        markdown_table(_ratings_rows(tables)),
        *map(escape, notes(tables)),
        "![Ratings with intervals](ratings.png)" if plots else "",
        "## Who finishes ahead of whom",
        AHEAD,
        markdown_table(cross_rows(tables.agents, tables.cross)),
        "![Who finishes ahead of whom](cross_table.png)" if plots else "",
        *payoff_parts(tables.payoffs, plots),
        "## Seats",
        markdown_table(_seat_rows(tables, players), left=("seat",)),
        *THE_GAMES,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# ---------------------------------------------------------------- data

_FINISH_HEADER = ("seats", "first", "alone_first", "mean_place", "mean_score")


def _finish_row(finish: Finish) -> tuple[object, ...]:
    means = ("" if math.isnan(x) else f"{x:.4f}" for x in (finish.place, finish.score))
    return finish.seats, finish.first, finish.alone, *means


def _finish_data(finish: Finish) -> dict[str, Any]:
    values = (finish.seats, finish.first, finish.alone, rounded(finish.place), rounded(finish.score))
    return dict(zip(_FINISH_HEADER, values, strict=True))


def _ratings_csv(tables: FreeForAllTables) -> Rows:
    lines = (
        (
            *(line.rank, line.agent, *elo_csv(line)),
            *(*_finish_row(tables.finishes[line.agent]), _forfeits(tables, line.agent)),
        )
        for line in tables.standings
    )
    return [("rank", "agent", "elo", "elo_low", "elo_high", *_FINISH_HEADER, "forfeits"), *lines]


def _seats_csv(tables: FreeForAllTables, players: Sequence[str]) -> Rows:
    lines: list[Sequence[object]] = [
        ("all", player, *_finish_row(finish)) for player, finish in zip(players, tables.seats, strict=True)
    ]
    for agent in tables.agents:
        for seat, player in enumerate(players):
            if (finish := tables.agent_seats.get((agent, seat))) is not None:
                lines.append((agent, player, *_finish_row(finish)))
    return [("agent", "seat", *_FINISH_HEADER), *lines]


def _data(tables: FreeForAllTables, run: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """All numbers; `run` is the content of run.json."""
    return {
        "run": dict(run),
        "games": tables.games,
        "distinct": tables.distinct,
        **ratings_data(tables.ratings),
        "agents": [
            {
                **standing_data(line),
                **_finish_data(tables.finishes[line.agent]),
                "forfeits": _forfeits(tables, line.agent),
                "seats_taken": {
                    players[seat]: _finish_data(finish)
                    for (agent, seat), finish in tables.agent_seats.items()
                    if agent == line.agent
                },
            }
            for line in tables.standings
        ],
        "pairs": [
            {"agent": agent, "opponent": opponent, "ahead": t.wins, "level": t.draws, "behind": t.losses}
            for (agent, opponent), t in tables.cross.items()
        ],
        "seats": {player: _finish_data(finish) for player, finish in zip(players, tables.seats, strict=True)},
        "payoffs": payoff_data(tables.payoffs),
        "notes": notes(tables),
    }


# ---------------------------------------------------------------- files


def write_reports(
    folder: PathLike,
    tables: FreeForAllTables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    warn: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write all tables into a folder.

    Args:
        folder: must exist; its files of these names are replaced.
        tables: what to write.
        run: the run's settings, as in its run.json.
        players: names of the seats.
        warn: gets a line that says what is left out where matplotlib is missing.

    Returns:
        The files, in the order of `FILES`.
    """

    def images() -> dict[str, bytes]:
        from . import rating_plots as plots

        cross = plots.cross_png(tables.agents, tables.cross, "Row finishes ahead of column", "ahead-level-behind")
        rated = plots.ratings_png(tables.standings, tables.ratings)
        return {"ratings.png": rated, "cross_table.png": cross, **payoff_images(tables.payoffs)}

    texts = {
        "ratings.json": json.dumps(_data(tables, run, players), indent=2, ensure_ascii=False) + "\n",
        "ratings.csv": csv_text(_ratings_csv(tables)),
        "cross_table.csv": csv_text(matrix_csv(tables.agents, tables.cross)),
        "seats.csv": csv_text(_seats_csv(tables, players)),
    }
    return write_files(
        Path(folder), FILES, texts, lambda drawn: _markdown(tables, run, players, plots=drawn), images, warn
    )
