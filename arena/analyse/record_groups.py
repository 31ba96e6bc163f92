"""Records to analyse, read from files and run folders and grouped by game."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cellgames.arena.records.record_lines import Record, RecordError, read_records, records_file
from cellgames.arena.records.replays import game_of
from cellgames.arena.stats.comparisons import standing_points
from cellgames.envs.core import Game
from cellgames.utils.files import PathLike


@dataclass(frozen=True)
class Games:
    """Games with the same rules.

    Attributes:
        game: The game with its parameters.
        records: The records in the order of the files, without those that ended by a forfeit, which say little about
            how the game is played.
        forfeited: Number of records that ended by a forfeit.
    """

    game: Game
    records: tuple[Record, ...]
    forfeited: int = 0


def read_paths(paths: Sequence[PathLike], warn: Callable[[str], None] = lambda message: None) -> list[Record]:
    """Return all records of files, and of folders that runs of the arena have written (their `games.jsonl`).

    Raises:
        RecordError: A file without records, or a line that is not a record; the message names file and line.
        OSError: A file cannot be read.
    """
    from cellgames.arena.season.cup import recognises

    found: list[Record] = []
    for path in map(records_file, paths):
        with path.open("rb") as file:
            if recognises(file.readline()):
                raise RecordError(
                    f"{path} holds games of a season without agents: arrangements, and no moves to analyse; give "
                    "games of agents, such as those of `cellgames free-for-all`"
                )
        reading = read_records(path)
        if reading.torn:
            warn(reading.torn)
        if not reading.records:
            raise RecordError(path, "records", "none")
        found += reading.records
    return found


def grouped(records: Iterable[Record]) -> list[Games]:
    """Return the records by game and parameters, in the order of their first ones.

    Raises:
        ReplayError: No such game or parameter.
        RecordError: A record tells of more or fewer seats than its game has.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(json.dumps([record.game, record.parameters], sort_keys=True), []).append(record)
    return [_games(group) for group in groups.values()]


def _games(group: list[Record]) -> Games:
    game = game_of(group[0])
    seats = game.info.num_players
    if wrong := [record for record in group if len(record.agents) != seats]:
        expected = f"agents, outcomes and scores of {seats} seats"
        raise RecordError(f"a game of {game}", expected, len(wrong[0].agents), "was the file changed?")
    played = tuple(without_forfeits(group))
    return Games(game, played, len(group) - len(played))


def without_forfeits(records: Iterable[Record]) -> list[Record]:
    """Return the games that came to their ends."""
    return [record for record in records if record.result.forfeit is None]


def agents_of(records: Iterable[Record]) -> tuple[str, ...]:
    """Return the names of all agents, sorted."""
    return tuple(sorted({name for record in records for name in record.agents}))


def scores(record: Record) -> tuple[float, ...]:
    """Return the score of each seat, from 0 to 1.

    In games for two a win is 1 and a draw 1/2; in larger ones it is the share of the other seats that have a lower
    final score, a tie half.
    """
    if len(record.agents) == 2:
        return tuple({"win": 1.0, "draw": 0.5, "loss": 0.0}[outcome] for outcome in record.result.outcome)
    return tuple(standing_points(record))
