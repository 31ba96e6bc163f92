"""Batch widths: many worlds side by side in memory, in a few numbers of them, since code is compiled for each."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["padded", "width_for"]

WIDTHS = (32, 256)  # the wide one stays in the cache for many generations
CUDA_WIDTHS = (128, 1024, 8192)


def width_for(worlds: int, device: torch.device) -> int:
    """Return the width to take for so many worlds; more than fit are taken in turns."""
    widths = WIDTHS if device.type == "cpu" else CUDA_WIDTHS
    return next((width for width in widths if width >= worlds), widths[-1])


def padded(planes: Tensor, width: int) -> Tensor:
    """Return planes [..., n] of up to `width` worlds as [..., width], contiguous, filled up with empty worlds."""
    missing = width - planes.shape[-1]
    return torch.nn.functional.pad(planes, (0, missing)).contiguous() if missing else planes.contiguous()
