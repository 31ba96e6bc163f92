"""Standard output and standard error that nobody has to read to the end, as in `cellgames season ... | head -1`.

Commands write files besides what they print. So when the reader of a pipe leaves, a command goes on without a word to
its end: its files are whole, and exit code 0 still means that all is done.
"""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from typing_extensions import override

__all__ = ["without_readers"]

_GONE = {errno.EPIPE, errno.ESHUTDOWN, *({errno.EINVAL} if sys.platform == "win32" else ())}


class _Outlet(io.RawIOBase):
    """A file that swallows what is written after its reader has left.

    Args:
        file: a descriptor's file, which stays open when this one is closed.
    """

    def __init__(self, file: io.FileIO) -> None:
        self._file = file
        self.swallows = False

    @override
    def writable(self) -> bool:
        return True

    @override
    def fileno(self) -> int:
        return self._file.fileno()

    @override
    def write(self, data: Any) -> int | None:
        if not self.swallows:
            try:
                return self._file.write(data)
            except OSError as error:
                if error.errno not in _GONE:
                    raise
                self.swallows = True
        return memoryview(data).nbytes


@contextmanager
def without_readers() -> Iterator[None]:
    """Let printing go on within the block when standard output or error is a pipe that its reader has closed."""
    with ExitStack() as stack:
        for stream, redirected in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            buffer = getattr(stream, "buffer", None)
            file = getattr(buffer, "raw", buffer)  # `python -u` has no buffer between
            if isinstance(stream, io.TextIOWrapper) and isinstance(file, io.FileIO) and not file.isatty():
                outlet = _Outlet(file)
                lasting = io.TextIOWrapper(
                    outlet if buffer is file else io.BufferedWriter(outlet),  # type: ignore[type-var]
                    stream.encoding,
                    stream.errors,
                    line_buffering=stream.line_buffering,
                    write_through=stream.write_through,
                )
                stack.callback(_leave, lasting, outlet)
                stack.enter_context(redirected(lasting))
        yield


def _leave(stream: io.TextIOWrapper[Any], outlet: _Outlet) -> None:
    """Write what is buffered; an error, such as that of a full disk, was raised where the command flushed."""
    with suppress(OSError):
        stream.flush()
    outlet.swallows = True  # what is left, when the stream is deleted
