"""Ratings and cross tables for people and for programs, and sentences on them, for the reports of all games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cellgames.agents.time_control import OUT_OF_TIME
from cellgames.arena.stats.tables import Forfeits, Standing, Tables, Tally, Thinking
from cellgames.utils.report.model import Cell, Plot, Table
from cellgames.utils.report.text import percent, rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AHEAD",
    "SCORES",
    "TALLY",
    "clock_data",
    "cross_csv",
    "cross_table",
    "finish_texts",
    "forfeit_notes",
    "forfeited_games",
    "notes",
    "pairs_csv",
    "pairs_data",
    "ratings_csv",
    "ratings_data",
    "ratings_plot",
    "seat_table",
    "seats_line",
    "standing_data",
    "standings_table",
    "tally_cells",
    "tally_data",
    "thinking_cells",
    "thinking_notes",
    "win_draw_loss",
]

SCORES = "The row's score against the column's agent in %, with wins-draws-losses."
"""The content of the cross table of games compared by their outcome."""

AHEAD = "How often the row finished ahead of the column in %, a tie half, with ahead-level-behind."
"""The content of the cross table of games compared by their final scores."""

TALLY = ("games", "wins", "draws", "losses", "score", "score_low", "score_high", "distinct")
"""Columns of `tally_cells`."""


# ---------------------------------------------------------------- tables for people


def standings_table(tables: Tables, columns: Sequence[str], cells: Callable[[Standing], Sequence[Cell]]) -> Table:
    """Return ranks and ratings, best first, with more columns and, where there are any, forfeits."""
    interval = f"{100 * tables.ratings.level:.0f} % interval"
    failed = ["forfeits"] if tables.forfeits else []
    timed = ["median s", "worst s", "lost on time"] if tables.thinking else []
    rows: list[Sequence[Cell]] = []
    for line in tables.standings:
        bounds = "" if line.low is None or line.high is None else f"{line.low:+.0f} to {line.high:+.0f}"
        own: list[Cell] = [forfeited_games(tables, line.agent)] if failed else []
        own += thinking_cells(tables, line.agent) if timed else []
        rows.append((line.rank, line.agent, f"{line.elo:+.0f}", bounds, *cells(line), *own))
    return Table("", ("rank", "agent", "Elo", interval, *columns, *failed, *timed), rows, text=("agent",))


def thinking_cells(tables: Tables, agent: str) -> list[Cell]:
    """Return an agent's median and worst seconds a move, and its losses on time; empty cells if it had no clock."""
    found, failed = tables.thinking.get(agent), tables.forfeits.get(agent)
    late = 0 if failed is None else failed.on_time
    return ["", "", ""] if found is None else [f"{found.median:.4f}", f"{found.worst:.4f}", late]


def clock_data(tables: Tables, agent: str) -> dict[str, Any]:
    """Return `thinking_cells` by name, as JSON holds them; empty if the agent had no clock."""
    found = tables.thinking.get(agent)
    if found is None:
        return {}
    late = thinking_cells(tables, agent)[-1]
    return {"median_seconds": rounded(found.median), "worst_seconds": rounded(found.worst), "lost_on_time": late}


def forfeited_games(tables: Tables, agent: str) -> int:
    """Return the number of games that an agent forfeited."""
    return tables.forfeits[agent].games if agent in tables.forfeits else 0


def cross_table(tables: Tables) -> Table:
    """Return the score of each agent against each other in percent, with the three counts."""

    def cell(agent: str, opponent: str) -> Cell:
        met = tables.cross.get((agent, opponent))
        return None if met is None else f"{percent(met.score)} ({win_draw_loss(met)})"

    rows = [(agent, *(cell(agent, opponent) for opponent in tables.agents)) for agent in tables.agents]
    return Table("", ("agent", *tables.agents), rows, text=("agent",))


def seat_table(tables: Tables, players: Sequence[str]) -> Table:
    """Return how the seats fare: by agent for games compared by their outcome, by seat and agent for others."""
    rows: list[Sequence[Cell]] = []
    if tables.by_score:
        for seat, (player, tally) in enumerate(zip(players, tables.seats, strict=True)):
            sat = (tables.agent_seats.get((agent, seat)) for agent in tables.agents)
            own = (None if there is None else finish_texts(there)[0] for there in sat)
            rows.append((player, *finish_texts(tally), *own))
        columns = ("seat", "mean place", "first %", "alone first %", "mean score")
        return Table("", (*columns, *(f"{agent}: place" for agent in tables.agents)), rows, text=("seat",))
    sides = {agent: [tables.agent_seats[agent, seat] for seat in range(len(players))] for agent in tables.agents}
    for name, tallies in [("all", tables.seats), *sides.items()]:
        rows.append((name, *(text for tally in tallies for text in (percent(tally.score), win_draw_loss(tally)))))
    heads = (text for player in players for text in (f"as {player}, score %", "W-D-L"))
    return Table("", ("agent", *heads), rows, text=("agent",))


def win_draw_loss(tally: Tally) -> str:
    """Return wins, draws and losses such as 3-0-1."""
    return f"{tally.wins}-{tally.draws}-{tally.losses}"


def finish_texts(tally: Tally) -> tuple[str, str, str, str]:
    """Return the mean place, the shares of first and of sole first places in percent, and the mean score."""
    finish = tally.finish
    place, score = ("" if mean != mean else f"{mean:.2f}" for mean in (finish.place, finish.score))
    return place, percent(finish.first_share), percent(finish.alone_share), score


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
        from .rating_plots import draw_ratings

        draw_ratings(figure, tables.standings, tables.ratings)

    return Plot("ratings", "", draw, "Ratings with intervals")


# ---------------------------------------------------------------- tables for programs


def ratings_csv(tables: Tables, columns: Sequence[str], cells: Callable[[Standing], Sequence[Cell]]) -> Table:
    """Return the content of ratings.csv: ranks and ratings, best first, with more columns."""

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.1f}"

    rows = [
        (
            *(line.rank, line.agent, *map(number, (line.elo, line.low, line.high)), *cells(line)),
            *(thinking_cells(tables, line.agent) if tables.thinking else ()),
        )
        for line in tables.standings
    ]
    timed = ("median_seconds", "worst_seconds", "lost_on_time") if tables.thinking else ()
    return Table("ratings", ("rank", "agent", "elo", "elo_low", "elo_high", *columns, *timed), rows)


def cross_csv(tables: Tables) -> Table:
    """Return the content of cross_table.csv: the score of each agent against each other."""
    met = tables.cross
    rows = [(a, *(f"{met[a, b].score:.4f}" if (a, b) in met else "" for b in tables.agents)) for a in tables.agents]
    return Table("cross_table", ("agent", *tables.agents), rows)


def pairs_csv(tables: Tables, columns: int = len(TALLY)) -> Table:
    """Return the content of pairs.csv: a row for each agent and opponent, with the first columns of `TALLY`."""
    rows = [(*pair, *tally_cells(tally)[:columns]) for pair, tally in _in_order(tables)]
    return Table("pairs", ("agent", "opponent", *TALLY[:columns]), rows)


def tally_cells(tally: Tally) -> tuple[Cell, ...]:
    """Return the numbers of a tally in the order of `TALLY`."""
    shares = (f"{share:.4f}" for share in (tally.score, *tally.interval()))
    return tally.games, tally.wins, tally.draws, tally.losses, *shares, tally.distinct


# ---------------------------------------------------------------- data


def ratings_data(tables: Tables) -> dict[str, Any]:
    """Return what holds for all games and ratings, as JSON."""
    rated = tables.ratings
    return {
        "games": tables.games,
        "distinct": tables.distinct,
        "level": rated.level,
        "anchor": rated.anchor,
        "tie": rounded(rated.tie),
        "components": [list(group) for group in rated.components],
    }


def standing_data(line: Standing) -> dict[str, Any]:
    """Return an agent and its rating, as JSON."""
    return {
        "rank": line.rank,
        "agent": line.agent,
        "elo": rounded(line.elo),
        "elo_low": rounded(line.low),
        "elo_high": rounded(line.high),
    }


def tally_data(tally: Tally) -> dict[str, Any]:
    """Return a tally as JSON; None where there are no games."""
    counts = (tally.games, tally.wins, tally.draws, tally.losses)
    shares = map(rounded, (tally.score, *tally.interval()))
    return dict(zip(TALLY, (*counts, *shares, tally.distinct), strict=True))


def pairs_data(tables: Tables) -> list[dict[str, Any]]:
    """Return the tally of every pair of agents as JSON, in the order of the ranking."""
    return [{"agent": a, "opponent": b, **tally_data(tally)} for (a, b), tally in _in_order(tables)]


def _in_order(tables: Tables) -> list[tuple[tuple[str, str], Tally]]:
    """Return the pairs that met in the order of the ranking."""
    pairs = ((a, b) for a in tables.agents for b in tables.agents)
    return [(pair, tables.cross[pair]) for pair in pairs if pair in tables.cross]


# ---------------------------------------------------------------- sentences


def notes(tables: Tables) -> list[str]:
    """Return what a reader of the ratings must know, a sentence or two each."""
    rated, seats = tables.ratings, len(tables.seats)
    zero = "the mean of all agents is 0" if rated.anchor is None else f"{rated.anchor} is 0"
    scale = f"400 Elo are odds of ten to one; {zero}."
    if tables.by_score:
        found = [
            f"{scale} The intervals come from resampling games, since the places of a game depend on each other.",
            "Places are those of the final scores; equal scores share the mean of their places. The mean over all "
            f"seats is {(seats + 1) / 2:g}.",
        ]
        if len(tables.agents) < seats:
            found.append(
                "Agents have several seats in a game; how their own seats finish against each other is not rated."
            )
        ends = "finished ahead of all others in every game", "finished behind all others in every game"
    else:
        found = [
            f"{scale} The intervals come from resampling openings, since the two games of an opening are not "
            "independent."
        ]
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
    found += forfeit_notes(tables.forfeits, several=tables.by_score and seats > 2)
    if tables.thinking:
        found.append(
            "Agents had clocks, and seconds are those of their moves: the same command may give other games on another "
            "machine or at another time."
        )
    if 2 * tables.distinct < tables.games:
        found.append(f"Only {tables.distinct} of {tables.games} games differ: longer openings would tell more.")
    return found


def forfeit_notes(forfeits: Mapping[str, Forfeits], *, several: bool = False) -> list[str]:
    """Return sentences on agents that failed; `several` says that the games have more than two seats."""
    if not forfeits:
        return []
    rule = (
        "A forfeited game stops; who failed is behind all others, who are not compared with each other."
        if several
        else "A forfeited game is a loss, in the ratings too."
    )
    found = []
    for agent, own in forfeits.items():
        games = "one game" if own.games == 1 else f"{own.games} games"
        late = f", {own.on_time} of them on time" if 0 < own.on_time < own.games else ""
        if own.on_time == own.games:
            found.append(f"{agent} lost {games} on time: {own.reason.removeprefix(OUT_OF_TIME)}")
        else:
            found.append(f"{agent} forfeited {games}{late}: {own.reason}")
    return [*found, rule]


def thinking_notes(thinking: Mapping[str, Thinking]) -> list[str]:
    """Return a sentence on the time of each agent's moves, for games with clocks."""
    return [
        f"{agent} thought for {own.median:.4f} s a move (the median), {own.worst:.4f} s at most."
        for agent, own in thinking.items()
    ]
