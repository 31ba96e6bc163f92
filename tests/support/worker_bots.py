"""Agents for tests of the arena on workers, found by import path; what they do is said after a second colon."""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch
from torch import Tensor

from cellgames.agents.playouts import RandomAgent


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
