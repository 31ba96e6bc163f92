"""Every agent against every other, in a folder that a killed run leaves ready to be continued.

    run.json          the settings, written first
    games.jsonl       one record a game, appended chunk by chunk (`match.Schedule`)
    ratings.*, ...    the tables (`reports.FILES`), written when all games are played
    top_game.gif      the longest game of the two best agents, if asked for

The games of a chunk depend on the settings alone. So a continued run plays only what is missing, a run that
grows (more agents, more games) equals a bigger one played at once, and the files are the same, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import cellgames
from cellgames.agents.base import AnyAgent
from cellgames.envs.core import Game

from . import reports
from .defaults import CHUNK, GAMES, OPENING_PLIES
from .folders import START_OVER, RunError, differences, opened, refuse_foreign
from .match import Schedule, derive, entrants, match_id, play_chunk
from .progress import progress as show_progress
from .records import PathLike, Record, append, read, write_atomic
from .replays import gif as save_gif
from .tables import Tables, make_tables

__all__ = ["RoundRobin", "RunError", "Settings", "round_robin", "top_game"]

RUN, RECORDS, GIF = "run.json", "games.jsonl", "top_game.gif"


@dataclass(frozen=True)
class Settings:
    """The content of run.json: all that the games depend on, apart from the agents' own code.

    agents: names, sorted; the order in which they are given does not matter.
    """

    game: str
    parameters: dict[str, Any]
    agents: list[str]
    games_per_pair: int
    seed: int
    opening_plies: int
    chunk: int
    version: str

    def to_json(self) -> str:
        """As the file holds them."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


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
        game.id, game.parameters, names, games_per_pair, seed, opening_plies, chunk, cellgames.__version__
    )
    folder = Path(out)
    with opened(folder, (RUN, RECORDS, GIF, *reports.FILES)):
        if not resume and (folder / RUN).exists():
            _delete_all_but_settings(folder)
        else:
            _check_folder(folder, settings)
        games = folder / RECORDS
        kept, clean = _finished(games, settings, schedule, warn)
        write_atomic(folder / RUN, settings.to_json())
        if not clean:
            write_atomic(games, _lines(kept))
        played = _play_missing(game, players, schedule, kept, folder, progress)
        ordered = {key: kept[key] for key, _ in _plan(names, schedule)}
        if list(kept) != list(ordered):
            write_atomic(games, _lines(ordered))
        records = tuple(record for chunk in ordered.values() for record in chunk)
        tables = make_tables(records, anchor=anchor, seed=derive(seed, "ratings"))
        files = [folder / RUN, games]
        files += reports.write_reports(
            folder, tables, asdict(settings), game.info.players, simultaneous=game.info.simultaneous, warn=warn
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


# ---------------------------------------------------------------- chunks
#
# A chunk is known by the match and the number of its first opening.

_Key = tuple[str, int]


def _plan(names: Sequence[str], schedule: Schedule) -> Iterator[tuple[_Key, tuple[tuple[str, str], range]]]:
    """All chunks in the order of the file: pair by pair, opening by opening."""
    for pair in combinations(sorted(names), 2):
        for openings in schedule.chunks():
            yield (match_id(*pair), openings.start), (pair, openings)


def _finished(
    path: Path, settings: Settings, schedule: Schedule, warn: Callable[[str], None]
) -> tuple[dict[_Key, list[Record]], bool]:
    """The whole chunks of the file in its order, and whether it holds nothing else.

    Raises:
        RunError: a game that does not belong to the run.
    """
    if not path.exists():
        return {}, True
    records, torn = read(path)
    if torn:
        warn(torn)
    plan = dict(_plan(settings.agents, schedule))
    found: dict[_Key, list[Record]] = {}
    for number, record in enumerate(records, 1):
        if wrong := _why_foreign(record, settings, plan):
            raise RunError(f"{path}, game {number}: not of this run, {wrong}; {START_OVER}")
        assert record.pairing is not None  # `_why_foreign` has looked
        opening = record.pairing.opening
        found.setdefault((record.pairing.match, opening - opening % schedule.chunk), []).append(record)
    kept = {
        key: chunk
        for key, chunk in found.items()
        if [r.pairing and (r.pairing.opening, r.pairing.seats) for r in chunk]
        == [(opening, seats) for opening in plan[key][1] for seats in ((0, 1), (1, 0))]
    }
    if dropped := len(records) - sum(map(len, kept.values())):
        warn(f"{path}: dropped {dropped} games of chunks that are not complete; they are played again")
    return kept, path.read_bytes() == _lines(kept)


def _why_foreign(record: Record, settings: Settings, plan: dict[_Key, tuple[tuple[str, str], range]]) -> str:
    """Why the game cannot be one of the run's, "" if it can."""
    pairing = record.pairing
    if pairing is None:
        return "it belongs to no match"
    chunk = plan.get((pairing.match, pairing.opening - pairing.opening % settings.chunk))
    if chunk is None or pairing.seats not in ((0, 1), (1, 0)):
        return f"no opening {pairing.opening} with seats {list(pairing.seats)} in a match {pairing.match!r}"
    wanted = {
        "game": settings.game,
        "parameters": settings.parameters,
        "version": settings.version,
        "seed": derive(settings.seed, "game", pairing.opening),
        "agents": tuple(chunk[0][seat] for seat in pairing.seats),
    }
    if record.opening > settings.opening_plies:  # one that would end its game is shorter
        return f"opening: expected {settings.opening_plies} at most, got {record.opening}"
    return differences(wanted, {name: getattr(record, name) for name in wanted})


def _lines(chunks: dict[_Key, list[Record]]) -> bytes:
    """What a file that holds these chunks, in this order, contains."""
    return "".join(record.to_json() + "\n" for chunk in chunks.values() for record in chunk).encode()


def _play_missing(
    game: Game[Any],
    agents: dict[str, AnyAgent],
    schedule: Schedule,
    kept: dict[_Key, list[Record]],
    folder: Path,
    progress: bool,
) -> int:
    """Play and append what is not in `kept`, and put it there; the number of games."""
    plan = dict(_plan(list(agents), schedule))
    missing = [key for key in plan if key not in kept]
    if missing:
        (folder / GIF).unlink(missing_ok=True)
    done, total = sum(map(len, kept.values())), sum(2 * len(openings) for _, openings in plan.values())
    with show_progress(total, done=done, label=game.id, shown=progress and bool(missing)) as finished:
        for key in missing:
            (first, second), openings = plan[key]
            pair = {name: agents[name] for name in (first, second)}
            kept[key] = play_chunk(game, pair, schedule, openings, finished)
            append(folder / RECORDS, kept[key])
    return total - done


# ---------------------------------------------------------------- the folder


def _delete_all_but_settings(folder: Path) -> None:
    """The games and tables of the run in the folder; run.json stays until the new one takes its place."""
    for name in (RECORDS, *reports.FILES, GIF):
        (folder / name).unlink(missing_ok=True)


def _check_folder(folder: Path, settings: Settings) -> None:
    """Raise a `RunError` unless the folder is empty or holds this run or a smaller one."""
    path = folder / RUN
    refuse_foreign(folder, RUN)
    if not path.exists():
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        agents, games = list(found["agents"]), int(found["games_per_pair"])
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path} cannot be read ({error!r}); {START_OVER}") from None
    expected = asdict(settings)
    grown = {"agents", "games_per_pair"}
    wrong = differences({k: v for k, v in found.items() if k in expected.keys() - grown}, expected)
    if wrong:
        raise RunError(f"{folder} holds another run. {wrong}; {START_OVER}")
    if games > settings.games_per_pair:
        raise RunError(
            f"{folder} holds more games a pair: expected {games} or more, got {settings.games_per_pair}; {START_OVER}"
        )
    if missing := sorted(set(agents) - set(settings.agents)):
        raise RunError(
            f"{folder} holds games of other agents: expected {', '.join(agents)} or more, but "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; {START_OVER}"
        )
