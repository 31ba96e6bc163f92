"""Programs in processes of their own, spoken to in lines, which can neither hang nor flood the arena.

A `supervisor` starts each program, ends all that this has started, and ends it with the arena. Where the machine allows
it, both have namespaces of users and processes of their own, in which the arena does not exist. Importing this imports
no torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from cellgames.runs.run_folder import LOGS, run_folder
from cellgames.utils.errors import InputError, shown

if sys.platform == "linux":
    import fcntl

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_UNSHARE = (*("unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child", "--mount-proc", "--"),)
_CHUNK = 1 << 16
_PIPE = 1 << 20  # bytes that a pipe holds
_MOST_LOG = 1 << 20  # bytes of standard error that are kept
_PATIENCE = 1.0  # seconds between asking a process to quit and ending it
_MOST_NAME = 60  # characters of a log's name
_TAIL = 200  # characters of standard error in an error


class ProgramError(RuntimeError):
    """A program that did not answer; the text says why, in one line."""


class EngineError(ValueError):
    """A malformed answer of a program; the text states the expected answer and the received one."""


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

    start: float = 30.0
    move: float = 60.0
    line: int = 1 << 20
    memory: int = 4 << 30
    processes: int = 64


class BotProcess:
    """A running program.

    Args:
        command: its words.
        limits: limits of this program.
        log: returns the file that gets its standard error, at most the first MiB of it; None drops it.
        environment: environment of the program, None for that of this process.
        filter: see `supervisor`.

    Attributes:
        pid: the number of the process, and of its group.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(
        self,
        command: list[str],
        limits: Limits,
        log: Callable[[], Path | None] = lambda: None,
        environment: Mapping[str, str] | None = None,
        filter: bytes = b"",
    ) -> None:
        if os.name != "posix":
            raise ProgramError("programs as agents need Linux or macOS; on Windows run cellgames in WSL")
        self.limits = limits
        self._rest = b""
        self._paused = False
        self._control, control = socket.socketpair()
        if sys.platform == "linux":
            self._control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        bounds = [str(number) for number in (control.fileno(), limits.memory, limits.processes)]
        given, self._stdin = os.pipe()
        self._stdout, taken = os.pipe()
        with control:
            self._process = subprocess.Popen(
                [*namespaces(), sys.executable, "-I", "-S", _SUPERVISOR, *bounds, filter.hex(), *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                pass_fds=[control.fileno()],
                env=environment,
            )
        assert self._process.stderr is not None
        socket.send_fds(self._control, [b"."], [given, taken])  # which only the program has open
        os.close(given)
        os.close(taken)
        for number in (self._stdin, self._stdout):
            os.set_blocking(number, False)
            if sys.platform == "linux":  # a pipe that holds more needs fewer turns of the processes
                with contextlib.suppress(OSError):  # the user may have too many of them
                    fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, _PIPE)
        self._tail = bytearray()  # the end of what it writes to standard error
        # The thread does not know this object, which ends the program when nobody knows it any more.
        streams = self._process.stderr, log, self._tail
        self._listener = threading.Thread(target=_listen, args=streams, daemon=True)
        self._listener.start()
        try:
            self._control.settimeout(limits.start)
            own, credentials, *_ = self._control.recvmsg(4, socket.CMSG_SPACE(12))
            # The number that it has in the namespace of this process.
            self.pid = int(struct.unpack("i", credentials[0][2][:4] if credentials else own)[0])
        except (OSError, struct.error):
            self._process.kill()
            raise ProgramError("its supervisor does not start") from None
        self._end = weakref.finalize(self, _end, self._process, self._control, self.pid, (self._stdin, self._stdout))

    def exchange_all(self, lines: bytes, count: int, seconds: float, *, end: bytes = b"\n") -> list[bytes]:
        """Send lines at once, and return `count` answers of the program, each up to `end`.

        It sleeps after its last answer until the next question, so that it takes no processor from others. The lines,
        with their newlines, are so few that the program need not answer before it has read the last.

        Raises:
            ProgramError: it has ended, took more seconds, or sent a line that is too long. It is ended then.
        """
        deadline = time.perf_counter() + seconds
        try:
            self.wake()
            self._send(lines, deadline)
            answers = [self._receive(deadline, end) for _ in range(count)]
            self._pause(True)
        except TimeoutError:
            raise self._failed(f"it did not answer within {seconds:g} s") from None
        except OSError:  # nobody reads any more
            raise self._failed("") from None
        except BaseException:  # Ctrl-C: the answer will come when nobody waits for it
            self.close()
            raise
        return answers

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
                os.killpg(self.pid, signal.SIGSTOP if paused else signal.SIGCONT)
            self._paused = paused

    def _send(self, line: bytes, deadline: float) -> None:
        view = memoryview(line)
        while view:
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._stdin, view) :]
                continue
            self.wake()  # it reads nothing while it sleeps
            _wait(self._stdin, select.POLLOUT, deadline)

    def _receive(self, deadline: float, end: bytes) -> bytes:
        while (place := self._rest.find(end)) < 0:
            if len(self._rest) > self.limits.line:
                raise self._failed(f"it sent a line of more than {self.limits.line:,} bytes")
            _wait(self._stdout, select.POLLIN, deadline)
            got = os.read(self._stdout, _CHUNK)
            if not got:
                raise self._failed("")
            self._rest += got
        line, self._rest = self._rest[:place], self._rest[place + len(end) :]
        return line

    def _failed(self, reason: str) -> ProgramError:
        """Return the error of a program, which is ended; without a reason, what its supervisor says."""
        if not reason:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
            reason = self._reason()
        self.close()
        return ProgramError(reason)

    def _reason(self) -> str:
        """Return why the program has ended, or closed its output."""
        self._control.setblocking(False)
        said = self._control.recv(_CHUNK).decode() if self._process.poll() is not None else ""
        first = said.partition("\n")[0]
        if " " in first:  # it could not be started, or exceeded a limit
            return first
        how = f"it ended with exit code {first}" if first else "it closed its output"
        if first.startswith("-"):
            named = {str(-number): number.name for number in signal.Signals}
            how = f"it ended with signal {named.get(first, first[1:])}"
        self._listener.join(_PATIENCE)
        lines = [line for line in self._tail.decode(errors="replace").split("\n") if line.strip()]
        last = lines[-1] if lines else ""
        return how + (f"; its last words: {shown(last[-_TAIL:], _TAIL)}" if last else "")


def _listen(stream: IO[bytes], log: Callable[[], Path | None], tail: bytearray) -> None:
    """Keep the beginning of a stream in the log, and its end in `tail`; the rest is read and dropped."""
    kept = 0
    while got := stream.read(_CHUNK):
        tail[:] = (tail + got)[-4 * _TAIL :]
        if kept < _MOST_LOG and (path := log()) is not None:
            with contextlib.suppress(OSError), path.open("ab") as file:
                kept += file.write(got[: _MOST_LOG - kept])


def _wait(number: int, event: int, deadline: float) -> None:
    """Wait until a stream is ready; raise a `TimeoutError` at the deadline, a time of `time.perf_counter`."""
    poll = select.poll()
    poll.register(number, event)
    if (left := deadline - time.perf_counter()) <= 0 or not poll.poll(math.ceil(1000 * left)):
        raise TimeoutError


@cache
def namespaces() -> tuple[str, ...]:
    """Return the words of a command that gives a program users and processes of its own; none if it may not."""
    try:
        return _UNSHARE if subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0 else ()
    except OSError:
        return ()


def _end(process: subprocess.Popen[bytes], control: socket.socket, pid: int, pipes: Iterable[int]) -> None:
    """End a program, by its supervisor or else with it, and close the streams to it."""
    control.close()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    process.send_signal(signal.SIGCONT)  # a program that sees its supervisor may have stopped it
    try:
        process.wait(5 * _PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in pipes:
        os.close(pipe)


def log_of(name: str) -> Path | None:
    """Return the file that gets the standard error of an agent's program: in the folder of the run, if there is one."""
    folder = run_folder()
    if folder is None:
        return None
    (folder / LOGS).mkdir(exist_ok=True)
    plain = re.sub(r"[^A-Za-z0-9.+-]+", "_", name).strip("._")[:_MOST_NAME]
    digest = hashlib.blake2b(name.encode(), digest_size=3).hexdigest()
    return folder / LOGS / (f"{plain}.log" if plain == name else f"{plain}-{digest}.log")


def command_of(text: str) -> list[str]:
    """Return the words of a command line; a `ValueError` if it has none, or a quotation that does not end."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError("command", "a command line", f"{shown(text)}: {error}") from None
    if not words:
        raise InputError("command", "the command line of a program, such as exec:./mybot", "nothing")
    return words


def identity_of_command(text: str) -> str:
    """Return 16 hexadecimal digits that depend on the words after the program and on all files that are named.

    Returns:
        "" if the program is not found.
    """
    try:
        program, *arguments = command_of(text)
    except ValueError:
        return ""
    if (path := shutil.which(program)) is None:
        return ""
    found = hashlib.blake2b("\0".join(arguments).encode(), digest_size=8)
    for file in filter(os.path.isfile, (path, *arguments)):  # an argument may be too long for a path
        try:
            found.update(Path(file).read_bytes())
        except OSError:
            return ""
    return found.hexdigest()
