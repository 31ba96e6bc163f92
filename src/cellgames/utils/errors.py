"""Errors that tell in fields what is wrong, checks that raise them, and foreign text in messages.

An error that repeats a value from a file, a command line, a bot or a visitor calls `shown`. A door at which messages of
any origin leave the program, such as the command line, passes them through `clipped`. Neither makes the whole text of a
large value first. A program's output to a terminal goes through a `PrintableStream`, so that no text of a stranger
moves the cursor or sets a title.
"""

from __future__ import annotations

import copy
import difflib
import errno
import json
import math
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any, TextIO

from typing_extensions import override

MOST_SHOWN = 80
"""Most characters of a foreign value in a message, unless a caller says otherwise."""

MOST_LINE = 600
"""Most characters of a message that repeats foreign values."""

_MOST_ITEMS = 20
_GONE = {errno.EPIPE, errno.ESHUTDOWN, *({errno.EINVAL} if sys.platform == "win32" else ())}


class _Short(reprlib.Repr):
    """A `repr` that looks at the first parts of a value only."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self.maxlevel = 4
        self.maxlist = self.maxtuple = self.maxarray = self.maxdict = _MOST_ITEMS
        self.maxset = self.maxfrozenset = self.maxdeque = _MOST_ITEMS

    @override
    def repr_str(self, x: str, level: int) -> str:
        return repr(x if len(x) + 2 <= self._most else x[: max(0, self._most - 5)] + "...")

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self.repr_str(x[: self._most].decode(errors="replace"), level)

    @override
    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write numbers of more than 4300 digits.
        return repr(x) if x.bit_length() < 3 * self._most else f"a whole number of {x.bit_length()} bits"

    @override
    def repr_instance(self, x: Any, level: int) -> str:
        try:
            return repr(x)
        except Exception:  # of a class of somebody else's
            return f"<{type(x).__name__}>"


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """Return a foreign value as Python writes it, on one line of at most `most` printable characters.

    Bytes appear as the text that they hold.
    """
    return _cut(_printable(_Short(most).repr(value)), most)


def clipped(text: str, most: int = MOST_LINE) -> str:
    """Return text as one line of at most `most` printable characters."""
    return _cut(_printable(" ".join(text[: 4 * most].split())), most)


def listed(names: Sequence[object], most: int = _MOST_ITEMS) -> str:
    """Return names, separated by commas, as a message lists what is known: the first ones, each of bounded length."""
    found = [clipped(str(name), MOST_SHOWN) for name in names[:most]]
    return ", ".join(found) + (", ..." if len(names) > most else "")


def escaped(text: str, kept: str = "\n\t") -> str:
    """Return text with control characters as JSON's escapes, but for those in `kept`."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in kept else json.dumps(letter)[1:-1] for letter in text)


class PrintableStream:
    """A stream of text that writes control characters as JSON's escapes; all else is the stream's behind it.

    When the reader of a pipe has left, as in `cellgames season ... | head -1`, all further text goes nowhere: commands
    write files besides what they print, so they go on without a word to their end.

    Args:
        stream: The stream behind it, such as standard output.
        kept: The control characters that are written as they are.
    """

    def __init__(self, stream: TextIO, kept: str = "\n\t") -> None:
        self.stream = stream
        self._kept = kept

    def write(self, text: str) -> int:
        """Write text; return the number of its characters."""
        self._send(lambda: self.stream.write(escaped(text, self._kept)))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self._send(self.stream.flush)

    def abandon(self) -> None:
        """Let all further text, and what is buffered, go nowhere."""
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), self.stream.fileno())

    def _send(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno not in _GONE:
                raise
            self.abandon()

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(text.split()))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


_MANY = 40  # names that a message lists
_LONG = 100  # characters of what is expected, before which stands what is wrong


class InputError(ValueError):
    """The refusal of a value; its message is "WHERE: PARAMETER: expected EXPECTED, got GOT; CAUSE", less empty fields.

    After a long list of what is expected nobody would look for the rest, so there GOT and CAUSE come first.

    Attributes:
        parameter: name of the parameter, option, field or file; "" for a value without a name.
        expected: description of the values that can be used, "" if only the cause is known.
        got: the value as text, "" without one. Strings and paths are taken as they are, other values by `shown`.
        cause: likely cause, or what to do instead; "" if the rest says it.
        where: the game's id, or the file that holds the value; "" for neither.
    """

    def __init__(
        self, parameter: object = "", expected: str = "", got: object = "", cause: str = "", where: object = ""
    ) -> None:
        self.parameter, self.expected, self.cause, self.where = str(parameter), expected, cause, str(where)
        self.got = str(got) if isinstance(got, str | PurePath) else shown(got)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.expected, self.got, self.cause, self.where), vars(self)

    @property
    def brief(self) -> str:
        """The message without the game or the file, for callers that name it in their own way."""
        expected, got = self.expected and f"expected {self.expected}", self.got and f"got {self.got}"
        parts = [", ".join(filter(None, (expected, got))), self.cause]
        if got and len(expected) > _LONG:
            parts = [got, self.cause, expected]
        told = "; ".join(filter(None, parts)).replace("?; ", "? ")
        return ": ".join(filter(None, (self.parameter, told)))

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.where, self.brief)))


def located(error: Exception, where: object) -> InputError:
    """Return an error like `error` whose message begins with a place, such as the path of a file."""
    if not isinstance(error, InputError):
        return InputError(cause=clipped(str(error)), where=where)
    found = copy.copy(error)
    found.where = f"{where}: {error.where}" if error.where else str(where)
    return found


def check_at_least(least: float, where: object = "", **values: float) -> None:
    """Raise an `InputError` unless each of `values`, numbers by parameter, is at least `least`."""
    for name, value in values.items():
        if not value >= least:
            raise InputError(name, f"at least {least:g}", value, where=where)


def check_whole(name: str, value: Any, low: int | None = None, high: int | None = None, where: object = "") -> None:
    """Raise an `InputError` of `name` unless `value` is a whole number (no bool) within limits; None for no limit."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if not (whole and least <= value <= most):
        limits = "" if low is None else f" of at least {low}" if high is None else f" from {low} to {high}"
        raise InputError(name, f"a whole number{limits}", shown(value), where=where)


def check_share(**values: float) -> None:
    """Raise an `InputError` unless each of `values`, numbers by parameter, is from 0 to 1."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise InputError(name, "a share from 0 to 1", value)


def check_level(level: float) -> None:
    """Raise an `InputError` unless `level`, the probability of an interval, lies between 0 and 1."""
    if not 0 < level < 1:
        raise InputError("level", "a number between 0 and 1", level, "write 0.95 for 95 %")


def check_place(parameter: object, path: Path | None) -> None:
    """Raise an `InputError` if there is no folder around the path of a file."""
    if path is not None and not path.parent.is_dir():
        raise InputError(parameter, "a file in a folder that is there", path)


def check_one_of(parameter: str, value: Any, known: Iterable[Any], where: object = "", more: str = "") -> None:
    """Raise an `InputError` unless `value` is in `known`; it names these, of many the nearest, and what else may be."""
    names = list(known)
    if value not in names:
        said = value[:80] if isinstance(value, str) else shown(value)
        near = difflib.get_close_matches(said, [name for name in names if isinstance(name, str)], 1, 0.4)
        if len(names) > _MANY:
            names = difflib.get_close_matches(said, map(str, names), _MANY // 2, 0.0)
            more = f" or others{more}"
        expected = f"{'one of ' if names else 'none'}{listed(names, 60)}{more}"
        raise InputError(parameter, expected, shown(value), f"did you mean {near[0]!r}?" if near else "", where)
