"""Training without pictures and logs, which saves time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import pytest
from training_runs import block_extras


@pytest.fixture(autouse=True, scope="module")
def no_extras() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        block_extras(partial(patch.setitem, sys.modules))
        yield
