"""A program in a process of its own, spoken to in lines, which can neither hang nor flood the arena.

A process is the first of a group and carries a mark in its environment, by which everything that it has started is
found and ended with it.
"""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cellgames.utils.foreign_text import shown

__all__ = ["BotProcess", "Limits", "ProgramError"]

_MARK = "CELLGAMES_BOT"
_CHUNK = 1 << 16
_MOST_LOG = 1 << 20  # bytes of standard error that are kept
_PATIENCE = 1.0  # seconds between asking a process to quit and ending it
_TAIL = 200  # characters of standard error in an error


class ProgramError(RuntimeError):
    """A program that did not answer; the text says why, in one line."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a program.

    Attributes:
        start: seconds until it has answered the first message.
        move: seconds for a move without a clock.
        line: bytes of a line that it sends.
        memory: bytes of its address space, 0 for no bound. POSIX only.
    """

    start: float = 10.0
    move: float = 60.0
    line: int = 1 << 20
    memory: int = 0


class BotProcess:
    """A running program.

    Args:
        command: its words.
        limits: of this program.
        log: returns the file that gets its standard error, at most the first MiB of it; None drops it.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, command: list[str], limits: Limits, log: Callable[[], Path | None] = lambda: None) -> None:
        if os.name != "posix":
            raise ProgramError("programs as agents need Linux or macOS; on Windows run cellgames in WSL")
        self.limits, self._mark = limits, secrets.token_hex(8)
        self._rest = self._last_words = b""
        try:
            self._process = subprocess.Popen(
                [*_bounded(limits), *command] if limits.memory else command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env={**os.environ, _MARK: self._mark},
            )
        except OSError as error:
            raise ProgramError(f"{shown(command[0])} cannot be started: {error.strerror}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        for number in (self._stdin, self._stdout):
            os.set_blocking(number, False)
        self._listener = threading.Thread(target=self._listen, args=(self._process.stderr, log), daemon=True)
        self._listener.start()
        self._end = weakref.finalize(self, _end, self._process, self._mark)

    def exchange(self, line: bytes, seconds: float) -> tuple[bytes, float]:
        """Send a line, and return the next line of the program and the seconds that it took.

        Raises:
            ProgramError: it has ended, took longer, or sent a line that is too long. It is ended then.
        """
        start = time.perf_counter()
        try:
            self._send(line, start + seconds)
            answer = self._receive(start + seconds)
        except TimeoutError:
            raise self._failed(f"it did not answer within {seconds:g} s") from None
        except OSError:  # nobody reads any more
            raise self._failed("") from None
        except BaseException:  # Ctrl-C: the answer will come when nobody waits for it
            self.close()
            raise
        return answer, time.perf_counter() - start

    def tell(self, line: bytes) -> None:
        """Send a line that has no answer; a program that does not read it is found out by the next question."""
        with contextlib.suppress(OSError):
            self._send(line, time.perf_counter() + self.limits.start)

    @property
    def alive(self) -> bool:
        """Return True if the program runs."""
        return self._end.alive and self._process.poll() is None

    def close(self, farewell: bytes = b"") -> None:
        """Send a last line, and end the program and all that it has started."""
        if farewell and self.alive:
            self.tell(farewell)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        self._end()

    def _send(self, line: bytes, deadline: float) -> None:
        view = memoryview(line)
        while view:
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._stdin, view) :]
                continue
            _wait(self._stdin, select.POLLOUT, deadline)

    def _receive(self, deadline: float) -> bytes:
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > self.limits.line:
                raise self._failed(f"it sent a line of more than {self.limits.line:,} bytes")
            _wait(self._stdout, select.POLLIN, deadline)
            got = os.read(self._stdout, _CHUNK)
            if not got:
                raise self._failed("")
            self._rest += got
        line, self._rest = self._rest[:end], self._rest[end + 1 :]
        return line

    def _failed(self, reason: str) -> ProgramError:
        """Return the error of a program, which is ended."""
        if not reason:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        code = self._process.poll()
        self.close()
        if not reason:
            how = f"exit code {code}" if code is None or code >= 0 else f"signal {_signal(-code)}"
            self._listener.join(_PATIENCE)
            said = self._last_words.decode(errors="replace").split("\n")
            last = next((line for line in reversed(said) if line.strip()), "")
            reason = "it closed its output" if code is None else f"it ended with {how}"
            reason += f"; its last words: {shown(last[-_TAIL:], _TAIL)}" if last else ""
        return ProgramError(reason)

    def _listen(self, stream: IO[bytes], log: Callable[[], Path | None]) -> None:
        """Keep the beginning of standard error in the log, and its end for errors; the rest is read and dropped."""
        kept = 0
        while got := stream.read(_CHUNK):
            self._last_words = (self._last_words + got)[-4 * _TAIL :]
            if kept < _MOST_LOG and (path := log()) is not None:
                with contextlib.suppress(OSError), path.open("ab") as file:
                    kept += file.write(got[: _MOST_LOG - kept])


def _wait(number: int, event: int, deadline: float) -> None:
    """Wait until a stream is ready; raise a `TimeoutError` at the deadline, a time of `time.perf_counter`."""
    poll = select.poll()
    poll.register(number, event)
    left = deadline - time.perf_counter()
    if left <= 0 or not poll.poll(math.ceil(1000 * left)):
        raise TimeoutError


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _bounded(limits: Limits) -> list[str]:
    """Return what starts a command with a bound of its memory."""
    return ["/bin/sh", "-c", f'ulimit -v {limits.memory >> 10} && exec "$@"', "sh"]


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a process, its group, and all processes that carry its mark."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in _marked(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _marked(mark: str) -> list[int]:
    """Return the processes that carry a mark in their environment; on Linux only."""
    if sys.platform != "linux":
        return []
    found, sought = [], f"{_MARK}={mark}".encode()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if sought in Path(entry.path, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
