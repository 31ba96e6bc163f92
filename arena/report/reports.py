"""Tables as files: CSV, Markdown, JSON and, where matplotlib is installed, PNG.

The files hold nothing but what follows from the games, so that equal games give equal bytes: no dates, no
durations, fixed order, rounded numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.stats.tables import Tables, Tally
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
    scale,
    settings_text,
    standing_data,
    swept,
    tally_data,
    unlinked,
    w_d_l,
    write_files,
)

__all__ = [
    "FILES",
    "cross_text",
    "escape",
    "markdown",
    "markdown_table",
    "notes",
    "plain_table",
    "ratings_text",
    "seats_line",
    "seats_text",
    "write_reports",
]

FILES = (
    "ratings.json",
    "ratings.csv",
    "cross_table.csv",
    "pairs.csv",
    "seats.csv",
    "report.md",
    "ratings.png",
    "cross_table.png",
    "cycles.png",
)
"""What `write_reports` may write; `cycles.png` where agents beat each other in a ring."""


# ---------------------------------------------------------------- rows


def _ratings_rows(tables: Tables) -> Rows:
    """A header and one line an agent, for people."""
    level = f"{100 * tables.ratings.level:.0f} % interval"
    rows: list[Sequence[object]] = [("rank", "agent", "Elo", level, "games", "W", "D", "L", "score %", "distinct")]
    if tables.forfeits:
        rows[0] = (*rows[0], "forfeits")
    for line in tables.standings:
        t = line.tally
        counts = (t.games, t.wins, t.draws, t.losses)
        failed = (_forfeits(tables, line.agent),) if tables.forfeits else ()
        rows.append((line.rank, line.agent, *elo_texts(line), *counts, percent(t.score), t.distinct, *failed))
    return rows


def _forfeits(tables: Tables, agent: str) -> int:
    return tables.forfeits[agent].games if agent in tables.forfeits else 0


def _seat_rows(tables: Tables, players: Sequence[str]) -> Rows:
    """A header, a line for everyone and one for each agent: the score in % in each seat."""
    rows: list[Sequence[object]] = [
        ("agent", *(text for player in players for text in (f"as {player}, score %", "W-D-L")))
    ]
    groups = [("all", tables.seats)]
    groups += [
        (agent, tuple(tables.agent_seats[agent, seat] for seat in range(len(players)))) for agent in tables.agents
    ]
    for name, tallies in groups:
        rows.append((name, *(text for t in tallies for text in (percent(t.score), w_d_l(t)))))
    return rows


def seats_line(tables: Tables, players: Sequence[str], *, simultaneous: bool = False) -> str:
    """How well the first seat does, as a sentence; where all act at once, nobody begins."""
    seat = tables.seats[0]
    low, high = seat.interval()
    return (
        f"{players[0].capitalize()}{'' if simultaneous else ', who begins,'} scores {percent(seat.score)} % "
        "over all games "
        f"(95 % interval {percent(low)} to {percent(high)})."
    )


def notes(tables: Tables) -> list[str]:
    """What a reader of the ratings must know, one sentence a line."""
    return [
        f"{scale(tables.ratings)} The intervals come from resampling openings, since the two games of an opening are "
        "not independent.",
        *swept(tables.standings, "won every game", "lost every game"),
        *unlinked(tables.ratings),
        *forfeited(tables.forfeits),
        *repeated(tables.distinct, tables.games),
    ]


# ---------------------------------------------------------------- text


def ratings_text(tables: Tables) -> str:
    """The ratings for a terminal."""
    return plain_table(_ratings_rows(tables))


def cross_text(tables: Tables) -> str:
    """The cross table for a terminal."""
    return plain_table(cross_rows(tables.agents, tables.cross))


def seats_text(tables: Tables, players: Sequence[str]) -> str:
    """The seat table for a terminal."""
    return plain_table(_seat_rows(tables, players))


def _played(run: Mapping[str, Any]) -> str:
    """How many games, and from what."""
    games = run["games_per_pair"]
    openings = f"random openings of {run['opening_plies']} plies, each played in both seats"
    if run.get("until_certain"):
        ended = f"until the order was certain or {run['budget']} were played"
        return f"{games} games a pair at first, then more {ended}, from {openings}"
    return f"{games} games a pair from {games // 2} {openings}"


def markdown(
    tables: Tables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    simultaneous: bool = False,
    plots: bool = True,
) -> str:
    """All tables as one page; `plots` links the PNG files beside it."""
    parts = [
        f"# Round robin: {run['game']}",
        settings_text(run, _played(run)) + f" {tables.distinct} of {tables.games} games differ.",
        "## Ratings",
        markdown_table(_ratings_rows(tables)),
        *map(escape, notes(tables)),
        "![Ratings with intervals](ratings.png)" if plots else "",
        "## Cross table",
        "The row's score against the column's agent in %, with wins-draws-losses.",
        markdown_table(cross_rows(tables.agents, tables.cross)),
        "![Cross table](cross_table.png)" if plots else "",
        *payoff_parts(tables.payoffs, plots),
        "## Seats",
        escape(seats_line(tables, players, simultaneous=simultaneous)),
        markdown_table(_seat_rows(tables, players)),
        *THE_GAMES,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# ---------------------------------------------------------------- data


def _tally_row(tally: Tally) -> tuple[object, ...]:
    """Games, W, D, L, score, its interval, distinct."""
    numbers = (f"{x:.4f}" for x in (tally.score, *tally.interval()))
    return tally.games, tally.wins, tally.draws, tally.losses, *numbers, tally.distinct


_TALLY_HEADER = ("games", "wins", "draws", "losses", "score", "score_low", "score_high", "distinct")


def _ratings_csv(tables: Tables) -> Rows:
    rows: list[Sequence[object]] = [
        (
            "rank",
            "agent",
            "elo",
            "elo_low",
            "elo_high",
            "games",
            "wins",
            "draws",
            "losses",
            "score",
            "distinct",
            "forfeits",
        )
    ]
    for line in tables.standings:
        t = line.tally
        counts = (t.games, t.wins, t.draws, t.losses)
        rest = (f"{t.score:.4f}", t.distinct, _forfeits(tables, line.agent))
        rows.append((line.rank, line.agent, *elo_csv(line), *counts, *rest))
    return rows


def _pairs_csv(tables: Tables) -> Rows:
    pairs = [(a, b) for a in tables.agents for b in tables.agents if (a, b) in tables.cross]
    return [
        ("agent", "opponent", *_TALLY_HEADER),
        *((*pair, *_tally_row(tables.cross[pair])) for pair in pairs),
    ]


def _seats_csv(tables: Tables, players: Sequence[str]) -> Rows:
    lines = [("all", player, *_tally_row(tally)) for player, tally in zip(players, tables.seats, strict=True)]
    lines += [
        (agent, player, *_tally_row(tables.agent_seats[agent, seat]))
        for agent in tables.agents
        for seat, player in enumerate(players)
    ]
    return [("agent", "seat", *_TALLY_HEADER), *lines]


def _data(tables: Tables, run: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """All numbers; `run` is the content of run.json."""
    return {
        "run": dict(run),
        "games": tables.games,
        "distinct": tables.distinct,
        **ratings_data(tables.ratings),
        "agents": [
            {
                **standing_data(line),
                **tally_data(line.tally),
                "forfeits": _forfeits(tables, line.agent),
                "seats": {
                    player: tally_data(tables.agent_seats[line.agent, seat]) for seat, player in enumerate(players)
                },
            }
            for line in tables.standings
        ],
        "pairs": [
            {"agent": a, "opponent": b, **tally_data(tables.cross[a, b])}
            for a in tables.agents
            for b in tables.agents
            if (a, b) in tables.cross
        ],
        "seats": {player: tally_data(tally) for player, tally in zip(players, tables.seats, strict=True)},
        "payoffs": payoff_data(tables.payoffs),
        "notes": notes(tables),
    }


# ---------------------------------------------------------------- files


def write_reports(
    folder: PathLike,
    tables: Tables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    simultaneous: bool = False,
    warn: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write all tables into a folder.

    Args:
        folder: must exist; its files of these names are replaced.
        tables: what to write.
        run: the run's settings, as in its run.json.
        players: names of the seats.
        simultaneous: whether all players act at once, as `GameInfo` says.
        warn: gets a line that says what is left out where matplotlib is missing.

    Returns:
        The files, in the order of `FILES`.
    """

    def images() -> dict[str, bytes]:
        from . import rating_plots as plots

        return {
            "ratings.png": plots.ratings_png(tables.standings, tables.ratings),
            "cross_table.png": plots.cross_png(tables.agents, tables.cross),
            **payoff_images(tables.payoffs),
        }

    def page(drawn: bool) -> str:
        return markdown(tables, run, players, simultaneous=simultaneous, plots=drawn)

    texts = {
        "ratings.json": json.dumps(_data(tables, run, players), indent=2, ensure_ascii=False) + "\n",
        "ratings.csv": csv_text(_ratings_csv(tables)),
        "cross_table.csv": csv_text(matrix_csv(tables.agents, tables.cross)),
        "pairs.csv": csv_text(_pairs_csv(tables)),
        "seats.csv": csv_text(_seats_csv(tables, players)),
    }
    return write_files(Path(folder), FILES, texts, page, images, warn)
