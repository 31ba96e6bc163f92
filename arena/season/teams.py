"""The teams of a season: read from a small file or made up, in two leagues of two divisions each."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, product
from pathlib import Path
from typing import TypeAlias

from cellgames.arena.play.match_options import MatchOptions
from cellgames.utils.errors import InputError, check_one_of
from cellgames.utils.files import PathLike
from cellgames.utils.options import Integers, Options, Strings, option, redefault

Leagues: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""Names of teams by league and division."""

LEAST = 8
"""Teams of a season: each league sends four of its own to the playoffs."""

_COLUMNS = ("name", "agent", "league", "division")
_LEAGUES = ("Glider League", "Beacon League")
_DIVISIONS = ("Even Division", "Odd Division")

_PLACES = (
    "Ashmoor Brackenford Cinderwick Dunmere Eastwharf Fallowby Grimsel Hollowby Inkermoor Juniper Kestrelby "
    "Larkmoor Mossgate Netherby Oxbow Pinemere Quillhaven Ravensby Saltmarsh Thornwick Umberfield Vinegate "
    "Willowby Yarrowdale Amberwick Birchgate Coldwater Driftwood Elmhurst Flintby Gorsefield Heathermoor "
    "Ironbridge Kelpwick Lowgate Mistral Northwharf Orchard Pebbleby Redcliff Stonemere Tidewater Upperby "
    "Westmoor"
)
_NOUNS = (
    "Herons Lamplighters Cartographers Kites Thimbles Badgers Clockmakers Swifts Otters Weavers Comets Foxes "
    "Beekeepers Lanterns Magpies Millers Wrens Tinkers Pilots Hedgehogs Ferries Painters Gulls Archivists "
    "Bellringers Hares Locksmiths Owls Potters Rooks Saddlers Terns Wagtails Cobblers Dippers Fiddlers Gardeners "
    "Juggernauts Newts Moths"
)


@dataclass(frozen=True)
class Team:
    """A team.

    Attributes:
        name: name of the team.
        league: "" until the team is placed.
        division: "" until the team is placed.
        agent: a spec or `NAME=SPEC`, as `agents.load` takes it; "" for a team that is no bot.
    """

    name: str
    league: str = ""
    division: str = ""
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class TeamOptions(Options):
    """Options of the teams of a season and of their games."""

    teams: str = option(
        "20",
        "number of teams to make up, or a file: a name a line, or CSV with a header that has name and any of agent, "
        "league, division",
        metavar="N|FILE",
    )
    agents: Strings = option((), "agents in turn for the teams that have none; NAME=SPEC gives a name")  # noqa: RUF009  # makes a field
    league_sizes: Integers = option(  # noqa: RUF009  # makes a field
        (), "teams of the two leagues, or of their four divisions (default: as even as possible)"
    )
    patterns: Strings = option(  # noqa: RUF009  # makes a field
        (), "patterns of teams without agents (default: all of the Cup's)", metavar="NAME"
    )
    opening_plies: int | None = option(
        None, f"random moves before the agents move, at most (default {MatchOptions.opening_plies})", low=0
    )
    clock: str | None = redefault(MatchOptions, "clock", None)
    move_time: float | None = redefault(MatchOptions, "move_time", None)
    chunk: int | None = option(
        None,
        "games played at the same time, about, and lost together if the season is stopped (default 100 of agents, 250 "
        "of the Cup)",
        low=1,
    )


def generate_names(count: int, seed: int) -> list[str]:
    """Return different names, a place and a noun; the same seed gives the same names.

    Raises:
        ValueError: more than there are.
    """
    places, nouns = _PLACES.split(), _NOUNS.split()
    most = len(places) * len(nouns)
    if not 0 <= count <= most:
        raise InputError("count", f"0 to {most} teams to make up names for", count, "more can come from a file")
    rng = random.Random(seed)
    rng.shuffle(places)
    rng.shuffle(nouns)
    # The next round of places meets the nouns one further on.
    turns = (divmod(number, len(places)) for number in range(count))
    return [f"{places[place]} {nouns[(place + turn) % len(nouns)]}" for turn, place in turns]


def read_teams(path: PathLike) -> list[Team]:
    """Read the teams of a file: a name a line, or CSV with a header of `name` and any of agent, league, division.

    Raises:
        ValueError: no name, an unknown column, a line of another length; the message names file and line.
        OSError: the file cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(path, "text in UTF-8", f"{error.reason} at byte {error.start}") from None
    cells = enumerate(([cell.strip() for cell in row] for row in csv.reader(lines)), 1)
    rows = [(number, row) for number, row in cells if any(row)]
    header = [cell.lower() for cell in rows[0][1]] if rows else []
    if "name" in header:
        for cell in header:
            check_one_of("column", cell, _COLUMNS, path)
        del rows[0]
    else:
        header = ["name"]
    teams = []
    for number, row in rows:
        if len(row) > len(header):
            hint = f"; columns need a header line such as {','.join(_COLUMNS)}" if header == ["name"] else ""
            raise InputError(f"{path}, line {number}", f"{len(header)} values", f"{len(row)}{hint}")
        fields = dict(zip(header, row, strict=False))
        if not fields.get("name") or not all(cell.isprintable() for cell in row):
            raise InputError(f"{path}, line {number}", "a name in plain characters", row)
        teams.append(Team(**fields))
    return teams


def assign_agents(teams: Sequence[Team], agents: Sequence[str]) -> list[Team]:
    """Return the teams, with the agents in turn for those that have none."""
    specs = cycle(agents or [""])
    return [team if team.agent else replace(team, agent=next(specs)) for team in teams]


def check_names(teams: Sequence[Team]) -> None:
    """Raise a `ValueError` if several teams have the same name."""
    counts = Counter(team.name for team in teams)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise InputError("teams", "teams with different names", f"more than one {', '.join(twice)}")


def assign_divisions(teams: Sequence[Team], sizes: Sequence[int] | None = None) -> tuple[Team, ...]:
    """Return the teams in two leagues of two divisions each, in their order.

    Leagues and divisions that teams already have are kept. Else they are as even as can be, with leagues of even
    size where possible, so that nobody rests.

    Args:
        teams: all with a league or none, all with a division or none.
        sizes: sizes of the two leagues, or of their four divisions; None for even ones.

    Raises:
        ValueError: too few teams, names that are not different, leagues or divisions that cannot be.
    """
    if len(teams) < LEAST:
        raise InputError("teams", f"{LEAST} or more, four for the playoffs of each league", len(teams))
    check_names(teams)
    for part in ("league", "division"):
        having = {bool(getattr(team, part)): team.name for team in reversed(teams)}
        if len(having) == 2:
            expected = f"a {part} for every team or for none"
            raise InputError("teams", expected, cause=f"{having[True]} has one, {having[False]} has none")
    if teams[0].division and not teams[0].league:
        raise InputError("divisions", "leagues with the divisions", "divisions alone")
    if teams[0].league and sizes is not None:
        raise InputError("sizes", "either sizes or teams with leagues", "both")
    placed = teams if teams[0].league else _fill(teams, sizes)
    if not placed[0].division:
        members = [names for divisions in by_league(placed).values() for names in divisions.values()]
        first = {name for names in members for name in names[: -(-len(names) // 2)]}
        placed = [replace(team, division=_DIVISIONS[team.name not in first]) for team in placed]
    leagues = by_league(placed)
    if len(leagues) != 2:
        raise InputError("teams", "two leagues", f"{len(leagues)}: {', '.join(leagues)}")
    for league, divisions in leagues.items():
        got = ", ".join(f"{division} ({len(names)})" for division, names in divisions.items())
        if len(divisions) != 2:
            raise InputError(league, "two divisions", f"{len(divisions)}: {got}")
        if sum(map(len, divisions.values())) < LEAST // 2:
            raise InputError(league, f"{LEAST // 2} teams or more, for the playoffs", got)
    return tuple(placed)


def _fill(teams: Sequence[Team], sizes: Sequence[int] | None) -> list[Team]:
    """Return the teams in leagues of these sizes, or in their divisions, filled one after the other."""
    count = len(teams)
    if sizes is None:
        half = -(-count // 2)
        half += count % 2 == 0 and half % 2
        sizes = (half, count - half)
    if len(sizes) not in (2, 4) or min(sizes) < 1 or sum(sizes) != count:
        got = " ".join(map(str, sizes))
        raise InputError("sizes", f"the sizes of 2 leagues or of their 4 divisions that add up to {count} teams", got)
    labels = product(_LEAGUES, _DIVISIONS if len(sizes) == 4 else [""])
    places = [label for label, size in zip(labels, sizes, strict=True) for _ in range(size)]
    return [
        replace(team, league=league, division=division) for team, (league, division) in zip(teams, places, strict=True)
    ]


def by_league(teams: Sequence[Team]) -> Leagues:
    """Return names by league and division, in the order of the teams."""
    leagues: dict[str, dict[str, list[str]]] = {}
    for team in teams:
        leagues.setdefault(team.league, {}).setdefault(team.division, []).append(team.name)
    return leagues
