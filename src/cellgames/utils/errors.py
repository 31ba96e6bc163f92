"""Errors that tell in fields what is wrong, and checks that raise them; their messages are made here alone."""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from .foreign_text import listed
from .foreign_text import shown as shown

_MANY = 40  # names that a message lists


class InputError(ValueError):
    """The refusal of a value; its message is "WHERE: PARAMETER: expected EXPECTED, got GOT; CAUSE", less empty fields.

    Attributes:
        parameter: name of the parameter, option, field or file; "" for a value without a name.
        expected: description of the values that can be used, "" if only the cause is known.
        got: the value as text, "" without one. Strings and paths are taken as they are, other values by `shown`.
        cause: likely cause, or what to do instead; "" if the rest says it.
        where: the game's id, or the file that holds the value; "" for neither.
    """

    def __init__(
        self, parameter: object = "", expected: str = "", got: object = "", cause: str = "", where: object = ""
    ) -> None:
        self.parameter, self.expected, self.cause, self.where = str(parameter), expected, cause, str(where)
        self.got = str(got) if isinstance(got, str | PurePath) else shown(got)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parameter, self.expected, self.got, self.cause, self.where)

    @property
    def brief(self) -> str:
        """The message without the game or the file, for callers that name it in their own way."""
        facts = (self.expected and f"expected {self.expected}", self.got and f"got {self.got}")
        told = "; ".join(filter(None, (", ".join(filter(None, facts)), self.cause)))
        return ": ".join(filter(None, (self.parameter, told)))

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.where, self.brief)))


def located(error: Exception, where: object) -> InputError:
    """Return an error like `error` whose message begins with a place, such as the path of a file."""
    if not isinstance(error, InputError):
        return InputError(cause=str(error), where=where)
    found = copy.copy(error)
    found.where = f"{where}: {error.where}" if error.where else str(where)
    return found


def check_at_least(least: float, where: object = "", **values: float) -> None:
    """Raise an `InputError` unless each of `values`, numbers by parameter, is at least `least`."""
    for name, value in values.items():
        if not value >= least:
            raise InputError(name, f"at least {least:g}", value, where=where)


def check_whole(name: str, value: Any, low: int | None = None, high: int | None = None, where: object = "") -> None:
    """Raise an `InputError` of `name` unless `value` is a whole number (no bool) within limits; None for no limit."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if not (whole and least <= value <= most):
        limits = "" if low is None else f" of at least {low}" if high is None else f" from {low} to {high}"
        raise InputError(name, f"a whole number{limits}", shown(value), where=where)


def check_share(**values: float) -> None:
    """Raise an `InputError` unless each of `values`, numbers by parameter, is from 0 to 1."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise InputError(name, "a share from 0 to 1", value)


def check_level(level: float) -> None:
    """Raise an `InputError` unless `level`, the probability of an interval, lies between 0 and 1."""
    if not 0 < level < 1:
        raise InputError("level", "a number between 0 and 1", level, "write 0.95 for 95 %")


def check_one_of(parameter: str, value: Any, known: Iterable[Any], where: object = "", more: str = "") -> None:
    """Raise an `InputError` unless `value` is in `known`; it names these, of many the nearest, and what else may be."""
    names = list(known)
    if value not in names:
        said = value[:80] if isinstance(value, str) else shown(value)
        near = difflib.get_close_matches(said, [name for name in names if isinstance(name, str)], 1, 0.4)
        cause = f"did you mean {near[0]!r}?" if near else ""
        if len(names) > _MANY:
            names = difflib.get_close_matches(said, map(str, names), _MANY // 2, 0.0)
            more = f" or others{more}"
        raise InputError(parameter, f"one of {listed(names, 60)}{more}", shown(value), cause, where)
