"""Runs of the arena for tests: options, files, and what saves time."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cellgames.utils.options import Options


def split_options(kind: type[Options], given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the options among keywords, and the other keywords."""
    names = {option.name for option in kind.options()}
    others = {name: value for name, value in given.items() if name not in names}
    return kind(**{name: given[name] for name in given if name in names}), others


def unsigned(path: Path) -> bytes:
    """Take the checksums off the lines of a file of games, as the first versions wrote it; return the file."""
    path.write_bytes(games := re.sub(rb',"checksum":"[0-9a-f]{16}"}', b"}", path.read_bytes()))
    return games


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def block_plots(patch: pytest.MonkeyPatch) -> None:
    """As if matplotlib were not installed; saves time."""
    patch.setitem(sys.modules, "matplotlib", None)
    patch.setitem(sys.modules, "matplotlib.figure", None)
