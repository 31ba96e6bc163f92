"""Runs of games in a folder, played chunk by chunk, so that a killed run can be continued.

    run.json      the settings, written first
    games.jsonl   one record a game, appended chunk by chunk (`MatchOptions.chunks`)
    forfeits.log  the errors that agents raised, if any did (`forfeit_log`)

The games of a chunk depend on the settings alone. So a continued run plays only what is missing, a run that grows
equals a bigger one played at once, and the files are the same, byte for byte. Which chunks there are may also depend on
the games before them (`UntilCertain`). Round robins and free-for-all games use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.arena.records.checksums import finish
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, ForfeitLog, traces_of
from cellgames.arena.records.game_lines import read_sound, rewrite
from cellgames.arena.records.record_lines import RECORDS, Pairing, Record, append, plain, to_lines
from cellgames.arena.records.replays import verify
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.cluster.workers import Workers, completed
from cellgames.envs.core import Game
from cellgames.runs.comparing import ANSWERS, differences
from cellgames.runs.run_folder import COMMITMENT, START_OVER, RunError, RunFolder, check_agents
from cellgames.runs.secret_seed import SecretSeed, commitment, covered, is_revealed, revealed_line
from cellgames.runs.seeds import derive
from cellgames.utils.foreign_text import shown
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.version import __version__

from .chunk_work import Chunk, ChunkWork, Key
from .match import play_games
from .match_options import FreeForAllOptions, MatchOptions, RoundRobinOptions
from .until_certain import UntilCertain
from .work_units import Parcel

__all__ = ["FILES", "RUN", "ChunkedRun", "Settings", "check_anchor"]

RUN = "run.json"
FILES = (RECORDS, FORFEIT_LOG, ANSWERS)
"""Names of the other files that all these runs write."""

_PATIENCE_S = 2.0  # before progress is shown

Keep: TypeAlias = Callable[[Sequence[Record]], None]
"""A function that gets games when they are in the file, such as `feed.feeding` gives it."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The content of run.json: all that the games depend on.

    Attributes:
        game: id of the game.
        parameters: of the game.
        agents: names, sorted; the order in which agents are given does not matter.
        games: how many; the file calls them `counted`.
        seed: see `MatchOptions`.
        opening_plies: see `MatchOptions`.
        chunk: see `MatchOptions`.
        version: of this package.
        identities: of agents by name (`agents.identity`); one that has changed since makes another run.
        specs: of agents that have another name, by it. They may change, since identities say who plays.
        secret: True if the seed is secret until the run is over (`secret_seed`).
        clock: see `MatchOptions`; the file has it only if it is given.
        move_time: the same.
        policies: the same.
        all_tables: see `FreeForAllOptions`; the same.
    """

    game: str
    parameters: dict[str, Any]
    agents: list[str]
    games: int
    seed: int
    opening_plies: int
    chunk: int
    version: str
    identities: dict[str, str]
    specs: dict[str, str] = field(default_factory=dict)
    secret: bool = False
    clock: str | None = None
    move_time: float | None = None
    policies: bool = False
    all_tables: bool = False

    counted: ClassVar[str] = "games"
    """The name of `games` in the file; every kind of run has its own."""

    @classmethod
    def of(cls, game: Game, agents: Mapping[str, str | AnyAgent], options: MatchOptions, **more: Any) -> Self:
        """Return the settings of a run of these agents; `more` are the fields of a subclass."""
        return cls(
            game=game.id,
            parameters=plain(game.parameters),
            agents=sorted(agents),
            games=options.games,
            seed=options.seed,
            opening_plies=options.opening_plies,
            chunk=options.chunk,
            clock=options.clock,
            move_time=options.move_time,
            policies=options.policies,
            version=__version__,
            identities=identities(agents, game),
            specs={name: agent for name, agent in sorted(agents.items()) if isinstance(agent, str) and name != agent},
            secret=isinstance(options, SecretSeed) and options.secret_seed,
            **more,
        )

    def to_data(self) -> dict[str, Any]:
        """Return the settings as the file holds them when the run is over."""
        data = {self.counted if name == "games" else name: value for name, value in asdict(self).items()}
        for name in ("specs", "clock", "move_time", "policies", "all_tables"):
            if not data[name]:
                del data[name]
        if data.pop("secret"):
            data[COMMITMENT] = commitment(self.seed)
        return data

    def write(self, run: RunFolder, games: bytes | None = None) -> None:
        """Write the file; `games` is games.jsonl of a finished run, whose seed is no secret any more."""
        data = self.to_data()
        if games is not None:
            data = finish(data, {RECORDS: games})
        elif self.secret:
            data = covered(data)
        run.write(data)


def check_anchor(options: RoundRobinOptions | FreeForAllOptions, names: Sequence[str]) -> None:
    """Raise a `ValueError` unless the anchor is one of the agents."""
    if options.anchor is not None and options.anchor not in names:
        raise ValueError(f"anchor must be one of the agents ({', '.join(names)}), got {shown(options.anchor)}")


@dataclass(frozen=True)
class ChunkedRun:
    """A run in its folder.

    Attributes:
        game: the rules.
        players: the agents by name.
        agents: the same agents as workers get them, specs or objects by name (`work_units`).
        options: of the run.
        settings: of the run.
        run: its folder.
        warn: gets a line for each thing left out, such as a torn line.
    """

    game: Game
    players: Mapping[str, AnyAgent]
    agents: Mapping[str, str | AnyAgent]
    options: RoundRobinOptions | FreeForAllOptions
    settings: Settings
    run: RunFolder
    warn: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """Return the path of the folder."""
        return self.run.path

    @property
    def files(self) -> list[Path]:
        """Return the files of the run itself, without those that are made from its games."""
        log = self.folder / FORFEIT_LOG
        return [self.folder / RUN, self.folder / RECORDS, *([log] if log.exists() else [])]

    @contextmanager
    def opened(self, store: AnyStore) -> Iterator[Keep]:
        """Lock the folder, check that it holds this run or a smaller one, and open the store.

        Args:
            store: gets the games.

        Yields:
            A function that adds games to the store.

        Raises:
            RunError: the folder holds something else or another run, or another process uses it.
            StoreError: the store is another kind of file, or cannot be created.
        """
        with (
            self.run,
            feeding(store, self.run.kind.name, self.folder, self.settings.identities, self.warn) as keep,
        ):
            self.run.begin(self.settings.to_data(), resume=self.options.resume)
            yield keep

    def play(
        self,
        plan: Mapping[Key, Chunk],
        keep: Keep,
        *,
        growth: UntilCertain | None = None,
        outdated: Iterable[str] = (),
        progress: bool = False,
        workers: Workers | None = None,
    ) -> tuple[tuple[Record, ...], int]:
        """Play the games that are not in the folder yet, and write `RUN` and `RECORDS`.

        Args:
            plan: all chunks in the order of the file, or the first ones.
            keep: gets the games that are in the folder already, then each chunk when it is in the file.
            growth: the chunks after the plan.
            outdated: files that new games make wrong; deleted before the first of them.
            progress: True to report on standard error.
            workers: play the chunks; None for this process. The files are the same; while the run lasts, games.jsonl
                has the chunks in the order in which they were finished.

        Returns:
            All games in the order of the plan, and how many of them were played by this call.

        Raises:
            RunError: games.jsonl holds a game that does not belong to the run.
            RecordError: it has a line that was written like this, and cannot be read.
            ClusterError: workers could not play a chunk; all others that were under way are in the file.
        """
        path = self.folder / RECORDS
        play, log = self._player(workers), ForfeitLog(self.folder)

        def chunk_of(key: Key) -> Chunk | None:
            return plan.get(key) or (growth.possible(key) if growth is not None else None)

        kept, clean = self._finished(chunk_of, progress=progress)
        revealed = self.settings.secret and is_revealed(self.run.read() or {})
        self.settings.write(self.run)
        if not clean:
            rewrite(path, _lines(kept))
        if kept:  # a run that was killed between its file and the store has left the store behind
            keep([record for records in kept.values() for record in records])
        ordered: dict[Key, list[Record]] = {}
        played, stage = 0, plan
        while stage:
            missing = [key for key in stage if key not in kept]
            if missing and not played:
                if revealed:
                    self.warn(
                        f"{self.folder}: the seed was shown when this run was over, so it is no secret in the games "
                        "that are added now"
                    )
                for name in outdated:
                    (self.folder / name).unlink(missing_ok=True)
            total = sum(len(chunk.pairings) for chunk in stage.values())
            left = sum(len(stage[key].pairings) for key in missing)
            label = self.game.id if stage is plan else f"{self.game.id}, games until the order is certain"
            with show_progress(total, done=total - left, label=label, shown=progress and bool(missing)) as finished:
                for chunk, records in play([stage[key] for key in missing], finished):
                    kept[chunk.key] = records
                    log.add(traces_of(records))
                    append(path, records)
                    keep(records)
            played += left
            ordered.update({key: kept[key] for key in stage})
            stage = {} if growth is None else growth.more([record for part in ordered.values() for record in part])
        if foreign := kept.keys() - ordered.keys():
            match, opening = min(foreign)
            raise RunError(f"{path}: not of this run, games of {match} from opening {opening} on; {START_OVER}")
        if list(kept) != list(ordered):
            rewrite(path, _lines(ordered))
        self.settings.write(self.run, path.read_bytes())
        if self.settings.secret:
            self.warn(revealed_line(self.settings.seed))
        return tuple(record for records in ordered.values() for record in records), played

    def _player(
        self, workers: Workers | None
    ) -> Callable[[Sequence[Chunk], Callable[[int], None]], Iterable[tuple[Chunk, list[Record]]]]:
        """Return what plays chunks, here or by workers: it yields each with its games and counts finished games."""
        if workers is None:

            def here(chunks: Sequence[Chunk], finished: Callable[[int], None]) -> Iterator[tuple[Chunk, list[Record]]]:
                for chunk in chunks:
                    players = {name: self.players[name] for name in chunk.agents}
                    yield chunk, play_games(self.game, players, self.options, chunk.pairings, finished)

            return here
        parcel = Parcel.pack(self.game, self.agents)
        # A file of weights may have changed since it was looked at.
        check_agents(self.folder, self.settings.identities, parcel.identities)
        work = ChunkWork(parcel, self.options)

        def there(chunks: Sequence[Chunk], finished: Callable[[int], None]) -> Iterator[tuple[Chunk, list[Record]]]:
            for chunk, records in completed(workers, work, chunks):
                for _, error in verify(
                    records, known=self.game
                ):  # agents may have changed the process that they played in
                    raise RunError(f"{chunk}: a worker sent a game that does not replay: {error}") from None
                yield chunk, records
                finished(len(records))

        return there

    def _finished(
        self, chunk_of: Callable[[Key], Chunk | None], *, progress: bool
    ) -> tuple[dict[Key, list[Record]], bool]:
        """Return the whole chunks of the file whose games replay, in its order, and True if it holds nothing else.

        Raises:
            RunError: a game that does not belong to the run.
        """
        path = self.folder / RECORDS
        records, clean = read_sound(path, Record.from_json, self.warn)
        found: dict[Key, list[Record]] = {}
        for number, (_, record) in enumerate(records, 1):
            if wrong := self._why_foreign(record, chunk_of):
                raise RunError(f"{path}, game {number}: not of this run, {wrong}; {START_OVER}")
            found.setdefault(self._key_of(record), []).append(record)
        kept = {key: part for key, part in found.items() if _is_whole(part, chunk_of(key))}
        if dropped := len(records) - sum(map(len, kept.values())):
            self.warn(f"{path}: dropped {dropped} games of chunks that are not complete; they are played again")
        whole = [record for part in kept.values() for record in part]
        with show_progress(len(whole), label=f"replay {path}", shown=progress, after_s=_PATIENCE_S) as finished:
            failed = list(verify(whole, known=self.game, finished=finished))
        if failed:
            self.warn(f"{path}: {len(failed)} games do not replay ({failed[0][1]}); their chunks are played again")
            for number, _ in failed:
                kept.pop(self._key_of(whole[number]), None)
        return kept, clean and [line for line, _ in records] == _lines(kept)

    def _why_foreign(self, record: Record, chunk_of: Callable[[Key], Chunk | None]) -> str:
        """Return why the game cannot be one of the run's, "" if it can."""
        settings, pairing = self.settings, record.pairing
        if pairing is None:
            return "it belongs to no match"
        chunk = chunk_of(self._key(pairing))
        if chunk is None or pairing not in chunk.pairings:
            return f"no opening {pairing.opening} with seats {list(pairing.seats)} in a match {shown(pairing.match)}"
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

    def _key_of(self, record: Record) -> Key:
        assert record.pairing is not None  # `_why_foreign` has looked
        return self._key(record.pairing)

    def _key(self, pairing: Pairing) -> Key:
        return pairing.match, pairing.opening - pairing.opening % self.settings.chunk


def _is_whole(records: Sequence[Record], chunk: Chunk | None) -> bool:
    return chunk is not None and [record.pairing for record in records] == [*chunk.pairings]


def _lines(chunks: Mapping[Key, list[Record]]) -> list[bytes]:
    """Return the lines of a file that holds these chunks, in this order."""
    return [line for chunk in chunks.values() for line in to_lines(chunk).splitlines()]
