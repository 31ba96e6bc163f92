"""Results as files: a page to read, and the same numbers as JSON beside it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.files import markdown, write_report
from cellgames.utils.report.model import Part, Report
from cellgames.utils.version import __version__


def head(command: str) -> dict[str, Any]:
    """Return the first numbers of every benchmark: the command as it was typed, and the version of this package."""
    return {"command": command, "version": __version__}


def machine_head(command: str, *packages: str) -> dict[str, Any]:
    """Return `head`, and what times depend on: when, the machine, how busy it was, and versions of packages."""
    busy = f"{os.getloadavg()[0]:.1f} on average in the last minute" if hasattr(os, "getloadavg") else "not known"
    return {
        **head(command),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": cpu_model(),
        "cores": str(os.cpu_count()),
        "processes that wanted a core": busy,
        "Python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def listed(numbers: Mapping[str, Any]) -> str:
    """Return numbers with their names as a list, which stands first on a page."""
    return "\n".join(f"- {name}: {value}" for name, value in numbers.items())


def write_page(path: Path, title: str, parts: Sequence[Part], numbers: Mapping[str, Any] | None = None) -> str:
    """Write a page and, beside it with the suffix .json, its numbers; return the text of the page.

    Args:
        path: The page; plots and tables with names lie beside it.
        title: Its heading.
        parts: What stands below the heading.
        numbers: Content of the JSON file; None for no such file.
    """
    report = Report(title, parts, numbers, page_file=path.name, data_file=path.with_suffix(".json").name)
    write_report(path.parent, report)
    return markdown(report).rstrip("\n")
