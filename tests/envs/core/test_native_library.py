"""The native library: when it is used, and what happens where it is missing, switched off or broken."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch
from native_code import native_library
from refusals import refused

from cellgames.envs.native import library, pointer, status
from cellgames.envs.native import native_library as loading
from cellgames.envs.torus import filling

CPU = torch.device("cpu")


@pytest.fixture
def anew() -> Iterator[None]:
    """Load the library anew in the test, and afterwards."""
    loading._loaded.cache_clear()
    yield
    loading._loaded.cache_clear()


def winner() -> int:
    empty = torch.zeros((1, 18), dtype=torch.int32)
    return int(filling.winners(empty, torch.zeros(1, dtype=torch.int64), torch.arange(18, dtype=torch.int32)[None]))


def test_it_is_used_on_the_cpu_only() -> None:
    native_library()
    assert not status().problem
    assert Path(status().path).is_file()
    assert str(status()).startswith("native kernels: used, from ")
    assert library(torch.device("meta")) is None


def test_a_variable_switches_it_off(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLGAMES_NATIVE", "0")
    assert str(status()) == "native kernels: off, since CELLGAMES_NATIVE is 0"
    assert library(CPU) is None


def test_without_it_torch_code_runs(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = winner()
    loading._loaded.cache_clear()
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert library(CPU) is None
    assert "no C++ compiler was found" in str(status())
    assert winner() == expected


def test_a_broken_one_is_told_of_once(anew: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "_library.so"
    broken.write_bytes(b"no library")
    monkeypatch.setattr(loading, "find_spec", lambda name: ModuleSpec(name, None, origin=str(broken)))
    with pytest.warns(UserWarning, match="cannot be loaded .* slower torch code runs"):
        assert library(CPU) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert winner() in (1, 2)
    assert status().path == str(broken)


def test_one_of_other_sources_is_not_used(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    native_library()
    loading._loaded.cache_clear()
    monkeypatch.setattr(loading, "INTERFACE", loading.INTERFACE + 1)
    with pytest.warns(UserWarning, match="built from other sources"):
        assert library(CPU) is None


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(4), torch.zeros((4, 4), dtype=torch.int32).t()[1:], torch.zeros(4, dtype=torch.int32, device="meta")],
    ids=["dtype", "strides", "device"],
)
def test_addresses_are_of_plain_tensors_only(tensor: torch.Tensor) -> None:
    with refused("tensor"):
        pointer(tensor, torch.int32)


def test_a_call_says_which_argument_is_wrong() -> None:
    native, words = library(CPU), torch.zeros(4, dtype=torch.int64)
    assert native is not None
    with pytest.raises(ctypes.ArgumentError, match=r"^argument 4: InputError: tensor: "):
        native.cellgames_spread_bits(words[:1], 2, 1, words[::2])
