"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cellgames.envs.core import compiling


@pytest.fixture(scope="session", autouse=True)
def _no_test_adds_to_the_store_of_this_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLGAMES_STORE", str(tmp_path_factory.mktemp("store") / "store.sqlite"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_compiled_unless_a_test_asks() -> Iterator[None]:
    """Tests play few games on many boards: compiling for each of them would take most of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "BREAK_EVEN", 1 << 60)
        yield
