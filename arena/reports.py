"""Tables as files: CSV, Markdown, JSON and, where matplotlib is installed, PNG.

The files hold nothing but what follows from the games, so that equal games give equal bytes: no dates, no
durations, fixed order, rounded numbers.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from .records import PathLike, write_atomic
from .tables import Tables, Tally

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
)
"""What `write_reports` may write."""

Rows = Sequence[Sequence[object]]


# ---------------------------------------------------------------- rows


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _w_d_l(tally: Tally) -> str:
    return f"{tally.wins}-{tally.draws}-{tally.losses}"


def _ratings_rows(tables: Tables) -> Rows:
    """A header and one line an agent, for people."""
    level = f"{100 * tables.ratings.level:.0f} % interval"
    rows: list[Sequence[object]] = [("rank", "agent", "Elo", level, "games", "W", "D", "L", "score %", "distinct")]
    for line in tables.standings:
        t = line.tally
        interval = "" if line.low is None or line.high is None else f"{line.low:+.0f} to {line.high:+.0f}"
        rows.append(
            (
                line.rank,
                line.agent,
                f"{line.elo:+.0f}",
                interval,
                t.games,
                t.wins,
                t.draws,
                t.losses,
                _percent(t.score),
                t.distinct,
            )
        )
    return rows


def _cross_rows(tables: Tables) -> Rows:
    """A header and one line an agent: its score in % against each, with wins-draws-losses."""
    rows: list[Sequence[object]] = [("agent", *tables.agents)]
    for agent in tables.agents:
        cells = []
        for opponent in tables.agents:
            met = tables.cross.get((agent, opponent))
            cells.append("" if met is None else f"{_percent(met.score)} ({_w_d_l(met)})")
        rows.append((agent, *cells))
    return rows


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
        rows.append((name, *(text for t in tallies for text in (_percent(t.score), _w_d_l(t)))))
    return rows


def seats_line(tables: Tables, players: Sequence[str], *, simultaneous: bool = False) -> str:
    """How well the first seat does, as a sentence; where all act at once, nobody begins."""
    seat = tables.seats[0]
    low, high = seat.interval()
    return (
        f"{players[0].capitalize()}{'' if simultaneous else ', who begins,'} scores {_percent(seat.score)} % "
        "over all games "
        f"(95 % interval {_percent(low)} to {_percent(high)})."
    )


def notes(tables: Tables) -> list[str]:
    """What a reader of the ratings must know, one sentence a line."""
    rated = tables.ratings
    zero = f"{rated.anchor} is 0" if rated.anchor is not None else "the mean of all agents is 0"
    said = [
        f"400 Elo are odds of ten to one; {zero}. The intervals come from resampling openings, since the two "
        "games of an opening are not independent."
    ]
    for share, verb, word in ((1, "won", "better"), (0, "lost", "worse")):
        if swept := [line.agent for line in tables.standings if line.tally.score == share]:
            said.append(
                f"{' and '.join(swept)} {verb} every game: how much {word} it is, these games cannot say, "
                "and its interval is too narrow."
            )
    if not rated.connected:
        groups = " | ".join(", ".join(group) for group in rated.components)
        said.append(f"No decided or drawn games link these groups, whose ratings do not compare: {groups}.")
    if 2 * tables.distinct < tables.games:
        said.append(f"Only {tables.distinct} of {tables.games} games differ: longer openings would tell more.")
    return said


# ---------------------------------------------------------------- text


def plain_table(rows: Rows) -> str:
    """Columns side by side; numbers to the right, under their headers."""
    cells = [[str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = {0} if rows[0][0] != "rank" else {1}
    lines = []
    for row in cells:
        parts = [
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def ratings_text(tables: Tables) -> str:
    """The ratings for a terminal."""
    return plain_table(_ratings_rows(tables))


def cross_text(tables: Tables) -> str:
    """The cross table for a terminal."""
    return plain_table(_cross_rows(tables))


def seats_text(tables: Tables, players: Sequence[str]) -> str:
    """The seat table for a terminal."""
    return plain_table(_seat_rows(tables, players))


def escape(words: str) -> str:
    """Text as Markdown shows it unchanged, in tables, headings and bold too; within a word an underscore is one."""
    return re.sub(r"[\\`*\[\]<>#|~&$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", words)


def markdown_table(rows: Rows, left: Collection[str] = ("agent",)) -> str:
    """Rows below a header; the columns named in `left` hold text, the others numbers."""
    cells = [[escape(str(value)) for value in row] for row in rows]
    rule = ["---" if name in left else "---:" for name in cells[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))


def markdown(
    tables: Tables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    simultaneous: bool = False,
    plots: bool = True,
) -> str:
    """All tables as one page; `plots` links the PNG files beside it."""
    parameters = ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    parts = [
        f"# Round robin: {run['game']}",
        f"{parameters + '; ' if parameters else ''}{run['games_per_pair']} games a pair from "
        f"{run['games_per_pair'] // 2} random openings of {run['opening_plies']} plies, each played in both "
        f"seats; seed {run['seed']}; cellgames {run['version']}. {tables.distinct} of {tables.games} games "
        "differ.",
        "## Ratings",
        markdown_table(_ratings_rows(tables)),
        *map(escape, notes(tables)),
        "![Ratings with intervals](ratings.png)" if plots else "",
        "## Cross table",
        "The row's score against the column's agent in %, with wins-draws-losses.",
        markdown_table(_cross_rows(tables)),
        "![Cross table](cross_table.png)" if plots else "",
        "## Seats",
        escape(seats_line(tables, players, simultaneous=simultaneous)),
        markdown_table(_seat_rows(tables, players)),
        "## The games",
        "`games.jsonl` holds every game. `cellgames replay games.jsonl --all` plays them again and compares "
        "the results; `cellgames replay games.jsonl --game 1 --show` shows one.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# ---------------------------------------------------------------- data


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


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
        )
    ]
    for line in tables.standings:
        t = line.tally
        elo = ("" if x is None else f"{x:.1f}" for x in (line.elo, line.low, line.high))
        rows.append((line.rank, line.agent, *elo, t.games, t.wins, t.draws, t.losses, f"{t.score:.4f}", t.distinct))
    return rows


def _matrix_csv(tables: Tables) -> Rows:
    rows: list[Sequence[object]] = [("agent", *tables.agents)]
    for agent in tables.agents:
        met = (tables.cross.get((agent, opponent)) for opponent in tables.agents)
        rows.append((agent, *("" if t is None else f"{t.score:.4f}" for t in met)))
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


def _rounded(value: float | None) -> float | None:
    return None if value is None or value != value else round(float(value), 6)


def _tally_data(tally: Tally) -> dict[str, Any]:
    numbers = zip(("score", "score_low", "score_high"), (tally.score, *tally.interval()), strict=True)
    return {
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        **{name: _rounded(value) for name, value in numbers},
        "distinct": tally.distinct,
    }


def _data(tables: Tables, run: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """All numbers; `run` is the content of run.json."""
    rated = tables.ratings
    return {
        "run": dict(run),
        "games": tables.games,
        "distinct": tables.distinct,
        "level": rated.level,
        "anchor": rated.anchor,
        "tie": _rounded(rated.tie),
        "components": [list(group) for group in rated.components],
        "agents": [
            {
                "rank": line.rank,
                "agent": line.agent,
                "elo": _rounded(line.elo),
                "elo_low": _rounded(line.low),
                "elo_high": _rounded(line.high),
                **_tally_data(line.tally),
                "seats": {
                    player: _tally_data(tables.agent_seats[line.agent, seat]) for seat, player in enumerate(players)
                },
            }
            for line in tables.standings
        ],
        "pairs": [
            {"agent": a, "opponent": b, **_tally_data(tables.cross[a, b])}
            for a in tables.agents
            for b in tables.agents
            if (a, b) in tables.cross
        ],
        "seats": {player: _tally_data(tally) for player, tally in zip(players, tables.seats, strict=True)},
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
    folder = Path(folder)
    images: dict[str, bytes] = {}
    try:
        from . import plots

        images = {"ratings.png": plots.ratings_png(tables), "cross_table.png": plots.cross_png(tables)}
    except ImportError as error:
        warn(f"no plots ({error}): pip install 'cellgames[render]'")
    contents: dict[str, str | bytes] = {
        "ratings.json": json.dumps(_data(tables, run, players), indent=2, ensure_ascii=False) + "\n",
        "ratings.csv": _csv(_ratings_csv(tables)),
        "cross_table.csv": _csv(_matrix_csv(tables)),
        "pairs.csv": _csv(_pairs_csv(tables)),
        "seats.csv": _csv(_seats_csv(tables, players)),
        "report.md": markdown(tables, run, players, simultaneous=simultaneous, plots=bool(images)),
        **images,
    }
    for name, content in contents.items():
        write_atomic(folder / name, content)
    for name in FILES:
        if name not in contents:  # left from a run with matplotlib
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in FILES if name in contents]
