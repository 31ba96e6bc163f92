"""The command `cellgames`.

What it takes is in `command_line`, what the sub-commands do in `commands` and in modules of their own, such as
`train_command`. Exit codes: 0 done, 1 a record does not reproduce or the program failed, 2 something is wrong with what
was asked for, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO

from .commands import UserError
from .parser import parser

__all__ = ["main", "parser"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's own) and return the exit code."""
    # Before torch is imported: threads that spin while they wait are slow beside other busy processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    given = list(sys.argv[1:] if argv is None else argv)
    with _once_a_machine():
        arguments = parser().parse_args(given)
    arguments.command_line = given
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        return _complain(error)
    return code


@contextmanager
def _once_a_machine() -> Iterator[None]:
    """Of several processes that torchrun started on a machine by the same words, the first one says what is wrong."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        yield
        return
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


def _complain(error: Exception) -> int:
    """One line on standard error; the exit code."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, UserError | ValueError | OSError | ImportError):
        print(f"cellgames: {text}", file=sys.stderr)
        return 2
    print(f"cellgames: {type(error).__name__}: {text} (--debug shows where)", file=sys.stderr)
    return 1
