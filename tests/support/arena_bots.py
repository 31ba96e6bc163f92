"""Agents for tests of the arena, found by import path (`arena_bots:First`)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent
from cellgames.agents.playouts import RandomAgent


class Fragile(BaseAgent):
    """An agent that takes the first legal cell as White, and as Black fails at its first move."""

    def __init__(self) -> None:
        super().__init__("fragile")

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return torch.where(observation[:, -1].any((1, 2)), -1, action_mask.int().argmax(1))


class First(BaseAgent):
    """Always the first legal action."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return action_mask.int().argmax(dim=1)


class Last(BaseAgent):
    """Always the last legal action."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        return action_mask.shape[1] - 1 - action_mask.flip(1).int().argmax(dim=1)


class Raising(First):
    """The first legal action; raises an error when asked for the n-th time, n from the environment variable RAISING."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.asked += 1
        if self.asked == int(os.environ.get("RAISING", "0")):
            raise ArithmeticError("on purpose")
        return super().act(observation, action_mask, env_ids, generator)


class Loud(First):
    """The first legal action; prints a sequence that clears the terminal."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        print("\x1b[2J")
        return super().act(observation, action_mask, env_ids, generator)


class Broken(BaseAgent):
    """Fails when it is asked."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        raise ZeroDivisionError("the bot's own fault")


class Traced(RandomAgent):
    """Random; says that it plays by a file with its process's number in a folder."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = Path(folder)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        (self._folder / f"{os.getpid()}.played").touch()
        return super().act(observation, action_mask, env_ids, generator)


class Patient(Traced):
    """A `Traced` agent that says so in another file, too, and waits, while there is a file `hold`."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        while (self._folder / "hold").exists():
            (self._folder / f"{os.getpid()}.playing").touch()
            time.sleep(0.02)
        return super().act(observation, action_mask, env_ids, generator)
