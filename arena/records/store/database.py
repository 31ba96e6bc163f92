"""The SQLite file of a store: its identification, its tables and its transactions.

A store may come from somebody else, so nothing in the file is trusted. Its tables must be those of this package, word
for word, and without triggers. SQLite's limits are low. A statement ends when it takes more steps than a sound file of
that size can need.
"""

from __future__ import annotations

import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from cellgames.utils.foreign_text import clipped, shown
from cellgames.utils.run_folders import PathLike

from .rows import APPLICATION, COUNTS, SCHEMA, SCHEMA_VERSION, SEALS, VARIATIONS, VIEWS

__all__ = ["StoreError", "StoreFile"]

_WAIT_S = 60.0  # for other writers, whose transactions take milliseconds

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 26,  # bytes of a text, a record or a row
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 16,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 5,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}

_STEPS = 100_000  # of SQLite's machine between looks at how many a statement has taken
_STEPS_FREE, _STEPS_A_BYTE = 20_000_000, 20  # that a statement may take: the longest reads all games, 100 bytes or more

_SOUND: dict[Path, list[tuple[int, int, int]]] = {}  # stores that were checked, and what their files were then


class StoreError(ValueError):
    """A file is no store or cannot be used; the message says why and what to do."""


class StoreFile(ABC):
    """An open file with the tables of a store; its arguments are those of `store.Store`.

    With `create=False` a file that cannot be written is opened for reading.
    """

    def __init__(self, path: PathLike, *, create: bool = True, wait_s: float = _WAIT_S) -> None:
        self.path = Path(path)
        self._known: dict[tuple[str, ...], int] = {}  # ids of small tables, within one transaction
        self._seals = self._variations = self._counts = False  # whether there are tables of them
        if not create and not self.path.is_file():
            raise StoreError(
                f"{self.path}: expected a store of games, found none; `cellgames leaderboard --add` makes one"
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._reading = not (create or _writable(self.path, self.path.parent))
            self._connect(wait_s)
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise StoreError(f"{self.path}: expected a store of games or room for one: {reason}") from None
        try:
            with self._naming_errors():
                if not self._reading:
                    self._prepare(wait_s)
                elif not self._check():
                    raise StoreError(
                        f"{self.path}: expected a store of games, got an empty file that cannot be written"
                    )
        except BaseException:
            self._db.close()
            raise

    def _connect(self, wait_s: float) -> None:
        """Open the file, and set the limits of the connection; see the module."""
        place: PathLike = self.path
        if self._reading:
            # Without a log no program writes the store, and to make one in order to read would need the folder.
            mode = "mode=ro" if self._log.exists() else "immutable=1"
            place = f"{self.path.absolute().as_uri()}?{mode}"
        self._db = sqlite3.connect(place, timeout=wait_s, isolation_level=None, uri=self._reading)
        for limit, value in _LIMITS.items():
            self._db.setlimit(limit, value)
        self._db.execute("PRAGMA trusted_schema=OFF")
        self._db.execute("PRAGMA cell_size_check=ON")
        self._steps = 0
        self._db.set_progress_handler(self._took_too_long, _STEPS)

    def _took_too_long(self) -> bool:
        """Return True, which ends the statement, if it has taken more steps than the size of the file explains."""
        self._steps += _STEPS
        if self._steps <= _STEPS_FREE:
            return False
        size = 0
        for name in (self.path, self._log):
            with suppress(OSError):
                size += name.stat().st_size
        return self._steps > _STEPS_FREE + _STEPS_A_BYTE * size

    def _asked(self, question: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that answer a question.

        Raises:
            StoreError: The file is damaged, or cannot be read.
        """
        try:
            self._steps = 0
            for line in self._db.execute(question, values):  # noqa: UP028  # a cursor must not be closed after the file
                yield line
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._damaged(error) from None

    def _damaged(self, reason: object) -> StoreError:
        """Return the error of a file whose content is not that of a store."""
        return StoreError(
            f"{self.path}: the store cannot be read: {clipped(str(reason), 300)}; is the file damaged? "
            "`cellgames leaderboard --add` makes a new one from the folders of runs"
        )

    def _prepare(self, wait_s: float) -> None:
        """Check that the file is a store, and make its tables, and views for people."""
        with self._transaction("BEGIN"):  # so that all answers are from one moment
            self._check()
        self._patient(wait_s, lambda: self._db.execute("PRAGMA journal_mode=WAL").fetchone())
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._writing():
            if not self._check():
                for statement in SCHEMA.values():
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id={APPLICATION}")
                self._db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self._make_views()
            if not self._seals:
                for statement in SEALS.values():
                    self._db.execute(statement)
                self._seals = True
                self._seal_older()
            if not self._variations:
                for statement in VARIATIONS.values():
                    self._db.execute(statement)
                self._variations = True
            if not self._counts:
                for statement in COUNTS.values():
                    self._db.execute(statement)
                self._counts = True

    @abstractmethod
    def _seal_older(self) -> None:
        """Seal the games of a store of the first versions."""

    @property
    def _log(self) -> Path:
        """The write-ahead log, beside the store while a program has it open, or after one was killed."""
        return self.path.with_name(f"{self.path.name}-wal")

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        """Turn SQLite's errors at the opening into a `StoreError`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text = f"{self.path}: the store cannot be used: {clipped(str(error), 300)}; is it read-only or in use?"
            if self._reading and self._log.exists():
                text += f" Its log {self._log.name} may hold games; copy both into a folder that you can write"
            raise StoreError(text) from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            text = clipped(str(error), 300)
            raise StoreError(f"{self.path}: expected a store of games, got another kind of file ({text})") from None

    def _check(self) -> bool:
        """Return True if the tables exist.

        Raises:
            StoreError: The file is another program's, or a store of another version.
        """
        application, version, tables = (
            self._db.execute(question).fetchone()[0]
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
        self._check_tables()
        return True

    def _check_tables(self) -> None:
        """Raise a `StoreError` unless the tables are exactly ours; people may add views and tables of their own."""
        found: dict[str, str] = {}
        ours = SCHEMA | SEALS | VARIATIONS | COUNTS
        for kind, name, table, sql in self._db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
            if name in ours:
                found[name] = sql
            elif kind == "trigger" or (kind == "index" and sql is not None and table in ours):
                raise StoreError(f"{self.path}: expected the tables of a store alone, got the {kind} {shown(name)}")
        self._seals = not SEALS.keys().isdisjoint(found)
        self._variations = not VARIATIONS.keys().isdisjoint(found)
        self._counts = not COUNTS.keys().isdisjoint(found)
        optional = ((self._seals, SEALS), (self._variations, VARIATIONS), (self._counts, COUNTS))
        there = SCHEMA | {name: sql for exists, tables in optional if exists for name, sql in tables.items()}
        for name, sql in there.items():
            if _words(found.get(name)) != _words(sql):
                raise StoreError(
                    f"{self.path}: expected {_words(sql)[:60]}... as a store has it, got {shown(found.get(name))}"
                )

    def _make_views(self) -> None:
        """Make the views for people; those of another version are made anew."""
        there = dict(self._db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'").fetchall())
        for name, sql in VIEWS.items():
            if _words(there.get(name)) != _words(sql):
                self._db.execute(f"DROP VIEW IF EXISTS {name}")
                self._db.execute(sql)

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

    def _writing(self) -> AbstractContextManager[None]:
        """Hold a transaction that may write from its beginning, so that it never has to give up half way."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._steps = 0
        self._db.execute(begin)
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def check(self) -> str:
        """Return what SQLite finds wrong with the file; "ok" for nothing."""
        return "\n".join(line[0] for line in self._asked("PRAGMA integrity_check"))

    def _require_sound(self) -> None:
        """Check the file, unless this process has, and it is as it was then.

        Raises:
            StoreError: SQLite finds something wrong with it.
        """
        stats = [file.stat() for file in (self.path, self._log) if file.exists()]
        stamp = [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
        if _SOUND.get(place := self.path.absolute()) != stamp:
            if (wrong := self.check()) != "ok":
                raise self._damaged(wrong.split("\n")[0])
            _SOUND[place] = stamp


def _writable(*paths: Path) -> bool:
    return all(os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids) for path in paths)


def _words(sql: object) -> str:
    """Return SQL without differences of white space."""
    return " ".join(sql.split()) if isinstance(sql, str) else ""
