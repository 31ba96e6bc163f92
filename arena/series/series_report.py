"""Series as tables: the final order, the matches of a series, and agents over many series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from cellgames.arena.season.season_reports import score_text
from cellgames.utils.report.model import Cell, Part, Report, Section, Table
from cellgames.utils.report.text import escape
from cellgames.utils.statistics import mean_interval

from .series_rules import MatchEnd, Series

_SHOWN = 10  # series whose matches are on the page


def order_table(series: Series, players: Mapping[str, str]) -> Table:
    """Return the players of a series, best first."""
    rows: list[Sequence[Cell]] = []
    for place, one in enumerate(series.order, 1):
        left = f"after match {one.left}" if one.left else ""
        tokens = one.won, one.given, one.received, one.tokens
        rows.append((place, one.name, players[one.name], left, *tokens, one.garnets, score_text(one.points)))
    columns = ("place", "player", "agent", "left", "Tokens won", "given", "received", "held", "garnets", "points")
    return Table("", columns, rows, text=("player", "agent", "left"))


def matches_table(series: Series) -> Table:
    """Return the matches of a series in their order."""
    rows: list[Sequence[Cell]] = [
        (one.number, len(one.players), _points(one), _tokens(one), _leaving(one), _gifts(one)) for one in series.matches
    ]
    columns = ("match", "players", "points (garnets before > after)", "Tokens won", "leaves", "gifts")
    return Table("", columns, rows, text=columns[2:])


def match_text(played: MatchEnd) -> str:
    """Return a match in a line: who won Tokens, who leaves, and gifts."""
    won = _tokens(played) or "nobody"
    gifts = f"; gifts: {_gifts(played)}" if played.gifts else ""
    match = f"Match {played.number}, {len(played.players)} players"
    leave = "leaves" if len(played.leaving) == 1 else "leave"
    return f"{match}: Tokens to {won}; {_leaving(played)} {leave}{gifts}"


def _points(played: MatchEnd) -> str:
    """Return players by points, with their garnets."""
    seats = zip(played.players, played.points, played.held, played.garnets, strict=True)
    ordered = sorted(seats, key=lambda seat: -seat[1])
    return ", ".join(f"{name} {score_text(points)} ({held} > {garnets})" for name, points, held, garnets in ordered)


def _tokens(played: MatchEnd) -> str:
    won = zip(played.players, played.tokens, strict=True)
    return ", ".join(f"{player} {tokens}" for player, tokens in won if tokens)


def _leaving(played: MatchEnd) -> str:
    return ", ".join(played.players[seat] for seat in played.leaving)


def _gifts(played: MatchEnd) -> str:
    return ", ".join(f"{gift.giver} {gift.tokens} to {gift.receiver}" for gift in played.gifts)


def agents_table(series: Sequence[Series], players: Mapping[str, str]) -> Table:
    """Return a row for each agent: means over series of its players' means, with 95 % intervals of the place."""
    rows: list[Sequence[Cell]] = []
    for agent in dict.fromkeys(players.values()):
        own = [
            [(place, one.won, one.garnets) for place, one in enumerate(ended.order, 1) if players[one.name] == agent]
            for ended in series
        ]
        places, won, garnets = zip(*(map(fmean, zip(*found, strict=True)) for found in own), strict=True)
        low, high = mean_interval(places)
        interval = f"{low:.2f} to {high:.2f}" if len(series) > 1 else ""
        means, firsts = (f"{fmean(values):.2f}" for values in (won, garnets)), sum(found[0][0] == 1 for found in own)
        rows.append((agent, list(players.values()).count(agent), f"{fmean(places):.2f}", interval, firsts, *means))
    rows.sort(key=lambda row: float(str(row[2])))
    columns = ("agent", "players", "mean place", "95 %", "series won", "Tokens won", "garnets")
    return Table("", columns, rows, text=("agent",))


def series_report(
    settings: Mapping[str, Any], series: Sequence[Series], players: Mapping[str, str], notes: Sequence[str] = ()
) -> Report:
    """Return the page of a run of series, with notes on clocks and forfeits."""
    count = "1 series" if len(series) == 1 else f"{len(series)} series"
    parts: list[Part] = [
        f"{count} of {len(players)} players; gifts of Tokens: {settings['gifts']}; seed {settings['seed']}, cellgames "
        f"{settings['version']}. [The settings](series.json), [all series as data](standings.json), "
        "[every match](games.jsonl). A Token that was given counts as won by the player who won it.",
    ]
    if notes:
        parts.append(Section("Clocks and forfeits", [*map(escape, notes)]))
    if len(series) > 1:
        parts.append(Section("Agents", (agents_table(series, players),)))
    for one in series[:_SHOWN]:
        winner = escape(one.order[0].name)
        body = (f"**{winner}** wins.", order_table(one, players), matches_table(one))
        parts.append(Section(f"Series {one.number}", body))
    if len(series) > _SHOWN:
        parts.append(f"The other {len(series) - _SHOWN} series are in [standings.json](standings.json).")
    return Report(f"Series of {settings['game']}", parts)
