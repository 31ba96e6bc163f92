"""Lanes: many worlds side by side in memory, in a few numbers of them, since code is compiled for each."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["padded", "width_for"]

LANES = (32, 256)  # the wide one stays in the cache for many generations
CUDA_LANES = (128, 1024, 8192)


def width_for(worlds: int, device: torch.device) -> int:
    """Lanes to take for so many worlds; more than fit are taken in turns."""
    widths = LANES if device.type == "cpu" else CUDA_LANES
    return next((width for width in widths if width >= worlds), widths[-1])


def padded(planes: Tensor, width: int) -> Tensor:
    """Planes [..., n] of up to `width` worlds as [..., width], contiguous, with empty worlds."""
    return torch.nn.functional.pad(planes, (0, width - planes.shape[-1])).contiguous()
