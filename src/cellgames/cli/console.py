"""Messages of the command line: errors that people can correct, files that were written, commands to type next."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from cellgames.arena.records.record_lines import RECORDS
from cellgames.utils.foreign_text import PrintableStream, clipped

__all__ = [
    "MOST_MESSAGE",
    "UserError",
    "counted",
    "forget_warnings",
    "print_columns",
    "print_files",
    "print_leaderboard",
    "printable_output",
    "program",
    "recorded",
    "stopped",
    "stopped_games",
    "thinking",
    "warn",
]


MOST_MESSAGE = 2000
"""Characters of a line on standard error; some messages list all that there is."""


class UserError(Exception):
    """A mistake that the user can correct; the message is one line."""


def program() -> str:
    """Return the words that call this program: its name if the shell finds it, else as it was called."""
    if shutil.which("cellgames") is not None:
        return "cellgames"
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "cellgames" else f"{shlex.quote(sys.executable)} -m cellgames"


_said: set[str] = set()


def warn(message: str) -> None:
    """Print a line on standard error, once a command."""
    if message not in _said:
        _said.add(message)
        print(f"cellgames: {clipped(message, MOST_MESSAGE)}", file=sys.stderr)


def forget_warnings() -> None:
    """Begin a command, which prints each warning anew."""
    _said.clear()


@contextmanager
def printable_output() -> Iterator[None]:
    """Escape control characters in all that is printed inside: names, moves and paths may be those of strangers."""
    there = {"stdout": (sys.stdout, "\n\t"), "stderr": (sys.stderr, "\n\t\r")}  # progress returns to the line's start
    wrapped = {name: PrintableStream(stream, kept) for name, (stream, kept) in there.items() if stream is not None}
    for name, stream in wrapped.items():
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in wrapped.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, stream.stream)


@contextmanager
def thinking(who: str, after_s: float = 2.0) -> Iterator[None]:
    """Say on a terminal that somebody is thinking, if the block takes longer than that."""
    said = f"{who} is thinking (Ctrl-C ends the game) ..."
    timer = Timer(after_s, print, (said,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def stopped(arguments: argparse.Namespace, kept: str) -> int:
    """Say after Ctrl-C what is kept, "" for nothing, and how to continue; return the exit code."""
    again = [word for word in arguments.command_line if word != "--no-resume"]
    said = f"{kept}; to continue" if kept else "Nothing was finished, so nothing is kept; to start again"
    print(f"\nStopped. {said}:\n  {program()} {shlex.join(again)}", file=sys.stderr)
    return 130


def recorded(arguments: argparse.Namespace) -> str:
    """Return the command line as files keep it: without --out and --store, so that equal runs have equal files."""
    words, kept = iter(arguments.command_line), ["cellgames"]
    for word in words:
        if word in ("--out", "--store"):
            next(words, None)
        elif not word.startswith(("--out=", "--store=")):
            kept.append(word)
    return shlex.join(kept)


def stopped_games(arguments: argparse.Namespace, out: Path, pieces: str) -> int:
    """Say after Ctrl-C whether the folder keeps games, and how to continue; return the exit code."""
    file = out / RECORDS
    some = file.is_file() and b"\n" in file.read_bytes()
    return stopped(arguments, f"All whole {pieces} of games are kept in {out}" if some else "")


def counted(games: int, played: int) -> str:
    """Return the number of games of a run, and of those that an earlier call had played."""
    before = games - played
    return f"{games} games" + (f", {before} of them from before" if before else "")


def print_columns(lines: Sequence[tuple[str, str]]) -> None:
    """Print names with their descriptions."""
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        print(f"  {name:{width}}  {text}")


def print_files(out: Path, files: Sequence[Path], about: Mapping[str, str]) -> None:
    """Print the files of a run: a line for each one that `about` describes by its name, then the others."""
    print(f"Written to {out}:")
    for path in files:
        if path.name in about:
            print(f"  {path.name:16} {about[path.name]}")
    print(f"  and the data: {', '.join(path.name for path in files if path.name not in about)}")


def print_leaderboard(arguments: argparse.Namespace) -> None:
    """Print the command that shows the store, if the games were added to it."""
    if not arguments.no_store:
        store = "" if arguments.store is None else f" --store {shlex.quote(str(arguments.store))}"
        print(f"  {program()} leaderboard {arguments.game.typed}{store}   all games in the store")
