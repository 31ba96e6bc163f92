"""The file of a season's games, which is appended batch by batch and read again by a season that continues.

The season asks for its batches in an order that follows from the settings and the results so far. So the file is a
journal: what it holds of the next batch is taken from it, and the rest is played. A batch of which only a part is in
the file was torn by a kill and is played again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cellgames.arena.records.forfeit_log import ForfeitLog
from cellgames.arena.records.record_lines import append, read_lines
from cellgames.utils.run_folders import START_OVER, RunError, write_atomic

from .games import Fixture, Played, Umpire

__all__ = ["Journal"]


class Journal:
    """The games on disk, and the source of the next ones.

    Args:
        path: games.jsonl; need not exist.
        umpire: plays what is missing.
        seed: the season's.
        warn: gets a line for what is dropped.
        keep: gets every batch when it is in the file, those from before too.
        log: gets the errors that agents raised.

    Raises:
        RecordError: the file has a line that no crash can explain.
    """

    def __init__(
        self,
        path: Path,
        umpire: Umpire,
        seed: int,
        warn: Callable[[str], None],
        keep: Callable[[Sequence[Played]], None] = lambda played: None,
        log: ForfeitLog | None = None,
    ) -> None:
        self.path, self.umpire, self.seed, self.warn, self._keep = path, umpire, seed, warn, keep
        self._log = log
        self.played = 0
        self.games = 0
        self._waiting: list[bytes] = []
        self._taken = 0  # of the waiting ones
        self._clean = True
        if path.exists():
            self._waiting, torn = read_lines(path, _line)
            self._clean = path.read_bytes() == self._bytes(len(self._waiting))
            if torn:
                warn(torn)

    def holds(self, fixtures: Sequence[Fixture]) -> bool:
        """Return True if `play` would take this batch from the file."""
        return len(self._waiting) - self._taken >= len(fixtures)

    def play(self, fixtures: Sequence[Fixture], finished: Callable[[int], None] | None = None) -> list[Played]:
        """Return the games of a batch, from the file, or else play them and append them to it.

        Args:
            fixtures: the next ones of the season.
            finished: called with the number of games just played.

        Raises:
            RunError: the file holds other games.
        """
        self.games += len(fixtures)
        lines = self._waiting[self._taken : self._taken + len(fixtures)]
        found = [
            self._read(fixture, line, number)
            for number, (fixture, line) in enumerate(zip(fixtures, lines, strict=False), self._taken + 1)
        ]
        if len(found) == len(fixtures):
            self._taken += len(found)
            self._keep(found)
            return found
        self._cut()
        played = self.umpire.play(fixtures, self.seed, finished)
        if self._log is not None:
            self._log.add(trace for game in played for trace in game.traces)
        append(self.path, played)
        self._keep(played)
        self.played += len(played)
        return played

    def close(self) -> None:
        """Check that the file holds no other games, and write it anew if it was torn.

        Raises:
            RunError: the file holds more.
        """
        if self._taken < len(self._waiting):
            raise RunError(f"{self.path}, game {self._taken + 1}: not of this season, which is over; {START_OVER}")
        if not self._clean:
            self._cut()

    def _cut(self) -> None:
        """Leave only whole batches in the file, and forget the others."""
        if dropped := len(self._waiting) - self._taken:
            self.warn(f"{self.path}: dropped {dropped} games of a batch that is not complete; they are played again")
        if dropped or not self._clean:
            write_atomic(self.path, self._bytes(self._taken))
            self._clean = True
        self._waiting = self._waiting[: self._taken]

    def _bytes(self, count: int) -> bytes:
        return b"".join(line + b"\n" for line in self._waiting[:count])

    def _read(self, fixture: Fixture, line: bytes, number: int) -> Played:
        try:
            found = Fixture.from_json(line)
            if found != fixture:
                raise ValueError(f"expected {fixture}, got {found}")
            return self.umpire.read(fixture, self.seed, line)
        except ValueError as error:
            raise RunError(f"{self.path}, game {number}: not of this season, {error}; {START_OVER}") from None


def _line(line: bytes) -> bytes:
    """Return the line if it holds a game."""
    Fixture.from_json(line)
    return line
