"""Actions from callers as tensors that the rules can take, or an error that says what they are instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellgames.utils.errors import InputError, shown

_INTEGERS = frozenset(
    (*(torch.int64, torch.int32, torch.int16, torch.int8), *(torch.uint8, torch.uint16, torch.uint32, torch.uint64))
)


NO_TENSOR, _NO_NUMBERS = "a tensor of actions", "whole numbers"
_DENSE = "a dense tensor with numbers in memory"


class ActionsError(InputError):
    """An error about actions that are not integers of the expected shape."""


def as_actions(
    given: Any, shape: tuple[int, ...], device: torch.device | str | None = None, axes: str = "shape ", hint: str = ""
) -> Tensor:
    """Return actions as a plain int64 tensor of a shape.

    Args:
        given: anything; a tensor of any integer dtype is taken.
        shape: the one expected.
        device: device to move them to; None leaves them where they are.
        axes: text before the shape in the message about another one, such as "shape [B, P] = ".
        hint: likely cause of another shape.

    Raises:
        ActionsError: it is something else.
    """
    if not isinstance(given, Tensor):
        raise ActionsError("actions", NO_TENSOR, type(given).__name__)
    if given.is_nested or given.layout != torch.strided:
        raise ActionsError("actions", _DENSE, "a nested tensor" if given.is_nested else str(given.layout))
    if given.dtype not in _INTEGERS:
        raise ActionsError("actions", _NO_NUMBERS, str(given.dtype))
    if tuple(given.shape) != shape:
        raise ActionsError("actions", f"{axes}{list(shape)}", list(given.shape), hint)
    if device is not None and given.is_meta:
        raise ActionsError("actions", _DENSE, "a meta tensor")
    actions: Tensor = given.to(device, torch.int64)
    if given.dtype == torch.uint64:  # numbers from 2^63 on would become negative
        actions = actions.masked_fill(actions < 0, torch.iinfo(torch.int64).max)
    return actions


def from_numbers(given: Any, shape: tuple[int, ...], axes: str = "shape ", hint: str = "") -> Tensor:
    """Return actions as `as_actions` does, also those that are numbers, lists of numbers or arrays.

    Raises:
        ActionsError: they are something else.
    """
    if isinstance(given, Tensor):
        return as_actions(given, shape, "cpu", axes, hint)
    try:
        array = np.asarray(given)
    except Exception as error:  # whatever an object's own methods raise, and numpy for lists of many lengths
        raise ActionsError("actions", _NO_NUMBERS, f"{type(given).__name__} ({type(error).__name__})") from None
    if array.dtype.kind not in "iu" or np.ma.is_masked(given):
        kind = "a masked array" if np.ma.is_masked(given) else str(array.dtype)
        raise ActionsError("actions", _NO_NUMBERS, f"{kind}: {shown(given)}")
    if array.shape != shape:
        raise ActionsError("actions", f"{axes}{list(shape)}", list(array.shape), hint)
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return torch.from_numpy(array.astype(np.int64))
