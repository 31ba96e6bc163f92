"""The command line of a benchmark: checks of its options, and the command as its page names it."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence


def check_least(parser: argparse.ArgumentParser, options: argparse.Namespace, **least: int) -> None:
    """End the program with a sentence if an option that was given is a number below its least one."""
    for name, low in least.items():
        number = getattr(options, name)
        if number is not None and number < low:
            parser.error(f"--{name.replace('_', '-')} must be at least {low}, got {number}")


def typed_command(module: str, words: Sequence[str] | None) -> str:
    """Return the command of a benchmark as its page names it.

    Args:
        module: What stands behind `python -m`.
        words: The arguments; None for those of this process.
    """
    return shlex.join(["python", "-m", module, *(sys.argv[1:] if words is None else words)])
