"""Games played chunk by chunk in a folder of their own, which a killed run leaves ready to be continued.

    run.json      the settings, written first
    games.jsonl   one record a game, appended chunk by chunk (`match.Schedule`)

The games of a chunk depend on the settings alone. So a continued run plays only what is missing, a run that grows
equals a bigger one played at once, and the files are the same, byte for byte. Which chunks there are may depend on the
games of those before them (`Growth`), too. Round robins and free-for-all games stand on this; their tables are their
own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Pairing, Record, append, read_records
from cellgames.cluster.workers import Workers, completed
from cellgames.envs.core import Game
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.run_folders import START_OVER, RunError, differences, refuse_foreign, write_atomic

from .chunk_work import ChunkWork, Key, Piece
from .match import Schedule, derive, play_games
from .work_units import Parcel

__all__ = ["RECORDS", "RUN", "Chunk", "Growth", "Key", "Settings", "play_plan", "prepare", "refuse_changed"]

RUN, RECORDS = "run.json", "games.jsonl"


@dataclass(frozen=True)
class Settings:
    """The content of run.json: all that the games depend on.

    agents: names, sorted; the order in which they are given does not matter.
    games:  how many; the file calls them `counted`.
    identities: of agents by name (`agents.identity`); one that has changed since makes another run.
    """

    game: str
    parameters: dict[str, Any]
    agents: list[str]
    games: int
    seed: int
    opening_plies: int
    chunk: int
    version: str
    identities: dict[str, str] = field(default_factory=dict)

    counted: ClassVar[str] = "games"
    """The name of `games` in the file; every kind of run has its own."""
    may_join: ClassVar[bool] = False
    """Whether a run that is continued may have more agents."""

    def to_data(self) -> dict[str, Any]:
        """As the file holds them."""
        return {self.counted if name == "games" else name: value for name, value in asdict(self).items()}

    def refuse(self, found: Mapping[str, Any]) -> str:
        """Why a run with the settings found in a folder cannot go on as this one; "" where `prepare` sees all."""
        return ""

    def to_json(self) -> str:
        """The text of the file."""
        return json.dumps(self.to_data(), indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Chunk:
    """Games that are played side by side.

    agents:   names, sorted; those that the seats of the pairings count.
    pairings: of the games, in the order of the file.
    """

    agents: tuple[str, ...]
    pairings: tuple[Pairing, ...]


class Growth(Protocol):
    """What is played after the plan, as a function of the games before."""

    def possible(self, key: Key) -> Chunk | None:
        """The chunk of a key that may come after the plan, None if it cannot."""

    def more(self, records: Sequence[Record]) -> Mapping[Key, Chunk]:
        """The next chunks in the order of the file, none when the run is complete.

        Args:
            records: all games so far, in the order of the file.
        """


# ---------------------------------------------------------------- the folder


def prepare(folder: Path, settings: Settings, files: Iterable[str], *, resume: bool) -> None:
    """Make sure that the folder is empty or holds this run or a smaller one, or else begin anew.

    Args:
        folder: of the run.
        settings: of the run.
        files: what a run of this kind writes besides `RUN` and `RECORDS`.
        resume: False deletes the run in the folder; run.json stays until the new one takes its place.

    Raises:
        RunError: the folder holds something else, or a run of another kind, or, to be resumed, another run.
    """
    path = folder / RUN
    refuse_foreign(folder, RUN)
    if not path.exists():
        return
    found: dict[str, Any] = {}
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
        games, agents = int(found[settings.counted]), list(found["agents"])
    except (ValueError, KeyError, TypeError) as error:
        if found and settings.counted not in found:
            raise RunError(
                f"{folder} holds a run of another kind: expected {settings.counted!r} in {RUN}, got none; "
                "choose another folder (--out)"
            ) from None
        if resume:
            raise RunError(f"{path} cannot be read ({error!r}); {START_OVER}") from None
    else:
        if resume:
            _check_smaller(folder, settings, found, games, agents)
    if not resume:
        for name in (RECORDS, *files):
            (folder / name).unlink(missing_ok=True)


def _check_smaller(folder: Path, settings: Settings, found: Mapping[str, Any], games: int, agents: list[str]) -> None:
    """Raise a `RunError` unless the run that was found, with so many games, is this one or can grow into it."""
    expected = settings.to_data()
    if why := settings.refuse(found):
        raise RunError(f"{folder} holds another run: {why}; {START_OVER}")
    grown = {settings.counted, "identities", "until_certain", "budget"} | ({"agents"} if settings.may_join else set())
    wrong = differences({k: v for k, v in found.items() if k in expected.keys() - grown}, expected)
    if wrong:
        raise RunError(f"{folder} holds another run. {wrong}; {START_OVER}")
    if games > settings.games:
        raise RunError(
            f"{folder} holds more {settings.counted.replace('_per_', ' a ')}: expected {games} or more, "
            f"got {settings.games}; {START_OVER}"
        )
    if missing := sorted(set(agents) - set(settings.agents)):
        raise RunError(
            f"{folder} holds games of other agents: expected {', '.join(agents)} or more, but "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing; {START_OVER}"
        )
    refuse_changed(folder, found.get("identities"), settings.identities)


def refuse_changed(folder: Path, before: object, now: Mapping[str, str]) -> None:
    """Raise a `RunError` if an agent is not what it was when its games were played, as far as both are known."""
    for name, identity in before.items() if isinstance(before, dict) else ():
        if identity and now.get(name) and now[name] != identity:
            raise RunError(
                f"{folder} holds games of another {name}: expected identity {identity}, got {now[name]}; has its file "
                f"changed since? {START_OVER}"
            )


# ---------------------------------------------------------------- the games


def play_plan(
    game: Game,
    agents: Mapping[str, AnyAgent],
    schedule: Schedule,
    plan: Mapping[Key, Chunk],
    folder: Path,
    settings: Settings,
    *,
    growth: Growth | None = None,
    outdated: Iterable[str] = (),
    keep: Callable[[Sequence[Record]], None] = lambda records: None,
    progress: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    workers: Workers | None = None,
    sent: Sequence[str | AnyAgent] = (),
) -> tuple[tuple[Record, ...], int]:
    """Play what the folder has not yet, and write `RUN` and `RECORDS`.

    Args:
        game: the rules.
        agents: by name.
        schedule: of the run.
        plan: all chunks in the order of the file, or the first ones.
        folder: of the run, `prepare`d.
        settings: of the run.
        growth: the chunks after the plan.
        outdated: files that new games make wrong; deleted before the first of them.
        keep: gets the games that are in the folder already, then each chunk when it is in the file, such as
            `store_feed.feeding` gives it.
        progress: whether to report on standard error.
        warn: gets a line for each thing left out, such as a torn line.
        workers: who plays; None for this process. The files are the same; while the run lasts, games.jsonl has the
            chunks in the order in which they were finished.
        sent: the agents as workers get them, specs or objects (`parcels`); by default those of `agents`.

    Returns:
        All games in the order of the plan, and how many of them were played just now.

    Raises:
        RunError: games.jsonl holds a game that does not belong to the run.
        RecordError: it has a line that no crash can explain.
        ClusterError: workers could not play a chunk; all others that were under way are in the file.
    """
    path = folder / RECORDS
    parcel = None if workers is None else Parcel.pack(game, sent or [*agents.values()])
    if parcel is not None:  # a file of weights may have changed since it was looked at
        refuse_changed(folder, settings.identities, parcel.identities)
    play = _player(game, agents, schedule, workers, parcel)

    def chunk_of(key: Key) -> Chunk | None:
        return plan.get(key) or (growth.possible(key) if growth is not None else None)

    kept, clean = _finished(path, settings, chunk_of, warn)
    write_atomic(folder / RUN, settings.to_json())
    if not clean:
        write_atomic(path, _lines(kept))
    if kept:  # a run that was killed between its file and the store has left the store behind
        keep([record for records in kept.values() for record in records])
    ordered: dict[Key, list[Record]] = {}
    played, stage = 0, plan
    while stage:
        missing = [key for key in stage if key not in kept]
        if missing and not played:
            for name in outdated:
                (folder / name).unlink(missing_ok=True)
        total = sum(len(chunk.pairings) for chunk in stage.values())
        left = sum(len(stage[key].pairings) for key in missing)
        label = game.id if stage is plan else f"{game.id}, games until the order is certain"
        with show_progress(total, done=total - left, label=label, shown=progress and bool(missing)) as finished:
            pieces = [Piece(key, stage[key].agents, stage[key].pairings) for key in missing]
            for piece, records in play(pieces, finished):
                kept[piece.key] = records
                append(path, records)
                keep(records)
        played += left
        ordered.update({key: kept[key] for key in stage})
        stage = {} if growth is None else growth.more([record for part in ordered.values() for record in part])
    if foreign := kept.keys() - ordered.keys():
        match, opening = min(foreign)
        raise RunError(f"{path}: not of this run, games of {match} from opening {opening} on; {START_OVER}")
    if list(kept) != list(ordered):
        write_atomic(path, _lines(ordered))
    return tuple(record for records in ordered.values() for record in records), played


def _player(
    game: Game,
    agents: Mapping[str, AnyAgent],
    schedule: Schedule,
    workers: Workers | None,
    parcel: Parcel | None,
) -> Callable[[Sequence[Piece], Callable[[int], None]], Iterable[tuple[Piece, list[Record]]]]:
    """What plays chunks, here or by workers: gives each with its games, and tells how many games it has finished."""

    def here(pieces: Sequence[Piece], finished: Callable[[int], None]) -> Iterator[tuple[Piece, list[Record]]]:
        for piece in pieces:
            players = {name: agents[name] for name in piece.agents}
            yield piece, play_games(game, players, schedule, piece.pairings, finished)

    if workers is None or parcel is None:
        return here
    work = ChunkWork(parcel, schedule)

    def there(pieces: Sequence[Piece], finished: Callable[[int], None]) -> Iterator[tuple[Piece, list[Record]]]:
        for piece, records in completed(workers, work, pieces):
            yield piece, records
            finished(len(records))

    return there


def _finished(
    path: Path, settings: Settings, chunk_of: Callable[[Key], Chunk | None], warn: Callable[[str], None]
) -> tuple[dict[Key, list[Record]], bool]:
    """The whole chunks of the file in its order, and whether it holds nothing else.

    Raises:
        RunError: a game that does not belong to the run.
    """
    if not path.exists():
        return {}, True
    records, torn = read_records(path)
    if torn:
        warn(torn)
    found: dict[Key, list[Record]] = {}
    for number, record in enumerate(records, 1):
        if wrong := _why_foreign(record, settings, chunk_of):
            raise RunError(f"{path}, game {number}: not of this run, {wrong}; {START_OVER}")
        assert record.pairing is not None  # `_why_foreign` has looked
        found.setdefault(_key(record.pairing, settings), []).append(record)
    kept = {key: part for key, part in found.items() if _is_whole(part, chunk_of(key))}
    if dropped := len(records) - sum(map(len, kept.values())):
        warn(f"{path}: dropped {dropped} games of chunks that are not complete; they are played again")
    return kept, path.read_bytes() == _lines(kept)


def _is_whole(records: Sequence[Record], chunk: Chunk | None) -> bool:
    return chunk is not None and [record.pairing for record in records] == [*chunk.pairings]


def _key(pairing: Pairing, settings: Settings) -> Key:
    return pairing.match, pairing.opening - pairing.opening % settings.chunk


def _why_foreign(record: Record, settings: Settings, chunk_of: Callable[[Key], Chunk | None]) -> str:
    """Why the game cannot be one of the run's, "" if it can."""
    pairing = record.pairing
    if pairing is None:
        return "it belongs to no match"
    chunk = chunk_of(_key(pairing, settings))
    if chunk is None or pairing not in chunk.pairings:
        return f"no opening {pairing.opening} with seats {list(pairing.seats)} in a match {pairing.match!r}"
    wanted = {
        "game": settings.game,
        "parameters": settings.parameters,
        "version": settings.version,
        "seed": derive(settings.seed, "game", pairing.opening),
        "agents": tuple(chunk.agents[seat] for seat in pairing.seats),
    }
    if record.opening > settings.opening_plies:  # one that would end its game is shorter
        return f"opening: expected {settings.opening_plies} at most, got {record.opening}"
    return differences(wanted, {name: getattr(record, name) for name in wanted})


def _lines(chunks: Mapping[Key, list[Record]]) -> bytes:
    """What a file that holds these chunks, in this order, contains."""
    return "".join(record.to_json() + "\n" for chunk in chunks.values() for record in chunk).encode()
