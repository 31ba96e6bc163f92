"""Files with the state of a learner, as torch saves it: written whole, and read only if no bit has changed since."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from cellgames.utils.files import replacing
from cellgames.utils.foreign_text import shown

__all__ = ["read_state", "write_state"]


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Write a state; it replaces the last one when it is whole."""
    with replacing(path) as part, part.open("wb") as file:
        torch.save(state, file)


def read_state(path: Path, device: torch.device) -> Any:
    """Return the state in a file with its tensors on the device.

    torch writes an archive with checksums, but does not look at them when it reads.

    Raises:
        Exception: the file is not such an archive, or has changed; torch raises many kinds.
    """
    with path.open("rb") as file:
        with zipfile.ZipFile(file) as archive:
            if (name := archive.testzip()) is not None:
                raise ValueError(f"{shown(name)} has changed since it was written")
        file.seek(0)
        return torch.load(file, map_location=device, weights_only=True)
