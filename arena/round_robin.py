"""Every agent against every other, in a folder that a killed run leaves ready to be continued (`chunks`).

    run.json          the settings
    games.jsonl       one record a game, by pair and opening
    ratings.*, ...    the tables (`reports.FILES`), written when all games are played
    top_game.gif      the longest game of the two best agents, if asked for

A run may grow: more agents, more games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.envs.core import Game
from cellgames.folders import PathLike, RunError, opened

from . import chunks, reports
from .chunks import RECORDS, RUN, Chunk, Key, play_plan, prepare
from .defaults import CHUNK, GAMES, OPENING_PLIES
from .match import Schedule, both_seats, derive, entrants, match_id
from .records import Record, plain
from .replays import gif as save_gif
from .tables import Tables, make_tables

__all__ = ["RoundRobin", "RunError", "Settings", "round_robin", "top_game"]

GIF = "top_game.gif"


@dataclass(frozen=True)
class Settings(chunks.Settings):
    """The content of run.json; `games` are those of a pair."""

    counted: ClassVar[str] = "games_per_pair"
    may_join: ClassVar[bool] = True


@dataclass(frozen=True)
class RoundRobin:
    """A finished run.

    out:     its folder.
    tables:  what follows from the games.
    records: all games, by pair and opening.
    played:  how many of them were played by this call.
    files:   all files of the folder that belong to the run.
    """

    out: Path
    tables: Tables
    records: tuple[Record, ...]
    played: int
    files: tuple[Path, ...]


def round_robin(
    game: Game[Any],
    agents: Sequence[str | AnyAgent],
    games_per_pair: int = GAMES,
    *,
    out: PathLike,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    chunk: int = CHUNK,
    anchor: str | None = None,
    resume: bool = True,
    gif: bool = False,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
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
        resume: False deletes the run in the folder first.
        gif: whether to draw the longest game of the two best agents.
        progress: whether to report on standard error.
        warn: gets a line for each thing left out, such as plots without matplotlib or a torn line.

    Raises:
        RunError: the folder holds something else, or another run, or another process is at work in it.
        RecordError: games.jsonl has a line that no crash can explain.
        ValueError: settings that make no sense.
    """
    schedule = Schedule(games_per_pair, seed, opening_plies, chunk)
    players = entrants(game, agents)
    names = sorted(players)
    if anchor is not None and anchor not in players:
        raise ValueError(f"anchor must be one of the agents ({', '.join(names)}), got {anchor!r}")
    settings = Settings(
        game.id, plain(game.parameters), names, games_per_pair, seed, opening_plies, chunk, cellgames.__version__
    )
    folder = Path(out)
    with opened(folder, (RUN, RECORDS, GIF, *reports.FILES)):
        prepare(folder, settings, (GIF, *reports.FILES), resume=resume)
        plan = _plan(names, schedule)
        records, played = play_plan(
            game, players, schedule, plan, folder, settings, outdated=[GIF], progress=progress, warn=warn
        )
        tables = make_tables(records, anchor=anchor, seed=derive(seed, "ratings"))
        files = [folder / RUN, folder / RECORDS]
        files += reports.write_reports(
            folder, tables, settings.to_data(), game.info.players, simultaneous=game.info.simultaneous, warn=warn
        )
        if gif:
            try:
                if not (folder / GIF).exists():
                    save_gif(top_game(tables, records), folder / GIF)
                files.append(folder / GIF)
            except ImportError as error:
                warn(f"no GIF: {error}")
    return RoundRobin(folder, tables, records, played, tuple(files))


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
