"""`cellgames export` and `import`: games in the formats of other programs, and games and positions out of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import Record, to_lines
from cellgames.cli import shared_options as shared
from cellgames.cli.console import warn
from cellgames.plugins import additions, resolve
from cellgames.utils.errors import InputError, check_place, located
from cellgames.utils.files import write_atomic
from cellgames.utils.progress import progress, waiting

_TEXT = (
    "Write recorded games in the format of other programs. It takes the folder of a round robin, of free-for-all\n"
    "games, an evaluation or a season, or a file of records, and plays the games again.\n\n"
    "  rle      one board of Life, for Golly: Cloth of Gold, the Toroidal Cup\n"
    "  sgf      games of Torus, Hex (as HexGui writes them) and Y"
) + "".join(f"\n  {name:8} {about}" for name, (_, about) in additions().formats.items())
_EXAMPLES = (
    "results/cloth --format rle --record 3 --turn 20 --generation 50 --out board.rle",
    "results/torus5 --format sgf --out games.sgf",
    "results/torus5 --format parquet --out decisions.parquet",
    "results/torus5 --format minari --out datasets/torus5-v0",
)
_FORMATS = ("rle", "sgf", *additions().formats)


def add_export(commands: Any) -> None:
    """Add `export`."""
    command = shared.add_command(commands, "export", "PATH ", _export, _TEXT, _EXAMPLES)
    command.add_argument("path", metavar="PATH", type=Path, help="the folder of a run, or a file of records")
    command.add_argument("--format", choices=_FORMATS, required=True, help="the format")
    shared.add_record(command, "only this game, from 1")
    shared.add_agents(command, "only games of all these agents, or of these teams", required=False, play=False)
    command.add_argument("--turn", metavar="N", type=int, help="rle: after N moves (default: all)")
    command.add_argument("--generation", metavar="N", type=int, help="rle: N generations of Life later (default 0)")
    command.add_argument("--all-states", action="store_true", help="rle: whose cells they are, not only live cells")
    shared.add_out(command, "the file; minari: the folder, whose name is the dataset's", "FILE")
    shared.add_quiet(command)


def _export(arguments: argparse.Namespace) -> int:
    from cellgames.arena.season import cup

    if arguments.out is None:
        raise InputError("--out", "the file or the folder to write", "none")
    if arguments.format != "minari":  # which makes the folders above its own
        check_place("--out", arguments.out)
    only = {"--turn": arguments.turn, "--generation": arguments.generation, "--all-states": arguments.all_states}
    if arguments.format != "rle" and (given := [name for name, value in only.items() if value not in (None, False)]):
        raise InputError(given[0], cause="it is for --format rle")
    with waiting(f"Reading {arguments.path}", shown=not arguments.quiet):
        records, torn = cup.read_games(arguments.path)
    if torn:
        warn(torn)
    arranged = bool(records) and isinstance(records[0], cup.CupRecord)
    if arranged and arguments.format != "rle":
        cause = "it holds a season of random arrangements; `cellgames season GAME --agents` plays one of bots"
        raise InputError("--format", "rle", arguments.format, cause, arguments.path)
    if arranged and arguments.turn is not None:
        raise InputError("--turn", cause="games of random arrangements have no moves; choose a board by --generation")
    chosen: list[Any] = [records[number - 1] for number in shared.chosen_games(arguments, records)]
    if arguments.format == "rle" and len(chosen) > 1:
        raise InputError("--format rle", "one game", len(chosen), "choose by --record")
    if arguments.format in additions().formats:
        return _write_decisions(arguments, chosen)
    with waiting("Writing the games", shown=not arguments.quiet):
        text = _text(arguments, chosen)
    write_atomic(arguments.out, text)
    print(f"Saved {arguments.out}")
    return 0


def _write_decisions(arguments: argparse.Namespace, records: Sequence[Record]) -> int:
    """Write a table or a dataset of decisions; return the exit code."""
    games = sum(record.result.forfeit is None for record in records)
    with progress(games, label="export", shown=not arguments.quiet, after_s=2.0) as played:
        target, _ = additions().formats[arguments.format]
        written = resolve(target)(records, arguments.out, played=played)
    if written.forfeited:
        warn(f"left out {written.forfeited} forfeited games")
    print(f"Saved {arguments.out}: {written.decisions} decisions of {written.games} game{'s' * (written.games != 1)}")
    return 0


def _text(arguments: argparse.Namespace, records: Sequence[Any]) -> str:
    """Return the content of a file of one board, or of moves."""
    if arguments.format == "sgf":
        from cellgames.arena.formats.sgf_files import records_to_sgf

        return records_to_sgf(records)
    from cellgames.arena.formats.rle_files import board_to_rle, record_to_rle
    from cellgames.arena.season.cup import CupRecord, board_at

    (game,), at, all_states = records, arguments.generation, arguments.all_states
    if not isinstance(game, CupRecord):
        return record_to_rle(game, turn=arguments.turn, generation=at or 0, all_states=all_states)
    about = f"{game.fixture}, pattern {game.pattern}, seed {game.seed}"
    comments = [about, f"generation {game.generations if at is None else at}"]
    return board_to_rle(board_at(game, at), wraps=True, all_states=all_states, comments=comments)


_IMPORT_TEXT = (
    "Read games or a position from another program's file. An SGF file of Torus, Hex or Y becomes a file of\n"
    "records, which replay and export take. An RLE file of Life becomes a position, which is printed; play and\n"
    "analyse take it as --position."
)
_IMPORT_EXAMPLES = (
    "torus-v0 games.sgf --out games.jsonl",
    "hex-v0 little_golem.sgf --out games.jsonl",
    "cloth-of-gold-v0 pattern.rle --at 10 20",
    "toroidal-cup-v0 arrangement.rle --param teams=2",
)


def add_import(commands: Any) -> None:
    """Add `import`."""
    command = shared.add_command(commands, "import", "GAME FILE ", _import, _IMPORT_TEXT, _IMPORT_EXAMPLES)
    shared.add_game(command)
    command.add_argument("file", metavar="FILE", type=Path, help="a file that ends in .sgf or .rle")
    text = "rle: upper left corner (default: in the middle)"
    command.add_argument("--at", metavar=("ROW", "COLUMN"), nargs=2, type=int, help=text)
    shared.add_out(command, "sgf: the file of records", "FILE")
    shared.add_quiet(command)


def _import(arguments: argparse.Namespace) -> int:
    from cellgames.arena.formats.rle_files import rle_to_position
    from cellgames.arena.formats.sgf_files import dialect_of, sgf_to_records

    file, games = arguments.file, arguments.file.suffix.lower() == ".sgf"
    if not games and file.suffix.lower() != ".rle":
        raise InputError("FILE", "a file that ends in .sgf or .rle", file)
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(file, "a text in UTF-8") from None
    game, given = shared.make_game(arguments), shared.parameters(arguments)
    if games:
        dialect_of(game)
        if arguments.out is None:
            raise InputError("--out", "the file of records to write", "none")
        check_place("--out", arguments.out)
    what, at = "Playing the games of" if games else "Reading", arguments.at and (arguments.at[0], arguments.at[1])
    try:
        with waiting(f"{what} {file}", shown=not arguments.quiet):
            found: Any = sgf_to_records(text) if games else rle_to_position(game, text, at=at)
    except ValueError as error:
        raise located(error, file) from None
    if not games:
        print(found)
        return 0
    for number, record in enumerate(found, 1):
        if record.game != game.id:
            raise InputError(f"game {number}", game.id, record.game, where=file)
        for name, value in record.parameters.items():
            if name in given and value != game.parameters[name]:
                raise InputError(f"game {number}", f"{name} {game.parameters[name]}", value, where=file)
    write_atomic(arguments.out, to_lines(found))
    print(f"Saved {arguments.out}: {len(found)} game{'s' * (len(found) != 1)}")
    return 0
