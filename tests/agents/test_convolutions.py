"""Convolutions of networks: native code and torch code, and the ways back of both, against plain convolutions."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from native_code import native_library, threads
from torch import Tensor
from torch.nn import functional

from cellgames.agents.networks import blocks as convolutions
from cellgames.agents.networks.blocks import Trunk
from cellgames.agents.networks.networks import Size
from cellgames.envs.native import without_native


class Case(NamedTuple):
    """The shape of a trunk and its input."""

    rows: int
    height: int
    width: int
    planes: int
    channels: int
    layers: int
    wrap: bool
    adds: bool = False


CASES = (
    Case(1, 8, 8, 4, 32, 4, True),
    Case(7, 8, 8, 4, 32, 4, True),
    Case(65, 5, 5, 4, 32, 2, True, True),
    Case(3, 24, 48, 9, 20, 3, True, True),
    Case(5, 32, 31, 11, 24, 2, False, True),
    Case(4, 7, 10, 37, 70, 1, False),
    Case(9, 1, 1, 3, 16, 2, True),
    Case(2, 1, 7, 40, 33, 2, False, True),
    Case(2, 2, 1, 1, 1, 1, True),
    Case(0, 4, 4, 4, 32, 2, True),
)


class Arguments(NamedTuple):
    """The arguments of `convolve`."""

    planes: Tensor
    added: Tensor | None
    weights: list[Tensor]
    biases: list[Tensor]
    wrap: bool

    def tensors(self) -> list[Tensor]:
        """Return all tensors that have gradients."""
        return [self.planes, *self.weights, *self.biases, *([] if self.added is None else [self.added])]


def arguments(case: Case) -> Arguments:
    chance = torch.Generator().manual_seed(hash(case) % 2**32)

    def drawn(*shape: int, scale: float = 1.0) -> Tensor:
        return (scale * torch.randn(shape, generator=chance)).requires_grad_()

    widths = [case.planes] + [case.channels] * case.layers
    weights = [drawn(case.channels, width, 3, 3, scale=(9 * width) ** -0.5) for width in widths]
    return Arguments(
        drawn(case.rows, case.planes, case.height, case.width),
        drawn(case.rows, case.channels) if case.adds else None,
        weights,
        [drawn(case.channels, scale=0.1) for _ in widths],
        case.wrap,
    )


def plain(given: Arguments) -> Tensor:
    """The same as a network would be written without any of this."""

    def edged(planes: Tensor) -> Tensor:
        return functional.pad(planes, (1, 1, 1, 1), mode="circular" if given.wrap else "constant")

    seen = functional.conv2d(edged(given.planes), given.weights[0], given.biases[0])
    seen = functional.relu(seen if given.added is None else seen + given.added[:, :, None, None])
    for weight, bias in zip(given.weights[1:], given.biases[1:], strict=True):
        seen = seen + functional.relu(functional.conv2d(edged(seen), weight, bias))
    return seen


def close(one: Tensor, other: Tensor) -> None:
    assert one.shape == other.shape
    scale = float(other.detach().abs().max()) if other.numel() else 1.0
    assert torch.allclose(one, other, rtol=0, atol=1e-5 * max(scale, 1e-6))


def ways_back(result: Tensor) -> set[str]:
    """The names of all steps from a result back to its arguments."""
    found, left = set[str](), [result.grad_fn]
    while left:
        if (step := left.pop()) is not None:
            found.add(step.name())
            left += [before for before, _ in step.next_functions]
    return found


@pytest.mark.parametrize("native", [True, False], ids=["native", "torch"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results_and_gradients_are_those_of_plain_convolutions(case: Case, native: bool) -> None:
    if native:
        native_library()
    given = arguments(case)
    expected = plain(given)
    gradient = torch.randn(expected.shape, generator=torch.Generator().manual_seed(0))
    wanted = torch.autograd.grad(expected, given.tensors(), gradient)
    with threads(1) if native else without_native():
        result = convolutions.convolve(*given)
        assert ("_TrunkBackward" in ways_back(result)) == native
        found = torch.autograd.grad(result, given.tensors(), gradient)
        with torch.no_grad():
            inferred = convolutions.convolve(*given)
    close(result, expected)
    close(inferred, expected)
    for one, other in zip(found, wanted, strict=True):
        close(one, other)


@pytest.mark.parametrize("count", [2, 4])
def test_bits_depend_neither_on_threads_nor_on_the_batch(count: int) -> None:
    native_library()
    given = arguments(Case(200, 5, 6, 4, 32, 3, True))
    with threads(1):
        alone = convolutions.convolve(*given)
        gradients = torch.autograd.grad(alone.square().sum(), given.tensors())
    with threads(count):
        together = convolutions.convolve(*given)
        assert torch.equal(together, alone)
        for one, other in zip(torch.autograd.grad(together.square().sum(), given.tensors()), gradients, strict=True):
            assert torch.equal(one, other)
    part = given._replace(planes=given.planes[37:38])
    assert torch.equal(convolutions.convolve(*part), alone[37:38])


def test_native_code_leaves_other_precisions_to_torch() -> None:
    native_library()
    trunk, planes = Trunk(3, Size(8, 2), wrap=True), torch.randn(2, 3, 4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert trunk(planes).dtype == torch.bfloat16
    assert trunk.double()(planes.double()).dtype == torch.float64
    wide = Trunk(3, Size(160, 1), wrap=True)
    assert torch.isfinite(wide(planes)).all()
