"""Every agent against every other, in a folder that a killed run leaves ready to be continued (`chunks`).

    run.json          the settings
    games.jsonl       one record a game, by pair and opening
    ratings.*, ...    the tables (`reports.FILES`), written when all games are played
    order.csv         how certain the order is, of a run that goes on until it is
    top_game.gif      the longest game of the two best agents, if asked for

A run may grow: more agents, more games; one that goes on until the order is certain only by its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.arena.defaults import CHUNK, GAMES, OPENING_PLIES
from cellgames.arena.records.record_lines import Record, plain
from cellgames.arena.records.replays import gif as save_gif
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.arena.report import reports
from cellgames.arena.stats.order import Adjacency
from cellgames.arena.stats.tables import Tables, make_tables
from cellgames.cluster.workers import Workers
from cellgames.envs.core import Game
from cellgames.utils.run_folders import PathLike, RunError, opened, write_atomic
from cellgames.utils.version import __version__

from . import chunks
from .chunks import RECORDS, RUN, Chunk, Key, play_plan, prepare
from .match import Schedule, both_seats, derive, load_two_player_agents, match_id
from .until_certain import ORDER, UntilCertain, order_csv, order_section

__all__ = ["RoundRobin", "RunError", "Settings", "round_robin", "top_game"]

GIF = "top_game.gif"


@dataclass(frozen=True)
class Settings(chunks.Settings):
    """The content of run.json; `games` are those of a pair.

    until_certain: whether pairs get more games until the order is certain.
    budget:        games in all, at most, of such a run; else None. The file of another run has neither.
    """

    until_certain: bool = False
    budget: int | None = None

    counted: ClassVar[str] = "games_per_pair"
    may_join: ClassVar[bool] = True

    def to_data(self) -> dict[str, Any]:
        """See `chunks.Settings`."""
        data = super().to_data()
        if not self.until_certain:
            del data["until_certain"], data["budget"]
        return data

    def refuse(self, found: Mapping[str, Any]) -> str:
        """See `chunks.Settings`; what is played after the first games follows from all of them."""
        if not found.get("until_certain"):
            return ""
        if not self.until_certain:
            return "it was played until the order was certain (until_certain=True, --until-certain)"
        if self.games != found[self.counted] or self.agents != found["agents"]:
            return "a run until the order is certain keeps its agents and its first games; only its budget may grow"
        if self.budget is not None and self.budget < int(found.get("budget") or 0):
            return f"budget: expected {found['budget']} or more, got {self.budget}"
        return ""


@dataclass(frozen=True)
class RoundRobin:
    """A finished run.

    out:     its folder.
    tables:  what follows from the games.
    records: all games, by pair and opening.
    played:  how many of them were played by this call.
    files:   all files of the folder that belong to the run.
    order:   of a run until the order is certain, how certain it is, from the top; else ().
    """

    out: Path
    tables: Tables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]
    order: tuple[Adjacency, ...] = ()

    @property
    def undecided(self) -> tuple[Adjacency, ...]:
        """Neighbours in the ranking whose order is not certain."""
        return tuple(pair for pair in self.order if not pair.certain)


def round_robin(
    game: Game,
    agents: Sequence[str | AnyAgent],
    games_per_pair: int = GAMES,
    *,
    out: PathLike,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    chunk: int = CHUNK,
    anchor: str | None = None,
    until_certain: bool = False,
    budget: int | None = None,
    resume: bool = True,
    store: AnyStore = None,
    gif: bool = False,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Workers | None = None,
) -> RoundRobin:
    """Play all pairs, keep the games and write the tables; see the module and `match.Schedule`.

    Args:
        game: for two players.
        agents: specs for `agents.load`, or agents; names differ.
        games_per_pair: even.
        out: the folder; made where it is missing. One that holds this run, or a smaller one, is continued.
        seed: all chance of the run follows from it.
        opening_plies: random moves before the agents take over, at most.
        chunk: openings played side by side.
        anchor: the agent whose rating is 0; None puts the mean there.
        until_certain: whether to go on after `games_per_pair`, a multiple of twice the chunk, with games of the pairs
            that bear on neighbours in the ranking whose order is not certain yet (`until_certain`).
        budget: games in all at which that ends, certain or not; None is ten times the first ones.
        resume: False deletes the run in the folder first.
        store: gets the games too, chunk by chunk (`store.Store`).
        gif: whether to draw the longest game of the two best agents.
        progress: whether to report on standard error.
        warn: gets a line for each thing left out, such as plots without matplotlib or a torn line.
        workers: who plays, such as those of a cluster (`cellgames.cluster.ray_workers`); None for this process.
            The files are the same.

    Raises:
        RunError: the folder holds something else, or another run, or another process is at work in it.
        RecordError: games.jsonl has a line that no crash can explain.
        StoreError: the store is another kind of file, or cannot be made.
        ClusterError: workers could not play a chunk; others that were under way are kept.
        ValueError: settings that make no sense.
    """
    schedule = Schedule(games_per_pair, seed, opening_plies, chunk)
    players = load_two_player_agents(game, agents)
    names = sorted(players)
    if anchor is not None and anchor not in players:
        raise ValueError(f"anchor must be one of the agents ({', '.join(names)}), got {anchor!r}")
    plan = _plan(names, schedule)
    growth = UntilCertain(names, schedule, plan, budget) if until_certain else None
    if budget is not None and growth is None:
        raise ValueError(f"a budget is for runs until the order is certain (until_certain=True), got {budget}")
    known = identities(agents, game)
    settings = Settings(
        *(game.id, plain(game.parameters), names, games_per_pair, seed, opening_plies, chunk, __version__),
        identities=known,
        until_certain=until_certain,
        budget=growth.budget if growth is not None else None,
    )
    folder = Path(out)
    written = (GIF, ORDER, *reports.FILES)
    with opened(folder, (RUN, RECORDS, *written)), feeding(store, "round robin", folder, known, warn) as keep:
        prepare(folder, settings, written, resume=resume)
        records, played = play_plan(
            game,
            players,
            schedule,
            plan,
            folder,
            settings,
            growth=growth,
            outdated=[GIF],
            keep=keep,
            progress=progress,
            warn=warn,
            workers=workers,
            sent=agents,
        )
        tables = make_tables(records, anchor=anchor, seed=derive(seed, "ratings"))
        files = [folder / RUN, folder / RECORDS]
        files += reports.write_reports(
            folder, tables, settings.to_data(), game.info.players, simultaneous=game.info.simultaneous, warn=warn
        )
        order = () if growth is None else growth.order(records)
        if growth is not None:
            page = (folder / "report.md").read_text(encoding="utf-8")
            write_atomic(folder / "report.md", f"{page}\n{order_section(order, len(records))}\n")
            write_atomic(folder / ORDER, order_csv(order))
            files.append(folder / ORDER)
        if gif:
            try:
                if not (folder / GIF).exists():
                    save_gif(top_game(tables, records), folder / GIF)
                files.append(folder / GIF)
            except ImportError as error:
                warn(f"no GIF: {error}")
    return RoundRobin(folder, tables, records, played, tuple(files), order)


def top_game(tables: Tables, records: Sequence[Record]) -> Record:
    """The longest game between the two best agents; of equally long ones that of the first opening."""
    best = set(tables.agents[:2])
    return max((r for r in records if set(r.agents) == best), key=lambda r: len(r.moves))


def _plan(names: Sequence[str], schedule: Schedule) -> dict[Key, Chunk]:
    """All chunks in the order of the file: pair by pair, opening by opening."""
    return {
        (match_id(*pair), openings.start): Chunk(pair, tuple(both_seats(*pair, openings)))
        for pair in combinations(names, 2)
        for openings in schedule.chunks()
    }
