"""Round robins and free-for-all games, in folders from which killed runs can be continued.

    run.json          the settings
    games.jsonl       one record a game, appended batch by batch (`tournament`)
    forfeits.log      the errors that agents raised, if any did
    ratings.*, ...    the tables (`rating_tables`), written when all games are played
    order.csv         how certain the order of a round robin is, with the option `until_certain`
    top_game.gif      a game of middle length of the two best agents of a round robin, with the option `gif`

A round robin has its games by pair and opening. It can grow by more agents and more games, one with the option
`until_certain` by a larger budget only. Of free-for-all games `match.seatings` draws the agents' seats in blocks of `K`
games; in each block every agent has every seat once, and each game has a seed of its own. They can grow by more games.

A run that grows equals a bigger one played at once, byte for byte.

Letters: `P` seats, `K` agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import Agents, by_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.loading import identities
from cellgames.arena.records.record_lines import FORFEIT_LOG, RECORDS, Pairing, Record, plain
from cellgames.arena.records.replays import animate
from cellgames.arena.records.store import AnyStore, feeding
from cellgames.arena.report.rating_tables import REPORT_FILES, run_report
from cellgames.arena.stats.order import Adjacency, Evidence, adjacencies
from cellgames.arena.stats.ratings import comparisons
from cellgames.arena.stats.tables import Tables, make_tables
from cellgames.envs.core import Game
from cellgames.envs.registry import as_game, board_title
from cellgames.runs.run_folder import ANSWERS, RunFolder, RunKind, derive
from cellgames.utils.errors import InputError, shown
from cellgames.utils.extras import no_pictures
from cellgames.utils.files import PathLike
from cellgames.utils.progress import waiting
from cellgames.utils.report.model import write_report
from cellgames.utils.version import __version__

from .match import GamePlayer, batch_of, both_seats, load_agents, match_id, seatings, table_batches
from .match_options import FreeForAllOptions, LadderOptions, MatchOptions, RoundRobinOptions
from .tournament import Batch, Schedule, Stage, Tournament, all_games

TIMES = 10
"""The budget, unless another is asked for, in first games of all pairs."""


class UntilCertain:
    """The chunks after the first ones of a round robin until the order is certain, a function of the games before.

    They come in rounds. In each, every two neighbours in the ranking whose order is not certain (`order`) get one chunk
    of games, of that pair of agents whose games narrow their difference most; mostly it is their own. The rounds end
    when all neighbours are certain, or when the next chunk would exceed the budget.

    Args:
        names: names of the agents, sorted.
        options: options of the run; `games` are the first ones of each pair, and the budget None is `TIMES` of them.
        plan: their batches.
        seats: number of seats of the game.

    Raises:
        ValueError: first games that are no whole chunks, or more of them than the budget allows.
    """

    def __init__(
        self, names: Sequence[str], options: RoundRobinOptions, plan: Sequence[Batch[Pairing]], seats: int = 2
    ) -> None:
        self._names, self._options, self._seats = tuple(names), options, seats
        self._per_chunk = 2 * options.chunk
        self._first_games = sum(len(batch.games) for batch in plan)
        self._first: Evidence | None = None
        if options.games % self._per_chunk:
            expected = f"games a pair in multiples of {self._per_chunk}, twice the chunk (--chunk)"
            raise InputError("until the order is certain, games are added by whole chunks", expected, options.games)
        self.budget = TIMES * self._first_games if options.budget is None else options.budget
        if self.budget < self._first_games:
            raise InputError("budget", f"at least {self._first_games}, the first games of all pairs", self.budget)
        self._pairs = {match_id(*pair): pair for pair in combinations(self._names, 2)}

    def knows(self, pairing: Pairing) -> bool:
        """Return True if a game may come after the first ones."""
        start = pairing.opening - pairing.opening % self._options.chunk
        within = self._first_games + 2 * start - self._options.games + self._per_chunk <= self.budget
        return pairing.match in self._pairs and 2 * start >= self._options.games and within

    def more(self, records: Sequence[Record]) -> list[Batch[Pairing]]:
        """Return the next batches in the order of the file, none when the run is complete."""
        evidence, batches = self._evidence(records), dict[str, Batch[Pairing]]()
        room = (self.budget - len(records)) // self._per_chunk
        place = {name: k for k, name in enumerate(evidence.agents)}
        for pair in adjacencies(evidence, self._at_first(records)):
            if pair.certain or len(batches) >= room:
                continue
            one, other = sorted(evidence.best_pair(pair.better, pair.worse, self._per_chunk))
            start = int(evidence.played[place[one], place[other]]) // 2
            openings = range(start, start + self._options.chunk)
            pairings = both_seats(one, other, openings, self._seats, self._options.seed)
            batches[match_id(one, other)] = batch_of((one, other), pairings)
        return [*batches.values()]

    def order(self, records: Sequence[Record]) -> tuple[Adjacency, ...]:
        """Return the certainty of the order of neighbours after all games, which come in their order."""
        return tuple(adjacencies(self._evidence(records), self._at_first(records)))

    def _evidence(self, records: Sequence[Record]) -> Evidence:
        return Evidence((result for record in records for result in comparisons(record)), self._names)

    def _at_first(self, records: Sequence[Record]) -> Evidence:
        if self._first is None:
            self._first = self._evidence(records[: self._first_games])
        return self._first


RUN = "run.json"
FILES = (RECORDS, FORFEIT_LOG, ANSWERS)
"""Names of the other files that all these runs write."""
GIF = "top_game.gif"

ROUND_ROBIN = RunKind(
    "round robin",
    RUN,
    (*FILES, GIF, *REPORT_FILES),
    grows=("games_per_pair", "agents"),
    free=("until_certain", "budget"),
)
# What is played after the first games follows from all of them, so only the budget may grow.
_UNTIL_CERTAIN = replace(ROUND_ROBIN, grows=("budget",), free=())

FREE_FOR_ALL = RunKind("free-for-all", RUN, (*FILES, *REPORT_FILES), grows=("games",))


@dataclass(frozen=True)
class FreeForAll:
    """A finished run of free-for-all games.

    Attributes:
        out: its folder.
        tables: ratings, and cross table and seats, or finishing places and scores.
        records: all games, in their order.
        played: number of them that were played by this call.
        files: all files of the folder that belong to the run.
    """

    out: Path
    tables: Tables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]


@dataclass(frozen=True)
class RoundRobin(FreeForAll):
    """A finished round robin; `FreeForAll` explains the other fields.

    Attributes:
        order: with the option `until_certain`, how certain the order of neighbours is, from the top; else ().
    """

    order: tuple[Adjacency, ...] = ()

    @property
    def undecided(self) -> tuple[Adjacency, ...]:
        """Return the neighbours in the ranking whose order is not certain."""
        return tuple(pair for pair in self.order if not pair.certain)


def round_robin(
    game: Game | str,
    agents: Agents,
    options: RoundRobinOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Executor | None = None,
) -> RoundRobin:
    """Play all pairs, keep the games and write the tables; see the module.

    Args:
        game: for two players, or its id; in larger games two agents have half of the seats each.
        agents: specs for `agents.load`, also `NAME=SPEC`, or agents; or a mapping from names to them. Names differ.
        options: such as `RoundRobinOptions(games=200, seed=1)`; None for the defaults.
        out: the folder; created if necessary. A run in it that is this one, or a smaller one, is continued.
        store: gets the games too, chunk by chunk (`store.Store`).
        progress: True to report on standard error.
        warn: gets a line for each thing left out, such as plots without matplotlib or a torn line.
        workers: play the games, such as `runs.workers.processes(8)`; None for this process. The result is the same.
            The files are the same.

    Raises:
        RunError: the folder holds something else or another run, or another process uses it.
        RecordError: games.jsonl has a line that was written like this, and cannot be read.
        StoreError: the store is another kind of file, or cannot be created.
        WorkerError: a worker ended while it played a chunk; finished chunks are kept.
        ValueError: options or agents that do not fit the game or each other.
    """
    game, options, folder = as_game(game), options or RoundRobinOptions(), Path(out).absolute()
    agents = by_name(agents)
    players = load_agents(game, agents)
    names, seats = sorted(players), game.info.num_players
    _check_anchor(options, names)
    plan = [
        batch_of(pair, both_seats(*pair, openings, seats, options.seed))
        for pair in combinations(names, 2)
        for openings in options.chunks()
    ]
    growth = UntilCertain(names, options, plan, seats) if options.until_certain else None
    more = {} if growth is None else {"until_certain": True, "budget": growth.budget}
    place = RunFolder(folder, ROUND_ROBIN)
    if options.resume and (place.read() or {}).get("until_certain"):
        place = RunFolder(folder, _UNTIL_CERTAIN)
    run = GamesRun(game, agents, options, settings_of(game, agents, options, "games_per_pair", **more), place, warn)
    records: list[Record] = []
    planned = {pairing for batch in plan for pairing in batch.games}

    def knows(pairing: Pairing) -> bool:
        return pairing in planned or (growth is not None and growth.knows(pairing))

    def schedule() -> Schedule[Pairing, Record]:
        yield from all_games([Stage(plan, board_title(game))], records)
        while growth is not None and (later := growth.more(records)):
            yield from all_games([Stage(later, f"{board_title(game)}, games until the order is certain")], records)

    with run.games(players, store=store, outdated=[GIF], knows=knows, progress=progress, workers=workers) as games:
        games.run(schedule())
        with waiting("Rating, and writing the report", shown=progress):
            order = None if growth is None else growth.order(records)
            tables, files = _rated(run, records, order)
        if options.gif:
            try:
                if not (folder / GIF).exists():
                    animate(top_game(tables, records), folder / GIF, progress=progress)
                files.append(folder / GIF)
            except ImportError as error:
                warn(no_pictures(error))
    return RoundRobin(Path(out), tables, tuple(records), games.played, tuple(files), order or ())


def free_for_all(
    game: Game | str,
    agents: Agents,
    options: FreeForAllOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Executor | None = None,
) -> FreeForAll:
    """Play games of any number of players, keep them and write the tables; see the module.

    The errors are those of `round_robin`.

    Args:
        game: for any number of players; or its id.
        agents: see `round_robin`. Their number may be less than the number of seats, equal or greater.
        options: such as `FreeForAllOptions(games=300, seed=1)`; None for the defaults.
        out: the folder; created if necessary. A run in it that is this one, or one of fewer games, is continued.
        store: see `round_robin`.
        progress: see `round_robin`.
        warn: see `round_robin`.
        workers: see `round_robin`.
    """
    game, options, folder = as_game(game), options or FreeForAllOptions(), Path(out).absolute()
    agents = by_name(agents)
    players = load_agents(game, agents)
    names, seats = sorted(players), game.info.num_players
    _check_anchor(options, names)
    if options.games <= len(names) - seats:  # the most games in a row without a given agent
        raise InputError(
            "games",
            f"at least {len(names) - seats + 1} games, so that each of {len(names)} agents gets one of {seats} seats",
            options.games,
        )
    place, settings = RunFolder(folder, FREE_FOR_ALL), settings_of(game, agents, options)
    run, records = GamesRun(game, agents, options, settings, place, warn), list[Record]()
    plan = table_batches(names, seatings(len(names), seats, options.games, options.seed), options)
    planned = {pairing for batch in plan for pairing in batch.games}
    with run.games(players, store=store, knows=planned.__contains__, progress=progress, workers=workers) as games:
        games.run(all_games([Stage(plan, board_title(game))], records))
        with waiting("Rating, and writing the report", shown=progress):
            tables, files = _rated(run, records)
    return FreeForAll(Path(out), tables, tuple(records), games.played, tuple(files))


def _check_anchor(options: RoundRobinOptions | FreeForAllOptions, names: Sequence[str]) -> None:
    if options.anchor is not None and options.anchor not in names:
        raise InputError("anchor", f"one of the agents ({', '.join(names)})", shown(options.anchor))


def _rated(
    run: GamesRun, records: Sequence[Record], order: Sequence[Adjacency] | None = None
) -> tuple[Tables, list[Path]]:
    """Rate the agents and write the report; return the files of the run."""
    options, info = run.options, run.game.info
    assert isinstance(options, RoundRobinOptions | FreeForAllOptions)
    by_score = True if isinstance(options, FreeForAllOptions) else None
    seed = derive(options.seed, "ratings")
    tables = make_tables(records, by_score=by_score, anchor=options.anchor, seed=seed, void=options.void)
    report = run_report(
        tables, run.settings, info.players, simultaneous=info.simultaneous, order=order, costs=run.costs(records)
    )
    written = write_report(run.place.path, report, run.warn, outdated=REPORT_FILES)
    return tables, [*run.files, *written]


def top_game(tables: Tables, records: Sequence[Record]) -> Record:
    """Return a game of middle length between the two best agents: a long one takes minutes to draw and to watch."""
    games = [record for record in records if set(record.agents) == set(tables.agents[:2])]
    return sorted(games, key=lambda record: len(record.moves))[len(games) // 2]


def settings_of(
    game: Game, agents: Mapping[str, str | AnyAgent], options: MatchOptions, counted: str = "games", **more: Any
) -> dict[str, Any]:
    """Return the content of run.json of a run that is over: all that the games depend on.

    The order in which agents are given does not matter. An agent whose identity has changed since (`agents.loading`)
    makes another run. Specs of agents that have another name may change, since identities say who plays.

    Args:
        game: the rules.
        agents: specs or objects by name.
        options: options of the run.
        counted: name of the number of games; every kind of run has its own.
        more: what else the games of this kind of run depend on.
    """
    specs = {name: agent for name, agent in sorted(agents.items()) if isinstance(agent, str) and name != agent}
    given = {"specs": specs, **{name: getattr(options, name) for name in ("clock", "move_time", "policies")}}
    return {
        "game": game.id,
        "parameters": plain(game.parameters),
        "agents": sorted(agents),
        counted: options.games,
        **{name: getattr(options, name) for name in ("seed", "opening_plies", "chunk")},
        "version": __version__,
        "identities": identities(agents, game),
        **{name: value for name, value in given.items() if value},
        **more,
    }


@dataclass(frozen=True)
class GamesRun:
    """A run of games in its folder.

    Attributes:
        game: the rules.
        agents: agents by name, specs or objects.
        options: options of the run.
        settings: settings of the run when it is over (`settings_of`).
        place: its folder.
        warn: gets a line for each thing left out, such as a torn line.
    """

    game: Game
    agents: Mapping[str, str | AnyAgent]
    options: RoundRobinOptions | FreeForAllOptions | LadderOptions
    settings: Mapping[str, Any]
    place: RunFolder
    warn: Callable[[str], None]

    @property
    def files(self) -> list[Path]:
        """The files of the run itself, without those that are made from its games."""
        return [path for name in (RUN, RECORDS, FORFEIT_LOG) if (path := self.place.path / name).exists()]

    def costs(self, records: Sequence[Record]) -> list[str]:
        """Return sentences on what language models took in these games of the run."""
        if not (self.place.path / ANSWERS).exists():
            return []
        from cellgames.agents.language_models.calls import costs

        return costs(self.place.path, Counter(name for record in records for name in {*record.agents}))

    @contextmanager
    def games(
        self, players: Mapping[str, AnyAgent], *, store: AnyStore = None, **more: Any
    ) -> Iterator[Tournament[Pairing, Record]]:
        """Lock the folder, and yield the tournament; the folder must hold this run or a smaller one.

        Args:
            players: the agents, loaded.
            store: gets the games.
            more: other fields of the `Tournament`.

        Raises:
            StoreError: the store is another kind of file, or cannot be created.
        """
        known, place = self.settings["identities"], self.place
        player = GamePlayer(self.game, players, self.options, self.agents, known)
        with place, feeding(store, place.kind.name, place.path, known, self.warn) as keep:
            yield Tournament(player, place, self.settings, self.options.resume, keep=keep, warn=self.warn, **more)
