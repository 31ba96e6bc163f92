"""Columns of ratings, pairs and seats, tables of them for people and for programs, and sentences, for all games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.stats.tables import Forfeits, Standing, Tables, Tally, Thinking
from cellgames.utils.report.model import Column, Plot, Table, people_table, percent, rounded, row_data
from cellgames.utils.report.plots import Dot, dots, heat_map, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCORES = "The row's score against the column's agent in %, with wins-draws-losses."
"""The content of the cross table of games compared by their outcome."""

AHEAD = "How often the row finished ahead of the column in %, a tie half, with ahead-level-behind."
"""The content of the cross table of games compared by their final scores."""

TALLY: tuple[Column[Tally], ...] = (
    Column("games", lambda t: t.games, "games"),
    Column("wins", lambda t: t.wins, "W"),
    Column("draws", lambda t: t.draws, "D"),
    Column("losses", lambda t: t.losses, "L"),
    Column("score", lambda t: t.score, "score %", "%"),
    Column("score_low", lambda t: t.interval()[0]),
    Column("score_high", lambda t: t.interval()[1]),
    Column("distinct", lambda t: t.distinct, "distinct"),
)
"""Columns of comparisons: games of two, or pairs of seats."""

FINISH: tuple[Column[Tally], ...] = (
    Column("seats", lambda t: t.finish.seats, "seats"),
    Column("first", lambda t: t.finish.first),
    Column("alone_first", lambda t: t.finish.alone),
    Column("mean_place", lambda t: t.finish.place, "mean place", ".2f"),
    Column("first_share", lambda t: t.finish.first_share, "first %", "%"),
    Column("alone_first_share", lambda t: t.finish.alone_share, "alone first %", "%"),
    Column("mean_score", lambda t: t.finish.score, "mean score", ".2f"),
)
"""Columns of finishing places and scores."""


# ---------------------------------------------------------------- columns


def side_columns(tables: Tables) -> tuple[Column[Tally], ...]:
    """Return the columns that tell how a side fared: `FINISH` for games compared by their scores, else `TALLY`."""
    return FINISH if tables.by_score else TALLY


def rating_columns(tables: Tables, more: Sequence[Column[Standing]] = ()) -> list[Column[Standing]]:
    """Return the columns of a ranking: ratings, how the agents fared, more, and what is known of failures and times."""
    found: list[Column[Standing]] = [
        Column("rank", lambda line: line.rank, "rank"),
        Column("agent", lambda line: line.agent, "agent"),
        Column("elo", lambda line: line.elo, "Elo", "+.0f", ".1f"),
        Column("", lambda line: (line.low, line.high), f"{100 * tables.ratings.level:.0f} % interval", "+.0f"),
        Column("elo_low", lambda line: line.low, kept=".1f"),
        Column("elo_high", lambda line: line.high, kept=".1f"),
        *(column.of(lambda line: line.tally) for column in side_columns(tables)),
        *more,
        Column("forfeits", lambda line: _failed(tables, line).games, "forfeits" if tables.forfeits else ""),
    ]
    if tables.thinking:
        times = (
            Column[Thinking]("median_seconds", lambda own: own.median, "median s", ".4f"),
            Column[Thinking]("worst_seconds", lambda own: own.worst, "worst s", ".4f"),
        )
        found += [column.of(lambda line: tables.thinking.get(line.agent)) for column in times]
        found.append(
            Column(
                "lost_on_time",
                lambda line: _failed(tables, line).on_time if line.agent in tables.thinking else None,
                "lost on time",
            )
        )
    return found


def _failed(tables: Tables, line: Standing) -> Forfeits:
    return tables.forfeits.get(line.agent, Forfeits(0, ""))


Pair = tuple[str, str, Tally]
"""An agent, an opponent and the agent's tally against it."""


def pair_columns(counts: Sequence[Column[Tally]] = TALLY) -> list[Column[Pair]]:
    """Return the columns of two agents that met."""
    agents: list[Column[Pair]] = [Column("agent", lambda pair: pair[0]), Column("opponent", lambda pair: pair[1])]
    return [*agents, *(column.of(lambda pair: pair[2]) for column in counts)]


def pairs_met(tables: Tables) -> list[Pair]:
    """Return the pairs that met in the order of the ranking."""
    pairs = ((a, b) for a in tables.agents for b in tables.agents)
    return [(*pair, tables.cross[pair]) for pair in pairs if pair in tables.cross]


def cross_columns(tables: Tables) -> list[Column[str]]:
    """Return the columns of a cross table, whose rows are agents: the score against each, for people with counts."""
    columns: list[Column[str]] = [Column("agent", str, "agent")]
    shown = Column[Tally]("", lambda tally: f"{percent(tally.score)} ({_counts(tally)})", "", "s")
    for opponent in tables.agents:
        met = partial(lambda opponent, agent: tables.cross.get((agent, opponent)), opponent)
        columns += [TALLY[4].of(met, name=opponent, label=""), shown.of(met, label=opponent)]
    return columns


def seat_table(tables: Tables, players: Sequence[str]) -> Table:
    """Return the results by seat: by agent for games compared by their outcome, by seat and agent for others."""
    score, place = TALLY[4], FINISH[3]
    if tables.by_score:
        columns: list[Column[int]] = [Column("", lambda seat: players[seat], "seat")]
        columns += [column.of(lambda seat: tables.seats[seat]) for column in FINISH[1:]]
        for name in tables.agents:
            sat = partial(lambda name, seat: tables.agent_seats.get((name, seat)), name)
            columns.append(place.of(sat, label=f"{name}: place"))
        return people_table(columns, range(len(players)))
    sides: list[tuple[str, Sequence[Tally]]] = [("all", tables.seats)]
    sides += [(a, [tables.agent_seats[a, seat] for seat in range(len(players))]) for a in tables.agents]
    heads: list[Column[tuple[str, Sequence[Tally]]]] = [Column("", lambda side: side[0], "agent")]
    counts = Column[Tally]("", _counts, "W-D-L", "s")
    for seat, player in enumerate(players):
        there = partial(lambda seat, side: side[1][seat], seat)
        heads += [score.of(there, label=f"as {player}, score %"), counts.of(there)]
    return people_table(heads, sides)


def _counts(tally: Tally) -> str:
    """Return wins, draws and losses such as 3-0-1."""
    return f"{tally.wins}-{tally.draws}-{tally.losses}"


def seats_line(tables: Tables, players: Sequence[str], *, simultaneous: bool = False) -> str:
    """Return a sentence on the score of the first seat; where all act at once, nobody begins."""
    low, high = tables.seats[0].interval()
    return (
        f"{players[0].capitalize()}{'' if simultaneous else ', who begins,'} scores {percent(tables.seats[0].score)} % "
        f"over all games (95 % interval {percent(low)} to {percent(high)})."
    )


def ratings_plot(tables: Tables) -> Plot:
    """Return a plot of the ratings with their intervals."""

    def draw(figure: Figure) -> None:
        rated = tables.ratings
        rows = [
            Dot(line.agent, line.elo, line.elo if line.low is None else line.low, high, note=f"{line.elo:+.0f}")
            for line in tables.standings
            for high in [line.elo if line.high is None else line.high]
        ]
        zero = "mean of all" if rated.anchor is None else shorten(rated.anchor, 34)
        axis = f"Elo ({zero} = 0), bars: {100 * rated.level:.0f} % interval"
        dots(figure, "Ratings", rows, axis, "Elo", shares=False)

    return Plot("ratings", "", draw, "Ratings with intervals")


def tables_data(tables: Tables, players: Sequence[str], columns: Sequence[Column[Standing]]) -> dict[str, Any]:
    """Return all numbers as JSON: of the ratings, which have these columns, of pairs and of seats."""
    sides, rated = side_columns(tables), tables.ratings
    places = zip(TALLY[1:4], ("ahead", "level", "behind"), strict=True)
    pairs = pair_columns([column.but(name=name) for column, name in places] if tables.by_score else TALLY)

    def seats(agent: str) -> dict[str, Any]:
        sat = ((player, tables.agent_seats.get((agent, seat))) for seat, player in enumerate(players))
        return {player: row_data(sides, tally) for player, tally in sat if tally is not None}

    return {
        "games": tables.games,
        "distinct": tables.distinct,
        "level": rated.level,
        "anchor": rated.anchor,
        "tie": rounded(rated.tie),
        "components": [list(group) for group in rated.components],
        "agents": [
            {**row_data(columns, line), "seats_taken" if tables.by_score else "seats": seats(line.agent)}
            for line in tables.standings
        ],
        "pairs": [row_data(pairs, pair) for pair in pairs_met(tables)],
        "seats": {player: row_data(sides, tally) for player, tally in zip(players, tables.seats, strict=True)},
    }


# ---------------------------------------------------------------- sentences


def notes(tables: Tables) -> list[str]:
    """Return notes for readers of the ratings, a sentence or two each."""
    rated, seats = tables.ratings, len(tables.seats)
    zero = "the mean of all agents is 0" if rated.anchor is None else f"{rated.anchor} is 0"
    scale = f"400 Elo are odds of ten to one; {zero}."
    if tables.by_score:
        found = [
            f"{scale} The intervals come from resampling games, since the places of a game depend on each other.",
            "Places are those of the final scores; equal scores share the mean of their places. The mean over all "
            f"seats is {(seats + 1) / 2:g}.",
        ]
        several = "Agents have several seats in a game; how their own seats finish against each other is not rated."
        found += [several] * (len(tables.agents) < seats)
        ends = "finished ahead of all others in every game", "finished behind all others in every game"
    else:
        why = "since the two games of an opening are not independent"
        found = [f"{scale} The intervals come from resampling openings, {why}."]
        ends = "won every game", "lost every game"
    for share, end, word in zip((1, 0), ends, ("better", "worse"), strict=True):
        if names := [line.agent for line in tables.standings if line.tally.score == share]:
            found.append(
                f"{' and '.join(names)} {end}: these games do not show how much {word} it is, and its interval "
                "depends on the prior."
            )
    if not rated.connected:
        groups = " | ".join(", ".join(group) for group in rated.components)
        found.append(f"No decided or drawn games link these groups, whose ratings do not compare: {groups}.")
    found += forfeit_notes(tables.forfeits, several=tables.by_score and seats > 2, void=tables.void)
    if tables.thinking:
        found.append(
            "Agents had clocks, and seconds are those of their moves: the same command may give other games on another "
            "machine or at another time."
        )
    if 2 * tables.distinct < tables.games:
        found.append(f"Only {tables.distinct} of {tables.games} games differ: longer openings would tell more.")
    return found


def forfeit_notes(forfeits: Mapping[str, Forfeits], *, several: bool = False, void: bool = False) -> list[str]:
    """Return sentences on forfeits.

    Args:
        forfeits: By agent.
        several: The games have more than two seats.
        void: Games in which an agent failed count for nothing.
    """
    if not forfeits:
        return []
    found, rule = [], "A forfeited game is a loss, in the ratings too."
    if several:
        rule = "A forfeited game stops; who failed is behind all others, who are not compared with each other."
    if void:
        rule = "A game in which an agent failed counts for nothing; who resigned or ran out of time lost."
    for agent, own in forfeits.items():
        games = "one game" if own.games == 1 else f"{own.games} games"
        if own.on_time == own.games:
            found.append(f"{agent} lost {games} on time: {own.reason.removeprefix(OUT_OF_TIME)}")
        elif own.kinds.get("resignation", 0) == own.games:
            found.append(f"{agent} resigned {games}.")
        else:
            counted = f" ({_kinds(own.kinds)})" if len(own.kinds) > 1 else ""
            others = ""
            if own.failures and not several and own.others:
                ended = _counted(sorted(own.others.items(), reverse=True))
                others = f"; the games without a failure: {ended}"
            sat = f" of {own.sat}" if own.sat else ""
            found.append(f"{agent} forfeited {games}{sat}{counted}: {own.reason}{others}")
    return [*found, rule]


def failure_headline(forfeits: Mapping[str, Forfeits]) -> str:
    """Return a sentence on agents that failed in more than a tenth of their games, "" if none did."""
    many = [
        f"{agent} failed in {own.failures} of its {own.sat} games ({_kinds(own.kinds)})"
        for agent, own in forfeits.items()
        if 10 * own.failures > own.sat > 0
    ]
    return f"These scores tell of failures more than of play: {'; '.join(many)}." if many else ""


def _kinds(kinds: Mapping[str, int]) -> str:
    """Return counts such as "3 invalid answers, 2 crashes", the most frequent kind first."""
    return _counted(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def _counted(numbers: Iterable[tuple[str, int]]) -> str:
    plurals = {"crash": "crashes", "loss": "losses", "loss on time": "losses on time"}
    return ", ".join(f"{count} {kind if count == 1 else plurals.get(kind, f'{kind}s')}" for kind, count in numbers)


def thinking_notes(thinking: Mapping[str, Thinking]) -> list[str]:
    """Return a sentence on the time of each agent's moves, for games with clocks."""
    return [
        f"{agent} thought for {own.median:.4f} s a move (the median), {own.worst:.4f} s at most."
        for agent, own in thinking.items()
    ]


def draw_cross_table(figure: Figure, tables: Tables) -> None:
    """Draw the cross table as a heat map, best agents first."""
    title, counts = "Score of the row against the column", "wins-draws-losses"
    if tables.by_score:
        title, counts = "Row finishes ahead of column", "ahead-level-behind"
    met = [[tables.cross.get((a, b)) for b in tables.agents] for a in tables.agents]
    scores = [[math.nan if tally is None else tally.score for tally in row] for row in met]
    below = [["" if tally is None else _counts(tally) for tally in row] for row in met]
    heat_map(figure, tables.agents, scores, below, title, counts)
