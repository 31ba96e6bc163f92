"""Games of any number of seats among any number of agents, in a folder from which a killed run can be continued.

    run.json          the settings
    games.jsonl       one record a game
    ratings.*, ...    the tables (`run_report.FREE_FOR_ALL_FILES`), written when all games are played

`match.seatings` draws the agents' seats in blocks of `K` games; in each block every agent has every seat once. Each
game has a seed of its own. More games let a run grow (`chunks`); other agents make another run.

Letters: `P` seats, `K` agents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cellgames.agents.agent_names import Agents, by_name
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.records.store.feed import AnyStore
from cellgames.arena.report.run_report import FREE_FOR_ALL_FILES as FILES
from cellgames.arena.report.run_report import run_report
from cellgames.arena.stats.tables import Tables, make_tables
from cellgames.cluster.workers import Workers
from cellgames.envs.core import Game
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.runs.secret_seed import with_seed
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike
from cellgames.utils.progress import waiting
from cellgames.utils.report.files import write_report

from . import chunks
from .chunks import ChunkedRun, Settings, batch_of, check_anchor
from .match import load_agents, seatings
from .match_options import FreeForAllOptions
from .tournament import Batch, Stage, all_games

MATCH = "free-for-all"
"""The match that all games of a run belong to, in their records."""


FREE_FOR_ALL = RunKind("free-for-all", chunks.RUN, (*chunks.FILES, *FILES), grows=("games",))


@dataclass(frozen=True)
class FreeForAll:
    """A finished run of free-for-all games.

    Attributes:
        out: its folder.
        tables: ratings, finishing places and scores.
        records: all games, in their order.
        played: number of them that were played by this call.
        files: all files of the folder that belong to the run.
    """

    out: Path
    tables: Tables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]


def free_for_all(
    game: Game,
    agents: Agents,
    options: FreeForAllOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Workers | None = None,
) -> FreeForAll:
    """Play the games, keep them and write the tables; see the module.

    Args:
        game: for any number of players.
        agents: specs for `agents.load`, also `NAME=SPEC`, or agents; or a mapping from names to them. Names differ.
            Their number may be less than the number of seats, equal or greater.
        options: such as `FreeForAllOptions(games=300, seed=1)`; None for the defaults.
        out: the folder; created if necessary. A run in it that is this one, or one of fewer games, is continued.
        store: gets the games too, chunk by chunk (`store.Store`).
        progress: True to report on standard error.
        warn: gets a line for each thing left out, such as plots without matplotlib or a torn line.
        workers: play the games, such as those of a cluster (`cellgames.cluster.RayWorkers`); None for this process.
            The files are the same.

    Raises:
        RunError: the folder holds something else or another run, or another process uses it.
        RecordError: games.jsonl has a line that was written like this, and cannot be read.
        StoreError: the store is another kind of file, or cannot be created.
        ClusterError: workers could not play a chunk; others that were under way are kept.
        ValueError: options or agents that do not fit the game or each other.
    """
    options, folder = options or FreeForAllOptions(), Path(out).absolute()
    agents = by_name(agents)
    players = load_agents(game, agents)
    names, seats = sorted(players), game.info.num_players
    check_anchor(options, names)
    if options.games <= len(names) - seats:  # the most games in a row without a given agent
        raise InputError(
            "games",
            f"at least {len(names) - seats + 1} games, so that each of {len(names)} agents gets one of {seats} seats",
            options.games,
        )
    options = with_seed(options, folder, FREE_FOR_ALL, warn)
    settings = Settings.of(game, agents, options)
    run = ChunkedRun(game, players, agents, options, settings, RunFolder(folder, FREE_FOR_ALL), warn)
    plan, records = _plan(tuple(names), seats, options), list[Record]()
    planned = {pairing for batch in plan for pairing in batch.games}
    schedule = all_games([Stage(plan, game.id)], records)
    with run.run:
        played = run.play(schedule, planned.__contains__, store=store, progress=progress, workers=workers)
        files = run.files
        with waiting("Rating, and writing the report", shown=progress):
            tables = make_tables(
                records, by_score=True, anchor=options.anchor, seed=derive(options.seed, "ratings"), void=options.void
            )
            report = run_report(tables, settings.to_data(), game.info.players, costs=run.costs(records))
            files += write_report(folder, report, warn, outdated=FILES)
    return FreeForAll(Path(out), tables, tuple(records), played, tuple(files))


def _plan(names: tuple[str, ...], seats: int, options: FreeForAllOptions) -> list[Batch[Pairing]]:
    """Return all batches in the order of the file."""
    tables = seatings(len(names), seats, options.games, options.seed)
    return [
        batch_of(names, [Pairing(MATCH, number, tables[number]) for number in numbers]) for numbers in options.chunks()
    ]
