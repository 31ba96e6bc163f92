"""The state of a batch of games: a frozen dataclass of tensors, batch first.

Letters: `B` games (envs), `P` players.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor
from typing_extensions import TypeVar

__all__ = ["S", "State", "along_envs", "choose_envs"]


@dataclass(frozen=True, eq=False)
class State:
    """What every game's state holds; a game adds its own fields in a subclass.

    seed:            [B] int64, the env's seed, of which every random draw of the game is a function.
    turn:            [B] int32, steps played.
    current_player:  [B] int64, who acts next (0 in games where all act at once).
    rewards:         [B, P] float32, of the last step only.
    scores:          [B, P] float32, the game's own measure so far.
    terminated:      [B] bool, ended by the rules.
    truncated:       [B] bool, cut off by a limit.

    All fields have the batch as their first axis. Nothing mutates a state; `==` is identity, `equal` compares.
    """

    seed: Tensor
    turn: Tensor
    current_player: Tensor
    rewards: Tensor
    scores: Tensor
    terminated: Tensor
    truncated: Tensor

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `torch.load` read states with its safe default, `weights_only=True`."""
        super().__init_subclass__(**kwargs)
        torch.serialization.add_safe_globals([cls])

    @property
    def done(self) -> Tensor:
        """[B] bool, terminated or truncated."""
        return self.terminated | self.truncated

    @property
    def device(self) -> torch.device:
        """Where the tensors are."""
        return self.seed.device

    def __len__(self) -> int:
        """Number of games."""
        return self.seed.shape[0]

    def tensors(self) -> tuple[Tensor, ...]:
        """The fields in their order."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def map(self, function: Callable[[Tensor], Tensor]) -> Self:
        """A state of `function(field)` for every field."""
        return type(self)(*map(function, self.tensors()))

    def replace(self, **fields: Tensor) -> Self:
        """A state with some fields changed."""
        return dataclasses.replace(self, **fields)

    def __getitem__(self, env_ids: int | slice | Tensor | Sequence[int] | Sequence[bool]) -> Self:
        """Some of the games, as a batch (of one, for an integer); tensors index as in torch."""
        if isinstance(env_ids, int):
            if not -len(self) <= env_ids < len(self):
                raise IndexError(f"expected an env from 0 to {len(self) - 1}, got {env_ids}")
            env_ids %= len(self)
            env_ids = slice(env_ids, env_ids + 1)
        elif not isinstance(env_ids, slice | Tensor):
            env_ids = torch.as_tensor(env_ids, device=self.device)
            env_ids = env_ids if env_ids.dtype == torch.bool else env_ids.long()
        return self.map(lambda field: field[env_ids])

    def put(self, env_ids: Tensor, games: Self) -> Self:
        """A state in which `games` stand in the given envs (int64 or bool index)."""
        return self.merge(games, lambda field, new: field.index_put((env_ids,), new))

    def merge(self, other: Self, choose: Callable[[Tensor, Tensor], Tensor]) -> Self:
        """A state of `choose(own field, other's field)` for every field."""
        pairs = zip(self.tensors(), other.tensors(), strict=True)
        return type(self)(*(choose(own, new) for own, new in pairs))

    @classmethod
    def cat(cls, states: Sequence[Self]) -> Self:
        """The games of several states in one batch, in order."""
        if not states:
            raise ValueError("expected at least one state, got none")
        return type(states[0])(*map(torch.cat, zip(*(s.tensors() for s in states), strict=True)))

    def to(self, device: torch.device | str) -> Self:
        """The state on another device."""
        return self.map(lambda field: field.to(device))

    def clone(self) -> Self:
        """A copy that shares no memory."""
        return self.map(torch.clone)

    def equal(self, other: object) -> bool:
        """Whether type, shapes, dtypes and values of all fields agree (the device may differ)."""
        return type(self) is type(other) and all(
            a.dtype == b.dtype and torch.equal(a, b.to(a.device))
            for a, b in zip(self.tensors(), other.tensors(), strict=True)
        )


S = TypeVar("S", bound=State, default=Any)
"""The type of a game's state; a `Game` or `Vector` without a parameter has a state of any type."""


def along_envs(flags: Tensor, ndim: int) -> Tensor:
    """[B] viewed as [B, 1, ...] of `ndim` axes, to meet fields of any rank."""
    return flags.view(-1, *(1,) * (ndim - 1))


def choose_envs(env_ids: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """`yes` in the envs where bool [B] `env_ids` holds, else `no`; fields of any rank."""
    return torch.where(along_envs(env_ids, yes.ndim), yes, no)
