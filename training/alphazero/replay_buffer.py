"""A replay buffer: the latest positions of self-play with their targets, on one device.

Letters: `X` positions, `A` actions (mask width), `C` candidates, `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cellgames.agents.search.improvement import Improver
from cellgames.utils.errors import InputError


class Positions(NamedTuple):
    """Positions to learn from, with their targets.

    Attributes:
        observation: [X, ...], as the game gives it, or what `Improver.inputs` says.
        mask: bool [X, A], the legal actions.
        policy: float [X, C], the policy of the search.
        value: float [X], the return of the seat to move, in units of the network.
        actions: int64 [X, C, K], the candidates that the policy is over; None where these are all actions.
    """

    observation: Tensor
    mask: Tensor
    policy: Tensor
    value: Tensor
    actions: Tensor | None = None

    def at(self, rows: Tensor) -> Positions:
        """Return some of the positions, int64 [X], which may repeat."""
        observation, mask, policy, value = (part[rows] for part in self[:4])
        return Positions(observation, mask, policy, value, None if self.actions is None else self.actions[rows])


class Replay:
    """A ring buffer of positions; new ones overwrite the oldest.

    Policies are kept in half precision. All memory is taken at the start.

    Args:
        improver: gives the shapes.
        capacity: positions that it holds.
        device: where it keeps them.
    """

    def __init__(self, improver: Improver, capacity: int, device: torch.device) -> None:
        inputs, candidates, components = improver.inputs, improver.candidates, improver.components
        self.capacity = capacity
        self._next = self._filled = 0

        def room(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        self._rows = Positions(
            observation=room(*inputs.shape, dtype=inputs.dtype),
            mask=room(improver.choices, dtype=torch.bool),
            policy=room(candidates, dtype=torch.float16),
            value=room(dtype=torch.float32),
            actions=room(candidates, components, dtype=torch.int32) if components else None,
        )

    def __len__(self) -> int:
        """Return the number of positions."""
        return self._filled

    def add(self, positions: Positions) -> None:
        """Append positions in their order; of more than the capacity, keep the last."""
        rows = len(positions.value)
        kept = min(rows, self.capacity)
        device = self._rows.value.device
        places = (self._next + rows - kept + torch.arange(kept, device=device)) % self.capacity
        for own, new in zip(self._rows, positions, strict=True):
            if own is not None and new is not None:
                own[places] = new[rows - kept :].to(device, own.dtype)
        self._next = (self._next + rows) % self.capacity
        self._filled = min(self._filled + rows, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> Positions:
        """Draw positions uniformly, with replacement; consumes a generator on the CPU.

        Raises:
            ValueError: the buffer is empty.
        """
        if not self._filled:
            raise InputError("replay", "positions to sample from", "an empty replay", "add some first")
        places = torch.randint(self._filled, (count,), generator=generator, device="cpu").to(self._rows.value.device)
        drawn = self._rows.at(places)
        actions = None if drawn.actions is None else drawn.actions.long()
        return drawn._replace(policy=drawn.policy.float(), actions=actions)

    def state_dict(self) -> dict[str, Any]:
        """Return the positions, and the place of the next one."""
        return {"next": self._next, **{name: part[: self._filled].clone() for name, part in self._parts().items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`."""
        self._next, self._filled = state["next"], len(state["value"])
        for name, part in self._parts().items():
            part[: self._filled] = state[name].to(part.device)

    def _parts(self) -> dict[str, Tensor]:
        return {name: part for name, part in self._rows._asdict().items() if part is not None}
