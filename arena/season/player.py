"""The player of seasons and series: an umpire plays batches of fixtures, with their replays (`play.tournament`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from cellgames.arena.play.tournament import Batch
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike

from .games import AgentUmpire, Fixture, PackedUmpire, Played, PortableUmpire, Umpire, attempts

Keep: TypeAlias = Callable[[Sequence[Played]], None]
"""A function that gets every batch of games when it is in the file."""


@contextmanager
def feeding_games(
    store: AnyStore, kind: str, folder: PathLike, umpire: Umpire, warn: Callable[[str], None]
) -> Iterator[tuple[Keep, list[Record]]]:
    """Yield a function that adds games to the store, and the list to which it adds those to report.

    Games to report have clocks or forfeits. Without agents the function does nothing.

    Args:
        store: see `feeding`, also for errors.
        kind: kind of the run.
        folder: folder of the run.
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


@dataclass(frozen=True)
class UmpirePlayer:
    """Plays fixtures (`tournament.Player`).

    Attributes:
        umpire: plays the games.
        seed: the season's.
    """

    umpire: Umpire
    seed: int

    def parse(self, line: bytes) -> tuple[Fixture, bytes]:
        """See `Player`."""
        return Fixture.from_json(line), line

    def first(self, key: Fixture) -> Fixture:
        """See `Player`."""
        return replace(key, attempt=0)

    def key(self, game: Played) -> Fixture:
        """See `Player`."""
        return game.fixture

    def read(self, batch: Batch[Fixture], key: Fixture, parsed: bytes) -> Played:
        """See `Player`."""
        return self.umpire.read(key, self.seed, parsed)

    def collect(self, batch: Batch[Fixture], get: Callable[[Fixture], Played]) -> list[Played]:
        """See `Player`."""
        return attempts(batch.games, lambda fixtures: [get(fixture) for fixture in fixtures], batch.replays)

    def play(self, batch: Batch[Fixture], finished: Callable[[int], None] | None = None) -> list[Played]:
        """See `Player`; replays count as one game."""

        def play(fixtures: list[Fixture]) -> list[Played]:
            return self.umpire.play(fixtures, self.seed, None if fixtures[0].attempt else finished)

        return attempts(batch.games, play, batch.replays)

    def traces(self, games: Sequence[Played]) -> list[tuple[str, str]]:
        """See `Player`."""
        return [trace for game in games for trace in game.traces]

    def unsound(
        self, games: Sequence[Played], finished: Callable[[int], None] = lambda count: None
    ) -> Sequence[tuple[int, str]]:
        """See `Player`; the umpire checks what it reads."""
        return ()

    def work(self) -> UmpireWork:
        """See `Player`."""
        if not isinstance(self.umpire, PortableUmpire):
            raise InputError("umpire", "an umpire for workers, which can be packed", type(self.umpire).__name__)
        return UmpireWork(self.umpire.packed(), self.seed)


@dataclass(frozen=True)
class UmpireWork:
    """The common part of the batches of a season; a `workers.Work`.

    Attributes:
        umpire: makes it in another process.
        seed: the season's.
    """

    umpire: PackedUmpire
    seed: int

    def start(self) -> Callable[[Batch[Fixture]], list[Played]]:
        """Make the umpire; return a function that plays a batch."""
        return UmpirePlayer(self.umpire(), self.seed).play
