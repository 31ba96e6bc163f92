"""The ten published seasons of the Toroidal Cup (golly-splorts, MIT), as results; () where the data is absent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from paths import CUP_DATA

from cellgames.arena.season.standings import GameResult

FILE = CUP_DATA / "season_tables.json"


@dataclass(frozen=True)
class CupSeason:
    """leagues: names by league and division; days: results by day; rounds: of the postseason, by day."""

    leagues: dict[str, dict[str, list[str]]]
    days: list[list[GameResult]]
    seeds: dict[str, tuple[str, ...]]
    rounds: dict[str, list[list[GameResult]]]

    @property
    def teams(self) -> list[str]:
        return [team for league in self.leagues.values() for division in league.values() for team in division]

    @property
    def results(self) -> list[GameResult]:
        return [result for day in self.days for result in day]


@cache
def published() -> tuple[CupSeason, ...]:
    if not FILE.exists():
        return ()
    return tuple(map(_season, json.loads(FILE.read_text())["seasons"]))


def _season(data: dict[str, Any]) -> CupSeason:
    names = [name for name, _, _ in data["teams"]]
    leagues: dict[str, dict[str, list[str]]] = {}
    for name, league, division in data["teams"]:
        leagues.setdefault(league, {}).setdefault(division, []).append(name)

    def results(day: list[list[Any]]) -> list[GameResult]:
        return [
            GameResult((names[one], names[two]), (ours, theirs), names[one if ours > theirs else two])
            for one, two, ours, theirs, *_ in day  # none of them was level
        ]

    return CupSeason(
        leagues,
        [results(day) for day in data["days"]],
        {league: tuple(names[place] for place in seeds) for league, seeds in data["seeds"].items()},
        {name: [results(day) for day in days] for name, days in data["postseason"].items()},
    )
