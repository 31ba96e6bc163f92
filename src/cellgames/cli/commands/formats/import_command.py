"""`cellgames import`: games and positions from the files of other programs.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cellgames.cli.console import UserError
from cellgames.cli.shared_options import add_command, add_game, add_out, add_quiet, make_game, parameters
from cellgames.utils.progress import waiting

_TEXT = (
    "Read games or a position from another program's file. An SGF file of Torus, Hex or Y becomes a file of\n"
    "records, which replay and export take. An RLE file of Life becomes a position, which is printed; play and\n"
    "analyse take it as --position."
)
_EXAMPLES = (
    "torus-v0 games.sgf --out games.jsonl",
    "hex-v0 little_golem.sgf --out games.jsonl",
    "cloth-of-gold-v0 pattern.rle --at 10 20",
    "toroidal-cup-v0 arrangement.rle --param teams=2",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "import", "GAME FILE ", run, _TEXT, _EXAMPLES)
    add_game(command)
    command.add_argument("file", metavar="FILE", type=Path, help="a file that ends in .sgf or .rle")
    command.add_argument(
        "--at", metavar=("ROW", "COLUMN"), nargs=2, type=int, help="rle: upper left corner (default: in the middle)"
    )
    add_out(command, "sgf: the file of records", "FILE")
    add_quiet(command)


def run(arguments: argparse.Namespace) -> int:
    """Read the file; return the exit code."""
    suffix = arguments.file.suffix.lower()
    if suffix not in (".sgf", ".rle"):
        raise UserError(f"expected a file that ends in .sgf or .rle, got {arguments.file}")
    try:
        text = arguments.file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{arguments.file}: expected a text in UTF-8") from None
    if suffix == ".sgf":
        return _games(arguments, text)
    from cellgames.arena.formats.rle_files import rle_to_position

    at = None if arguments.at is None else (arguments.at[0], arguments.at[1])
    with _reading(arguments, "Reading"):
        position = rle_to_position(make_game(arguments), text, at=at)
    print(position)
    return 0


@contextmanager
def _reading(arguments: argparse.Namespace, what: str) -> Iterator[None]:
    """Show that the block goes on, and name the file in its errors."""
    try:
        with waiting(f"{what} {arguments.file}", shown=not arguments.quiet):
            yield
    except ValueError as error:
        raise UserError(f"{arguments.file}: {error}") from None


def _games(arguments: argparse.Namespace, text: str) -> int:
    from cellgames.arena.formats.sgf_files import dialect_of, sgf_to_records
    from cellgames.arena.records.record_lines import to_lines
    from cellgames.utils.files import write_atomic

    game, given = make_game(arguments), parameters(arguments)
    dialect_of(game)
    if arguments.out is None:
        raise UserError("name the file of records to write with --out")
    if not arguments.out.parent.is_dir():
        raise UserError(f"--out {arguments.out}: there is no folder {arguments.out.parent}")
    with _reading(arguments, "Playing the games of"):
        records = sgf_to_records(text)
    for number, record in enumerate(records, 1):
        if record.game != game.id:
            raise UserError(f"{arguments.file}: expected games of {game.id}, game {number} is one of {record.game}")
        for name, value in record.parameters.items():
            if name in given and value != game.parameters[name]:
                raise UserError(
                    f"{arguments.file}: expected boards of {name} {game.parameters[name]}, game {number} has {value}"
                )
    write_atomic(arguments.out, to_lines(records))
    print(f"Saved {arguments.out}: {len(records)} games")
    return 0
