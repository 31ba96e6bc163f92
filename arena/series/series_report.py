"""Series as tables: the final order, the matches of a series, and agents over many series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellgames.arena.season.season_reports import score_text
from cellgames.utils.report.model import Cell, Part, Report, Section, Table
from cellgames.utils.report.text import escape
from cellgames.utils.statistics import mean_interval

if TYPE_CHECKING:
    from .series import PlayedMatch, Series

_SHOWN = 10  # series whose matches are on the page


def order_table(series: Series, players: Mapping[str, str]) -> Table:
    """Return the players of a series, best first."""
    rows: list[Sequence[Cell]] = [
        (
            place,
            one.name,
            players[one.name],
            f"after match {one.left}" if one.left else "",
            one.won,
            one.given,
            one.received,
            one.tokens,
            one.garnets,
            score_text(one.points),
        )
        for place, one in enumerate(series.order, 1)
    ]
    columns = ("place", "player", "agent", "left", "Tokens won", "given", "received", "held", "garnets", "points")
    return Table("", columns, rows, text=("player", "agent", "left"))


def matches_table(series: Series) -> Table:
    """Return the matches of a series in their order."""
    rows: list[Sequence[Cell]] = [
        (one.end.number, len(one.end.players), _points(one), _tokens(one), _leaving(one), _gifts(one))
        for one in series.matches
    ]
    columns = ("match", "players", "points (garnets before > after)", "Tokens won", "leaves", "gifts")
    return Table("", columns, rows, text=columns[2:])


def match_text(played: PlayedMatch) -> str:
    """Return a match in a line: who won Tokens, who leaves, and gifts."""
    won = _tokens(played) or "nobody"
    gifts = f"; gifts: {_gifts(played)}" if played.gifts else ""
    match = f"Match {played.end.number}, {len(played.end.players)} players"
    leave = "leaves" if len(played.end.ending.leaving) == 1 else "leave"
    return f"{match}: Tokens to {won}; {_leaving(played)} {leave}{gifts}"


def _points(played: PlayedMatch) -> str:
    """Return players by points, with their garnets."""
    end = played.end
    seats = sorted(range(len(end.players)), key=lambda seat: (-end.ending.points[seat], seat))
    return ", ".join(
        f"{end.players[seat]} {score_text(end.ending.points[seat])} ({end.held[seat]} > {end.ending.garnets[seat]})"
        for seat in seats
    )


def _tokens(played: PlayedMatch) -> str:
    won = zip(played.end.players, played.end.ending.tokens, strict=True)
    return ", ".join(f"{player} {tokens}" for player, tokens in won if tokens)


def _leaving(played: PlayedMatch) -> str:
    return ", ".join(played.end.players[seat] for seat in played.end.ending.leaving)


def _gifts(played: PlayedMatch) -> str:
    return ", ".join(f"{gift.giver} {gift.tokens} to {gift.receiver}" for gift in played.gifts)


def agents_table(series: Sequence[Series], players: Mapping[str, str]) -> Table:
    """Return a row for each agent: means over series of its players' means, with 95 % intervals of the place."""
    rows: list[Sequence[Cell]] = []
    for agent in dict.fromkeys(players.values()):
        places, firsts, won, garnets = [], 0, [], []
        for one in series:
            own = [(place, found) for place, found in enumerate(one.order, 1) if players[found.name] == agent]
            places.append(sum(place for place, _ in own) / len(own))
            firsts += any(place == 1 for place, _ in own)
            won.append(sum(found.won for _, found in own) / len(own))
            garnets.append(sum(found.garnets for _, found in own) / len(own))
        low, high = mean_interval(places)
        count, mean = len(series), sum(places) / len(series)
        interval = f"{low:.2f} to {high:.2f}" if count > 1 else ""
        held = list(players.values()).count(agent)
        row = (agent, held, f"{mean:.2f}", interval, firsts, f"{sum(won) / count:.2f}", f"{sum(garnets) / count:.2f}")
        rows.append(row)
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
