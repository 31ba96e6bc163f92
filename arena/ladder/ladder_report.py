"""The report of a climb: the place of the newcomer, the ladder as a picture, and mistakes by kind of position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from cellgames.arena.records.record_lines import Record
from cellgames.arena.report.rating_tables import Bar, draw_ratings, forfeit_notes, thinking_notes
from cellgames.arena.stats.placing import Placing
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.envs.titles import setting_title
from cellgames.utils.report.columns import Column, people_table, row_data
from cellgames.utils.report.model import Part, Plot, Report, Section, Table
from cellgames.utils.report.text import escape
from cellgames.utils.statistics import wilson_interval

from .mistakes import Mistakes
from .rungs import Ladder, Rung

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILES = ("report.md", "report.json", "ladder.png", "ladder.svg")


@dataclass(frozen=True)
class Place:
    """The place of a newcomer on a ladder.

    Attributes:
        newcomer: its name.
        ladder: the ladder.
        placing: its rating, and its games against each rung.
    """

    newcomer: str
    ladder: Ladder
    placing: Placing

    @property
    def sentence(self) -> str:
        """The rating with its interval, and the rungs below and above it."""
        (low, high), rungs = self.placing.interval, self.ladder.rungs
        below = [rung.name for rung in rungs if rung.elo < low][-1:]
        above = [rung.name for rung in rungs if rung.elo > high][:1]
        sure = [*(f"above {name}" for name in below), *(f"below {name}" for name in above)]
        place = sum(rung.elo < self.placing.elo for rung in rungs)
        beyond = "at least " * (low > rungs[-1].elo) + "at most " * (high < rungs[0].elo)
        bound = {"at least ": low, "at most ": high}.get(beyond, self.placing.elo)
        return (
            f"{self.newcomer}: {beyond}{bound:.0f} Elo (95 % interval {low:.0f} to {high:.0f}), above {place} of "
            f"{len(rungs)} rungs; certainly {' and '.join(sure) or 'nothing yet'}."
        )


_Row: TypeAlias = tuple[Rung, Sequence[float]]
"""A rung or the newcomer, and the games that the newcomer won, drew and lost against it."""


def _rows(place: Place) -> list[_Row]:
    """Return the rungs and the newcomer, strongest first."""
    rows: list[_Row] = list(zip(place.ladder.rungs, place.placing.games.tolist(), strict=True))
    rows.append((Rung(place.newcomer, "", place.placing.elo, *place.placing.interval), (0, 0, 0)))
    return sorted(rows, key=lambda row: -row[0].elo)


def _score(row: _Row) -> float | None:
    (won, drawn, _), games = row[1], sum(row[1])
    return (won + drawn / 2) / games if games else None


_LADDER: tuple[Column[_Row], ...] = (
    Column("agent", lambda row: row[0].name, "agent"),
    Column("elo", lambda row: row[0].elo, "Elo", ".0f"),
    Column("", lambda row: (row[0].low, row[0].high), "95 % interval", ".0f"),
    Column("games", lambda row: round(sum(row[1])) or None, "games"),
    Column("score", _score, "newcomer's score %", "%"),
)

_MISTAKES: tuple[Column[Mistakes], ...] = (
    Column("kind", lambda found: found.kind, "position"),
    Column("moves", lambda found: found.moves, "moves"),
    Column("errors", lambda found: found.errors, "errors"),
    Column("share", lambda found: found.errors / found.moves, "errors %", "%"),
    Column("", lambda found: wilson_interval(found.errors / found.moves, found.moves), "95 % interval, %", "%"),
)


def ladder_table(place: Place) -> Table:
    """Return the ladder with the newcomer, strongest first."""
    return people_table(_LADDER, _rows(place))


def mistakes_table(found: Sequence[Mistakes]) -> Table:
    """Return the errors of the newcomer by kind of position."""
    return people_table(_MISTAKES, found)


def ladder_report(
    place: Place, run: Mapping[str, Any], records: Sequence[Record], found: Sequence[Mistakes], more: Sequence[str] = ()
) -> Report:
    """Return the report of a climb."""
    notes = [*more, *forfeit_notes(forfeits(records)), *thinking_notes(thinking(records))]
    parameters = ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    plies, source = run["opening_plies"], place.ladder.source
    settings = (
        f"{parameters}; {len(records)} games against rungs of the ladder {source}, from random openings of {plies} "
        f"plies, each played in both seats; seed {run['seed']}; cellgames {run['version']}."
    )
    explained = (
        "The interval holds however often one looks, and whichever rungs are played. It takes the ratings of the rungs "
        "as known; their own intervals come from the round robin by which they were rated. 0 Elo is the lowest rung."
    )
    kinds = (
        "Positions in which the newcomer could win or save the game, and its moves that did not. `won` are positions "
        "that a solver knows to be won; those that it does not decide at once are left out."
    )

    def draw(figure: Figure) -> None:
        bars = [Bar(rung.name, rung.elo, rung.low, rung.high) for rung, _ in _rows(place)]
        draw_ratings(figure, bars, "Elo (lowest rung = 0), bars: 95 % interval", "Place on the ladder", place.newcomer)

    ladder = Section("The ladder", (ladder_table(place), explained, Plot("ladder", "", draw, "The ladder")))
    sections = [ladder, *([Section("Mistakes by kind of position", (kinds, mistakes_table(found)))] if found else [])]
    data = {
        "run": dict(run),
        "agent": place.newcomer,
        "elo": round(place.placing.elo, 1),
        "interval": place.placing.interval,
        "games": len(records),
        "ladder": [row_data(_LADDER, row) for row in _rows(place)],
        "mistakes": [row_data(_MISTAKES, kind) for kind in found],
        "notes": notes,
    }
    parts: list[Part] = [escape(place.sentence), settings, *map(escape, notes), *sections]
    subject = setting_title(run["game"], run["parameters"])
    return Report(f"{place.newcomer} on the ladder of {run['game']}", parts, data, subject=subject)
