"""The file of the games of a season or of series, appended batch by batch, and read again by a run that goes on.

The run asks for its batches in an order that follows from the settings and the results so far. So the file is a
journal: a batch that is in it is taken from it, and the others are played. A batch of which only a part is in the file
is played again: it was torn by a kill, or some of its lines have changed since they were written (`checksums`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from cellgames.arena.records.checksums import sign
from cellgames.arena.records.forfeit_log import ForfeitLog
from cellgames.arena.records.game_lines import read_sound, rewrite
from cellgames.arena.records.record_lines import Record, append
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.runs.run_folder import START_OVER, RunError
from cellgames.utils.files import PathLike

from .games import AgentUmpire, Fixture, Played, Umpire

__all__ = ["Journal", "Keep", "feeding_games"]

Keep: TypeAlias = Callable[[Sequence[Played]], None]
"""A function that gets every batch of games when it is in the file."""


@contextmanager
def feeding_games(
    store: AnyStore, kind: str, folder: PathLike, umpire: Umpire, warn: Callable[[str], None]
) -> Iterator[tuple[Keep, list[Record]]]:
    """Yield a function for a `Journal` that adds games to the store, and the list to which it adds those to report.

    Games to report have clocks or forfeits. Without agents the function does nothing.

    Args:
        store: see `feeding`, also for errors.
        kind: of the run.
        folder: of the run.
        umpire: plays the games.
        warn: gets a line if the store fails.
    """
    noted: list[Record] = []
    if not isinstance(umpire, AgentUmpire):
        yield lambda played: None, noted
        return
    with feeding(store, kind, folder, umpire.identities, warn) as keep:

        def keep_all(played: Sequence[Played]) -> None:
            records = umpire.records(played)
            noted.extend(record for record in records if record.result.forfeit is not None or record.seconds)
            keep(records)

        yield keep_all, noted


class Journal:
    """The games on disk, and the source of the next ones.

    Args:
        path: games.jsonl; need not exist.
        umpire: plays what is missing.
        seed: the season's.
        warn: gets a line for what is dropped.
        keep: gets every batch when it is in the file, those from before too.
        log: gets the errors that agents raised.
        days: first attempts of all games of the days.

    Raises:
        RunError: the file holds games of other days.
        RecordError: it has a line that was written like this, and cannot be read.
    """

    def __init__(
        self,
        path: Path,
        umpire: Umpire,
        seed: int,
        warn: Callable[[str], None],
        keep: Keep = lambda played: None,
        log: ForfeitLog | None = None,
        *,
        days: Collection[Fixture],
    ) -> None:
        self.path, self.umpire, self.seed, self.warn, self._keep = path, umpire, seed, warn, keep
        self._log = log
        self.played = 0
        self.games = 0
        self._taken: list[Fixture] = []  # in the season's order
        self._lines: dict[Fixture, bytes] = {}  # in the order of the file
        found, self._clean = read_sound(path, Fixture.from_json, warn)
        for number, (line, fixture) in enumerate(found, 1):
            if fixture.stage.startswith("day ") and replace(fixture, attempt=0) not in days:
                raise self._foreign(number, f"which has no {fixture}")
            if self._lines.setdefault(fixture, line) != line:
                raise self._foreign(number, f"where {fixture} ended otherwise before")

    def holds(self, fixtures: Sequence[Fixture]) -> bool:
        """Return True if `play` would take this batch from the file."""
        return all(fixture in self._lines for fixture in fixtures)

    def play(self, fixtures: Sequence[Fixture], finished: Callable[[int], None] | None = None) -> list[Played]:
        """Return the games of a batch, from the file, or else play them and append them to it.

        Args:
            fixtures: the next ones of the season.
            finished: called with the number of games just played.

        Raises:
            RunError: the file holds other games.
        """
        self.games += len(fixtures)
        if self.holds(fixtures):
            self._taken += fixtures
            found = [self._read(fixture) for fixture in fixtures]
            self._keep(found)
            return found
        self._make_room(fixtures)
        played = self.umpire.play(fixtures, self.seed, finished)
        if self._log is not None:
            self._log.add(trace for game in played for trace in game.traces)
        append(self.path, played)
        self._lines.update((game.fixture, sign(game.to_json().encode())) for game in played)
        self._taken += fixtures
        self._keep(played)
        self.played += len(played)
        return played

    def close(self) -> None:
        """Check that the file holds no other games, and write it anew if its lines are not those, in their order.

        Raises:
            RunError: the file holds more.
        """
        taken = set(self._taken)
        for number, fixture in enumerate(self._lines, 1):
            if fixture not in taken:
                raise self._foreign(number, "which is over")
        if not self._clean or list(self._lines) != self._taken:
            rewrite(self.path, [self._lines[fixture] for fixture in self._taken])

    def _make_room(self, fixtures: Sequence[Fixture]) -> None:
        """Leave only sound lines in the file, and none of this batch."""
        there = [fixture for fixture in fixtures if self._lines.pop(fixture, None) is not None]
        if there:
            self.warn(f"{self.path}: dropped {len(there)} games of a batch that is not complete; they are played again")
        if there or not self._clean:
            rewrite(self.path, list(self._lines.values()))
            self._clean = True

    def _read(self, fixture: Fixture) -> Played:
        try:
            return self.umpire.read(fixture, self.seed, self._lines[fixture])
        except ValueError as error:
            raise self._foreign(1 + list(self._lines).index(fixture), str(error)) from None

    def _foreign(self, number: int, why: str) -> RunError:
        return RunError(f"{self.path}, game {number}: not of this run, {why}; {START_OVER}")
