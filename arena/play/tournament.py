"""The engine of tournaments: a schedule asks for the next games given the results so far, and a player plays them.

A schedule is a generator: it yields a `Stage`, batches of games that do not depend on each other, and is sent the
games of each batch. The games of a batch depend on the settings of the run alone. So batches that are in the file of
games are taken from it, workers may play others in any order, and the file is the same in the end, byte for byte. A
batch of which only a part is in the file is played again.

Round robins, free-for-all games, evaluations, scenarios, leagues, seasons and series are such schedules.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from cellgames.arena.records.forfeit_log import ForfeitLog
from cellgames.arena.records.record_lines import Line, append, read_sound
from cellgames.cluster.workers import Work, Workers
from cellgames.runs.run_folder import START_OVER, RunError
from cellgames.utils.files import write_atomic
from cellgames.utils.progress import progress as show_progress

_PATIENCE_S = 2.0  # before progress is shown

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Line)


@dataclass(frozen=True)
class Batch(Generic[K]):
    """Games that are played at the same time, and lost together if the run is stopped; its text names it in messages.

    Attributes:
        label: such as "random vs greedy, openings 0 to 24".
        games: what names each of them, such as pairings.
        agents: names of those that play, sorted, if the games do not tell.
        replays: the most of a game without a winner.
    """

    label: str
    games: tuple[K, ...]
    agents: tuple[str, ...] = ()
    replays: int = 0

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


class Player(Protocol[K, T]):
    """The protocol of players, which play batches and read them again from a file."""

    def parse(self, line: bytes) -> tuple[K, Any]:
        """Return the key of the game in a line, and a value for `read`; raise a `ValueError` if there is no game."""

    def first(self, key: K) -> K:
        """Return the key of a game in its batch; another attempt at a game has a key of its own."""

    def read(self, batch: Batch[K], key: K, parsed: Any) -> T:
        """Return a game of a batch from what `parse` gave; raise a `ValueError` if it is not of this run."""

    def collect(self, batch: Batch[K], get: Callable[[K], T]) -> list[T]:
        """Return the games of a batch, in the order of `play`; `get` raises a `KeyError` for a game that is missing."""

    def key(self, game: T) -> K:
        """Return the key of a game."""

    def play(self, batch: Batch[K], finished: Callable[[int], None] | None = None) -> list[T]:
        """Play a batch; `finished` is called with the number of games that have just ended."""

    def traces(self, games: Sequence[T]) -> Iterable[tuple[str, str]]:
        """Return agent and trace of each forfeit among games that were just played."""

    def unsound(
        self, games: Sequence[T], finished: Callable[[int], None] = lambda count: None
    ) -> Iterable[tuple[int, str]]:
        """Return the numbers of games that do not replay, and why."""

    def work(self) -> Work[Batch[K], list[T]]:
        """Return the work of workers, who play batches in other processes; raise a `ValueError` if they cannot."""


def _nothing(*arguments: Any) -> None:
    """Do nothing."""


@dataclass
class Tournament(Generic[K, T]):
    """The games of a run.

    Attributes:
        player: plays them.
        path: games.jsonl, which need not exist; None for a run that keeps nothing.
        knows: returns False for games that the schedule cannot ask for; they are refused before any game is played.
        keep: gets games when they are in the file, those from before too.
        warn: gets a line for each thing left out, such as a torn line.
        workers: play the batches; None for this process. While the run lasts, the file has the batches in the order in
            which they were finished.
        progress: True to report on standard error.
        before: called before the first game is played.
        each: gets each batch, its games, and True if they are new, in the order of the schedule.
        games: number of games so far.
        played: number of those that were not in the file.
    """

    player: Player[K, T]
    path: Path | None = None
    knows: Callable[[K], bool] = lambda key: True
    keep: Callable[[Sequence[T]], None] = _nothing
    warn: Callable[[str], None] = _nothing
    workers: Workers | None = None
    progress: bool = False
    before: Callable[[], None] = _nothing
    each: Callable[[Batch[K], list[T], bool], None] = _nothing
    games: int = 0
    played: int = 0

    def __post_init__(self) -> None:
        self._work = None if self.workers is None else self.player.work()
        self._log = None if self.path is None else ForfeitLog(self.path.parent)
        self._found: dict[K, Any] = {}  # games of the file that were not asked for yet
        self._lines: dict[K, bytes] = {}  # all games of the file, in its order; b"" for a new one
        self._order: list[K] = []  # of the games that were asked for
        self._clean = True

    def run(self, schedule: Schedule[K, T]) -> None:
        """Play all games of a schedule, or take them from the file.

        Raises:
            RunError: the file holds a game that does not belong to the run.
            RecordError: it has a line that was written like this, and cannot be read.
            ClusterError: workers could not play a batch; all others that were under way are in the file.
        """
        if self.path is not None:
            self._open(self.path)
        try:
            stage = next(schedule)
            while True:
                stage = schedule.send(self._played(stage))
        except StopIteration:
            pass
        for key in self._found:
            raise self._foreign(key, f"which does not ask for {key}")
        if list(self._lines) != self._order:
            self._rewrite(self._order)

    def _open(self, path: Path) -> None:
        found, self._clean = read_sound(path, self.player.parse, self.warn)
        for line, (key, parsed) in found:
            if self._lines.setdefault(key, line) != line:
                raise self._foreign(key, f"where {key} ended otherwise before")
            if not self.knows(key):
                raise self._foreign(key, f"which has no {key}")
            self._found[key] = parsed

    def _foreign(self, key: K, why: str) -> RunError:
        number = 1 + list(self._lines).index(key)
        return RunError(f"{self.path}, game {number}: not of this run, {why}; {START_OVER}")

    def _played(self, stage: Stage[K]) -> list[list[T]]:
        """Return the games of each batch of a stage."""
        there = self._taken(stage)
        missing = [batch for batch in stage.batches if batch not in there]
        self._make_room(missing)
        if known := [game for games in there.values() for game in games]:
            self.keep(known)  # a run that was killed between its file and the store has left the store behind
        if missing and not self.played:
            self.before()
        waiting, new = deque(stage.batches), {*missing}

        def tell() -> None:
            while waiting and waiting[0] in there:
                batch = waiting.popleft()
                self.each(batch, there[batch], batch in new)

        total, more = (sum(len(one.games) for one in batches) for batches in (stage.batches, missing))
        shown = self.progress and bool(missing and stage.label)
        with show_progress(total, done=total - more, label=stage.label, shown=shown) as finished:
            work = None if stage.here else self._work
            parts: Iterable[Any] = missing
            if self.workers is not None and work is not None:
                parts = self.workers.completed(work, missing)
            for part in parts:
                if work is None:
                    played, games = part, self.player.play(part, finished)
                else:
                    played, games = part
                    for _, why in self.player.unsound(games):  # agents may have changed the process that they played in
                        raise RunError(f"{played}: a worker sent a game that does not replay: {why}")
                    finished(len(played.games))
                if self._log is not None and self.path is not None:
                    self._log.add(self.player.traces(games))
                    append(self.path, games)
                self._lines.update((self.player.key(game), b"") for game in games)
                self.played += len(games)
                self.keep(games)
                there[played] = games
                tell()
        tell()
        ordered = [there[batch] for batch in stage.batches]
        keys = [self.player.key(game) for games in ordered for game in games]
        self._order += keys
        self.games += len(keys)
        return ordered

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
        if self.path is None:
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
