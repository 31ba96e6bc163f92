"""The SQLite file of a store: its identification, its tables and its transactions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from cellgames.utils.run_folders import PathLike

from .rows import APPLICATION, SCHEMA, SCHEMA_VERSION

__all__ = ["StoreError", "StoreFile"]

_WAIT_S = 60.0  # for other writers, whose transactions take milliseconds


class StoreError(ValueError):
    """A file is no store or cannot be used; the message says why and what to do."""


class StoreFile:
    """An open file with the tables of a store; its arguments are those of `store.Store`."""

    def __init__(self, path: PathLike, *, create: bool = True, wait_s: float = _WAIT_S) -> None:
        self.path = Path(path)
        self._known: dict[tuple[str, ...], int] = {}  # ids of small tables, within one transaction
        if not create and not self.path.is_file():
            raise StoreError(
                f"{self.path}: expected a store of games, found none; `cellgames leaderboard --add` makes one"
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=wait_s, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise StoreError(f"{self.path}: expected a store of games or room for one: {reason}") from None
        try:
            self._prepare(wait_s)
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, wait_s: float) -> None:
        """Check that the file is a store, and make its tables."""
        try:
            self._check()
            self._patient(wait_s, lambda: self._db.execute("PRAGMA journal_mode=WAL").fetchone())
            self._db.execute("PRAGMA synchronous=NORMAL")
            with self._writing():
                if not self._check():
                    for statement in SCHEMA:
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA application_id={APPLICATION}")
                    self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        except sqlite3.OperationalError as error:
            raise StoreError(f"{self.path}: the store cannot be used: {error}; is it read-only or in use?") from None
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: expected a store of games, got another kind of file ({error})") from None

    def _check(self) -> bool:
        """Return True if the tables exist.

        Raises:
            StoreError: The file is another program's, or a store of another version.
        """
        application, version, tables = (
            int(self._db.execute(question).fetchone()[0])
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if application == version == tables == 0:
            return False
        if application != APPLICATION:
            raise StoreError(f"{self.path}: expected a store of games, got another program's SQLite file")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.path}: expected a store of version {SCHEMA_VERSION}, got version {version}; "
                "was it written by a newer cellgames?"
            )
        return True

    @staticmethod
    def _patient(wait_s: float, step: Callable[[], object]) -> None:
        """Repeat a statement until the file is not locked: SQLite does not wait when the journal mode changes."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                step()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; no write is pending."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold a transaction that may write from its beginning, so that it never has to give up half way."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def check(self) -> str:
        """Return what SQLite finds wrong with the file; "ok" for nothing."""
        return "\n".join(line[0] for line in self._db.execute("PRAGMA integrity_check"))
