"""Checks of what errors say in their fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from cellgames import InputError

E = TypeVar("E", bound=BaseException)


@contextmanager
def fails(kind: type[E], **fields: object) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expect an error of a class with these values of fields."""
    with pytest.raises(kind) as caught:
        yield caught
    assert {name: getattr(caught.value, name) for name in fields} == fields


@contextmanager
def refused(parameter: str, got: str | None = None, **fields: str) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an `InputError` of a parameter, of the value that it got unless that is None, and of other fields."""
    with fails(InputError, parameter=parameter, **fields if got is None else {"got": got, **fields}) as caught:
        yield caught
