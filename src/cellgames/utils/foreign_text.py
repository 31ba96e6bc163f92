"""Foreign text in messages: values from files, command lines, bots and visitors, made short and printable.

An error that repeats such a value calls `shown`. A door at which messages of any origin leave the program, such as the
command line, passes them through `clipped`. Neither makes the whole text of a large value first. A program's output to
a terminal goes through a `PrintableStream`, so that no text of a stranger moves the cursor or sets a title.
"""

from __future__ import annotations

import errno
import json
import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Sequence
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
