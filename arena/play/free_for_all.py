"""Games of any number of seats among any number of agents, in a folder that a killed run leaves ready to be continued.

    run.json          the settings
    games.jsonl       one record a game
    ratings.*, ...    the tables (`free_for_all_reports.FILES`), written when all games are played

Who sits where (`seatings`) is drawn in blocks of as many games as there are agents; in each block every agent has
every seat once. Each game has a seed of its own. More games let a run grow (`chunks`); other agents make another run.

Letters: `P` seats, `K` agents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.arena.defaults import CHUNK, GAMES
from cellgames.arena.records.record_lines import Pairing, Record, plain
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.arena.report.free_for_all_reports import FILES, write_reports
from cellgames.arena.stats.free_for_all_tables import FreeForAllTables, make_tables
from cellgames.cluster.workers import Workers
from cellgames.envs.core import Game
from cellgames.utils.run_folders import PathLike, RunError, opened
from cellgames.utils.version import __version__

from . import match
from .chunks import RECORDS, RUN, Chunk, Key, Settings, play_plan, prepare
from .match import derive, generator, load_agents

__all__ = ["MATCH", "FreeForAll", "RunError", "Schedule", "free_for_all", "seatings"]

MATCH = "free-for-all"
"""The match that all games of a run belong to, in their records."""


@dataclass(frozen=True)
class Schedule(match.Schedule):
    """What is played in a run; every game has an opening of its own, so `games` may be odd."""

    per_opening: ClassVar[int] = 1


@dataclass(frozen=True)
class FreeForAll:
    """A finished run.

    out:     its folder.
    tables:  what follows from the games.
    records: all games, in their order.
    played:  how many of them were played by this call.
    files:   all files of the folder that belong to the run.
    """

    out: Path
    tables: FreeForAllTables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]


def free_for_all(
    game: Game,
    agents: Sequence[str | AnyAgent],
    games: int = GAMES,
    *,
    out: PathLike,
    seed: int = 0,
    opening_plies: int = 0,
    chunk: int = CHUNK,
    anchor: str | None = None,
    resume: bool = True,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Workers | None = None,
) -> FreeForAll:
    """Play the games, keep them and write the tables; see the module.

    Args:
        game: for any number of players.
        agents: specs for `agents.load`, or agents; names differ. Fewer than the game has seats, as many, or more.
        games: how many; each agent has each seat equally often if they are a multiple of the agents.
        out: the folder; made where it is missing. One that holds this run, or one of fewer games, is continued.
        seed: all chance of the run follows from it.
        opening_plies: random moves before the agents take over, at most.
        chunk: games played side by side, and kept or lost together when a run is interrupted. Part of what the games
            depend on.
        anchor: the agent whose rating is 0; None puts the mean there.
        resume: False deletes the run in the folder first.
        store: gets the games too, chunk by chunk (`store.Store`).
        progress: whether to report on standard error.
        warn: gets a line for each thing left out, such as plots without matplotlib or a torn line.
        workers: who plays, such as those of a cluster (`cellgames.cluster.ray_workers`); None for this process.
            The files are the same.

    Raises:
        RunError: the folder holds something else, or another run, or another process is at work in it.
        RecordError: games.jsonl has a line that no crash can explain.
        StoreError: the store is another kind of file, or cannot be made.
        ClusterError: workers could not play a chunk; others that were under way are kept.
        ValueError: settings that make no sense; agents that cannot play this game.
    """
    schedule = Schedule(games, seed, opening_plies, chunk)
    players = load_agents(game, agents)
    names = sorted(players)
    if anchor is not None and anchor not in players:
        raise ValueError(f"anchor must be one of the agents ({', '.join(names)}), got {anchor!r}")
    seats = game.info.num_players
    if games <= len(names) - seats:  # the most games in a row without a given agent
        raise ValueError(
            f"expected at least {len(names) - seats + 1} games, so that each of {len(names)} agents gets one of "
            f"{seats} seats, got {games}"
        )
    known = identities(agents, game)
    settings = Settings(game.id, plain(game.parameters), names, games, seed, opening_plies, chunk, __version__, known)
    folder = Path(out)
    with opened(folder, (RUN, RECORDS, *FILES)), feeding(store, "free-for-all", folder, known, warn) as keep:
        prepare(folder, settings, FILES, resume=resume)
        plan = _plan(tuple(names), seats, schedule)
        records, played = play_plan(
            game,
            players,
            schedule,
            plan,
            folder,
            settings,
            keep=keep,
            progress=progress,
            warn=warn,
            workers=workers,
            sent=agents,
        )
        tables = make_tables(records, anchor=anchor, seed=derive(seed, "ratings"))
        files = [folder / RUN, folder / RECORDS]
        files += write_reports(folder, tables, settings.to_data(), game.info.players, warn=warn)
    return FreeForAll(folder, tables, records, played, tuple(files))


def seatings(agents: int, seats: int, games: int, seed: int) -> list[tuple[int, ...]]:
    """Who sits where in each game.

    In a block of `K` games all agents move on by one seating from game to game, in a drawn order and from drawn
    starts. So each agent has each seat once, and as many seats in a game as every other one, or one more. With fewer
    agents than seats they have several seats at a table, with more they take turns.

    Args:
        agents: `K`, at least 1.
        seats: `P`, of the game.
        games: how many.
        seed: of the run; blocks depend on it and on their number alone.

    Returns:
        For each game `P` indices of agents.
    """
    tables: list[tuple[int, ...]] = []
    for block in range(-(-games // agents)):
        chance = generator(seed, "tables", block)
        order, extra = (torch.randperm(agents, generator=chance).tolist() for _ in range(2))
        starts = [*range(agents)] * (seats // agents) + extra[: seats % agents]
        starts = [starts[place] for place in torch.randperm(seats, generator=chance).tolist()]
        tables += [tuple(order[(start + turn) % agents] for start in starts) for turn in range(agents)]
    return tables[:games]


def _plan(names: tuple[str, ...], seats: int, schedule: Schedule) -> dict[Key, Chunk]:
    """All chunks in the order of the file."""
    tables = seatings(len(names), seats, schedule.games, schedule.seed)
    return {
        (MATCH, numbers.start): Chunk(names, tuple(Pairing(MATCH, number, tables[number]) for number in numbers))
        for numbers in schedule.chunks()
    }
