"""Parameters of tests that only `make slow` runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_except(quick: Collection[Any], values: Iterable[Any], ids: Iterable[str] | None = None) -> list[Any]:
    """Return the parameters of a test, all marked `slow` but `quick`: some of `ids`, or of `values` without these.

    Raises:
        ValueError: one of `quick` is no parameter, so that `make test` would not run it.
    """
    values = list(values)
    names = values if ids is None else list(ids)
    if missing := [name for name in quick if name not in names]:
        raise ValueError(f"expected some of {names}, got {missing}")
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            id=None if ids is None else name,
            marks=[] if name in quick else pytest.mark.slow,
        )
        for value, name in zip(values, names, strict=True)
    ]
