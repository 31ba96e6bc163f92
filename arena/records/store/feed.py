"""Addition of a run's games to the store while the run plays them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeAlias

from cellgames.arena.records.record_lines import Record
from cellgames.utils.files import PathLike

from .schema import StoreError
from .store import Store

AnyStore: TypeAlias = PathLike | Store | None
"""The store that gets games: a file, an open store, or None."""


@contextmanager
def feeding(
    store: AnyStore,
    kind: str,
    place: PathLike,
    identities: Mapping[str, str],
    warn: Callable[[str], None] = lambda message: None,
) -> Iterator[Callable[[Sequence[Record]], None]]:
    """Yield a function that adds games to a store, for as long as a run lasts.

    The store must be fit for use at the beginning. If it fails later, as on a full disk, one line says so and the run
    goes on: its games are in its folder, from which `cellgames leaderboard --add` and the continued run add them.

    Args:
        store: None for a function that does nothing.
        kind: Kind of the run, as in `store.Source`.
        place: Folder of the run; "" for a run without one, whose games `Store.add_played` writes.
        identities: Identities of its agents.
        warn: Gets that line.

    Raises:
        StoreError: The file is no store, or cannot be made.
    """
    if store is None:
        yield lambda records: None
        return
    with nullcontext(store) if isinstance(store, Store) else Store(store) as open_store:
        failed = False

        def keep(records: Sequence[Record]) -> None:
            nonlocal failed
            if failed:
                return
            try:
                if place:
                    open_store.add(records, source=(kind, place), identities=identities)
                else:
                    open_store.add_played(records, kind, identities)
            except StoreError as error:
                failed = True
                later = f", and `cellgames leaderboard --add {place}` adds its games later" if place else ""
                warn(f"{error}; the run goes on{later}")

        yield keep
