"""What a sweep varies: settings, the values they may have, and the trials drawn from these. Importing needs no torch.

    learning_rate=1e-4..1e-2      a range
    ent_coef=0,0.01,0.1           a choice; of settings that are text, values are parted by |

Trials are points of a scrambled Sobol sequence (Sobol 1967; Owen 1995), which fills the space more evenly than
independent draws (Bousquet and others, "Critical hyper-parameters: no random, no cry", 2017); the first ones stay the
same when there are more.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, TypeAlias

from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.utils.options import Option, Strings

__all__ = [
    "MOST",
    "Choices",
    "Range",
    "Space",
    "draw_settings",
    "grid_settings",
    "parse_space",
    "shown",
    "with_settings",
]

MOST = 10_000
"""Trials of a sweep, at most."""

_LOG_FROM = 10  # ends that are this many times apart are drawn by their logarithms
_DIGITS = 3  # of numbers that are drawn, so that tables are easy to read
_FIXED = {
    "seed": "use --seeds for several",
    GROWS: "all trials get the same",
    "eval_games": "trials are compared, so all are measured alike",
    "eval_every": "trials are compared, so all are measured alike",
    "eval_opponents": "trials are compared, so all are measured alike",
    **dict.fromkeys(("actors", "lag"), "trials play their own games, as they run side by side already"),
    **dict.fromkeys(FREE, "it is no setting of what is learned"),
}


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`, both included.

    log:   drawn by their logarithms.
    whole: integers only.
    """

    low: float
    high: float
    log: bool
    whole: bool

    def at(self, share: float) -> float:
        """The number at a share of the range, from 0 to 1: whole, or of as many digits as three of the width need."""
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole and not self.log else (self.low, self.high)
        x = low * (high / low) ** share if self.log else low + (high - low) * share
        if self.whole:
            x = round(x)
        elif self.log:
            x = float(f"{x:.{_DIGITS}g}")
        else:  # digits of the numbers themselves would make 0.999..0.9999 two values
            x = round(x, _DIGITS - math.ceil(math.log10(high - low)))
        return min(max(x, self.low), self.high)

    def __str__(self) -> str:
        return f"{shown(self.low)}..{shown(self.high)}"


@dataclass(frozen=True)
class Choices:
    """Values of equal probability."""

    values: tuple[Any, ...]

    def at(self, share: float) -> Any:
        """The value at a share of the list, from 0 to 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]

    def __str__(self) -> str:
        return " | ".join(map(shown, self.values))


Space: TypeAlias = Mapping[str, Range | Choices]
"""By the names of the settings, in the order they were given."""


def shown(value: Any) -> str:
    """A value of a setting as the command line takes it, in full."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return " ".join(value) if isinstance(value, tuple) else str(value)


# ---------------------------------------------------------------- out of text


def parse_space(texts: Sequence[str], kind: type[Arguments]) -> Space:
    """The values of settings, out of texts such as `learning_rate=1e-4..1e-2`.

    Raises:
        ValueError: what is no setting of the algorithm, or has values that it may not have, or may not vary.
    """
    known = {option.name: option for option in kind.options()}
    may_vary = [name for name in known if name not in _FIXED]
    found: dict[str, Range | Choices] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not (equals and values.strip()):
            raise ValueError(f"expected NAME=LOW..HIGH or NAME=VALUE,VALUE,... to vary, got {text!r}")
        if name not in known:
            raise ValueError(f"unknown setting {name!r}; {kind.algorithm} has {', '.join(may_vary)}")
        if name in _FIXED:
            raise ValueError(f"{name} cannot be varied: {_FIXED[name]}")
        if name in found:
            raise ValueError(f"{name} is varied twice")
        found[name] = _parse(known[name], values)
    if not found:
        raise ValueError("nothing to vary: expected at least one setting, such as learning_rate=1e-4..1e-2")
    return found


def _parse(option: Option, text: str) -> Range | Choices:
    if ".." in text and option.kind in (int, float):
        return _range(option, text)
    words = text.split("|" if "|" in text or option.kind in (str, Strings) else ",")
    values = tuple(_value(option, word.strip()) for word in words)
    if len(set(values)) < len(values):
        raise ValueError(f"{option.name} has a value twice: {text}")
    if len(values) == 1:
        parted = "|" if option.kind in (str, Strings) else "a comma"
        raise ValueError(
            f"{option.name}={text} is one value: two or more, with {parted} between them, vary it; a single one is "
            f"given as --{option.name.replace('_', '-')}"
        )
    return Choices(values)


def _range(option: Option, text: str) -> Range:
    ends = text.split("..")
    if len(ends) != 2:
        raise ValueError(f"{option.name}: expected LOW..HIGH, got {text!r}")
    low, high = (_value(option, end.strip()) for end in ends)
    if low >= high:
        raise ValueError(f"{option.name}: expected a range LOW..HIGH with LOW below HIGH, got {text}")
    return Range(low, high, log=low > 0 and high / low >= _LOG_FROM, whole=option.kind is int)


def _value(option: Option, text: str) -> Any:
    """Of the setting's kind and within its limits."""
    value: Any = text
    try:
        if option.kind is int:
            number = float(text)  # so that 1e4 is whole
            value = int(number) if number.is_integer() else number
        elif option.kind is float:
            value = float(text)
        elif option.kind is bool:
            value = {"yes": True, "true": True, "no": False, "false": False}[text.lower()]
        elif option.kind == Strings:
            value = tuple(text.split())
    except (ValueError, KeyError, OverflowError):
        pass  # the check says what was expected
    option.check(value)
    return value


# ---------------------------------------------------------------- trials


def draw_settings(space: Space, count: int, seed: int) -> list[dict[str, Any]]:
    """Different settings, out of a Sobol sequence scrambled by the seed; fewer where there are no more to find.

    Args:
        space: what varies.
        count: how many.
        seed: from 0 on.
    """
    from torch.quasirandom import SobolEngine

    if count < 1:
        raise ValueError(f"expected at least one trial, got {count}")
    if count > MOST:
        raise ValueError(f"expected at most {MOST} settings, got {count}")
    engine = SobolEngine(len(space), scramble=True, seed=seed % 2**63)
    found: list[dict[str, Any]] = []
    most = int(min(_size(space), count))
    for _ in range(max(64 * most, 1024)):  # a space of few settings repeats them
        if len(found) == most:
            break
        shares = engine.draw()[0].tolist()
        settings = {name: values.at(share) for (name, values), share in zip(space.items(), shares, strict=True)}
        if settings not in found:
            found.append(settings)
    return found


def _size(space: Space) -> float:
    """How many different settings there are, at most."""
    return math.prod(
        len(values.values) if isinstance(values, Choices) else (values.high - values.low + 1 if values.whole else 1e9)
        for values in space.values()
    )


def grid_settings(space: Space, most: int = MOST) -> list[dict[str, Any]]:
    """All combinations of choices; the last setting varies fastest.

    Raises:
        ValueError: a range, which has no end of values; or more than `most`.
    """
    for name, values in space.items():
        if isinstance(values, Range):
            raise ValueError(f"a grid needs lists of values: {name}={values} is a range; give {name}=VALUE,VALUE,...")
    lists = [values.values for values in space.values() if isinstance(values, Choices)]
    if (size := math.prod(map(len, lists))) > most:
        raise ValueError(f"the grid has {size} settings, more than {most}; vary less, or draw some of them without it")
    return [dict(zip(space, point, strict=True)) for point in islice(product(*lists), most)]


def with_settings(base: Arguments, settings: Mapping[str, Any], seed: int) -> Arguments:
    """The arguments of a trial.

    Raises:
        ValueError: settings that make no sense together.
    """
    try:
        return dataclasses.replace(base, **settings, seed=seed)
    except ValueError as error:
        text = ", ".join(f"{name}={shown(value)}" for name, value in settings.items())
        raise ValueError(f"a trial with {text}: {error}") from None
