"""Results as files: a page to read, and the same numbers as JSON beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cellgames
from cellgames.utils.run_folders import write_atomic

__all__ = ["head", "write_page"]


def head(command: str) -> dict[str, Any]:
    """What the numbers of a benchmark begin with: what was typed, and the version of this package."""
    return {"command": command, "version": cellgames.__version__}


def write_page(path: Path, page: Sequence[str], numbers: Mapping[str, Any]) -> str:
    """Write the paragraphs of a page, and its numbers with the suffix .json; the page's text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path.with_suffix(".json"), json.dumps(numbers, indent=1) + "\n")
    text = "\n\n".join(page)
    write_atomic(path, text + "\n")
    return text
