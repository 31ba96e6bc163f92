"""Output of the command line: tables, columns, colours, errors that people can correct, commands to type next.

Everything is plain text. On a terminal, tables and paragraphs fit its width, and colours are added if rich is installed
and the environment variable NO_COLOR is not set. A pipe or a file gets the plain text, whole lines of any width.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cellgames.arena.records.record_lines import RECORDS
from cellgames.utils.errors import PrintableStream, clipped, escaped
from cellgames.utils.report.model import plain_table

if TYPE_CHECKING:
    from cellgames.arena.stats.tables import Tables
    from cellgames.utils.report.model import Table

Mark: TypeAlias = tuple[int, int, str]
"""A part of a text, from one place to before another, and its style as rich writes styles, such as "bold red"."""


_GAMES = os.environ.get("CELLGAMES_GAMES")

MOST_MESSAGE = 2000
"""Characters of a line on standard error; some messages list all that there is."""


def program() -> str:
    """Return the words that call this program: its name if the shell finds it, else as it was called.

    Before them stands the variable that names modules of games, if an id has named one since the start.
    """
    games, called = os.environ.get("CELLGAMES_GAMES"), Path(sys.argv[0])
    named = f"CELLGAMES_GAMES={shlex.quote(games)} " if games and games != _GAMES and os.name == "posix" else ""
    if shutil.which("cellgames") is not None:
        return f"{named}cellgames"
    words = shlex.quote(str(called)) if called.name == "cellgames" else f"{shlex.quote(sys.executable)} -m cellgames"
    return f"{named}{words}"


@cache
def warn(message: str) -> None:
    """Print a line on standard error, once a command: its start clears the cache."""
    print_error(f"cellgames: {clipped(message, MOST_MESSAGE)}")


def read_line(prompt: str) -> str:
    """Return a line from standard input; raise `EOFError` at its end.

    At a terminal, the arrow keys edit the line and recall earlier ones. Windows has this without readline.
    """
    if sys.stdin.isatty() and sys.stdout.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  # changes what `input` does
    return input(prompt)


@contextmanager
def printable_output() -> Iterator[None]:
    """Escape control characters in all that is printed inside: names, moves and paths may be those of strangers."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by >&- of a shell, or missing as under pythonw
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    there = {"stdout": (sys.stdout, "\n\t"), "stderr": (sys.stderr, "\n\t\r")}  # progress returns to the line's start
    wrapped = {name: PrintableStream(stream, kept) for name, (stream, kept) in there.items()}
    for name, stream in wrapped.items():
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in wrapped.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, stream.stream)
            try:
                stream.flush()
            except OSError:  # of a full disk, which was an error where the command flushed
                stream.abandon()


# ---------------------------------------------------------------- width and colour


def terminal_width() -> int | None:
    """Return the width of the terminal that standard output is, None for a pipe or a file."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wrapped_lines(text: str) -> str:
    """Return a paragraph in lines that fit the terminal, of at most 100 characters; one line for a pipe."""
    if (width := terminal_width()) is None:
        return text
    return textwrap.fill(text, max(20, min(width, 100)), break_long_words=False, break_on_hyphens=False)


def print_error(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


def print_marked(text: str, marks: Iterable[Mark] = (), end: str = "\n") -> None:
    """Print text; on a terminal that shows colours, with the marked parts in their styles.

    Marks do not overlap. Control characters of the text are escaped as everywhere.
    """
    found = sorted(marks)
    if not (found and shows_colours()):
        print(text, end=end)
        return
    pieces, at = importlib.import_module("rich.text").Text(), 0
    for first, last, style in found:
        pieces.append(escaped(text[at:first])).append(escaped(text[first:last]), style)
        at = last
    pieces.append(escaped(text[at:]))
    print(end="")  # something is printed now
    stream = sys.stdout.stream if isinstance(sys.stdout, PrintableStream) else sys.stdout
    stream.flush()
    importlib.import_module("rich.console").Console(file=stream, highlight=False, soft_wrap=True).print(pieces, end=end)


def shows_colours() -> bool:
    """Return True if standard output is a terminal that shows colours."""
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return False
    with suppress(ImportError):
        return bool(importlib.import_module("rich.text"))
    return False


def print_heading(text: str) -> None:
    """Print a line in bold."""
    print_marked(text, [(0, len(text), "bold")])


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
    return f"{games} game{'s' * (games != 1)}" + (f", {before} of them from before" if before else "")


def print_columns(lines: Sequence[tuple[str, str]]) -> None:
    """Print names with their descriptions."""
    most = max(len(name) for name, _ in lines)
    for name, text in lines:
        print_marked(f"  {name:{most}}  {text}", [(2, 2 + len(name), "cyan")])


def print_table(table: Table, end: str = "\n") -> None:
    """Print a table; where it is wider than the terminal, its columns stand in several blocks."""
    text = plain_table(table, terminal_width())
    marks, at = [], 0
    for block in text.split("\n\n"):
        marks.append((at, at + len(block.partition("\n")[0]), "bold"))
        at += len(block) + 2
    print_marked(text, marks, end)


def print_pairs_and_seats(tables: Tables, players: Sequence[str], notes: Iterable[str], *, simultaneous: bool) -> None:
    """Print a cross table, results by seat, and notes."""
    from cellgames.arena.report.rating_tables import AHEAD, SCORES, cross_columns, seat_table, seats_line
    from cellgames.utils.report.model import people_table

    print(f"\n{AHEAD if tables.by_score else SCORES}")
    print_table(people_table(cross_columns(tables), tables.agents))
    print()
    if tables.by_score:
        print_table(seat_table(tables, players), end="\n\n")
    else:
        print(seats_line(tables, players, simultaneous=simultaneous))
    for line in notes:
        print(line)


def print_kept(out: Path, about: Mapping[str, str]) -> None:
    """Print the files and folders of a run that are there, a line for each one that `about` describes by its name."""
    print(f"Written to {out}:")
    width = max(map(len, about)) + 1
    for name, text in about.items():
        if (out / name).exists():
            print(f"  {name:{width}} {text}")


def leaderboard_command(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return for `print_next` the command that shows the store; nothing if the games were not added to it."""
    if arguments.no_store:
        return []
    store = "" if arguments.store is None else f" --store {shlex.quote(str(arguments.store))}"
    return [(f"leaderboard {shlex.quote(arguments.game.typed)}{store}", "all games in the store")]


def print_next(*lines: tuple[str, str] | str) -> None:
    """Print what to type next: the arguments of commands, each with a remark or "", or texts."""
    print("Next:")
    for line in lines:
        print(f"  {line}" if isinstance(line, str) else f"  {program()} {line[0]}   {line[1]}".rstrip())
