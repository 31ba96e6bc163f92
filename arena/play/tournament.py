"""The engine of tournaments: a schedule asks for the next games given the results so far, and a player plays them.

A schedule is a generator: it yields a `Stage`, batches of games that do not depend on each other, and is sent the
games of each batch. The games of a batch depend on the settings of the run alone. So batches that are in the file of
games are taken from it, workers may play others in any order, and the file is the same in the end, byte for byte. A
batch of which only a part is in the file is played again.

Round robins, free-for-all games, evaluations, leagues and seasons are such schedules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from cellgames.arena.records.record_lines import RECORDS, Traced, append, finish, log_forfeits, read_sound
from cellgames.runs.run_folder import START_OVER, RunError, RunFolder
from cellgames.runs.workers import completed, packed
from cellgames.utils.files import write_atomic
from cellgames.utils.progress import progress as show_progress

_PATIENCE_S = 2.0  # before progress is shown

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Traced)


@dataclass(frozen=True)
class Batch(Generic[K]):
    """Games that are played at the same time, and lost together if the run is stopped; its text names it in messages.

    Attributes:
        label: such as "random vs greedy, openings 0 to 24".
        games: what names each of them, such as pairings.
        agents: names of those that play, sorted, if the games do not tell.
    """

    label: str
    games: tuple[K, ...]
    agents: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Stage(Generic[K]):
    """Batches that do not depend on each other, in the order of the file.

    Attributes:
        batches: one or more.
        label: for the progress on standard error, "" for none.
        here: True for a few games that this process plays, whose agents are ready, even if there are workers.
    """

    batches: Sequence[Batch[K]]
    label: str = ""
    here: bool = False


Schedule: TypeAlias = Generator[Stage[K], list[list[T]], None]
"""Yields stages, and is sent the games of each batch of the stage."""


class Player(ABC, Generic[K, T]):
    """A player of games, which plays batches and reads them again from a file; it is pickled for workers."""

    @abstractmethod
    def parse(self, line: bytes) -> tuple[K, Any]:
        """Return the key of the game in a line, and a value for `read`; raise a `ValueError` if there is no game."""

    @abstractmethod
    def key(self, game: T) -> K:
        """Return the key of a game."""

    @abstractmethod
    def read(self, batch: Batch[K], key: K, parsed: Any) -> T:
        """Return a game of a batch from what `parse` gave; raise a `ValueError` if it is not of this run."""

    @abstractmethod
    def play(self, batch: Batch[K], finished: Callable[[int], None] | None = None) -> list[T]:
        """Play a batch; `finished` is called with the number of games that have just ended."""

    def first(self, key: K) -> K:
        """Return the key of a game in its batch; another attempt at a game has a key of its own."""
        return key

    def collect(self, batch: Batch[K], get: Callable[[K], T]) -> list[T]:
        """Return the games of a batch, in the order of `play`; `get` raises a `KeyError` for a game that is missing."""
        return [get(key) for key in batch.games]

    def unsound(
        self, games: Sequence[T], finished: Callable[[int], None] = lambda count: None
    ) -> Iterable[tuple[int, str]]:
        """Return the numbers of games that do not replay, and why; none where `read` checks enough."""
        return ()


def _nothing(*arguments: Any) -> None:
    """Do nothing."""


@dataclass
class Tournament(Generic[K, T]):
    """The games of a run.

    Attributes:
        player: plays them.
        place: folder of the run, which the caller has locked; None for a run that keeps nothing.
        settings: settings of the run when it is over.
        resume: False deletes the run that the folder holds.
        outdated: files that new games make wrong; deleted before the first of them.
        knows: returns False for games that the schedule cannot ask for; they are refused before any game is played.
        keep: gets games when they are in the file, those from before too.
        warn: gets a line for each thing left out, such as a torn line.
        workers: play the batches; None for this process. While the run lasts, the file has the batches in the order in
            which they were finished.
        progress: True to report on standard error.
        each: gets each batch, its games, and True if they are new, in the order of the schedule.
        games: number of games so far.
        played: number of those that were not in the file.
    """

    player: Player[K, T]
    place: RunFolder | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    resume: bool = True
    outdated: Collection[str] = ()
    knows: Callable[[K], bool] = lambda key: True
    keep: Callable[[Sequence[T]], None] = _nothing
    warn: Callable[[str], None] = _nothing
    workers: Executor | None = None
    progress: bool = False
    each: Callable[[Batch[K], list[T], bool], None] = _nothing
    games: int = 0
    played: int = 0

    def __post_init__(self) -> None:
        if self.workers is not None:
            packed(self.player)  # what cannot be sent is refused before anything is written
        self.path = Path() if self.place is None else self.place.path / RECORDS
        self._found: dict[K, Any] = {}  # games of the file that were not asked for yet
        self._lines: dict[K, bytes] = {}  # all games of the file, in its order; b"" for a new one
        self._order: list[K] = []  # of the games that were asked for
        self._clean = True

    def run(self, schedule: Schedule[K, T]) -> None:
        """Play all games of a schedule, or take them from the file.

        Raises:
            RunError: the folder holds another run, or the file a game that does not belong to the run.
            RecordError: it has a line that was written like this, and cannot be read.
            WorkerError: a worker ended while it played a batch; all batches that others have finished are in the file.
        """
        self._begin()
        ended: Any = None  # which begins the schedule
        while True:
            try:
                stage = schedule.send(ended)
            except StopIteration:
                break
            there, missing = self._there(stage)
            tell = partial(self._tell, deque(stage.batches), there, frozenset(missing))
            total, more = (sum(len(batch.games) for batch in batches) for batches in (stage.batches, missing))
            shown = self.progress and bool(missing and stage.label)
            with show_progress(total, done=total - more, label=stage.label, shown=shown) as finished:
                if self.workers is None or stage.here:
                    for batch in missing:
                        there[batch] = self._added(self.player.play(batch, finished))
                        tell()
                else:
                    for batch, games in completed(self.workers, self.player.play, missing):
                        for _, why in self.player.unsound(games):  # agents may have changed their process
                            raise RunError(batch, "games of a worker that replay", cause=why)
                        there[batch] = self._added(games)
                        finished(len(batch.games))
                        tell()
            tell()
            ended = [there[batch] for batch in stage.batches]
            self._order += [self.player.key(game) for games in ended for game in games]
        self.games = len(self._order)
        self._end()

    def _begin(self) -> None:
        """Write the settings, and read the games that are there."""
        if self.place is None:
            return
        self.place.begin(self.settings, resume=self.resume)
        self.place.write(self.settings)
        found, self._clean = read_sound(self.path, self.player.parse, self.warn)
        for line, (key, parsed) in found:
            if self._lines.setdefault(key, line) != line:
                raise self._foreign(key, f"where {key} ended otherwise before")
            if not self.knows(key):
                raise self._foreign(key, f"which has no {key}")
            self._found[key] = parsed

    def _end(self) -> None:
        """Put the games in order, and write the settings of a finished run."""
        for key in self._found:
            raise self._foreign(key, f"which does not ask for {key}")
        if list(self._lines) != self._order:
            self._rewrite(self._order)
        if self.place is not None:
            self.place.write(finish(self.settings, {RECORDS: self.path.read_bytes()}))

    def _foreign(self, key: K, why: str) -> RunError:
        number = 1 + list(self._lines).index(key)
        return RunError(f"{self.path}, game {number}", "one of this run", f"another, {why}", START_OVER)

    def _there(self, stage: Stage[K]) -> tuple[dict[Batch[K], list[T]], list[Batch[K]]]:
        """Return the games of batches that are in the file, and the other batches, for which there is room now."""
        there = self._taken(stage)
        missing = [batch for batch in stage.batches if batch not in there]
        self._make_room(missing)
        if known := [game for games in there.values() for game in games]:
            self.keep(known)  # a run that was killed between its file and the store has left the store behind
        if missing and not self.played and self.place is not None:
            self.place.delete(*self.outdated)
        return there, missing

    def _added(self, games: list[T]) -> list[T]:
        """Add new games to the file and the store."""
        if self.place is not None:
            log_forfeits(self.place.path, games)
            append(self.path, games)
        self._lines.update((self.player.key(game), b"") for game in games)
        self.played += len(games)
        self.keep(games)
        return games

    def _tell(self, waiting: deque[Batch[K]], there: Mapping[Batch[K], list[T]], new: Collection[Batch[K]]) -> None:
        while waiting and waiting[0] in there:
            batch = waiting.popleft()
            self.each(batch, there[batch], batch in new)

    def _taken(self, stage: Stage[K]) -> dict[Batch[K], list[T]]:
        """Return the games of the batches that are in the file as a whole, and that replay."""
        there: dict[Batch[K], list[T]] = {}
        for batch in stage.batches if self._found else ():
            with suppress(KeyError):
                there[batch] = self.player.collect(batch, partial(self._read, batch))
        whole = [(batch, game) for batch, games in there.items() for game in games]
        label = f"replay {self.path}"
        with show_progress(len(whole), label=label, shown=self.progress, after_s=_PATIENCE_S) as finished:
            failed = list(self.player.unsound([game for _, game in whole], finished)) if whole else []
        if failed:
            self.warn(f"{self.path}: {len(failed)} games do not replay ({failed[0][1]}); they are played again")
            for number, _ in failed:
                there.pop(whole[number][0], None)
        for games in there.values():
            for game in games:
                del self._found[self.player.key(game)]
        return there

    def _make_room(self, batches: Collection[Batch[K]]) -> None:
        """Leave only sound lines in the file, and none of these batches."""
        asked = {key for batch in batches for key in batch.games} if self._found else ()
        dropped = {key for key in self._found if self.player.first(key) in asked}
        if dropped:
            self.warn(f"{self.path}: dropped {len(dropped)} games of batches that are not whole; they are played again")
        if dropped or not self._clean:
            self._rewrite([key for key in self._lines if key not in dropped])
        for key in dropped:
            del self._found[key]

    def _read(self, batch: Batch[K], key: K) -> T:
        parsed = self._found[key]
        try:
            return self.player.read(batch, key, parsed)
        except ValueError as error:
            raise self._foreign(key, str(error)) from None

    def _rewrite(self, keys: Sequence[K]) -> None:
        """Write the file anew with some of its games, in this order."""
        if self.place is None:
            return
        lines = self._lines
        if self._clean:  # it has a line for each game
            lines = dict(zip(lines, self.path.read_bytes().split(b"\n"), strict=False))
        write_atomic(self.path, b"".join(lines[key] + b"\n" for key in keys))
        self._lines, self._clean = {key: lines[key] for key in keys}, True


def all_games(stages: Iterable[Stage[K]], games: list[T]) -> Schedule[K, T]:
    """Ask for stages that do not depend on results; add their games to a list."""
    for stage in stages:
        for part in (yield stage):
            games += part
