"""Options as dataclasses: one field an option, with its default, its limits and its help line.

    @dataclass(frozen=True, kw_only=True)
    class MatchOptions(Options):
        games: int = option(100, "games of each pair", low=2)
        anchor: str | None = option(None, "agent that is rated 0")

Command lines, checks and the tables of the documentation are made from the fields.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

from .errors import InputError, shown

Strings: TypeAlias = tuple[str, ...]
"""The type of an option that takes several texts."""

Integers: TypeAlias = tuple[int, ...]
"""The type of an option that takes several whole numbers."""


@dataclass(frozen=True)
class Option:
    """The description of an option.

    Attributes:
        name: name of the field; `--name` on the command line, with dashes.
        kind: int, float, str, bool, `Strings`, `Integers` or a Literal; without None.
        default: the value where none is given.
        help: one line.
        optional: True if None is allowed.
        low: the least value allowed, or None.
        high: the greatest, or None.
        above: the value itself is not allowed, greater ones are; or None.
        metavar: placeholder of the value in help texts, "" for one that suits the kind.
    """

    name: str
    kind: Any
    default: Any
    help: str
    optional: bool = False
    low: float | None = None
    high: float | None = None
    above: float | None = None
    metavar: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the values of a Literal; empty for other kinds."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def default_text(self) -> str:
        """Return the default for people, "" where help has to say what happens."""
        if self.default in (None, "", ()):
            return ""
        if isinstance(self.default, tuple):
            return " ".join(map(str, self.default))
        if self.kind is bool:
            return "yes" if self.default else "no"
        return f"{self.default:g}" if self.kind is float else str(self.default)

    def check(self, value: Any) -> None:
        """Raise an `InputError` unless the value is of the kind and within the limits."""
        if value is None and self.optional:
            return
        if self.choices:
            good, wanted = value in self.choices, f"one of {', '.join(self.choices)}"
        elif self.kind in (int, float):
            kinds = (int,) if self.kind is int else (int, float)
            number = isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < math.inf
            good = number and self._within(value)
            wanted = f"a {'whole ' * (self.kind is int)}number{self._limits()}"
        elif self.kind == Strings:
            good = isinstance(value, tuple) and all(isinstance(word, str) and word for word in value)
            wanted = "a tuple of strings"
        elif self.kind == Integers:
            good = isinstance(value, tuple) and all(type(number) is int and self._within(number) for number in value)
            wanted = f"a tuple of whole numbers{self._limits()}"
        else:
            good, wanted = isinstance(value, self.kind), {str: "a string", bool: "true or false"}[self.kind]
        if not good:
            raise InputError(self.name, wanted, shown(value))

    def _within(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
        )

    def _limits(self) -> str:
        if self.low is not None:
            return f" of at least {self.low:g}" if self.high is None else f" from {self.low:g} to {self.high:g}"
        least = f" above {self.above:g}" if self.above is not None else ""
        return least + (f" and at most {self.high:g}" if self.high is not None else "")


def option(default: Any, help: str, **more: Any) -> Any:
    """Return a dataclass field with a default, a help line, and other fields of `Option` such as `low`."""
    return dataclasses.field(default=default, metadata={"help": help, **more})


def redefault(kind: type[Options], name: str, default: Any) -> Any:
    """Return a field for a subclass of `kind` that has another default than the option of that name; all else stays."""
    metadata = {item.name: item.metadata for item in dataclasses.fields(kind)}[name]
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Base of all dataclasses of options; checks every value by its field.

    Raises:
        InputError: a value of another type or out of range; `parameter` is the option.
    """

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Return a new object; a `TypeError` of an unknown option names the nearest one and all others."""
        known = [field.name for field in dataclasses.fields(cls)]
        if unknown := [name for name in given if name not in known]:
            close = difflib.get_close_matches(unknown[0], known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{cls.__name__}: unknown option {unknown[0]!r}; known: {', '.join(known)}{hint}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for known in self.options():
            known.check(getattr(self, known.name))

    @classmethod
    @cache  # resolving the hints takes a millisecond, and the command line asks hundreds of times
    def options(cls) -> tuple[Option, ...]:
        """Return the descriptions of the fields made by `option`, in their order."""
        hints = get_type_hints(cls)
        return tuple(_described(item, hints[item.name]) for item in dataclasses.fields(cls) if item.metadata)

    @classmethod
    def from_given(cls, given: Mapping[str, Any]) -> Self:
        """Return the options with the values of a mapping, such as parsed arguments; ignore None and other names."""
        values = {known.name: given.get(known.name) for known in cls.options()}
        lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return cls(**{name: value for name, value in lists.items() if value is not None})


def _described(item: dataclasses.Field[Any], hint: Any) -> Option:
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    return Option(item.name, kind, item.default, optional=len(kinds) > 1, **item.metadata)
