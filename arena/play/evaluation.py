"""One agent against others: matches, or games at shared tables, and their results as a table.

Letters: `P` players.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.stats.comparisons import comparisons
from cellgames.arena.stats.tables import distinct, failed, make_tables, tally
from cellgames.envs.core import Game
from cellgames.utils.report.columns import Column, people_table
from cellgames.utils.report.model import Table
from cellgames.utils.statistics import mean_interval

from . import match
from .chunks import GamePlayer, batch_of
from .free_for_all import MATCH
from .match_options import FreeForAllOptions, MatchOptions
from .tournament import Stage, Tournament, all_games

Row = Mapping[str, Any]
"""A line of the table: numbers by column, shares from 0 to 1, NaN where there is nothing to tell."""


def play_evaluation(
    game: Game,
    agents: Mapping[str, AnyAgent],
    options: MatchOptions | None = None,
    *,
    progress: bool = False,
    keep: Callable[[Sequence[Record]], None] = lambda records: None,
    done: Sequence[Record] = (),
) -> list[Record]:
    """Play the games of two agents.

    Games for two are a match: random openings, each in both seats. In larger ones the agents take turns on all seats,
    half of them each, and no move is forced.

    Args:
        game: the rules.
        agents: two, by name.
        options: None for the defaults; of a larger game, games and seed alone count.
        progress: True to report on standard error.
        keep: gets each batch of games as it ends, such as `feed.feeding` gives it.
        done: games of the first batches, whole ones, which are not played again.
    """
    options, found = options or MatchOptions(), list(done)
    first, second = agents
    if game.info.num_players == 2:
        batches = [batch_of(sorted(agents), match.both_seats(first, second, opening)) for opening in options.chunks()]
    else:
        common = {name: getattr(options, name) for name in ("games", "seed", "clock", "move_time", "policies")}
        options = FreeForAllOptions(**common)
        tables = match.seatings(2, game.info.num_players, options.games, options.seed)
        batches = [
            batch_of(sorted(agents), [Pairing(MATCH, number, tables[number]) for number in numbers])
            for numbers in options.chunks()
        ]
    there = len(done)
    for batch in list(batches):
        if there >= len(batch.games):
            there -= len(batch.games)
            batches.remove(batch)
    games = Tournament(GamePlayer(game, agents, options), keep=keep, progress=progress)
    games.run(all_games([Stage(batches, " against ".join(agents))] if batches else [], found))
    return found


def evaluate(game: Game, records: Sequence[Record], agent: str, *, void: bool = False) -> Row:
    """Return the score of one of the agents in the games of `play_evaluation`, and what goes with it.

    Args:
        game: the rules.
        records: the games.
        agent: its name.
        void: True to leave out games in which an agent failed.
    """
    if void:
        records = [record for record in records if not failed(record)]
    return _for_two(game, records, agent) if game.info.num_players == 2 else _for_more(records, agent)


def ratings_of(game: Game, records: Sequence[Record], anchor: str) -> list[tuple[str, float, float, float]]:
    """Return Elo ratings with their 95 % intervals, best first: (agent, elo, low, high); `anchor` has 0."""
    standings = make_tables(records, anchor=anchor).standings
    nan = math.nan
    return [(s.agent, s.elo, nan if s.low is None else s.low, nan if s.high is None else s.high) for s in standings]


def _for_two(game: Game, records: Sequence[Record], agent: str) -> dict[str, Any]:
    all_games = tally(records, agent)
    low, high = all_games.interval()
    both = sum(record.result.outcome == ("loss", "loss") for record in records)
    decided = all_games.wins + all_games.losses - both
    seats = {
        f"as {player}": tally([record for record in records if record.agents[seat] == agent], agent).score
        for seat, player in enumerate(game.info.players)
    }
    return {
        "score": all_games.score,
        "low": low,
        "high": high,
        "wins": all_games.wins,
        "draws": all_games.draws,
        "losses": all_games.losses - both,
        "both lose": both,
        "of decided": all_games.wins / decided if decided else math.nan,
        **seats,
        "distinct": all_games.distinct,
    }


def _for_more(records: Sequence[Record], agent: str) -> dict[str, Any]:
    shares: list[float] = []
    scores: list[float] = []
    others: list[float] = []
    for record in records:
        found = (result for result in comparisons(record, 0) if agent in result[:2])
        ends = [("first" if result.first == agent else "second", result.outcome) for result in found]
        if ends:  # all seats may have failed at once
            shares.append(statistics.fmean((outcome == seat) + (outcome == "draw") / 2 for seat, outcome in ends))
        for name, score in zip(record.agents, record.result.scores, strict=True):
            (scores if name == agent else others).append(score)
    mean = statistics.fmean(shares) if shares else math.nan
    low, high = mean_interval(shares)  # games are independent, pairs are not
    return {
        "score": mean,
        "low": max(low, 0.0),
        "high": min(high, 1.0),
        "points": statistics.fmean(scores) if scores else math.nan,
        "their points": statistics.fmean(others) if others else math.nan,
        "distinct": distinct(records),
    }


_COUNTS = ("wins", "draws", "losses", "both lose", "distinct")
_POINTS = ("points", "their points")


def table(rows: Sequence[Row]) -> Table:
    """Return a row for each opponent, for people."""

    def column(name: str) -> Column[Row]:
        plain = name in ("against", *_COUNTS)
        return Column(name, itemgetter(name), name, "" if plain else ".2f" if name in _POINTS else "%")

    return people_table(map(column, rows[0]), rows)


def note(game: Game) -> str:
    """Return an explanation of the columns."""
    if game.info.num_players == 2:
        return (
            "score: a win 1, a draw 1/2, with its 95 % interval from low to high; of decided: wins among the games "
            "with one winner;\ndistinct: how many games differ."
        )
    return (
        "score: pairs of seats in which the agent finished ahead, a tie half, with its 95 % interval from low to high "
        "(over games);\npoints: mean final score; distinct: how many games differ."
    )
