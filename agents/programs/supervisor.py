"""The supervisor of a program: a small process between the arena and the program, which outlives neither.

It is run as a file by `python -I -S`. The program gets the arena's pipes, so a move costs nothing more. The supervisor
sees all processes that the program has started, whatever they have changed about themselves: it is the first process of
a namespace, or the subreaper of its descendants. It ends all of them when the program ends, when they exceed a limit,
and when the arena closes the control socket, as it does however it ends.

Its arguments are the control socket, the bytes of memory, the number of processes, the filter of system calls
("" for none) and the command. On the socket it says when the program starts, and why it has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import socket
import struct
import sys

FILTER_FD = 99
"""The descriptor from which bubblewrap reads the filter of system calls."""

_LOOK = 0.25  # seconds between two looks at what a program needs
_DEATH_SIGNAL, _DUMPABLE, _DROP_CAPABILITY, _SUBREAPER = 1, 4, 24, 36  # of prctl(2)
_SET_FILE_CAPABILITIES = 31  # without which root cannot make bubblewrap's namespace of users


def main(control: socket.socket, memory: int, processes: int, filter: bytes, command: list[str]) -> None:
    """Run a program until it or the arena ends."""
    control.set_inheritable(False)
    _control_process(_SUBREAPER, 1)
    _control_process(_DUMPABLE, 0)  # the program may not trace it
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.fileno())
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    pipes = socket.recv_fds(control, 1, 2)[1]
    program = os.fork()
    for number, pipe in enumerate(pipes):
        if not program:
            os.dup2(pipe, number)
        os.close(pipe)
    if not program:
        _become(control, memory, filter, command)
    while not (reason := _over(program) or _excess(memory, processes)):
        ready, _, _ = select.select([control, woken], [], [], _LOOK)
        if control in ready:
            break
        if woken in ready:
            woken.recv(1 << 10)
    with contextlib.suppress(OSError):  # the arena has gone
        control.sendall(reason.encode())
    _end_all(program)


def _become(control: socket.socket, memory: int, filter: bytes, command: list[str]) -> None:
    """Turn this process into the program."""
    try:
        os.setsid()
        _control_process(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() == 1:
            for capability in set(range(64)) - {_SET_FILE_CAPABILITIES}:
                _control_process(_DROP_CAPABILITY, capability)
        for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, 2 * memory)):
            hard = resource.getrlimit(limit)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (most, most))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        if filter:
            source, sink = os.pipe()
            os.write(sink, filter)
            os.close(sink)
            os.dup2(source, FILTER_FD)
        control.sendall(struct.pack("i", os.getpid()))
        os.execvp(command[0], command)
    except OSError as error:
        control.sendall(f"{command[0]!r} cannot be started: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _over(program: int) -> str:
    """Clear away processes that have ended; return the exit code of the program, "" while it runs."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                return str(os.waitstatus_to_exitcode(ended[1]))
    return ""


def _excess(memory: int, processes: int) -> str:
    """Return the limit that the program and its children exceed, "" for none."""
    running = _descendants()
    if len(running) > processes:
        return f"it has {len(running)} processes, and {processes} are allowed"
    if (used := sum(map(_memory, running))) > memory:
        return f"it needs {used / 2**30:.1f} GiB of memory, and {memory / 2**30:g} are allowed"
    return ""


def _descendants() -> list[int]:
    """Return the processes below this one; on Linux only."""
    found = [os.getpid()]
    for pid in found:
        with contextlib.suppress(OSError):  # it has just ended
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as children:
                    found += map(int, children.read().split())
    return found[1:]


def _memory(pid: int) -> int:
    """Return the bytes of a process in memory."""
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/statm") as sizes:
        return int(sizes.read().split()[1]) * resource.getpagesize()
    return 0


def _end_all(program: int) -> None:
    """End the program and all processes below this one; those of its namespace end with it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program, signal.SIGKILL)
    while os.getpid() != 1:
        for pid in _descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)  # what it leaves behind becomes a child of this process
        except ChildProcessError:
            return


def _control_process(option: int, value: int) -> None:
    """Call prctl(2), which only Linux has."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


if __name__ == "__main__":
    number, memory, processes, filter, *command = sys.argv[1:]
    main(socket.socket(fileno=int(number)), int(memory), int(processes), bytes.fromhex(filter), command)
