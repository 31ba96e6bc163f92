"""Round robins: every agent plays every other one, in a folder from which a killed run can be continued (`chunks`).

    run.json          the settings
    games.jsonl       one record a game, by pair and opening
    ratings.*, ...    the tables (`reports.FILES`), written when all games are played
    order.csv         how certain the order is, with the option `until_certain`
    top_game.gif      the longest game of the two best agents, with the option `gif`

A run can grow by more agents and more games, one with the option `until_certain` by a larger budget only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from cellgames.agents.agent_names import Agents, by_name
from cellgames.arena.records.record_lines import Pairing, Record
from cellgames.arena.records.replays import animate
from cellgames.arena.records.store.feed import AnyStore
from cellgames.arena.report.run_report import ROUND_ROBIN_FILES, run_report
from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.tables import Tables, make_tables
from cellgames.cluster.workers import Workers
from cellgames.envs.core import Game
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.runs.secret_seed import with_seed
from cellgames.runs.seeds import derive
from cellgames.utils.extras import no_pictures
from cellgames.utils.files import PathLike
from cellgames.utils.progress import waiting
from cellgames.utils.report.files import write_report

from . import chunks
from .chunks import ChunkedRun, batch_of, check_anchor
from .match import both_seats, load_agents
from .match_options import MatchOptions, RoundRobinOptions
from .tournament import Batch, Schedule, Stage, all_games
from .until_certain import UntilCertain

GIF = "top_game.gif"

ROUND_ROBIN = RunKind(
    "round robin",
    chunks.RUN,
    (*chunks.FILES, GIF, *ROUND_ROBIN_FILES),
    grows=("games_per_pair", "agents"),
    free=("until_certain", "budget"),
)
# What is played after the first games follows from all of them, so only the budget may grow.
_UNTIL_CERTAIN = replace(ROUND_ROBIN, grows=("budget",), free=())


@dataclass(frozen=True, kw_only=True)
class Settings(chunks.Settings):
    """The content of run.json; `games` are those of a pair.

    Attributes:
        until_certain: True if pairs get more games until the order is certain.
        budget: games in all, at most, of such a run; else None. The file of another run has neither.
    """

    until_certain: bool = False
    budget: int | None = None

    counted: ClassVar[str] = "games_per_pair"

    def to_data(self) -> dict[str, Any]:
        """See `chunks.Settings`."""
        data = super().to_data()
        if not self.until_certain:
            del data["until_certain"], data["budget"]
        return data


@dataclass(frozen=True)
class RoundRobin:
    """A finished round robin.

    Attributes:
        out: its folder.
        tables: ratings, cross table and seat table.
        records: all games, by pair and opening.
        played: number of them that were played by this call.
        files: all files of the folder that belong to the run.
        order: with the option `until_certain`, how certain the order of neighbours is, from the top; else ().
    """

    out: Path
    tables: Tables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]
    order: tuple[Adjacency, ...] = ()

    @property
    def undecided(self) -> tuple[Adjacency, ...]:
        """Return the neighbours in the ranking whose order is not certain."""
        return tuple(pair for pair in self.order if not pair.certain)


def round_robin(
    game: Game,
    agents: Agents,
    options: RoundRobinOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Workers | None = None,
) -> RoundRobin:
    """Play all pairs, keep the games and write the tables; see the module.

    Args:
        game: for two players; in larger games two agents have half of the seats each.
        agents: specs for `agents.load`, also `NAME=SPEC`, or agents; or a mapping from names to them. Names differ.
        options: such as `RoundRobinOptions(games=200, seed=1)`; None for the defaults.
        out: the folder; created if necessary. A run in it that is this one, or a smaller one, is continued.
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
    options, folder = options or RoundRobinOptions(), Path(out).absolute()
    agents = by_name(agents)
    players = load_agents(game, agents)
    names = sorted(players)
    check_anchor(options, names)
    options = with_seed(options, folder, ROUND_ROBIN, warn)
    seats = game.info.num_players
    plan = _plan(names, options, seats)
    growth = UntilCertain(names, options, plan, seats) if options.until_certain else None
    budget = None if growth is None else growth.budget
    settings = Settings.of(game, agents, options, until_certain=options.until_certain, budget=budget)
    place = RunFolder(folder, ROUND_ROBIN)
    if options.resume and (place.read() or {}).get("until_certain"):
        place = RunFolder(folder, _UNTIL_CERTAIN)
    run = ChunkedRun(game, players, agents, options, settings, place, warn)
    records: list[Record] = []
    planned = {pairing for batch in plan for pairing in batch.games}

    def knows(pairing: Pairing) -> bool:
        return pairing in planned or (growth is not None and growth.knows(pairing))

    schedule = _schedule(game.id, plan, growth, records)
    with place:
        played = run.play(schedule, knows, store=store, outdated=[GIF], progress=progress, workers=workers)
        files = run.files
        with waiting("Rating, and writing the report", shown=progress):
            tables = make_tables(
                records, anchor=options.anchor, seed=derive(options.seed, "ratings"), void=options.void
            )
            order = None if growth is None else growth.order(records)
            info, costs = game.info, run.costs(records)
            report = run_report(
                tables, settings.to_data(), info.players, simultaneous=info.simultaneous, order=order, costs=costs
            )
            files += write_report(folder, report, warn, outdated=ROUND_ROBIN_FILES)
        if options.gif:
            try:
                if not (folder / GIF).exists():
                    animate(top_game(tables, records), folder / GIF, progress=progress)
                files.append(folder / GIF)
            except ImportError as error:
                warn(no_pictures(error))
    return RoundRobin(Path(out), tables, tuple(records), played, tuple(files), order or ())


def top_game(tables: Tables, records: Sequence[Record]) -> Record:
    """Return the longest game between the two best agents; of equally long ones that of the first opening."""
    best = set(tables.agents[:2])
    return max((r for r in records if set(r.agents) == best), key=lambda r: len(r.moves))


def _plan(names: Sequence[str], options: MatchOptions, seats: int) -> list[Batch[Pairing]]:
    """Return all batches in the order of the file: pair by pair, opening by opening."""
    return [
        batch_of(pair, both_seats(*pair, openings, seats, options.seed))
        for pair in combinations(names, 2)
        for openings in options.chunks()
    ]


def _schedule(
    label: str, plan: Sequence[Batch[Pairing]], growth: UntilCertain | None, records: list[Record]
) -> Schedule[Pairing, Record]:
    """Ask for all pairs, then for games until the order is certain; add them to the records."""
    yield from all_games([Stage(plan, label)], records)
    while growth is not None and (more := growth.more(records)):
        yield from all_games([Stage(more, f"{label}, games until the order is certain")], records)
