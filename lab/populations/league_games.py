"""The games between the members of a league, round by round, each in a folder of its own.

A round plays each new member against all others. For a coarse correlated equilibrium it plays all tables with a new
member instead. Records are those of all other runs of games (`arena.play.rated_runs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean

from cellgames.arena.play.match import batch_of, both_seats, load_agents, match_id, seatings, table_batches
from cellgames.arena.play.match_options import FreeForAllOptions, RoundRobinOptions
from cellgames.arena.play.rated_runs import FILES, RUN, GamesRun, settings_of
from cellgames.arena.play.tournament import Batch, Stage, all_games
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.records.store import AnyStore
from cellgames.arena.stats.ratings import comparisons
from cellgames.envs.core import Game
from cellgames.lab.populations.meta_solvers import Seating, tables_of
from cellgames.runs.run_folder import RunFolder, RunKind

from .league_options import LeagueOptions

_SHARE = 10  # a table of several members gets one in so many of the games of a pair
_LEAST = 4
_GAMES = RunKind("league", RUN, FILES)


@dataclass(frozen=True)
class RoundGames:
    """The games of a round.

    Attributes:
        options: options of the games.
        plan: batches in the order of the file.
    """

    options: RoundRobinOptions | FreeForAllOptions
    plan: Sequence[Batch[Pairing]]


def plan_round(seats: int, members: Sequence[str], new: Sequence[str], options: LeagueOptions, seed: int) -> RoundGames:
    """Return the games of a round.

    Args:
        seats: seats of the game.
        members: names of all members so far.
        new: names of those that the round has added.
        options: options of the league.
        seed: seed of the games.
    """
    names = sorted(members)
    pairs = [pair for pair in combinations(names, 2) if {*pair} & {*new}]
    plan: list[Batch[Pairing]] = []
    if seats == 2:
        given = RoundRobinOptions(games=options.games, seed=seed, opening_plies=options.opening_plies, gif=False)
        plan += [batch_of(pair, both_seats(*pair, openings)) for pair in pairs for openings in given.chunks()]
        return RoundGames(given, plan)
    if options.solver(seats) == "cce":
        many = FreeForAllOptions(games=max(_LEAST, options.games // _SHARE), seed=seed)
        for table in tables_of(len(names), seats):
            there = tuple(names[member] for member in sorted({*table}))
            if len(there) > 1 and {*there} & {*new}:
                plan += _table_batches(there, [there.index(names[member]) for member in table], many)
        return RoundGames(many, plan)
    many = FreeForAllOptions(games=options.games, seed=seed)
    for pair in pairs:
        plan += table_batches(pair, seatings(2, seats, many.games, seed), many, match_id(*pair))
    return RoundGames(many, plan)


def play_round(
    game: Game,
    agents: Mapping[str, str],
    games: RoundGames,
    folder: Path,
    *,
    store: AnyStore = None,
    workers: Executor | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> tuple[Record, ...]:
    """Play the games of a round that are not in its folder yet, and return all of them.

    Args:
        game: the rules.
        agents: specs of all members so far by name.
        games: by `plan_round`.
        folder: folder of the round's games.
        store: gets the games.
        workers: play them; None for this process.
        warn: gets a line for each thing left out.
    """
    given = games.options
    run = GamesRun(game, agents, given, settings_of(game, agents, given), RunFolder(folder, _GAMES), warn)
    records: list[Record] = []
    planned = {pairing for batch in games.plan for pairing in batch.games}
    players = load_agents(game, agents)
    with run.games(players, store=store, knows=planned.__contains__, workers=workers) as played:
        played.run(all_games([Stage(games.plan)], records))
    return tuple(records)


def _table_batches(names: tuple[str, ...], seats: Sequence[int], options: FreeForAllOptions) -> list[Batch[Pairing]]:
    """Return the games of one table; the members move on by one seat from game to game."""
    match = ", ".join(f"{seats.count(place)} {name}" for place, name in enumerate(names))
    turns = (number % len(seats) for number in range(options.games))
    return table_batches(names, [(*seats[turn:], *seats[:turn]) for turn in turns], options, match)


def table_payoffs(records: Iterable[Record], names: Sequence[str], seats: int) -> dict[Seating, dict[int, float]]:
    """Return the mean payoff of a seat by table and member: the share of the other seats that it beats, a tie half.

    Members at a table of their own have 1/2 there, by symmetry.

    Args:
        records: games of tables with several members.
        names: names of the members, sorted; tables have their numbers.
        seats: seats of the game.
    """
    number = {name: place for place, name in enumerate(names)}
    points: dict[Seating, dict[int, list[float]]] = {}
    for record in records:
        table = tuple(sorted(number[name] for name in record.agents))
        found = points.setdefault(table, {})
        for first, second, _, outcome in comparisons(record, 0):
            one = {"first": 1.0, "second": 0.0, "draw": 0.5, "both_lose": 0.0}[outcome]
            other = 1.0 - one if outcome != "both_lose" else 0.0
            found.setdefault(number[first], []).append(one)
            found.setdefault(number[second], []).append(other)
    full: dict[Seating, dict[int, float]] = {}
    for table in tables_of(len(names), seats):
        if len({*table}) == 1:
            full[table] = {table[0]: 0.5}
        else:  # against other members as played, against copies 1/2
            full[table] = {
                member: (
                    fmean(points.get(table, {}).get(member, [0.5])) * (seats - table.count(member))
                    + 0.5 * (table.count(member) - 1)
                )
                / (seats - 1)
                for member in sorted({*table})
            }
    return full
