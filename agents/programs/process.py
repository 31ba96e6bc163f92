"""A program in a process of its own, spoken to in lines, which can neither hang nor flood the arena.

A process is the first of a group and carries a mark in its environment, by which everything that it has started is
found and ended with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
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
from cellgames.utils.last_call import run_folder
from cellgames.utils.run_folders import LOGS

if sys.platform == "linux":
    import fcntl

__all__ = ["BotProcess", "Limits", "ProgramError", "log_of"]

_MARK = "CELLGAMES_BOT"
_CHUNK = 1 << 16
_PIPE = 1 << 20  # bytes that a pipe holds
_MOST_LOG = 1 << 20  # bytes of standard error that are kept
_LOOK = 0.25  # seconds of thinking between two looks at what a program needs
_PATIENCE = 1.0  # seconds between asking a process to quit and ending it
_MOST_NAME = 60  # characters of a log's name
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
        memory: bytes of memory of the program and all that it has started. Linux only, looked at while it thinks.
        processes: how many those may be. The same.
    """

    start: float = 10.0
    move: float = 60.0
    line: int = 1 << 20
    memory: int = 4 << 30
    processes: int = 64


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
        self._rest = b""
        self._paused = False
        try:
            self._process = subprocess.Popen(
                command,
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
            _widen(number)
        self._said = _LastWords()
        # The thread does not know this object, which ends the program when nobody knows it any more.
        self._listener = threading.Thread(target=self._said.listen, args=(self._process.stderr, log), daemon=True)
        self._listener.start()
        self._end = weakref.finalize(self, _end, self._process, self._mark)

    def exchange(self, line: bytes, seconds: float) -> tuple[bytes, float]:
        """Send a line, and return the next line of the program and the seconds that it took.

        The program sleeps after its answer until the next question, so that it takes no processor from others.

        Args:
            line: with the newline.
            seconds: for which its answer is waited for.

        Raises:
            ProgramError: it has ended, took longer, or sent a line that is too long. It is ended then.
        """
        (answer,), took = self.exchange_all(line, 1, seconds)
        return answer, took

    def exchange_all(
        self, lines: bytes, count: int, seconds: float, *, end: bytes = b"\n"
    ) -> tuple[list[bytes], float]:
        """Send lines at once, and return as many answers and the seconds that all of them took.

        Args:
            lines: with their newlines; few enough that the program need not answer before it has read the last.
            count: of answers.
            seconds: for which all answers are waited for.
            end: of an answer.

        Raises:
            ProgramError: as for `exchange`.
        """
        start = time.perf_counter()
        try:
            self.wake()
            self._send(lines, start + seconds)
            answers = [self._receive(start + seconds, end) for _ in range(count)]
            took = time.perf_counter() - start
            self._pause(True)
        except TimeoutError:
            raise self._failed(f"it did not answer within {seconds:g} s") from None
        except OSError:  # nobody reads any more
            raise self._failed("") from None
        except BaseException:  # Ctrl-C: the answer will come when nobody waits for it
            self.close()
            raise
        return answers, took

    def tell(self, line: bytes) -> None:
        """Send a line that has no answer; a program that does not read it is found out by the next question."""
        with contextlib.suppress(OSError):
            self._send(line, time.perf_counter() + self.limits.start)

    def wake(self) -> None:
        """Let the program run without a question."""
        self._pause(False)

    @property
    def alive(self) -> bool:
        """Return True if the program runs."""
        return self._end.alive and self._process.poll() is None

    def close(self, farewell: bytes = b"") -> None:
        """Send a last line, and end the program and all that it has started."""
        if farewell and self.alive:
            self.wake()
            self.tell(farewell)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        self._end()

    def _pause(self, paused: bool) -> None:
        if paused != self._paused:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGSTOP if paused else signal.SIGCONT)
            self._paused = paused

    def _send(self, line: bytes, deadline: float) -> None:
        view = memoryview(line)
        while view:
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._stdin, view) :]
                continue
            self.wake()  # it reads nothing while it sleeps
            _ready(self._stdin, select.POLLOUT, deadline, math.inf)

    def _receive(self, deadline: float, end: bytes) -> bytes:
        while (place := self._rest.find(end)) < 0:
            if len(self._rest) > self.limits.line:
                raise self._failed(f"it sent a line of more than {self.limits.line:,} bytes")
            while not _ready(self._stdout, select.POLLIN, deadline, _LOOK):
                self._look()
            got = os.read(self._stdout, _CHUNK)
            if not got:
                raise self._failed("")
            self._rest += got
        line, self._rest = self._rest[:place], self._rest[place + len(end) :]
        return line

    def _look(self) -> None:
        """Raise a `ProgramError`, after it was ended, if the program needs too much."""
        running = _marked(self._mark)
        if len(running) > self.limits.processes:
            raise self._failed(f"it has {len(running)} processes, and {self.limits.processes} are allowed")
        if (used := sum(map(_memory, running))) > self.limits.memory:
            raise self._failed(
                f"it needs {used / 2**30:.1f} GiB of memory, and {self.limits.memory / 2**30:g} are allowed"
            )

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
            said = self._said.tail.decode(errors="replace").split("\n")
            last = next((line for line in reversed(said) if line.strip()), "")
            reason = "it closed its output" if code is None else f"it ended with {how}"
            reason += f"; its last words: {shown(last[-_TAIL:], _TAIL)}" if last else ""
        return ProgramError(reason)


class _LastWords:
    """The end of what a program writes to its standard error."""

    def __init__(self) -> None:
        self.tail = b""

    def listen(self, stream: IO[bytes], log: Callable[[], Path | None]) -> None:
        """Keep the beginning of the stream in the log, and its end here; the rest is read and dropped."""
        kept = 0
        while got := stream.read(_CHUNK):
            self.tail = (self.tail + got)[-4 * _TAIL :]
            if kept < _MOST_LOG and (path := log()) is not None:
                with contextlib.suppress(OSError), path.open("ab") as file:
                    kept += file.write(got[: _MOST_LOG - kept])


def _widen(number: int) -> None:
    """Let a pipe hold more than it does by default, where the system can; fewer turns of the processes then."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # the user may have too many of them
            fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, _PIPE)


def _ready(number: int, event: int, deadline: float, patience: float) -> bool:
    """Wait until a stream is ready, and return True; or False after the seconds of `patience`.

    Raises:
        TimeoutError: at the deadline, a time of `time.perf_counter`.
    """
    poll = select.poll()
    poll.register(number, event)
    left = deadline - time.perf_counter()
    if left > 0 and poll.poll(math.ceil(1000 * min(left, patience))):
        return True
    if left <= patience:
        raise TimeoutError
    return False


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


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


def _memory(pid: int) -> int:
    """Return the bytes of a process in memory."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):  # it has just ended
        return 0


def log_of(name: str) -> Path | None:
    """Return the file that gets the standard error of an agent's program: in the folder of the run, if there is one."""
    folder = run_folder()
    if folder is None:
        return None
    (folder / LOGS).mkdir(exist_ok=True)
    plain = re.sub(r"[^A-Za-z0-9.+-]+", "_", name).strip("._")[:_MOST_NAME]
    digest = hashlib.blake2b(name.encode(), digest_size=3).hexdigest()
    return folder / LOGS / (f"{plain}.log" if plain == name else f"{plain}-{digest}.log")
