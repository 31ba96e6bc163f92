"""Ratings, pairs, seats, Nash averages and rings as columns, as tables for people and programs, and in sentences.

They make the report of a round robin or of free-for-all games. Its files hold nothing but what follows from the games,
so that equal games give equal bytes: no dates, no durations, fixed order, rounded numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.payoffs import Cycle, NashAverage, Payoffs
from cellgames.arena.stats.tables import Forfeits, Standing, Tables, Tally, Thinking
from cellgames.envs.registry import setting_title
from cellgames.utils.report.model import (
    Column,
    Part,
    Plot,
    Report,
    Section,
    Table,
    csv_table,
    escape,
    people_table,
    percent,
    rounded,
    row_data,
)
from cellgames.utils.report.plots import Dot, dots, heat_map, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 8  # rings of agents in the text

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
    Column("seats", lambda t: t.seats, "seats"),
    Column("first", lambda t: t.first),
    Column("alone_first", lambda t: t.alone),
    Column("mean_place", lambda t: t.place, "mean place", ".2f"),
    Column("first_share", lambda t: t.first / t.seats if t.seats else None, "first %", "%"),
    Column("alone_first_share", lambda t: t.alone / t.seats if t.seats else None, "alone first %", "%"),
    Column("mean_score", lambda t: t.points, "mean score", ".2f"),
)
"""Columns of finishing places and scores."""


# ---------------------------------------------------------------- columns


def side_columns(tables: Tables) -> tuple[Column[Tally], ...]:
    """Return the columns that tell how a side fared: `FINISH` for games compared by their scores, else `TALLY`."""
    return FINISH if tables.by_score else TALLY


def rating_columns(tables: Tables, average: NashAverage | None = None) -> list[Column[Standing]]:
    """Return the columns of a ranking: ratings, how the agents fared, Nash averaging, failures and times."""
    found: list[Column[Standing]] = [
        Column("rank", lambda line: line.rank, "rank"),
        Column("agent", lambda line: line.agent, "agent"),
        Column("elo", lambda line: line.elo, "Elo", "+.0f", ".1f"),
        Column("", lambda line: (line.low, line.high), f"{100 * tables.ratings.level:.0f} % interval", "+.0f"),
        Column("elo_low", lambda line: line.low, kept=".1f"),
        Column("elo_high", lambda line: line.high, kept=".1f"),
        *(column.of(lambda line: line.tally) for column in side_columns(tables)),
    ]
    if average is not None:
        values = zip(average.agents, average.strategy.tolist(), average.rating.tolist(), strict=True)
        nash = {name: (math.nan if math.isnan(rating) else share, rating) for name, share, rating in values}
        found += [
            Column("nash", lambda line: nash[line.agent][0], "Nash %", "%"),
            Column("nash_rating", lambda line: nash[line.agent][1]),
        ]
    failed = {agent: tables.forfeits.get(agent, Forfeits(0, "")) for agent in tables.agents}
    found.append(Column("forfeits", lambda line: failed[line.agent].games, "forfeits" if tables.forfeits else ""))
    if tables.thinking:
        times = (
            Column[Thinking]("median_seconds", lambda own: own.median, "median s", ".4f"),
            Column[Thinking]("worst_seconds", lambda own: own.worst, "worst s", ".4f"),
        )
        late = Column[Forfeits]("lost_on_time", lambda own: own.on_time, "lost on time")
        found += [column.of(lambda line: tables.thinking.get(line.agent)) for column in times]
        found.append(late.of(lambda line: failed[line.agent] if line.agent in tables.thinking else None))
    return found


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


def seat_tallies(tables: Tables, players: Sequence[str]) -> dict[tuple[str | None, str], Tally]:
    """Return the tallies by agent and seat: those of all (None) first, then those of each agent, the best first."""
    found: dict[tuple[str | None, str], Tally] = {(None, players[seat]): own for seat, own in enumerate(tables.seats)}
    for name in tables.agents:
        own = (((name, player), tables.agent_seats.get((name, seat))) for seat, player in enumerate(players))
        found.update((side, tally) for side, tally in own if tally is not None)
    return found


def seat_table(tables: Tables, players: Sequence[str]) -> Table:
    """Return the results by seat: by agent for games compared by their outcome, by seat and agent for others."""
    sat, score, place = seat_tallies(tables, players), TALLY[4], FINISH[3]
    if tables.by_score:
        by_seat: list[Column[str]] = [Column("", str, "seat")]
        by_seat += [column.of(lambda player: sat[None, player]) for column in FINISH[1:]]
        for name in tables.agents:
            there = partial(lambda name, player: sat.get((name, player)), name)
            by_seat.append(place.of(there, label=f"{name}: place"))
        return people_table(by_seat, players)
    by_agent: list[Column[str | None]] = [Column("", lambda name: name or "all", "agent")]
    counts = Column[Tally]("", _counts, "W-D-L", "s")
    for player in players:
        own = partial(lambda player, name: sat[name, player], player)
        by_agent += [score.of(own, label=f"as {player}, score %"), counts.of(own)]
    return people_table(by_agent, (None, *tables.agents))


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


def rated_report(
    title: str,
    lead: Sequence[str],
    tables: Tables,
    players: Sequence[str],
    columns: Sequence[Column[Standing]],
    notes: Iterable[str],
    *,
    simultaneous: bool,
    subject: str,
) -> Report:
    """Return a report on ratings, which have these columns and notes, on pairs, payoffs and seats."""
    by_score, cross = tables.by_score, cross_columns(tables)
    heading = "Who finishes ahead of whom" if by_score else "Cross table"
    line = "" if by_score else escape(seats_line(tables, players, simultaneous=simultaneous))
    plot = Plot("cross_table", "", partial(draw_cross_table, tables=tables), heading)
    parts: list[Part] = [
        *lead,
        Section("Ratings", (people_table(columns, tables.standings), *map(escape, notes), ratings_plot(tables))),
        Section(heading, (AHEAD if by_score else SCORES, people_table(cross, tables.agents), plot)),
        *([payoff_section(tables.payoffs)] if len(tables.payoffs.agents) > 2 else []),
        Section("Seats", (line, seat_table(tables, players))),
    ]
    agent, seat, *counts = pair_columns(side_columns(tables))
    sat = [(name or "all", player, tally) for (name, player), tally in seat_tallies(tables, players).items()]
    files = [
        csv_table("ratings", columns, tables.standings),
        csv_table("cross_table", cross, tables.agents),
        *([] if by_score else [csv_table("pairs", pair_columns(), pairs_met(tables))]),
        csv_table("seats", [agent, replace(seat, name="seat"), *counts], sat),
    ]
    return Report(title, parts, more_tables=files, subject=subject)


def tables_data(tables: Tables, players: Sequence[str], columns: Sequence[Column[Standing]]) -> dict[str, Any]:
    """Return all numbers as JSON: of the ratings, which have these columns, of pairs and of seats."""
    rated, own = tables.ratings, "seats_taken" if tables.by_score else "seats"
    places = zip(TALLY[1:4], ("ahead", "level", "behind"), strict=True)
    pairs = pair_columns([replace(column, name=name) for column, name in places] if tables.by_score else TALLY)
    seats: dict[str | None, dict[str, Any]] = {name: {} for name in (None, *tables.agents)}
    for (name, player), tally in seat_tallies(tables, players).items():
        seats[name][player] = row_data(side_columns(tables), tally)
    return {
        "games": tables.games,
        "distinct": tables.distinct,
        "level": rated.level,
        "anchor": rated.anchor,
        "tie": rounded(rated.tie),
        "components": [list(group) for group in rated.components],
        "agents": [{**row_data(columns, line), own: seats[line.agent]} for line in tables.standings],
        "pairs": [row_data(pairs, pair) for pair in pairs_met(tables)],
        "seats": seats[None],
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
            sat = f" of {own.sat}" if own.sat else ""
            counted = f" ({_kinds(own.kinds)})" if len(own.kinds) > 1 else ""
            others = _counted(sorted(own.others.items(), reverse=True)) if own.failures and not several else ""
            ended = f"; the games without a failure: {others}" if others else ""
            found.append(f"{agent} forfeited {games}{sat}{counted}: {own.reason}{ended}")
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


# ---------------------------------------------------------------- Nash averaging and rings of agents


def payoff_section(payoffs: Payoffs) -> Section:
    """Return Nash averaging (with SciPy) and cycles in short, for the report of a run."""
    try:
        parts = _nash_parts(payoffs.average, payoffs.level)
    except ImportError as error:
        parts = [escape(f"No Nash averaging: {error}.")]
    return Section("Nash averaging and cycles", [*parts, *_cycles_text(payoffs)])


def payoff_data(payoffs: Payoffs) -> dict[str, Any]:
    """Return Nash averaging, None without SciPy, and cycles as JSON."""
    try:
        average = payoffs.average
    except ImportError:
        return {"nash": None, "cycles": cycles_data(payoffs.rings)}
    shares = [row_data(_nash_columns(average, payoffs.level), k) for k in range(len(average.agents))]
    return {"nash": shares, "left_out": list(average.left_out), "cycles": cycles_data(payoffs.rings)}


def _nash_columns(average: NashAverage, level: float) -> list[Column[int]]:
    """Return the columns of Nash averaging, whose rows are places of agents."""
    return [
        Column("agent", lambda k: average.agents[k], "agent"),
        Column("share", average.strategy.item, "Nash share %", "%"),
        Column("", lambda k: (average.low.item(k), average.high.item(k)), f"{100 * level:.0f} % interval", "%"),
        Column("share_low", average.low.item),
        Column("share_high", average.high.item),
        Column("in_mixture", average.support.item),
        Column("rating", average.rating.item, "rating", "+.3f"),
    ]


def cycles_data(cycles: Iterable[Cycle]) -> list[dict[str, Any]]:
    """Return cycles as JSON."""
    return [{"agents": list(cycle.agents), "scores": list(map(rounded, cycle.scores))} for cycle in cycles]


def _nash_parts(average: NashAverage, level: float) -> list[Part]:
    """Return sentences on the agents in the mixture, and all that have met all others: by share, rating and name."""
    share, rating, support = (values.tolist() for values in (average.strategy, average.rating, average.support))
    met = [k for k, value in enumerate(rating) if not np.isnan(value)]
    met.sort(key=lambda k: (-round(share[k], 6), -round(rating[k], 6), k))
    inside = [f"{average.agents[k]} {100 * share[k]:.1f} %" for k in met if share[k] >= 0.0005]
    close = [
        f"{name} {100 * often:.0f} %"
        for name, often in zip(average.agents, support, strict=True)
        if 0.025 < often < 0.975
    ]
    told = (
        ("The mixture", inside),
        ("Uncertain members, and how often they are in it when scores are drawn again from their errors", close),
        ("Left out, since they have not met all others", average.left_out),
    )
    return [
        "*Nash averaging*: the mixture of agents that none of them beats, of all such mixtures the one of greatest "
        "entropy; copies of an agent share its part and change nothing else. The Nash rating is the score against the "
        "mixture above or below one half: 0 for those in it.",
        *(escape(f"{text}: {', '.join(agents)}.") for text, agents in told if agents),
        people_table(_nash_columns(average, level), met),
    ]


def _cycles_text(payoffs: Payoffs) -> list[str]:
    """Return the rings in sentences, Markdown."""
    found, level = payoffs.rings, f"{100 * payoffs.level:.0f} % interval"
    if not found:
        return [
            f"No ring: nowhere does a beat b, b beat c and c beat a with the {level} of every score above one half."
        ]
    count = "One ring" if len(found) == 1 else f"{len(found)} rings"
    return [
        f"{count} in which each beats the next, with the {level} of every score above one half. Rings that an arrow "
        "across them cuts short are left out; the ring with the best weakest link comes first.",
        "\n".join(f"- {escape(str(cycle))}" for cycle in found[:_SHOWN]),
        *([f"... and {len(found) - _SHOWN} more."] if len(found) > _SHOWN else []),
    ]


# ---------------------------------------------------------------- the report of a run


REPORT_FILES = (
    *("ratings.json", "ratings.csv", "cross_table.csv", "pairs.csv", "seats.csv", "order.csv", "report.md"),
    *("ratings.png", "ratings.svg", "cross_table.png", "cross_table.svg"),
)
"""Files that the report of a run may have."""


def run_report(
    tables: Tables,
    run: Mapping[str, Any],
    players: Sequence[str],
    *,
    simultaneous: bool = False,
    order: Sequence[Adjacency] | None = None,
    costs: Sequence[str] = (),
) -> Report:
    """Return the report of a run.

    Args:
        tables: What follows from the games.
        run: The settings of the run, as in its run.json.
        players: Names of the seats.
        simultaneous: Whether all players act at once, as `GameInfo` says.
        order: Of a run until the order is certain, how certain it is, from the top; None for other runs.
        costs: Sentences on what language models took.
    """
    title = f"{'Free-for-all' if 'games' in run else 'Round robin'}: {run['game']}"
    settings = f"{_settings(run, len(players))} {tables.distinct} of {tables.games} games differ."
    lead, told = [escape(failure_headline(tables.forfeits)), settings], notes(tables)
    columns, subject = rating_columns(tables), setting_title(run["game"], run["parameters"])
    report = rated_report(
        title, lead, tables, players, columns, [*told, *costs], simultaneous=simultaneous, subject=subject
    )
    games = (
        "`games.jsonl` holds every game. `cellgames replay games.jsonl` plays them again and compares the results; "
        "`cellgames replay games.jsonl --record 1 --show` shows one."
    )
    parts, files = [*report.parts, Section("The games", (games,))], [*report.more_tables]
    if order is not None:
        told_order = (escape(order_text(order, tables.games)), people_table(ORDER, order), _COLUMNS_OF_ORDER)
        parts.append(Section("Is the order certain?", told_order))
        files.append(csv_table("order", ORDER, order))
    numbers = {**tables_data(tables, players, columns), "payoffs": payoff_data(tables.payoffs), "notes": told}
    data = {"run": dict(run), **numbers}
    return replace(report, parts=parts, data=data, more_tables=files, data_file="ratings.json")


def _settings(run: Mapping[str, Any], seats: int) -> str:
    """Return the settings of a run as a sentence."""
    plies, parameters = run["opening_plies"], ", ".join(f"{name}={value}" for name, value in run["parameters"].items())
    if "games" in run:
        openings = f", each after a random opening of {plies} plies" if plies else ""
        played = f"{run['games']} games of {seats} seats{openings}"
    else:
        games = run["games_per_pair"]
        openings = f"random openings of {plies} plies, each played in both seats"
        played = f"{games} games a pair from {games // 2} {openings}"
        if run.get("until_certain"):
            ended = f"until the order was certain or {run['budget']} were played"
            played = f"{games} games a pair at first, then more {ended}, from {openings}"
    return f"{parameters + '; ' if parameters else ''}{played}; seed {run['seed']}; cellgames {run['version']}."


# ---------------------------------------------------------------- the order


ORDER: tuple[Column[Adjacency], ...] = (
    Column("better", lambda pair: pair.better, "agent"),
    Column("worse", lambda pair: pair.worse, "ahead of"),
    Column("elo_apart", lambda pair: pair.elo, "Elo apart", ".0f", ".1f"),
    Column("games", lambda pair: pair.games, "games"),
    Column("z", lambda pair: pair.z, "z", ".1f"),
    Column("z_needed", lambda pair: pair.needed, "needed", ".1f"),
    Column("certain", lambda pair: int(pair.certain)),
    Column("", lambda pair: "certain" if pair.certain else "undecided", "order"),
)
"""Columns of every two neighbours in the ranking."""


_COLUMNS_OF_ORDER = (
    "`z` is the lead in standard errors, `needed` what it must be to be certain however often one looks; `games` are "
    "those of the two, and games with others count, too."
)


def order_text(order: Sequence[Adjacency], games: int) -> str:
    """Return sentences that say between which agents the order is not certain after this number of games."""
    undecided = [f"{pair.better} and {pair.worse}" for pair in order if not pair.certain]
    if not undecided:
        return f"The order of all neighbours in the ranking is certain at 95 % after {games} games."
    return (
        f"After {games} games the order is undecided between {'; '.join(undecided)}. A larger budget may decide it, if "
        "they differ."
    )
