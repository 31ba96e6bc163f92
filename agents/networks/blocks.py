"""Building blocks of the games' networks; their convolutions as torch code and as native code for the CPU.

Native code serves float32 on the CPU, without autocast. Its results differ from torch's in the last bits, as those of
torch's own convolutions do between processors, but those of a position do not depend on the rest of the batch.

Letters: `L` rows (games that wait), `P` planes of the input, `C` channels, `H, W` board, `S` channels rounded up to a
multiple of 32, `K` layers of which the results are kept.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.envs.native import Library, library, pointer

if TYPE_CHECKING:
    from .networks import Size

_CHUNK = 32  # channels that native code takes together
_MOST_CHANNELS = 128  # of native code, which holds gradients of a layer several times
_WORK_OF_A_THREAD = 1 << 24  # multiplications that take several times as long as starting a thread
_PARTS = 8  # of a batch, whose gradients are added up one after the other: the same sum on any number of threads


def initialized(layer: nn.Linear | nn.Conv2d, gain: float = math.sqrt(2)) -> Any:
    """Give a layer orthogonal weights, as is usual for policy gradients, and no bias; return it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Trunk(nn.Module):
    """Convolutions of 3 x 3 with skips: float [L, planes, H, W] to [L, C, H, W].

    Args:
        planes: number of planes of the input.
        size: channels and layers.
        wrap: the board is a torus; else what lies beyond its edges counts as zero.
    """

    def __init__(self, planes: int, size: Size, *, wrap: bool) -> None:
        super().__init__()
        self.wrap = wrap
        padding = 0 if wrap else 1
        self.first = initialized(nn.Conv2d(planes, size.channels, 3, padding=padding))
        gain = math.sqrt(2 / size.layers)  # so that the sum over the layers stays as large as its parts
        self.layers = nn.ModuleList(
            initialized(nn.Conv2d(size.channels, size.channels, 3, padding=padding), gain) for _ in range(size.layers)
        )
        for convolution in (self.first, *self.layers):  # twice as fast on CPUs
            convolution.to(memory_format=torch.channels_last)

    def forward(self, planes: Tensor, added: Tensor | None = None) -> Tensor:
        """Run; `added` [L, C] is the same for all cells, such as what numbers say (by a `head`)."""
        all_layers: list[Any] = [self.first, *self.layers]
        weights, biases = [layer.weight for layer in all_layers], [layer.bias for layer in all_layers]
        return convolve(planes, added, weights, biases, self.wrap)


def pooled(seen: Tensor) -> Tensor:
    """Return mean and maximum of every channel over the board: [L, C, H, W] to [L, 2 C]."""
    return torch.cat((seen.mean((2, 3)), seen.amax((2, 3))), 1)


def head(width: int, hidden: int, out: int, gain: float) -> nn.Sequential:
    """Return layers from [L, width] to [L, out], with one hidden layer."""
    return nn.Sequential(initialized(nn.Linear(width, hidden)), nn.ReLU(), initialized(nn.Linear(hidden, out), gain))


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
    precise = planes.dtype == weights[0].dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    native = library(planes.device) if precise and len(weights[0]) <= _MOST_CHANNELS else None
    if native is None:
        return _layers(planes, added, weights, biases, wrap)
    inputs = (planes, *weights, *biases, *([] if added is None else [added]))
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs):
        seen: Tensor = _Trunk.apply(native, planes, added, wrap, *weights, *biases)  # type: ignore[no-untyped-call]
    else:
        seen = _trunk(native, planes, added, weights, biases, wrap, keep=False)[0]
    return seen[..., : len(biases[0])].permute(0, 3, 1, 2)


def _layers(
    planes: Tensor, added: Tensor | None, weights: Sequence[Tensor], biases: Sequence[Tensor], wrap: bool
) -> Tensor:
    """Return the result by torch's convolutions; channels-last is twice as fast on CPUs."""
    seen = _edged_convolution(planes.contiguous(memory_format=torch.channels_last), weights[0], biases[0], wrap)
    seen = functional.relu(seen if added is None else seen + added[:, :, None, None])
    for weight, bias in zip(weights[1:], biases[1:], strict=True):
        seen = seen + functional.relu(_edged_convolution(seen, weight, bias, wrap))
    return seen


def _edged_convolution(planes: Tensor, weight: Tensor, bias: Tensor, wrap: bool) -> Tensor:
    edged = _Wrapped.apply(planes) if wrap else planes  # type: ignore[no-untyped-call]
    return functional.conv2d(edged, weight, bias, padding=0 if wrap else 1)


class _Wrapped(torch.autograd.Function):
    """The padding of a torus, [L, C, H + 2, W + 2]; its way back makes no tensors of zeros, as that of `cat` does."""

    @staticmethod
    @override
    def forward(ctx: Any, planes: Tensor) -> Tensor:
        rows, channels, height, width = planes.shape
        wide = planes.new_empty((rows, height + 2, width + 2, channels)).permute(0, 3, 1, 2)
        middle = wide[:, :, 1:-1]
        middle[..., 1:-1] = planes
        middle[..., 0], middle[..., -1] = planes[..., -1], planes[..., 0]
        wide[:, :, 0], wide[:, :, -1] = middle[:, :, -1], middle[:, :, 0]
        return wide

    @staticmethod
    @override
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (wide,) = gradients
        tall = wide[:, :, 1:-1].clone(memory_format=torch.preserve_format)
        tall[:, :, -1] += wide[:, :, 0]
        tall[:, :, 0] += wide[:, :, -1]
        planes = tall[..., 1:-1]
        planes[..., -1] += tall[..., 0]
        planes[..., 0] += tall[..., -1]
        return planes


# --- native code ------------------------------------------------------------------------------------------------------


class _Trunk(torch.autograd.Function):
    """The convolutions by native code, forward and backward."""

    @staticmethod
    @override
    def forward(
        ctx: Any, native: Library, planes: Tensor, added: Tensor | None, wrap: bool, *parameters: Tensor
    ) -> Tensor:
        half = len(parameters) // 2
        seen = _trunk(native, planes, added, parameters[:half], parameters[half:], wrap, keep=True)
        ctx.save_for_backward(planes, seen, *parameters[:half])
        ctx.native, ctx.wrap, ctx.adds = native, wrap, added is not None
        return seen[-1]

    @staticmethod
    @torch.autograd.function.once_differentiable
    @override
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        planes, seen, *weights = ctx.saved_tensors
        inward, used = ctx.needs_input_grad[1], _Used()
        arguments = _arguments(planes, weights, ctx.wrap, seen, used)
        parts = max(1, min(_PARTS, len(planes)))
        scratch = planes.new_zeros(parts * ctx.native.cellgames_trunk_scratch(ctypes.byref(arguments)))
        of_planes = planes.new_empty(planes.shape if inward else 0)
        of_added = planes.new_zeros(len(planes), len(weights[0]))
        of_weights = [weight.new_empty((len(weight), 3, 3, weight.shape[1])) for weight in weights]
        of_biases = [weight.new_empty(len(weight)) for weight in weights]
        found = _Gradients(used.address(gradients[0]), parts, used.address(scratch))
        found.weights, found.biases = used.addresses(of_weights), used.addresses(of_biases)
        found.added, found.input = used.address(of_added), used.address(of_planes) if inward else None
        ctx.native.cellgames_trunk_backward(ctypes.byref(arguments), ctypes.byref(found))
        first = None, of_planes if inward else None, of_added if ctx.adds else None, None
        return *first, *(weight.permute(0, 3, 1, 2) for weight in of_weights), *of_biases


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


def _trunk(
    native: Library,
    planes: Tensor,
    added: Tensor | None,
    weights: Sequence[Tensor],
    biases: Sequence[Tensor],
    wrap: bool,
    *,
    keep: bool,
) -> Tensor:
    """Return the results of all layers, if they are to be kept, or of the last one only, float [K, L, H, W, S]."""
    kept, channels = len(weights) if keep else 1, len(biases[0])
    seen = planes.new_empty((kept, len(planes), *planes.shape[2:], -(-channels // _CHUNK) * _CHUNK))
    seen[..., channels:] = 0.0  # narrow vectors write up to a multiple of 8 or 16 only
    used = _Used()
    arguments = _arguments(planes, weights, wrap, seen, used)
    arguments.added = None if added is None else used.address(added)
    arguments.biases = used.addresses(biases)
    native.cellgames_trunk(ctypes.byref(arguments))
    return seen


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
    threads = min(torch.get_num_threads(), 1 + work // _WORK_OF_A_THREAD)
    sizes = rows, height, width, in_planes, len(weights[0]), len(weights) - 1, wrap, threads
    arguments = _Arguments(*sizes, used.address(planes))
    arguments.weights = used.addresses([weight.permute(0, 2, 3, 1) for weight in weights])
    arguments.kept, arguments.seen = len(seen), pointer(seen, torch.float32)
    return arguments
