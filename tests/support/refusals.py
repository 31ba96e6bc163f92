"""A check of what an `InputError` says in its fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cellgames import InputError


@contextmanager
def refused(parameter: str, got: str | None = None) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """Expect an `InputError` of a parameter, and of the value that it got unless that is None."""
    with pytest.raises(InputError) as caught:
        yield caught
    assert (caught.value.parameter, caught.value.got) == (parameter, caught.value.got if got is None else got)
