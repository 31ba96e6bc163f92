"""The search space of a sweep: which settings vary, what values they may have, and the points drawn from it.

    learning_rate=1e-4..1e-2      a range
    ent_coef=0,0.01,0.1           a list; | separates texts

Draws are points of a scrambled Sobol sequence (Sobol 1967; Owen 1995), which fills the space more evenly than
independent draws (Bousquet et al., "Critical hyper-parameters: no random, no cry", 2017). A longer draw starts with the
points of a shorter one. Importing this module imports neither torch nor Optuna.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, TypeAlias

from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.utils.foreign_text import shown
from cellgames.utils.options import Option

__all__ = [
    "MAX_TRIALS",
    "Distribution",
    "Space",
    "draw_settings",
    "format_settings",
    "format_value",
    "format_values",
    "grid_settings",
    "load_optuna",
    "parse_space",
]

MAX_TRIALS = 10_000
"""Maximum number of trials of a sweep."""

_LOG_RATIO = 10  # a range whose ends are this many times apart is drawn on a logarithmic scale
_DIGITS = 3  # of drawn numbers, so that tables are easy to read
_FIXED = {
    "seed": "use --seeds for several",
    GROWS: "all trials get the same",
    **dict.fromkeys(("eval_games", "eval_every", "eval_opponents"), "all trials are measured alike"),
    **dict.fromkeys(("actors", "lag"), "trials run at the same time already, and each plays its own games"),
    **dict.fromkeys(FREE, "it does not change what is learned"),
}


Distribution: TypeAlias = Any
"""A distribution of Optuna: `FloatDistribution`, `IntDistribution` or `CategoricalDistribution`."""

Space: TypeAlias = Mapping[str, Distribution]
"""Distributions by the names of the settings, in the order in which they were given."""


def load_optuna() -> Any:
    """Import Optuna (Akiba et al., "Optuna: a next-generation hyperparameter optimization framework", KDD 2019).

    Raises:
        ImportError: it is not installed; the message names the extra.
    """
    try:
        optuna = importlib.import_module("optuna")
    except ImportError as error:
        raise ImportError(f'sweeps need Optuna: pip install "cellgames[sweep]" ({error})') from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def format_value(value: Any) -> str:
    """Return the text of a setting's value as the command line takes it, in full precision."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def format_values(values: Distribution) -> str:
    """Return the text of a setting's values, such as `1..4` or `8 | 16`."""
    if hasattr(values, "choices"):
        return " | ".join(map(format_value, values.choices))
    return f"{format_value(values.low)}..{format_value(values.high)}"


def format_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as text, such as `num_epochs=2, sample=yes`."""
    return ", ".join(f"{name}={format_value(value)}" for name, value in settings.items())


def parse_space(texts: Sequence[str], kind: type[Arguments]) -> Space:
    """Parse texts such as `learning_rate=1e-4..1e-2` into the values of an algorithm's settings.

    Raises:
        ValueError: a text is malformed, names no setting that may vary, or has values that the setting may not have.
    """
    known = {option.name: option for option in kind.options()}
    space: dict[str, Distribution] = {}
    for text in texts:
        name, _, values = text.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not values.strip():
            raise ValueError(f"expected NAME=LOW..HIGH or NAME=VALUE,VALUE,... to vary, got {shown(text)}")
        if name not in known:
            may_vary = ", ".join(name for name in known if name not in _FIXED)
            raise ValueError(f"unknown setting {shown(name)}; {kind.algorithm} has {may_vary}")
        if name in _FIXED:
            raise ValueError(f"{name} cannot be varied: {_FIXED[name]}")
        if name in space:
            raise ValueError(f"{name} is varied twice")
        space[name] = _parse_values(known[name], values)
    if not space:
        raise ValueError("nothing to vary: expected at least one setting, such as learning_rate=1e-4..1e-2")
    return space


def _parse_values(option: Option, text: str) -> Distribution:
    kinds = load_optuna().distributions
    if ".." in text and option.kind in (int, float):
        low, *rest = (_parse_value(option, end.strip()) for end in text.split(".."))
        if len(rest) != 1 or low >= rest[0]:
            raise ValueError(f"{option.name}: expected a range LOW..HIGH with LOW below HIGH, got {shown(text)}")
        kind = kinds.IntDistribution if option.kind is int else kinds.FloatDistribution
        distribution: Distribution = kind(low, rest[0], log=low > 0 and rest[0] / low >= _LOG_RATIO)
        return distribution
    separator = "|" if "|" in text or option.kind is str else ","
    values = [_parse_value(option, word.strip()) for word in text.split(separator)]
    if len(set(values)) < len(values):
        raise ValueError(f"{option.name} has a value twice: {text}")
    if len(values) == 1:
        raise ValueError(
            f"{option.name}={text} is one value: to vary it, give two or more with {separator} between them; to fix "
            f"it, use --{option.name.replace('_', '-')}"
        )
    choices: Distribution = kinds.CategoricalDistribution(values)
    return choices


def _parse_value(option: Option, text: str) -> Any:
    """Return the value of a text; raise a `ValueError` unless the setting may have it."""
    value: Any = text
    with suppress(ValueError, KeyError, OverflowError):  # the check says what was expected
        if option.kind is int:
            value = int(number) if (number := float(text)).is_integer() else number  # 1e4 is an integer
        elif option.kind is float:
            value = float(text)
        elif option.kind is bool:
            value = {"yes": True, "true": True, "no": False, "false": False}[text.lower()]
    option.check(value)
    return value


def draw_settings(space: Space, count: int, seed: int) -> list[dict[str, Any]]:
    """Draw different settings from a Sobol sequence scrambled by the seed.

    Returns:
        `count` settings, or fewer if the space has no more.
    """
    from torch.quasirandom import SobolEngine

    engine, drawn = SobolEngine(len(space), scramble=True, seed=seed % 2**63), list[dict[str, Any]]()
    count = int(min(count, math.prod(map(_size, space.values()))))
    for _ in range(max(64 * count, 1024)):  # a small space repeats its settings
        if len(drawn) == count:
            break
        point = engine.draw()[0].tolist()
        settings = {name: _value(values, share) for (name, values), share in zip(space.items(), point, strict=True)}
        if settings not in drawn:
            drawn.append(settings)
    return drawn


def _size(values: Distribution) -> float:
    if hasattr(values, "choices"):
        return len(values.choices)
    return values.high - values.low + 1 if _is_integer(values) else math.inf


def _is_integer(values: Distribution) -> bool:
    return isinstance(values, load_optuna().distributions.IntDistribution)


def _value(values: Distribution, share: float) -> Any:
    """Return the value at a share of the distribution from 0 to 1; numbers are rounded to few digits."""
    if hasattr(values, "choices"):
        return values.choices[min(int(share * len(values.choices)), len(values.choices) - 1)]
    low, high, integer = values.low, values.high, _is_integer(values)
    if integer and not values.log:
        low, high = low - 0.5, high + 0.5
    x = low * (high / low) ** share if values.log else low + (high - low) * share
    if integer:
        x = round(x)
    elif values.log:
        x = float(f"{x:.{_DIGITS}g}")
    else:  # digits of the numbers themselves would make 0.999..0.9999 two values
        x = round(x, _DIGITS - math.ceil(math.log10(high - low)))
    return min(max(x, values.low), values.high)


def grid_settings(space: Space) -> list[dict[str, Any]]:
    """Return all combinations of lists; the last setting varies fastest.

    Raises:
        ValueError: the space has a range, or more than `MAX_TRIALS` combinations.
    """
    for name, values in space.items():
        if not hasattr(values, "choices"):
            text = f"{name}={format_values(values)}"
            raise ValueError(f"a grid needs lists of values: {text} is a range; give {name}=VALUE,VALUE,...")
    if (size := int(math.prod(map(_size, space.values())))) > MAX_TRIALS:
        raise ValueError(
            f"the grid has {size} settings, more than {MAX_TRIALS}; vary less, or draw some without --grid"
        )
    return [dict(zip(space, point, strict=True)) for point in product(*(values.choices for values in space.values()))]
