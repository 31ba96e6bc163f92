"""Actions and parameters that callers give to games, checked, and the errors about them, whose fields tell all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.utils.errors import InputError, check_one_of, check_whole, shown

_INTEGERS = frozenset(
    (*(torch.int64, torch.int32, torch.int16, torch.int8), *(torch.uint8, torch.uint16, torch.uint32, torch.uint64))
)
NO_TENSOR, _NO_NUMBERS = "a tensor of actions", "whole numbers"
_DENSE = "a dense tensor with numbers in memory"


class IllegalActionError(InputError):
    """An action that the rules do not allow in the position.

    Attributes:
        where: the game's id.
        env_id: the game's place in its batch.
        player: the name of the player who chose the action.
        action: the number that is illegal; the choice of one component if the action has several.
        cause: why it is illegal.
        component: index of the illegal component of the action; None if the action has only one.
    """

    def __init__(
        self, where: str, env_id: int, player: str, action: int, cause: str, component: int | None = None
    ) -> None:
        super().__init__("action", got=action, cause=cause, where=where)
        self.env_id, self.player, self.action, self.component = env_id, player, action, component

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.where, self.env_id, self.player, self.action, self.cause, self.component)

    @property
    @override
    def brief(self) -> str:
        """The message without the game and the place in the batch, for callers that name both in their own way."""
        return self._message("")

    @override
    def __str__(self) -> str:
        return f"{self.where}: {self._message(f' in env {self.env_id}')}"

    def _message(self, place: str) -> str:
        part = "" if self.component is None else f", component {self.component}"
        return f"illegal action {self.action} of player {self.player}{place}{part}: {self.cause}"


def brief(error: Exception) -> str:
    """Return an error's message without the game and the place in the batch, where the error has them as fields."""
    return error.brief if isinstance(error, InputError) else str(error)


class ActionsError(InputError):
    """An error about actions that are not integers of the expected shape."""


def as_actions(
    given: Any,
    shape: tuple[int, ...],
    device: torch.device | str | None = None,
    axes: str = "shape ",
    hint: str = "",
    where: str = "",
) -> Tensor:
    """Return actions as a plain int64 tensor of a shape.

    Args:
        given: anything; a tensor of any integer dtype is taken.
        shape: the one expected.
        device: device to move them to; None leaves them where they are.
        axes: text before the shape in the message about another one, such as "shape [B, P] = ".
        hint: likely cause of another shape.
        where: the game's id, for messages.

    Raises:
        ActionsError: it is something else.
    """
    if not isinstance(given, Tensor):
        raise ActionsError("actions", NO_TENSOR, type(given).__name__, where=where)
    if given.is_nested or given.layout != torch.strided:
        raise ActionsError("actions", _DENSE, "a nested tensor" if given.is_nested else str(given.layout), where=where)
    if given.dtype not in _INTEGERS:
        raise ActionsError("actions", _NO_NUMBERS, str(given.dtype), where=where)
    if tuple(given.shape) != shape:
        raise ActionsError("actions", f"{axes}{list(shape)}", list(given.shape), hint, where)
    if device is not None and given.is_meta:
        raise ActionsError("actions", _DENSE, "a meta tensor", where=where)
    actions: Tensor = given.to(device, torch.int64)
    if given.dtype == torch.uint64:  # numbers from 2^63 on would become negative
        actions = actions.masked_fill(actions < 0, torch.iinfo(torch.int64).max)
    return actions


def from_numbers(given: Any, shape: tuple[int, ...], axes: str = "shape ", hint: str = "", where: str = "") -> Tensor:
    """Return actions as `as_actions` does, also those that are numbers, lists of numbers or arrays.

    Raises:
        ActionsError: they are something else.
    """
    if isinstance(given, Tensor):
        return as_actions(given, shape, "cpu", axes, hint, where)
    try:
        array = np.asarray(given)
    except Exception as error:  # whatever an object's own methods raise, and numpy for lists of many lengths
        got = f"{type(given).__name__} ({type(error).__name__})"
        raise ActionsError("actions", _NO_NUMBERS, got, where=where) from None
    if array.dtype.kind not in "iu" or np.ma.is_masked(given):
        kind = "a masked array" if np.ma.is_masked(given) else str(array.dtype)
        raise ActionsError("actions", _NO_NUMBERS, f"{kind}: {shown(given)}", where=where)
    if array.shape != shape:
        raise ActionsError("actions", f"{axes}{list(shape)}", list(array.shape), hint, where)
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return torch.from_numpy(array.astype(np.int64))


def check_int(game: Any, name: str, low: int, high: int) -> None:
    """Raise an `InputError` unless the game's field `name` is a whole number from `low` to `high`."""
    check_whole(name, getattr(game, name), low, high, game.id)


def check_choices(game: Any, **choices: Iterable[str]) -> None:
    """Raise an `InputError` unless each of the game's fields is one of its choices."""
    for name, known in choices.items():
        check_one_of(name, getattr(game, name), known, game.id)
