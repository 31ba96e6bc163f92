"""Batches of a season that workers play ahead, while the season takes them in its order.

The batches of the days depend on the settings alone. So they are handed out before the season asks for them, a few for
each worker. A worker plays a batch and its replays, which depend on that batch only, and the season finds both as if it
had played them itself: file, tables and store are the same, byte for byte. What workers have played and the season has
not taken yet is lost when the season's process dies, at most `AHEAD` batches a worker; it is played again, and ends the
same. The few games of a round of the playoffs are played where the season is, as its agents are ready there.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

from cellgames.cluster.workers import Work, Workers
from cellgames.utils.progress import progress as show_progress

from .games import REPLAYS, Fixture, PackedUmpire, Played, PortableUmpire, Umpire, last_attempts

__all__ = ["AHEAD", "Ahead", "Batch", "BatchWork", "Rounds", "beside_bar"]

AHEAD = 2
"""Batches handed out for each worker, besides the one that is waited for: what it plays, and what comes next."""


@dataclass(frozen=True)
class Batch:
    """First attempts that are played at the same time; its text names it in messages.

    Attributes:
        label: what they are.
        fixtures: the games.
    """

    label: str
    fixtures: tuple[Fixture, ...]

    def __str__(self) -> str:
        return self.label


Rounds: TypeAlias = list[list[Played]]
"""The games of a batch, then its first replays, and so on."""


@dataclass(frozen=True)
class BatchWork(Work[Batch, Rounds]):
    """Batches and their replays, as a worker plays them.

    Attributes:
        umpire: makes it there.
        seed: the season's.
        replays: the most of a game without a winner.
    """

    umpire: PackedUmpire
    seed: int
    replays: int = REPLAYS

    def start(self) -> Callable[[Batch], Rounds]:
        """See `Work.start`."""
        umpire = self.umpire()

        def play_out(batch: Batch) -> Rounds:
            rounds: Rounds = []

            def play(fixtures: list[Fixture]) -> list[Played]:
                rounds.append(umpire.play(fixtures, self.seed))
                return rounds[-1]

            last_attempts(batch.fixtures, play, self.replays)
            return rounds

        return play_out


class Ahead:
    """An umpire whose batches are played by workers before it is asked for them; all others it plays itself.

    It is entered while the season lasts; leaving gives up what is still outstanding.

    Args:
        umpire: whose games they are.
        workers: who play them.
        seed: the season's.
        batches: in the order in which the season asks for them; it may leave out the first ones, which are on file.
        label: what they are, for the progress on standard error; "" for none.
        replays: the most of a game without a winner.

    Raises:
        ValueError: the umpire, or one of its agents, cannot be handed to workers.
    """

    def __init__(
        self,
        umpire: Umpire,
        workers: Workers,
        seed: int,
        batches: Iterable[Batch],
        label: str = "",
        replays: int = REPLAYS,
    ) -> None:
        if not isinstance(umpire, PortableUmpire):
            raise ValueError(f"expected an umpire for workers, which can be packed, got {type(umpire).__name__}")
        self.chunk, self._umpire, self._workers = umpire.chunk, umpire, workers
        self._work = BatchWork(umpire.packed(), seed, replays)
        self._left = deque(batches)
        self._total, self._label = self._games_left(), label
        self._given: deque[tuple[Batch, Future[Rounds]]] = deque()
        self._played: dict[tuple[Fixture, ...], list[Played]] = {}
        self._shown = ExitStack()
        self._tell: Callable[[int], None] | None = None

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, future in self._given:
            future.cancel()
        self._shown.close()

    @property
    def settings(self) -> dict[str, Any]:
        """See `Umpire.settings`."""
        return self._umpire.settings

    def read(self, fixture: Fixture, seed: int, line: bytes) -> Played:
        """See `Umpire.read`."""
        return self._umpire.read(fixture, seed, line)

    def play(
        self, fixtures: Sequence[Fixture], seed: int, finished: Callable[[int], None] | None = None
    ) -> list[Played]:
        """See `Umpire.play`.

        Raises:
            ClusterError: a worker could not play the batch.
        """
        asked = tuple(fixtures)
        if self._is_next(asked):
            self._played = {tuple(game.fixture for game in played): played for played in self._first_rounds()}
        played = self._played.pop(asked, None)
        if played is None:  # a game of a series, or replays of a batch that was on file without them
            return self._umpire.play(fixtures, seed, finished)
        if finished is not None:
            finished(len(played))
        return played

    def _is_next(self, asked: tuple[Fixture, ...]) -> bool:
        """Return True if it is the next batch for workers; drop those before it, which nobody has asked for."""
        if self._given:
            return self._given[0][0].fixtures == asked
        if all(batch.fixtures != asked for batch in self._left):
            return False
        while self._left[0].fixtures != asked:
            self._left.popleft()
        return True

    def _games_left(self) -> int:
        return sum(len(batch.fixtures) for batch in self._left)

    def _hand_out(self) -> None:
        if self._tell is None:
            done = self._total - self._games_left()
            report = show_progress(self._total, done=done, label=self._label, shown=bool(self._label))
            self._tell = self._shown.enter_context(report)
        while self._left and len(self._given) < 1 + AHEAD * self._workers.count:
            batch = self._left.popleft()
            self._given.append((batch, self._workers.submit(self._work, batch)))

    def _first_rounds(self) -> Rounds:
        """Wait for the games of the next batch and return them; keep workers busy meanwhile."""
        self._hand_out()
        batch, future = self._given[0]
        while not wait((future,), timeout=0.5).done:  # on some systems Ctrl-C is not heard in a wait without an end
            pass
        rounds = future.result()
        self._given.popleft()
        if self._tell is not None:
            self._tell(len(batch.fixtures))
        if not self._given:
            self._shown.close()
        return rounds


def beside_bar(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that prints while progress is shown: it hides a bar of tqdm meanwhile."""

    def say_beside(message: str) -> None:
        with sys.modules["tqdm"].tqdm.external_write_mode() if "tqdm" in sys.modules else nullcontext():
            say(message)

    return say_beside
