"""What holds for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cellgames.envs.kernels import compiling

# Files that take longest come first, so that no process is left with one of them when the others are done; those that
# wait for a cluster stand between those that calculate. A file that is not here, or no longer so long, costs only time.
LONGEST = """
    ray_workers core_vector ray_arena core_contract ray_season search ray_actors seats ray_sweeps training_runs
    rllib distributed_training actors examples toroidal_cup_simulator arena_round_robin rating_coverage web_page
    registry cloth_of_gold_game cloth_of_gold_rules checking docs free_for_all pettingzoo pettingzoo_rendering
    web_export season_cup payoffs maskable_training census torchrl_adapter sb3_adapter life gymnasium_adapters
    season_bots toroidal_cup_published store season web_server web_frames alphazero
"""


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell without job control starts commands in the background (`pytest &`) with Ctrl-C ignored. Tests that
        # press it, here or in processes that they start, would wait forever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config.option, "loadscopereorder"):  # pytest-xdist would begin with the files that have most tests
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {f"test_{name}.py": number for number, name in enumerate(LONGEST.split())}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


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
