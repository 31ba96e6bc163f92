"""Actions from callers as tensors that the rules can take, or an error that says what they are instead."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from cellgames.utils.errors import shown

_INTEGERS = frozenset(
    (*(torch.int64, torch.int32, torch.int16, torch.int8), *(torch.uint8, torch.uint16, torch.uint32, torch.uint64))
)


class ActionsError(ValueError):
    """An error about actions that are not integers of the expected shape.

    Attributes:
        fault: property at fault: their "type" (no tensor), their "layout" (a tensor without plain numbers in memory),
            their "dtype" or their "shape".
        got: actual property.
    """

    def __init__(self, fault: Literal["type", "layout", "dtype", "shape"], got: str) -> None:
        super().__init__(fault, got)
        self.fault = fault
        self.got = got

    def __str__(self) -> str:
        wanted = {
            "type": "a tensor",
            "layout": "a dense torch.Tensor with numbers in memory",
            "dtype": "integers",
            "shape": "another shape",
        }
        return f"must be {wanted[self.fault]}, got {self.got}"


def as_actions(given: Any, shape: tuple[int, ...], device: torch.device | str | None = None) -> Tensor:
    """Return actions as a plain int64 tensor of a shape.

    Args:
        given: anything; a tensor of any integer dtype is taken.
        shape: the one expected.
        device: device to move them to; None leaves them where they are.

    Raises:
        ActionsError: it is something else.
    """
    if not isinstance(given, Tensor):
        raise ActionsError("type", type(given).__name__)
    if given.is_nested or given.layout != torch.strided:
        raise ActionsError("layout", "a nested tensor" if given.is_nested else str(given.layout))
    if given.dtype not in _INTEGERS:
        raise ActionsError("dtype", str(given.dtype))
    if tuple(given.shape) != shape:
        raise ActionsError("shape", shown(list(given.shape)))
    if device is not None and given.is_meta:
        raise ActionsError("layout", "a meta tensor")
    actions: Tensor = given.to(device, torch.int64)
    if given.dtype == torch.uint64:  # numbers from 2^63 on would become negative
        actions = actions.masked_fill(actions < 0, torch.iinfo(torch.int64).max)
    return actions


def from_numbers(given: Any, shape: tuple[int, ...]) -> Tensor:
    """Return actions as `as_actions` does, also those that are numbers, lists of numbers or arrays.

    Raises:
        ActionsError: they are something else.
    """
    if isinstance(given, Tensor):
        return as_actions(given, shape, "cpu")
    try:
        array = np.asarray(given)
    except Exception as error:  # whatever an object's own methods raise, and numpy for lists of many lengths
        raise ActionsError("dtype", f"{type(given).__name__} ({type(error).__name__})") from None
    if array.dtype.kind not in "iu" or np.ma.is_masked(given):
        kind = "a masked array" if np.ma.is_masked(given) else str(array.dtype)
        raise ActionsError("dtype", f"{kind}: {shown(given)}")
    if array.shape != shape:
        raise ActionsError("shape", shown(list(array.shape)))
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return torch.from_numpy(array.astype(np.int64))
