"""Reasons why an agent failed: one line for records, and the lines of its program for the log."""

from __future__ import annotations

import os
import re
import traceback
from types import TracebackType

from .time_limit import OutOfTimeError

__all__ = ["MOST_REASON", "MOST_TRACE", "reason_of", "trace_of"]

MOST_REASON = 200
"""Characters of a reason."""
MOST_TRACE = 4000
"""Characters of a traceback."""

_FRAMES = 20  # the innermost of the agent's
_READ = 2000  # characters of an error's own text that are looked at
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def reason_of(fault: str | BaseException) -> str:
    """Return one line of at most `MOST_REASON` printable characters, without addresses, which differ by process."""
    if isinstance(fault, BaseException):
        name = type.__dict__["__name__"].__get__(type(fault))  # what a metaclass says does not count
        try:
            said = str.__getitem__(str(fault), slice(_READ))
        except BaseException:  # a bot may have errors of its own making
            said = ""
        plain = isinstance(fault, OutOfTimeError)  # our own words, not an error of the agent's
        fault = said if plain else f"{name}: {said}" if said else name
    line = " ".join(_without_addresses(fault[:_READ]).split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= MOST_REASON else line[: MOST_REASON - 3] + "..."


def trace_of(error: BaseException) -> str:
    """Return file, line and source of the agent's own calls that led to an error, at most `MOST_TRACE` characters.

    The text is the same in every process that has the same files, so it has no addresses.
    """
    try:
        trace = error.__traceback__
        while trace is not None and _is_ours(trace):
            trace = trace.tb_next
        if trace is None:
            return reason_of(error)
        found = traceback.extract_tb(trace)
        if isinstance(error, OutOfTimeError) and found[-1].filename.startswith(_PACKAGE):
            found.pop()  # what has raised it
        lines = traceback.format_list(found[-_FRAMES:])
        text = _without_addresses("".join(lines)[-MOST_TRACE:])
    except Exception:  # a bot may have files of its own making
        text = ""
    return f"{text}{reason_of(error)}"


def _is_ours(trace: TracebackType) -> bool:
    """Return True for a frame of this package."""
    return trace.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _without_addresses(text: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]+", "0x...", text)
