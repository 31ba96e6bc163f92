"""Facts about games: what agents, adapters, records and docs ask a game instead of its name.

Letters: `P` players, `A` actions (the sum over the action's components), `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

WIN = 1
"""A value of `Game.outcome`: the player has won."""
DRAW = 0
"""A value of `Game.outcome`: nobody has won; also that of games that go on."""
LOSS = -1
"""A value of `Game.outcome`: the player has lost. A game that all players lose has it for each of them."""


@dataclass(frozen=True)
class Space:
    """The shape, dtype and bounds of a tensor that a game shows.

    Attributes:
        shape: shape without the batch dimension.
        dtype: dtype of the numbers.
        low: the least number.
        high: the largest number.
    """

    shape: tuple[int, ...]
    dtype: torch.dtype
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class GameInfo:
    """Facts about a game with its parameters; by default it has turns, no secrets, no chance and sums of 0.

    Attributes:
        id: `name-vN`.
        title: the game's name for people.
        credit: designer of the game.
        players: the players' names by seat; PettingZoo's agent ids.
        simultaneous: True if all players act in every step (actions [B, P] or [B, P, K]), False if one acts in turn
            (actions [B] or [B, K]).
        perfect_information: True if every player sees the whole position.
        stochastic: True if chance plays a part.
        zero_sum: True if outcomes and rewards add up to 0.
        max_turns: the most steps a game can take.
        reward_range: the lowest and the highest reward of one player in one step.
        action_nvec: the number of choices of each component of an action; one number for a plain integer action.
        observation: space of the results of `Game.observe`.
        board: space of the results of `Game.board`.
    """

    id: str
    title: str
    credit: str
    players: tuple[str, ...]
    simultaneous: bool = False
    perfect_information: bool = True
    stochastic: bool = False
    zero_sum: bool = True
    max_turns: int
    reward_range: tuple[float, float] = (-1.0, 1.0)
    action_nvec: tuple[int, ...]
    observation: Space
    board: Space

    @property
    def num_players(self) -> int:
        """The number of players, `P`."""
        return len(self.players)

    @property
    def num_actions(self) -> int:
        """The width of a mask, `A`."""
        return sum(self.action_nvec)

    @property
    def action_shape(self) -> tuple[int, ...]:
        """The shape of one step's actions in one game: (), (P,), (K,) or (P, K)."""
        components = len(self.action_nvec)
        return (self.num_players,) * self.simultaneous + (components,) * (components > 1)

    @property
    def search_obstacles(self) -> tuple[str, ...]:
        """Reasons for which a search over positions cannot play the game; empty if it can."""
        reasons = {
            "all players act at once": self.simultaneous,
            "information is hidden": not self.perfect_information,
            "an action has several components": len(self.action_nvec) > 1,
        }
        return tuple(reason for reason, holds in reasons.items() if holds)

    def ravel_action(self, choices: Sequence[int]) -> int:
        """Return the number of an action, one choice a component, among all combinations; the last varies fastest."""
        return ravel(choices, self.action_nvec)

    def unravel_action(self, number: int) -> list[int]:
        """Return the choice of each component of the action with a number of `ravel_action`."""
        return unravel(number, self.action_nvec)

    def admits(self, mask: Tensor, chosen: Tensor) -> Tensor:
        """Return True for each component of `chosen`, integers [..., K], that `mask`, bool [..., A], allows."""
        choices = torch.tensor(self.action_nvec, device=chosen.device)
        inside = (chosen >= 0) & (chosen < choices)
        places = chosen.clamp(min=0).minimum(choices - 1) + choices.cumsum(0) - choices
        return inside & mask.gather(-1, places.long())


def ravel(choices: Sequence[int], nvec: Sequence[int]) -> int:
    """Return the number of choices among all combinations, `nvec` of each; the last varies fastest."""
    number = 0
    for choice, count in zip(choices, nvec, strict=True):
        number = number * count + choice
    return number


def unravel(number: int, nvec: Sequence[int]) -> list[int]:
    """Return the choices that `ravel` counts; the first may be larger than `nvec` says."""
    choices = []
    for count in reversed(nvec[1:]):
        number, choice = divmod(number, count)
        choices.append(choice)
    return [number, *choices[::-1]]
