"""Export of a store's games as one table: CSV, or Parquet (`pip install "cellgames[research]"`)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.utils.files import PathLike, replacing
from cellgames.utils.foreign_text import shown
from cellgames.utils.report.text import csv_cell

if TYPE_CHECKING:
    from .store import Store

__all__ = ["COLUMNS", "check_path", "export"]

COLUMNS = {
    "number": "int",
    "game": "text",
    "parameters": "text",
    "seed": "int",
    "opening": "int",
    "agents": "texts",
    "identities": "texts",
    "outcome": "texts",
    "scores": "numbers",
    "turns": "int",
    "truncated": "flag",
    "forfeit": "text",
    "version": "text",
    "kind": "text",
    "source": "text",
    "added": "text",
    "record": "text",
}
"""Columns of a table, with their kinds: `agents`, `identities`, `outcome` and `scores` are lists by seat (JSON in CSV
files), `parameters` and `forfeit` are JSON, `record` is the game's line of games.jsonl."""

_LISTS: dict[str, Callable[[Any], Any]] = {"texts": json.loads, "numbers": json.loads, "flag": bool}

_GROUP = 5000  # games held in memory at once


def check_path(path: PathLike) -> Path:
    """Return the path; raise a `ValueError` unless it ends in `.csv` or `.parquet`, for which pyarrow is needed."""
    path = Path(path)
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(
            f"{path}: expected a file that ends in .csv or .parquet, got {shown(path.suffix or 'no ending')}"
        )
    if path.suffix == ".parquet":
        _arrow()
    return path


def export(
    store: Store, path: PathLike, *, game: str | None = None, parameters: Mapping[str, Any] | None = None
) -> int:
    """Write games to a file, which appears whole or not at all.

    Args:
        store: An open store.
        path: Ends in `.csv` or `.parquet`.
        game: Id; None for all.
        parameters: All of them; None for any.

    Returns:
        The number of games written.

    Raises:
        ValueError: The file ends in anything else.
        ImportError: pyarrow is missing.
    """
    path = check_path(path)
    writers: dict[str, Callable[[Path, Iterator[list[Any]]], int]] = {".csv": _csv, ".parquet": _parquet}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        return writers[path.suffix](part, _rows(store, game, parameters))


def _rows(store: Store, game: str | None, parameters: Mapping[str, Any] | None) -> Iterator[list[Any]]:
    """Yield the columns as the store has them; lists are JSON."""
    names = ", ".join(name for name in COLUMNS if name != "record")
    for number, *cells in store.table(f"SELECT {names} FROM played_games", game, parameters, "ORDER BY number"):
        yield [number, *cells, store.text(number)]


def _csv(path: Path, rows: Iterator[list[Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([csv_cell(cell) if isinstance(cell, str) else cell for cell in row])
            count += 1
    return count


def _arrow() -> Any:
    """Return pyarrow; the `ImportError` names the extra."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f'Parquet needs pyarrow ({error}): pip install "cellgames[research]"') from None
    return pyarrow


def _parquet(path: Path, rows: Iterator[list[Any]]) -> int:
    pyarrow = _arrow()
    kinds = {
        "int": pyarrow.int64(),
        "flag": pyarrow.bool_(),
        "text": pyarrow.string(),
        "texts": pyarrow.list_(pyarrow.string()),
        "numbers": pyarrow.list_(pyarrow.float64()),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            columns = {
                name: [convert(cell) for cell in column] if (convert := _LISTS.get(kind)) else column
                for (name, kind), column in zip(COLUMNS.items(), zip(*group, strict=True), strict=True)
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
            count += len(group)
    return count
