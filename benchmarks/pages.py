"""The command line of benchmarks, and results as files: a page to read, and the same numbers as JSON beside it."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cellgames.utils.hardware import cpu_model
from cellgames.utils.report.model import Part, Report, markdown, write_report
from cellgames.utils.version import __version__


def parser_of(module: str, about: str | None, out: Path | None = None, seed: bool = False) -> argparse.ArgumentParser:
    """Return the parser of a benchmark, with --out if there is a file or folder and with --seed if it has one."""
    found = argparse.ArgumentParser(prog=f"python -m {module}", description=(about or "").split("\n")[0])
    if seed:
        found.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    if out is not None:
        kind = "FILE" if out.suffix else "DIR"
        found.add_argument("--out", type=Path, default=out, metavar=kind, help=f"the results (default {out})")
    return found


def check_least(parser: argparse.ArgumentParser, options: argparse.Namespace, **least: int) -> None:
    """End the program with a sentence if an option that was given is a number below its least one."""
    for name, low in least.items():
        number = getattr(options, name)
        if number is not None and number < low:
            parser.error(f"--{name.replace('_', '-')} must be at least {low}, got {number}")


def typed_command(module: str, words: Sequence[str] | None) -> str:
    """Return the command of a benchmark as its page names it; without words, those of this process."""
    return shlex.join(["python", "-m", module, *(sys.argv[1:] if words is None else words)])


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
