"""Training without pictures and logs, which saves time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from arena_runs import EXTRAS, block


@pytest.fixture(autouse=True, scope="module")
def no_extras() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        block(patch, *EXTRAS)
        yield
