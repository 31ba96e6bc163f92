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

from cellgames.utils.errors import InputError


@dataclass(frozen=True, eq=False)
class State:
    """The fields that every game's state has; a game adds its own in a subclass.

    All fields have the batch as their first axis. Nothing mutates a state; `==` is identity, `equal` compares.

    Attributes:
        seed: [B] int64, the env's seed, of which every random draw of the game is a function.
        turn: [B] int32, steps played.
        current_player: [B] int64, who acts next (0 in games where all act at once).
        rewards: [B, P] float32, of the last step only.
        scores: [B, P] float32, the game's own measure so far.
        terminated: [B] bool, ended by the rules.
        truncated: [B] bool, cut off by a limit.
    """

    seed: Tensor
    turn: Tensor
    current_player: Tensor
    rewards: Tensor
    scores: Tensor
    terminated: Tensor
    truncated: Tensor

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `torch.load` read states with its safe default, `weights_only=True`, and keep the short `repr`."""
        super().__init_subclass__(**kwargs)
        torch.serialization.add_safe_globals([cls])
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = State.__repr__  # type: ignore[method-assign]  # else `dataclass` makes one of all numbers

    @classmethod
    def new(cls, seeds: Tensor, num_players: int, **fields: Tensor) -> Self:
        """Return the state of new games: the game's own fields as given, and 0 in those that every state has.

        Args:
            seeds: int64 [B].
            num_players: `P`.
            fields: the game's own by name, and `current_player` where another seat than 0 begins; each [B, ...].
        """
        batch = len(seeds)
        return cls(
            seed=seeds,
            turn=seeds.new_zeros(batch, dtype=torch.int32),
            current_player=fields.pop("current_player", torch.zeros_like(seeds)),
            rewards=seeds.new_zeros((num_players, batch), dtype=torch.float32).t(),  # games next to each other
            scores=seeds.new_zeros((num_players, batch), dtype=torch.float32).t(),
            terminated=seeds.new_zeros(batch, dtype=torch.bool),
            truncated=seeds.new_zeros(batch, dtype=torch.bool),
            **fields,
        )

    @property
    def done(self) -> Tensor:
        """[B] bool, terminated or truncated."""
        return self.terminated | self.truncated

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.seed.device

    def __len__(self) -> int:
        """Return the number of games."""
        return self.seed.shape[0]

    def __repr__(self) -> str:
        """Return one line: how many games there are, and how many are over. `game.draw_batch(state)` draws them."""
        games = "1 game" if len(self) == 1 else f"{len(self)} games"
        return f"<{type(self).__name__}: {games}, {int(self.done.sum())} done, on {self.device}>"

    def __str__(self) -> str:
        """Return the line of `repr` and one for each field: dtype, shape, and the numbers if they are few."""
        fields = (f"{field.name}: {_described(getattr(self, field.name))}" for field in dataclasses.fields(self))
        return "\n  ".join([repr(self), *fields])

    def tensors(self) -> tuple[Tensor, ...]:
        """Return the fields in their order."""
        return tuple([getattr(self, name) for name in self.__dataclass_fields__])

    def map(self, function: Callable[[Tensor], Tensor]) -> Self:
        """Return a state of `function(field)` for every field."""
        return type(self)(*map(function, self.tensors()))

    def replace(self, **fields: Tensor) -> Self:
        """Return a state with some fields changed."""
        return dataclasses.replace(self, **fields)

    def __getitem__(self, env_ids: int | slice | Tensor | Sequence[int] | Sequence[bool]) -> Self:
        """Return some of the games as a batch, of one for an integer; tensors index as in torch."""
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
        """Return a state in which `games` stand in the given envs (int64 or bool index)."""
        return self.merge(games, lambda field, new: field.index_put((env_ids,), new))

    def merge(self, other: Self, choose: Callable[[Tensor, Tensor], Tensor]) -> Self:
        """Return a state of `choose(own field, other's field)` for every field."""
        pairs = zip(self.tensors(), other.tensors(), strict=True)
        return type(self)(*(choose(old, new) for old, new in pairs))

    @staticmethod
    def cat(states: Sequence[S]) -> S:
        """Return the games of several states in one batch, in order."""
        if not states:
            raise InputError("states", "at least one state", "none")
        return type(states[0])(*map(torch.cat, zip(*(s.tensors() for s in states), strict=True)))

    def to(self, device: torch.device | str) -> Self:
        """Return the state on another device."""
        return self.map(lambda field: field.to(device))

    def clone(self) -> Self:
        """Return a copy that shares no memory."""
        return self.map(torch.clone)

    def equal(self, other: object) -> bool:
        """Return True if type, shapes, dtypes and values of all fields agree; the devices may differ."""
        return type(self) is type(other) and all(
            a.dtype == b.dtype and torch.equal(a, b.to(a.device))
            for a, b in zip(self.tensors(), other.tensors(), strict=True)
        )


S = TypeVar("S", bound=State, default=Any)
"""The type of a game's state; a `Game` or `Vector` without a parameter has a state of any type."""


def _described(field: Tensor) -> str:
    """Return dtype and shape, and the numbers themselves if they are few."""
    kind = f"{str(field.dtype).removeprefix('torch.')} {list(field.shape)}"
    return f"{kind} = {field.tolist()}" if field.numel() <= 8 else kind


def innermost(field: Tensor) -> Tensor:
    """Return a field [B, ...] as contiguous [..., B], with the games next to each other in memory."""
    return field.movedim(0, -1).contiguous()


def copied(field: Tensor) -> Tensor:
    """Return a copy of a field [B, ...] whose games lie next to each other in memory."""
    return field.movedim(0, -1).clone(memory_format=torch.contiguous_format).movedim(-1, 0)


def along_envs(flags: Tensor, ndim: int) -> Tensor:
    """Return [B] viewed as [B, 1, ...] of `ndim` axes, to meet fields of any rank."""
    return flags.view(-1, *(1,) * (ndim - 1))


def choose_envs(flags: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """Return `yes` in the envs where `flags`, bool [B], holds, else `no`; fields of any rank."""
    return torch.where(along_envs(flags, yes.ndim), yes, no)
