"""What reports are made of: rows, numbers and ratings as text and data, and files that appear whole."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from cellgames.arena.stats.ratings import Ratings
from cellgames.arena.stats.tables import Forfeits, Standing, Tally
from cellgames.utils.run_folders import write_atomic

__all__ = [
    "THE_GAMES",
    "Rows",
    "cross_rows",
    "csv_text",
    "elo_csv",
    "elo_texts",
    "escape",
    "forfeited",
    "markdown_table",
    "matrix_csv",
    "percent",
    "plain_table",
    "ratings_data",
    "repeated",
    "rounded",
    "scale",
    "settings_text",
    "standing_data",
    "swept",
    "tally_data",
    "unlinked",
    "w_d_l",
    "write_files",
]

Rows: TypeAlias = Sequence[Sequence[object]]
"""A header and lines."""

THE_GAMES = (
    "## The games",
    "`games.jsonl` holds every game. `cellgames replay games.jsonl --all` plays them again and compares "
    "the results; `cellgames replay games.jsonl --game 1 --show` shows one.",
)
"""The last paragraphs of a page."""


# ---------------------------------------------------------------- rows and numbers


def percent(share: float) -> str:
    """With one decimal, without the sign."""
    return f"{100 * share:.1f}"


def rounded(value: float | None) -> float | None:
    """As JSON holds it; None for NaN."""
    return None if value is None or value != value else round(float(value), 6)


def w_d_l(tally: Tally) -> str:
    """Wins, draws and losses in short."""
    return f"{tally.wins}-{tally.draws}-{tally.losses}"


def elo_texts(line: Standing) -> tuple[str, str]:
    """Rating and interval, for people."""
    interval = "" if line.low is None or line.high is None else f"{line.low:+.0f} to {line.high:+.0f}"
    return f"{line.elo:+.0f}", interval


def elo_csv(line: Standing) -> tuple[str, ...]:
    """Rating and bounds, for programs."""
    return tuple("" if x is None else f"{x:.1f}" for x in (line.elo, line.low, line.high))


def cross_rows(agents: Sequence[str], cross: Mapping[tuple[str, str], Tally]) -> Rows:
    """A header and one line an agent: its score in % against each, with wins-draws-losses."""
    rows: list[Sequence[object]] = [("agent", *agents)]
    for agent in agents:
        cells = []
        for opponent in agents:
            met = cross.get((agent, opponent))
            cells.append("" if met is None else f"{percent(met.score)} ({w_d_l(met)})")
        rows.append((agent, *cells))
    return rows


def matrix_csv(agents: Sequence[str], cross: Mapping[tuple[str, str], Tally]) -> Rows:
    """A header and one line an agent: its score against each."""
    rows: list[Sequence[object]] = [("agent", *agents)]
    for agent in agents:
        met = (cross.get((agent, opponent)) for opponent in agents)
        rows.append((agent, *("" if t is None else f"{t.score:.4f}" for t in met)))
    return rows


def ratings_data(rated: Ratings) -> dict[str, Any]:
    """What holds for all ratings, as JSON."""
    return {
        "level": rated.level,
        "anchor": rated.anchor,
        "tie": rounded(rated.tie),
        "components": [list(group) for group in rated.components],
    }


def standing_data(line: Standing) -> dict[str, Any]:
    """An agent and its rating, as JSON."""
    return {
        "rank": line.rank,
        "agent": line.agent,
        "elo": rounded(line.elo),
        "elo_low": rounded(line.low),
        "elo_high": rounded(line.high),
    }


# ---------------------------------------------------------------- sentences


def tally_data(tally: Tally) -> dict[str, Any]:
    """A tally as JSON; None where there is nothing to tell."""
    numbers = zip(("score", "score_low", "score_high"), (tally.score, *tally.interval()), strict=True)
    return {
        "games": tally.games,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        **{name: rounded(value) for name, value in numbers},
        "distinct": tally.distinct,
    }


def scale(rated: Ratings) -> str:
    """What the numbers mean, as a sentence."""
    zero = f"{rated.anchor} is 0" if rated.anchor is not None else "the mean of all agents is 0"
    return f"400 Elo are odds of ten to one; {zero}."


def swept(lines: Sequence[Standing], always: str, never: str) -> list[str]:
    """Sentences on agents with all points, who did what `always` says, or with none (`never`)."""
    said = []
    for share, did, word in ((1, always, "better"), (0, never, "worse")):
        if names := [line.agent for line in lines if line.tally.score == share]:
            said.append(
                f"{' and '.join(names)} {did}: how much {word} it is, these games cannot say, "
                "and its interval rests on the prior."
            )
    return said


def forfeited(found: Mapping[str, Forfeits], *, several: bool = False) -> list[str]:
    """Sentences on agents that failed; `several` where games have more than two seats."""
    said = [
        f"{agent} forfeited {'one game' if forfeits.games == 1 else f'{forfeits.games} games'}: {forfeits.reason}"
        for agent, forfeits in found.items()
    ]
    rule = (
        "A forfeited game stops; who failed is behind all others, who are not compared with each other."
        if several
        else "A forfeited game is a loss, in the ratings too."
    )
    return [*said, rule] if said else []


def unlinked(rated: Ratings) -> list[str]:
    """A sentence on groups of agents that no games link, if there are any."""
    if rated.connected:
        return []
    groups = " | ".join(", ".join(group) for group in rated.components)
    return [f"No decided or drawn games link these groups, whose ratings do not compare: {groups}."]


def repeated(distinct: int, games: int) -> list[str]:
    """A sentence if fewer than half of the games differ."""
    if 2 * distinct >= games:
        return []
    return [f"Only {distinct} of {games} games differ: longer openings would tell more."]


def settings_text(run: Mapping[str, Any], played: str) -> str:
    """What was asked for, as a sentence: the content of run.json, and in words what was `played`."""
    parameters = ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    return f"{parameters + '; ' if parameters else ''}{played}; seed {run['seed']}; cellgames {run['version']}."


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


def escape(words: str) -> str:
    """Text as Markdown shows it unchanged, in tables, headings and bold too; within a word an underscore is one."""
    return re.sub(r"[\\`*\[\]<>#|~&$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", words)


def markdown_table(rows: Rows, left: Collection[str] = ("agent",)) -> str:
    """Rows below a header; the columns named in `left` hold text, the others numbers."""
    cells = [[escape(str(value)) for value in row] for row in rows]
    rule = ["---" if name in left else "---:" for name in cells[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))


def csv_text(rows: Rows) -> str:
    """The content of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


# ---------------------------------------------------------------- files


def write_files(
    folder: Path,
    names: Sequence[str],
    texts: Mapping[str, str],
    page: Callable[[bool], str],
    images: Callable[[], Mapping[str, bytes]],
    warn: Callable[[str], None],
) -> list[Path]:
    """Write the files of a report, each whole or not at all.

    Args:
        folder: must exist.
        names: of all files that the report may have.
        texts: of those that it always has, but for its page.
        page: makes report.md; is told whether there are pictures.
        images: draws them; raises an `ImportError` where matplotlib is missing.
        warn: gets a line that says so.

    Returns:
        The files, in the order of `names`.
    """
    drawn: Mapping[str, bytes] = {}
    try:
        drawn = images()
    except ImportError as error:
        warn(f"no plots ({error}): pip install 'cellgames[render]'")
    contents: dict[str, str | bytes] = {**texts, "report.md": page(bool(drawn)), **drawn}
    for name, content in contents.items():
        write_atomic(folder / name, content)
    for name in names:
        if name not in contents:  # left from a run with matplotlib
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in names if name in contents]
