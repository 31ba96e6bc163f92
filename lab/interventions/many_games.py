"""Explanations of many games together: what parts are worth on average, with intervals over the games."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cellgames.utils.report.model import Column, Report, csv_table, escape, people_table, row_data, write_report
from cellgames.utils.statistics import mean_interval, wilson_interval
from cellgames.utils.version import __version__

from .effects import Effect, Explanation

_SPECIES = re.compile(r"\S+ (.+?) r\d+c\d+")


@dataclass(frozen=True)
class Average:
    """The effects of the parts of one kind that one agent had, over many games.

    Attributes:
        kind: kind of interventions.
        part: name of a Life object, such as "block"; "" for kinds other than objects.
        agent: name of the agent; "all" for parts that are nobody's alone.
        games: number of games with such parts.
        parts: mean number of parts in these games.
        worth: mean over these games of the mean worth of a part.
        worth_interval: 95 % interval of `worth`; NaN for one game.
        turned: share of these games whose outcome at least one part decided.
        turned_interval: 95 % interval of `turned` (Wilson).
    """

    kind: str
    part: str
    agent: str
    games: int
    parts: float
    worth: float
    worth_interval: tuple[float, float]
    turned: float
    turned_interval: tuple[float, float]


COLUMNS: tuple[Column[Average], ...] = (
    Column("kind", lambda row: row.kind, "kind"),
    Column("part", lambda row: row.part, "part"),
    Column("agent", lambda row: row.agent, "agent"),
    Column("games", lambda row: row.games, "games"),
    Column("parts", lambda row: row.parts, "parts a game", ".1f"),
    Column("worth", lambda row: row.worth, "worth", ".2f"),
    Column("worth_low", lambda row: row.worth_interval[0]),
    Column("worth_high", lambda row: row.worth_interval[1]),
    Column("", lambda row: row.worth_interval, "95 %", ".2f"),
    Column("turned", lambda row: row.turned, "decided, % of games", "%"),
    Column("turned_low", lambda row: row.turned_interval[0]),
    Column("turned_high", lambda row: row.turned_interval[1]),
    Column("", lambda row: row.turned_interval, "95 %", "%"),
)


def averages(explanations: Iterable[Explanation]) -> list[Average]:
    """Return the averages of each kind, part and agent; kinds in their order, then the largest worth first."""
    found: dict[tuple[str, str, str], list[list[Effect]]] = {}
    for explanation in explanations:
        own: dict[tuple[str, str, str], list[Effect]] = {}
        for effect in explanation.effects:
            named = _SPECIES.match(effect.name) if effect.kind == "object" else None
            agent = explanation.agents[effect.player] if effect.player >= 0 else "all"
            own.setdefault((effect.kind, named[1] if named else "", agent), []).append(effect)
        for key, effects in own.items():
            found.setdefault(key, []).append(effects)
    kinds = list(dict.fromkeys(kind for kind, _, _ in found))
    rows = [_average(*key, games) for key, games in found.items()]
    return sorted(rows, key=lambda row: (kinds.index(row.kind), -row.worth, row.part, row.agent))


def _average(kind: str, part: str, agent: str, games: Sequence[Sequence[Effect]]) -> Average:
    worths = [statistics.fmean(effect.worth for effect in effects) for effects in games]
    turned = statistics.fmean(any(effect.result for effect in effects) for effects in games)
    return Average(
        kind,
        part,
        agent,
        len(games),
        statistics.fmean(map(len, games)),
        statistics.fmean(worths),
        mean_interval(worths),
        turned,
        wilson_interval(turned, len(games)),
    )


def averages_report(explanations: Sequence[Explanation], rows: Sequence[Average]) -> Report:
    """Return the report on games of one kind: a page with the averages, and the same as CSV and JSON."""
    first = explanations[0]
    text = (
        f"{len(explanations)} games, {sum(each.replays for each in explanations):,} replays. Worth: {first.measure}. "
        "It is the mean over the games in which there are such parts; intervals are over games."
    )
    return Report(
        f"What decided {len(explanations)} games of {first.game.info.title}",
        (escape(text), people_table(COLUMNS, rows)),
        {
            **{"cellgames": __version__, "game": first.game.id, "games": len(explanations)},
            "averages": [row_data(COLUMNS, row) for row in rows],
        },
        more_tables=(csv_table("averages", COLUMNS, rows),),
    )


def write_averages(folder: Path, explanations: Sequence[Explanation]) -> Report:
    """Write report.md, report.json and averages.csv; return the report."""
    report = averages_report(explanations, averages(explanations))
    write_report(folder, report)
    return report
