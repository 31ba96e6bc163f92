"""The convolutions of the games' networks, as torch code and as native code for the CPU.

Native code serves float32 on the CPU, without autocast. Its results differ from torch's in the last bits, as those of
torch's own convolutions do between processors, but those of a position do not depend on the rest of the batch.

Letters: `L` rows (games that wait), `P` planes of the input, `C` channels, `H, W` board, `S` channels rounded up to a
multiple of 32, `K` layers of which the results are kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional, grad
from typing_extensions import override

from cellgames.envs.native import Library, Operator, library, pointer

_CHUNK = 32  # channels that native code takes together
_MOST_CHANNELS = 128  # of native code, which holds gradients of a layer several times
_WORK_OF_A_THREAD = 1 << 24  # multiplications that take several times as long as starting a thread
_PARTS = 8  # of a batch, whose gradients are added up one after the other: the same sum on any number of threads


def convolve(
    planes: Tensor, added: Tensor | None, weights: Sequence[Tensor], biases: Sequence[Tensor], wrap: bool
) -> Tensor:
    """Return the result of 3 x 3 convolutions with skips, float [L, C, H, W] in channels-last memory.

    Args:
        planes: float [L, P, H, W].
        added: float [L, C], added to all cells after the first convolution; or None.
        weights: kernels of the first convolution, [C, P, 3, 3], and of the others, [C, C, 3, 3].
        biases: biases of each convolution, [C].
        wrap: the board is a torus; else what lies beyond its edges counts as zero.
    """
    channels = len(biases[0])
    if not _native_serves(planes, weights):
        return _layers(planes, added, weights, biases, wrap)[-1]
    inputs = (planes, *weights, *biases, *([] if added is None else [added]))
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        seen: Tensor = _Trunk.apply(planes, added, wrap, *weights, *biases)  # type: ignore[no-untyped-call]
    else:
        seen = trunk(planes, added, weights, biases, wrap, False)[0]
    return seen[..., :channels].permute(0, 3, 1, 2)


def wrapped(planes: Tensor) -> Tensor:
    """Return the planes of boards on a torus with the rows and columns that lie around them: [L, C, H + 2, W + 2]."""
    wide: Tensor = _Wrapped.apply(planes)  # type: ignore[no-untyped-call]
    return wide


@Operator
def trunk(
    planes: Tensor, added: Tensor | None, weights: Sequence[Tensor], biases: Sequence[Tensor], wrap: bool, keep: bool
) -> Tensor:
    """Return the results of all layers, or of the last one only, float [K, L, H, W, S].

    Args:
        planes: as in `convolve`, like all arguments but the last.
        added: as in `convolve`.
        weights: as in `convolve`.
        biases: as in `convolve`.
        wrap: as in `convolve`.
        keep: True to return the results of all layers, which `trunk_backward` takes.
    """
    seen = _layers(planes, added, weights, biases, wrap)
    stacked = torch.stack([one.permute(0, 2, 3, 1) for one in (seen if keep else seen[-1:])])
    return functional.pad(stacked, (0, _rounded(stacked.shape[-1]) - stacked.shape[-1])).contiguous()


@Operator
def trunk_backward(
    gradient: Tensor, seen: Tensor, planes: Tensor, weights: Sequence[Tensor], wrap: bool, inward: bool
) -> list[Tensor]:
    """Return the gradients of the planes, of what was added, of all weights as [C, 3, 3, P], and of all biases.

    Args:
        gradient: float [L, H, W, S], of the last result.
        seen: float [1 + layers, L, H, W, S], the results of all layers.
        planes: as in `convolve`.
        weights: as in `convolve`.
        wrap: as in `convolve`.
        inward: True to return the gradient of the planes; otherwise an empty tensor stands for it.
    """
    channels = len(weights[0])
    gradient, seen = gradient[..., :channels].permute(0, 3, 1, 2), seen[..., :channels].permute(0, 1, 4, 2, 3)
    of_weights, of_biases = [], []
    for layer in range(len(weights) - 1, -1, -1):
        # ReLU let pass what made the sum larger.
        passed = gradient * (seen[layer] > seen[layer - 1] if layer else seen[0] > 0)
        before, weight = seen[layer - 1] if layer else planes, weights[layer]
        edged = _wrap(before) if wrap else functional.pad(before, (1, 1, 1, 1))
        of_weights.append(grad.conv2d_weight(edged, list(weight.shape), passed).permute(0, 2, 3, 1).contiguous())
        of_biases.append(passed.sum((0, 2, 3)))
        of_edged = grad.conv2d_input(list(edged.shape), weight, passed)
        of_before = _unwrap(of_edged) if wrap else of_edged[..., 1:-1, 1:-1]
        gradient = gradient + of_before if layer else of_before
    of_planes = gradient.contiguous() if inward else gradient.new_empty(0)
    return [of_planes, passed.sum((2, 3)), *reversed(of_weights), *reversed(of_biases)]


def _native_serves(planes: Tensor, weights: Sequence[Tensor]) -> bool:
    return (
        library(planes.device) is not None
        and planes.dtype == weights[0].dtype == torch.float32
        and len(weights[0]) <= _MOST_CHANNELS
        and not torch.is_autocast_enabled("cpu")
    )


def _rounded(channels: int) -> int:
    return -(-channels // _CHUNK) * _CHUNK


def _layers(
    planes: Tensor, added: Tensor | None, weights: Sequence[Tensor], biases: Sequence[Tensor], wrap: bool
) -> list[Tensor]:
    """Return the results of all layers by torch's convolutions; channels-last is twice as fast on CPUs."""
    seen = _edged_convolution(planes.contiguous(memory_format=torch.channels_last), weights[0], biases[0], wrap)
    results = [functional.relu(seen if added is None else seen + added[:, :, None, None])]
    for weight, bias in zip(weights[1:], biases[1:], strict=True):
        results.append(results[-1] + functional.relu(_edged_convolution(results[-1], weight, bias, wrap)))
    return results


def _edged_convolution(planes: Tensor, weight: Tensor, bias: Tensor, wrap: bool) -> Tensor:
    return functional.conv2d(wrapped(planes) if wrap else planes, weight, bias, padding=0 if wrap else 1)


class _Wrapped(torch.autograd.Function):
    """The padding of a torus; its own way back makes no tensors of zeros, as that of `cat` does."""

    @staticmethod
    @override
    def forward(ctx: Any, planes: Tensor) -> Tensor:
        return _wrap(planes)

    @staticmethod
    @override
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _unwrap(gradients[0])


def _wrap(planes: Tensor) -> Tensor:
    rows, channels, height, width = planes.shape
    wide = planes.new_empty((rows, height + 2, width + 2, channels)).permute(0, 3, 1, 2)
    middle = wide[:, :, 1:-1]
    middle[..., 1:-1] = planes
    middle[..., 0], middle[..., -1] = planes[..., -1], planes[..., 0]
    wide[:, :, 0], wide[:, :, -1] = middle[:, :, -1], middle[:, :, 0]
    return wide


def _unwrap(wide: Tensor) -> Tensor:
    """Return the sum of what stands for each cell in planes by `_wrap`; the way back through it."""
    tall = wide[:, :, 1:-1].clone(memory_format=torch.preserve_format)
    tall[:, :, -1] += wide[:, :, 0]
    tall[:, :, 0] += wide[:, :, -1]
    planes = tall[..., 1:-1]
    planes[..., -1] += tall[..., 0]
    planes[..., 0] += tall[..., -1]
    return planes


class _Trunk(torch.autograd.Function):
    """`trunk`, with `trunk_backward` as the way back."""

    @staticmethod
    @override
    def forward(ctx: Any, planes: Tensor, added: Tensor | None, wrap: bool, *parameters: Tensor) -> Tensor:
        half = len(parameters) // 2
        seen: Tensor = trunk(planes, added, parameters[:half], parameters[half:], wrap, True)
        ctx.save_for_backward(planes, seen, *parameters[:half])
        ctx.wrap, ctx.adds = wrap, added is not None
        return seen[-1]

    @staticmethod
    @torch.autograd.function.once_differentiable
    @override
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        planes, seen, *weights = ctx.saved_tensors
        inward = ctx.needs_input_grad[0]
        of_planes, of_added, *others = trunk_backward(gradients[0], seen, planes, weights, ctx.wrap, inward)
        of_weights = [weight.permute(0, 3, 1, 2) for weight in others[: len(weights)]]
        return of_planes if inward else None, of_added if ctx.adds else None, None, *of_weights, *others[len(weights) :]


# --- native code ------------------------------------------------------------------------------------------------------


class _Arguments(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("positions", "rows", "cols", "planes")),
        *((name, ctypes.c_int64) for name in ("channels", "layers", "wrap", "threads")),
        *((name, ctypes.c_void_p) for name in ("input", "added", "weights", "biases")),
        ("kept", ctypes.c_int64),
        ("seen", ctypes.c_void_p),
    )


class _Gradients(ctypes.Structure):
    _fields_ = (
        ("output", ctypes.c_void_p),
        ("parts", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("scratch", "weights", "biases", "added", "input")),
    )


@trunk.native
def _native_trunk(
    native: Library,
    planes: Tensor,
    added: Tensor | None,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    wrap: bool,
    keep: bool,
) -> Tensor:
    if planes.dtype != torch.float32:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    kept, channels = len(weights) if keep else 1, len(biases[0])
    seen = planes.new_empty((kept, len(planes), *planes.shape[2:], _rounded(channels)))
    seen[..., channels:] = 0.0  # narrow vectors write up to a multiple of 8 or 16 only
    used = _Used()
    arguments = _arguments(planes, weights, wrap, seen, used)
    arguments.added = None if added is None else used.address(added)
    arguments.biases = used.addresses(biases)
    native.cellgames_trunk(ctypes.byref(arguments))
    return seen


@trunk_backward.native
def _native_trunk_backward(
    native: Library,
    gradient: Tensor,
    seen: Tensor,
    planes: Tensor,
    weights: Sequence[Tensor],
    wrap: bool,
    inward: bool,
) -> list[Tensor]:
    if planes.dtype != torch.float32:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    used = _Used()
    arguments = _arguments(planes, weights, wrap, seen, used)
    parts = max(1, min(_PARTS, len(planes)))
    scratch = planes.new_zeros(parts * native.cellgames_trunk_scratch(ctypes.byref(arguments)))
    of_planes = planes.new_empty(planes.shape if inward else 0)
    of_added = planes.new_zeros(len(planes), len(weights[0]))
    of_weights = [weight.new_empty((len(weight), 3, 3, weight.shape[1])) for weight in weights]
    of_biases = [weight.new_empty(len(weight)) for weight in weights]
    gradients = _Gradients(
        output=used.address(gradient),
        parts=parts,
        scratch=used.address(scratch),
        weights=used.addresses(of_weights),
        biases=used.addresses(of_biases),
        added=used.address(of_added),
        input=used.address(of_planes) if inward else None,
    )
    native.cellgames_trunk_backward(ctypes.byref(arguments), ctypes.byref(gradients))
    return [of_planes, of_added, *of_weights, *of_biases]


class _Used:
    """The memory of a call's arguments, which lives as long as this."""

    def __init__(self) -> None:
        self._all: list[Any] = []

    def address(self, tensor: Tensor) -> int:
        """Return the address of the tensor's numbers, or of a copy that is contiguous."""
        self._all.append(tensor.contiguous())
        return pointer(self._all[-1], torch.float32)

    def addresses(self, tensors: Sequence[Tensor]) -> int:
        """Return the address of an array of addresses."""
        self._all.append((ctypes.c_void_p * len(tensors))(*map(self.address, tensors)))
        return ctypes.addressof(self._all[-1])


def _arguments(planes: Tensor, weights: Sequence[Tensor], wrap: bool, seen: Tensor, used: _Used) -> _Arguments:
    """Return the arguments that both ways have in common."""
    rows, in_planes, height, width = planes.shape
    work = rows * height * width * sum(weight.numel() for weight in weights)
    return _Arguments(
        positions=rows,
        rows=height,
        cols=width,
        planes=in_planes,
        channels=len(weights[0]),
        layers=len(weights) - 1,
        wrap=wrap,
        threads=min(torch.get_num_threads(), 1 + work // _WORK_OF_A_THREAD),
        input=used.address(planes),
        weights=used.addresses([weight.permute(0, 2, 3, 1) for weight in weights]),
        kept=len(seen),
        seen=pointer(seen, torch.float32),
    )
