"""PettingZoo policies as agents: functions from one observation to one action."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game
from cellgames.envs.kernels.actions import ActionsError, from_numbers
from cellgames.utils.foreign_text import shown

from .base import AnswerError, BaseAgent, PartialAnswerError

Policy = Callable[[dict[str, Any]], Any]


class PolicyAgent(BaseAgent):
    """An agent that asks a function about one game after the other, so it is as slow as the function times the games.

    Args:
        policy: gets `{"observation": array, "action_mask": array}` as the PettingZoo environment of the game
            gives it (the mask int8, 1 is legal; a tuple of masks if an action has several components) and
            returns a whole number (or one for each component). It owns the arrays. Its randomness is its own:
            the generator of the game loop does not reach it.
        name: as in `Agent`; defaults to the function's.
    """

    def __init__(self, policy: Policy, name: str | None = None) -> None:
        super().__init__(name if name is not None else getattr(policy, "__name__", type(policy).__name__))
        self._policy = policy
        self._nvec: tuple[int, ...] | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._nvec = game.info.action_nvec

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Raises:
            PartialAnswerError: the policy failed in some games.
        """
        observations = np.array(observation.numpy(force=True))
        masks = action_mask.numpy(force=True).astype(np.int8)
        nvec = self._nvec or action_mask.shape[1:]
        shape = (len(nvec),) if len(nvec) > 1 else ()
        chosen: list[Tensor] = []
        failures: dict[int, Exception] = {}
        for row, (seen, mask) in enumerate(zip(observations, masks, strict=True)):
            given = tuple(np.split(mask, np.cumsum(nvec)[:-1])) if shape else mask
            try:
                chosen.append(self._number(self._policy({"observation": seen, "action_mask": given}), shape))
            except Exception as error:
                failures[row] = error
                chosen.append(torch.full(shape, -1))
        actions = torch.stack(chosen).to(action_mask.device)
        if failures:
            reasons = {
                row: str(error) if isinstance(error, AnswerError) else f"{type(error).__name__}: {error}"
                for row, error in failures.items()
            }
            raise PartialAnswerError(actions, reasons) from next(iter(failures.values()))
        return actions

    @staticmethod
    def _number(answer: Any, shape: tuple[int, ...]) -> Tensor:
        try:
            # Not only numbers: arrays and tensors with a single one count as it.
            return from_numbers(answer if shape else operator.index(answer), shape)
        except (ActionsError, TypeError, ValueError, RuntimeError):
            wanted = "one whole number for each component" if shape else "a whole number"
            raise AnswerError(f"must give {wanted} as its action, got {shown(answer)}") from None
