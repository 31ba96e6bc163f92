"""Kernels: compiled once, called with a list, and eager where that is faster or all there is."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from life_reference import soup
from paths import ROOT
from torch import Tensor
from torch._inductor.exc import CppCompileError

from cellgames.envs.boards.life import Life
from cellgames.envs.kernels import compiling
from cellgames.envs.kernels.compiling import check_compile, compiler_found, is_compile_error, kernel, planned
from cellgames.envs.native import without_native

Function = Callable[..., None]


def double(source: Tensor, target: Tensor) -> None:
    target.copy_(source * 2)


def times(factor: int) -> Function:
    def multiply(source: Tensor, target: Tensor) -> None:
        target.copy_(source * factor)

    return multiply


def tensors(*shape: int) -> list[Tensor]:
    return [torch.arange(float(torch.Size(shape).numel())).view(shape), torch.zeros(shape)]


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what other tests have compiled or called."""
    monkeypatch.setattr(compiling, "_COMPILED", {})
    monkeypatch.setattr(compiling, "_EAGER_CALLS", Counter())


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[list[Tensor]]:
    """A compiler that changes nothing; the examples of each compilation."""
    seen: list[list[Tensor]] = []

    def compile(function: Function, examples: list[Tensor], options: dict[str, Any]) -> Callable[[list[Tensor]], Any]:
        seen.append(examples)

        def run(arguments: list[Tensor]) -> None:
            function(*arguments)
            arguments.clear()

        return run

    monkeypatch.setattr(compiling, "_compile", compile)
    monkeypatch.setattr(compiling, "compiler_found", lambda device: True)
    monkeypatch.setattr(compiling, "BREAK_EVEN", 100)
    return seen


def doubles(run: Callable[[list[Tensor]], Any], *shape: int) -> bool:
    """Whether a kernel does what it should, and empties the list."""
    source, target = tensors(*shape)
    arguments = [source, target]
    run(arguments)
    return torch.equal(target, source * 2) and torch.equal(source, tensors(*shape)[0]) and not arguments


def test_never_is_the_function_itself() -> None:
    run = kernel(double, tensors(3), compile="never", calls=1 << 40)
    assert not run.compiled
    assert doubles(run, 3)
    assert doubles(run, 2, 2)


def test_what_is_compiled_does_the_same() -> None:
    examples = tensors(5, 3)
    run = kernel(double, examples, compile="always")
    assert run.compiled
    assert doubles(run, 5, 3)
    assert doubles(run, 5, 3)
    assert torch.equal(examples[0], tensors(5, 3)[0])
    assert not examples[1].any()


def test_a_kernel_is_compiled_once_for_code_closure_shapes_and_threads(compilations: list[list[Tensor]]) -> None:
    first = kernel(double, tensors(3), compile="always")
    assert kernel(double, tensors(3), compile="always") is first
    assert kernel(double, tensors(3)) is first  # and "auto" takes what is there
    assert len(compilations) == 1
    assert not kernel(double, tensors(3), compile="never").compiled
    others = [
        kernel(times(2), tensors(3), compile="always"),
        kernel(times(3), tensors(3), compile="always"),
        kernel(double, tensors(4), compile="always"),
        kernel(double, tensors(3, 1), compile="always"),
        kernel(double, [torch.zeros(3, 2)[:, 0], torch.zeros(3)], compile="always"),  # other strides
        kernel(double, [x.double() for x in tensors(3)], compile="always"),
    ]
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        others.append(kernel(double, tensors(3), compile="always"))
    finally:
        torch.set_num_threads(threads)
    assert len({id(run) for run in [first, *others]}) == len(compilations) == 8
    assert kernel(double, tensors(3)) is first
    assert kernel(times(3), tensors(3)) is others[1]


def test_a_plan_is_for_those_who_ask_for_nothing_else(compilations: list[list[Tensor]]) -> None:
    with planned("auto", compiling.ENDLESS):
        assert kernel(double, tensors(3)).compiled
        assert not kernel(times(3), tensors(3), calls=1).compiled
        with planned("never", 1):
            assert not kernel(double, tensors(3)).compiled
            assert kernel(double, tensors(3), compile="always").compiled
        assert kernel(times(4), tensors(3)).compiled
    assert not kernel(times(5), tensors(3)).compiled
    with pytest.raises(RuntimeError, match="lost"), planned("never", 1):
        raise RuntimeError("lost")
    assert kernel(double, tensors(3)).compiled, "the plan has outlived its block"
    with pytest.raises(ValueError, match="compile must be"), planned("soon", 1):  # type: ignore[arg-type]  # on purpose
        pass


def test_auto_compiles_as_soon_as_that_pays(compilations: list[list[Tensor]]) -> None:
    for calls, compiled in ((60, False), (30, False), (0, False), (10, True), (0, True)):
        run = kernel(double, tensors(3), calls=calls)
        assert run.compiled == compiled
        assert doubles(run, 3)
    assert len(compilations) == 1
    assert not kernel(times(3), tensors(3), calls=99).compiled  # counted by itself
    assert kernel(times(4), tensors(3), calls=100).compiled


def test_auto_is_eager_where_no_compiler_is_found(
    compilations: list[list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "compiler_found", lambda device: False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kernel(double, tensors(3), calls=1 << 40).compiled
    assert kernel(double, tensors(3), compile="always").compiled
    assert len(compilations) == 1


FAILURE = CppCompileError(["g++", "kernel.cpp"], "no space left")


def failing(error: Exception) -> Callable[..., Any]:
    def compile(*arguments: object) -> Any:
        raise error

    return compile


@pytest.mark.parametrize("error", [FAILURE, OSError("no space left"), RuntimeError("no space left")], ids=repr)
def test_auto_goes_on_eagerly_when_the_compiler_fails(
    error: Exception, compilations: list[list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(compiling, "_compile", failing(error))
        with pytest.warns(UserWarning, match=r"compiling double failed, it runs eagerly: (.|\n)*no space left"):
            run = kernel(double, tensors(3), calls=1000)
        assert not run.compiled
        assert doubles(run, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it is not tried again
            assert not kernel(double, tensors(3), calls=1 << 40).compiled
        with pytest.raises(type(error)):
            kernel(double, tensors(3), compile="always")
    first = kernel(double, tensors(3), compile="always")  # unless it is asked for
    assert first.compiled
    assert kernel(double, tensors(3)) is first


def test_errors_of_the_function_are_not_the_compilers(compilations: list[list[Tensor]]) -> None:
    def wrong(source: Tensor, target: Tensor) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kernel(wrong, tensors(3), calls=1000)
    assert not compilations
    assert not is_compile_error(ZeroDivisionError())
    assert is_compile_error(FAILURE)
    assert is_compile_error(OSError())


@pytest.mark.slow
@pytest.mark.skipif(not compiler_found("cpu"), reason="no compiler")
def test_games_step_eagerly_where_the_compiler_has_no_room(tmp_path: Path) -> None:
    """A cache below a file cannot be made, as in a folder that is read-only; root may write into those."""
    (tmp_path / "file").touch()
    program = (
        "import torch, cellgames; from cellgames.envs.core.vector import Vector\n"
        "games = [Vector(cellgames.make('torus-v0', size=3), 1024, compile=how) for how in ('auto', 'never')]\n"
        "for game in games: game.step_random(torch.Generator().manual_seed(1))\n"
        "assert games[0].state.equal(games[1].state) and games[0].backend == 'eager'\n"
    )
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "file" / "cache"), "PYTHONPATH": str(ROOT / "src")}
    cache["CELLGAMES_NATIVE"] = "0"  # else nothing is compiled
    words = [sys.executable, "-c", program]
    ended = subprocess.run(words, env={**os.environ, **cache}, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "compiling failed, stepping eagerly" in ended.stderr


@pytest.fixture(autouse=True)
def _look_again() -> Iterator[None]:
    yield
    compiler_found.cache_clear()


def test_other_words_are_refused() -> None:
    for word in ("auto", "always", "never"):
        check_compile(word)
    with pytest.raises(ValueError, match="compile must be 'auto', 'always' or 'never', got True"):
        check_compile(True)  # type: ignore[arg-type]  # the test's point
    with pytest.raises(ValueError, match="got 'sometimes'"):
        kernel(double, tensors(3), compile="sometimes")  # type: ignore[arg-type]  # the test's point


def test_compiled_boards_live_as_eager_ones() -> None:
    """A finite board of two words of different length, in chunks; several generations at a time."""
    with without_native():
        _compare_compiled_boards()


def _compare_compiled_boards() -> None:
    start = soup(7, 64, *(i / 20 for i in range(20)))
    eager = Life(7, 64, 20, wrap=False, compile="never")
    compiled = Life(7, 64, 20, wrap=False, compile="always")
    for boards in (eager, compiled):
        boards.load(start)
    for steps in (1, 2, 3, 20):
        for boards in (eager, compiled):
            boards.advance(steps)
        assert torch.equal(eager.cells(), compiled.cells())
    assert eager.cells().any()
    assert [run is not None and run.compiled for run in compiling._COMPILED.values()] == [True]


# ---------------------------------------------------------------- tables


def test_games_do_not_import_the_compiler() -> None:
    code = "import sys, cellgames; cellgames.make('torus-v0'); assert 'torch._dynamo' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
