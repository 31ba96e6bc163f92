"""One agent against others: matches, or games at shared tables, and their results as a table.

Letters: `P` players.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any

from cellgames.agents.base import AnyAgent
from cellgames.agents.playouts import has_compound_turns
from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.ratings import comparisons
from cellgames.arena.stats.tables import distinct, failed, tally
from cellgames.envs.core import Game
from cellgames.envs.registry import as_game
from cellgames.utils.report.model import Column, Table, people_table
from cellgames.utils.statistics import mean_interval

from .match import GamePlayer, batch_of, both_seats, seatings, table_batches
from .match_options import FreeForAllOptions, MatchOptions
from .tournament import Stage, Tournament, all_games

Row = Mapping[str, Any]
"""A line of the table: numbers by column, shares from 0 to 1, NaN where there is nothing to tell."""


def play_evaluation(
    game: Game | str,
    agents: Mapping[str, AnyAgent],
    options: MatchOptions | None = None,
    *,
    progress: bool = False,
    keep: Callable[[Sequence[Record]], None] = lambda records: None,
    done: Sequence[Record] = (),
) -> list[Record]:
    """Play games of agents with each other.

    Games for two are a match of two agents: random openings, each in both seats. In larger ones, and with
    `FreeForAllOptions`, the agents take turns on all seats, equally often each.

    Args:
        game: the rules, or their id.
        agents: by name; two of them for a match.
        options: None for the defaults. In larger games no move is forced, but by `FreeForAllOptions`.
        progress: True to report on standard error.
        keep: gets each batch of games as it ends, such as `store.feeding` gives it.
        done: games of the first batches, whole ones, which are not played again.
    """
    game, options, found = as_game(game), options or MatchOptions(), list(done)
    names, seats = sorted(agents), game.info.num_players
    if seats == 2 and not isinstance(options, FreeForAllOptions):
        batches = [batch_of(names, both_seats(names[0], names[1], openings)) for openings in options.chunks()]
    else:
        if not isinstance(options, FreeForAllOptions):
            common = {name: getattr(options, name) for name in ("games", "seed", "clock", "move_time", "policies")}
            options = FreeForAllOptions(**common)
        batches = table_batches(names, seatings(len(names), seats, options.games, options.seed), options)
    there = len(done)
    while batches and there >= len(batches[0].games):
        there -= len(batches.pop(0).games)
    games = Tournament(GamePlayer(game, agents, options), keep=keep, progress=progress)
    games.run(all_games([Stage(batches, " against ".join(agents))] if batches else [], found))
    return found


def opening_plies(game: Game) -> int:
    """Return the number of random moves before the agents take over, unless the caller asks for another.

    It is 0 where all act at once, where dice make games differ, and where turns are several actions: chance makes no
    turns there.
    """
    many = game.info.simultaneous or game.info.stochastic or has_compound_turns(game)
    return 0 if many else MatchOptions.opening_plies


def play_some(
    game: Game,
    agents: Mapping[str, AnyAgent],
    games: int,
    *,
    seed: int = 0,
    plies: int | None = None,
    shown: bool = False,
) -> list[Record]:
    """Return games of agents for an analysis; one agent alone plays itself.

    In a game for two each pair plays a match. In larger games, and alone, the agents take turns on all seats.

    Args:
        game: the game with its parameters.
        agents: one or more agents by name.
        games: games of each pair in a game for two, an even number; else of all agents.
        seed: seed that all random draws follow from.
        plies: random moves before the agents take over; None for `opening_plies`.
        shown: True to report progress on standard error.

    Raises:
        ValueError: a number of games that cannot be played.
    """
    in_pairs = game.info.num_players == 2 and len(agents) > 1
    kind = MatchOptions if in_pairs else FreeForAllOptions
    options = kind(games=games, seed=seed, opening_plies=opening_plies(game) if plies is None else plies)
    groups = combinations(sorted(agents), 2) if in_pairs else [tuple(agents)]
    chosen = ({name: agents[name] for name in group} for group in groups)
    return [record for players in chosen for record in play_evaluation(game, players, options, progress=shown)]


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
