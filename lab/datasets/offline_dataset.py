"""Tables of decisions as batches of tensors, for offline learning: `pip install "cellgames[research]"`.

Letters: `L` decisions of a batch, `A` actions (the sum over the action's components), `K` components of an action.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike

from .decision_tables import COLUMNS, META, POLICY, arrow


class OfflineDataset(IterableDataset[dict[str, Tensor]]):
    """Batches of decisions from Parquet files by `export_decisions`, read a few thousand rows at a time.

    A batch is a dict of tensors: `observation` [L, ...], `mask` bool [L, A], `action` int64 [L] or [L, K], and of shape
    [L] `game`, `turn`, `seat`, `forced`, `reward`, `reward_to_go`, `result` and `last`. If all files have search
    policies, there is `policy` float32 [L, A], zeros where a decision has none.

    In a `DataLoader` with `batch_size=None` each worker reads its share of the parts.

    Args:
        paths: files of the same game with the same parameters.
        batch_size: `L`; the last batch of a pass is smaller.
        shuffle: read the parts of the files, and the decisions of each part, in random order.
        seed: seed of that order, which differs from pass to pass.
        columns: names of what to read; None reads everything.

    Attributes:
        info: metadata of the first file: `game`, `parameters`, `observation_shape`, `action_nvec` and more.

    Raises:
        ValueError: a file of another kind, or of other rules than the first.
        ImportError: pyarrow is missing.
    """

    def __init__(
        self,
        paths: PathLike | Sequence[PathLike],
        batch_size: int = 256,
        *,
        shuffle: bool = False,
        seed: int = 0,
        columns: Sequence[str] | None = None,
    ) -> None:
        if batch_size < 1:
            raise InputError("batch_size", "a batch of at least 1 decision", batch_size)
        if unknown := [name for name in columns or () if name not in (*COLUMNS, POLICY)]:
            raise InputError("columns", f"columns among {', '.join((*COLUMNS, POLICY))}", shown(unknown[0]))
        given = [paths] if isinstance(paths, str | Path) or not isinstance(paths, Sequence) else list(paths)
        if not given:
            raise InputError("paths", "at least one file", "none")
        self._paths = given
        files = [_file(path) for path in given]
        self._rows = sum(file.metadata.num_rows for file in files)
        self._parts = [(place, group) for place, file in enumerate(files) for group in range(file.num_row_groups)]
        self._batch, self._shuffle, self._seed, self._passes = batch_size, shuffle, seed, 0
        bare = [path for path, file in zip(given, files, strict=True) if POLICY not in file.schema_arrow.names]
        if bare and POLICY in (columns or ()):
            raise InputError(bare[0], "search policies", "none", "play the games with --policies")
        self._columns = list(columns or (COLUMNS if bare else (*COLUMNS, POLICY)))
        infos = [_info(file, path) for file, path in zip(files, given, strict=True)]
        self.info = infos[0]
        for path, other in zip(given, infos, strict=True):
            if any(other[name] != self.info[name] for name in ("game", "parameters", "observation_shape")):
                raise InputError(path, f"the rules of {given[0]}", "others")

    def __len__(self) -> int:
        """Return the number of batches of a pass."""
        return int(self._rows + self._batch - 1) // self._batch

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        """Yield the batches of one pass over the files."""
        files, parts = [_file(path) for path in self._paths], self._parts
        generator = np.random.default_rng((self._seed, self._passes))
        self._passes += 1
        if self._shuffle:
            parts = [parts[place] for place in generator.permutation(len(parts))]
        if (worker := get_worker_info()) is not None:
            parts = parts[worker.id :: worker.num_workers]
        left: dict[str, Tensor] = {}
        for place, group in parts:
            read = self._tensors(files[place].read_row_group(group, columns=self._columns))
            if self._shuffle:
                order = torch.from_numpy(generator.permutation(len(read[self._columns[0]])))
                read = {name: values[order] for name, values in read.items()}
            left = {name: torch.cat((left[name], values)) if left else values for name, values in read.items()}
            whole = len(left[self._columns[0]]) // self._batch * self._batch
            for first in range(0, whole, self._batch):
                yield {name: values[first : first + self._batch].clone() for name, values in left.items()}
            left = {name: values[whole:] for name, values in left.items()}
        if left and len(left[self._columns[0]]):
            yield left

    def _tensors(self, table: Any) -> dict[str, Tensor]:
        found = {}
        for name in self._columns:
            column = table.column(name).combine_chunks()
            rows = len(column)
            values = column.flatten() if COLUMNS.get(name, "list") == "list" else column
            tensor = torch.from_numpy(values.to_numpy(zero_copy_only=False).copy())
            if name == "observation":
                tensor = tensor.view(rows, *self.info["observation_shape"])
            elif name in ("mask", POLICY):
                tensor = tensor.view(rows, -1)
            elif name == "action":
                tensor = tensor.long().view(rows, -1)
                tensor = tensor.squeeze(1) if tensor.shape[1] == 1 else tensor
            found[name] = tensor
        return found


def _file(path: PathLike) -> Any:
    pyarrow = arrow()
    try:
        return pyarrow.parquet.ParquetFile(path)
    except pyarrow.ArrowInvalid as error:
        raise InputError(path, "a Parquet file", shown(str(error))) from None


def _info(file: Any, path: PathLike) -> dict[str, Any]:
    meta = (file.schema_arrow.metadata or {}).get(META)
    if meta is None or not set(COLUMNS) <= set(file.schema_arrow.names):
        raise InputError(path, "a table of decisions by `cellgames export --format parquet`")
    info: dict[str, Any] = json.loads(meta)
    return info
