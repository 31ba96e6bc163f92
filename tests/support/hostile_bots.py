"""Agents that attack the process that asks them: each does its worst at its second move, and most then raise an error.

`BOTS` has those that Python can catch. `Ends` ends the process, as the environment variable ENDS says.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import locale
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent
from cellgames.envs.core import Game

__all__ = ["BOTS", "AttackError", "Ends", "Hostile", "Leaves", "Loud", "attacks", "closes"]


class AttackError(RuntimeError):
    """The error of a bot that has done its worst."""


class _NoError(BaseException):
    """An error that `except Exception` does not catch."""


class _SilentError(Exception):
    """An error that has no text."""

    @override
    def __str__(self) -> str:
        raise _NoError


class Nowhere(Tensor):
    """A tensor that refuses every operation."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise _NoError


class Hostile(BaseAgent):
    """The first legal action, and one attack.

    Args:
        name: as in `Agent`.
        attack: called with the right actions at every move from the second on; what it returns is the answer.
    """

    def __init__(self, name: str, attack: Callable[[Tensor], Any]) -> None:
        super().__init__(name)
        self.attack = attack
        self.moves = 0

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.moves = 0

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Any:
        self.moves += 1
        actions = action_mask.int().argmax(1)
        return actions if self.moves == 1 else self.attack(actions)


def then_raises(*steps: Callable[[], Any]) -> Callable[[Tensor], Any]:
    """An attack that takes some steps and then raises an error."""

    def attack(actions: Tensor) -> Any:
        for step in steps:
            step()
        raise AttackError("did its worst")

    return attack


def raises(error: BaseException) -> Callable[[Tensor], Any]:
    """An attack that raises an error."""

    def attack(actions: Tensor) -> Any:
        raise error

    return attack


def deep() -> int:
    """Call itself until Python has enough."""
    return 1 + deep()


attacks: dict[str, Callable[[Tensor], Any]] = {
    "sys.exit": lambda a: sys.exit(3),
    "os._exit": lambda a: os._exit(0),
    "os.abort": lambda a: os.abort(),
    "another os._exit": lambda a: importlib.import_module(os.name)._exit(0),
    "an own os._exit": then_raises(lambda: setattr(os, "_exit", print)),
    "GeneratorExit": raises(GeneratorExit()),
    "KeyboardInterrupt": raises(KeyboardInterrupt()),
    "BaseException": raises(_NoError("mine")),
    "MemoryError": raises(MemoryError("mine")),
    "no text": raises(_SilentError()),
    "long text": raises(ValueError("x" * 10**7)),
    "recursion": lambda a: deep(),
    "chdir": then_raises(lambda: os.chdir("/")),
    "default device": then_raises(lambda: torch.set_default_device("meta")),
    "default dtype": then_raises(lambda: torch.set_default_dtype(torch.float64)),
    "threads": then_raises(lambda: torch.set_num_threads(3)),
    "deterministic": then_raises(lambda: torch.use_deterministic_algorithms(True)),
    "inference": then_raises(lambda: torch.inference_mode().__enter__()),
    "no gradients": then_raises(lambda: torch.set_grad_enabled(False)),
    "handler": then_raises(
        lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ),
    "warnings": then_raises(lambda: warnings.simplefilter("error")),
    "recursion limit": then_raises(lambda: sys.setrecursionlimit(200)),
    "digits": then_raises(lambda: sys.set_int_max_str_digits(0)),
    "environment": then_raises(
        lambda: os.environ.update(CELLGAMES_STORE="mine", PATH="nowhere"), lambda: os.environ.pop("HOME", None)
    ),
    "another environment": then_raises(lambda: setattr(os, "environ", {})),
    "permissions": then_raises(lambda: os.umask(0o777)),
    "locale": then_raises(lambda: locale.setlocale(locale.LC_ALL, "C")),
    "imports": then_raises(sys.path.clear),
    "other imports": then_raises(lambda: setattr(sys, "path", [])),
    "seeds": then_raises(
        lambda: random.seed(0),
        lambda: np.random.seed(0),  # noqa: NPY002  # what a bot may do
        lambda: torch.manual_seed(0),
    ),
    "numpy errors": then_raises(lambda: np.seterr(all="raise")),
    "collector": then_raises(gc.disable),
    "stdout": then_raises(lambda: setattr(sys, "stdout", None), lambda: setattr(sys, "stderr", None)),
    "alarm": then_raises(lambda: signal.setitimer(signal.ITIMER_REAL, 0.2)),
    "a billion": lambda a: torch.zeros(1, dtype=torch.int64).expand(10**12),
    "list": lambda a: a.tolist(),
    "range": lambda a: range(10**12),
    "meta": lambda a: a.to("meta"),
    "subclass": lambda a: a.float().as_subclass(Nowhere),
    "nan": lambda a: a * float("nan"),
}
closes: dict[str, Callable[[Tensor], Any]] = {
    "closes stdout": then_raises(lambda: sys.stdout.close()),  # noqa: PLW0108  # the one of that time
    "closes stderr": then_raises(lambda: sys.stderr.close()),  # noqa: PLW0108
    "closes descriptors": then_raises(lambda: os.closerange(0, 3)),
}
if hasattr(os, "fork"):
    closes["forks"] = then_raises(os.fork)
    closes["forks and answers"] = lambda a: (os.fork(), a.float())[1]
BOTS = attacks | closes
"""Attacks by name; those of `closes` are for a process of their own."""


class Loud(BaseAgent):
    """The first legal action; prints a sequence that clears the terminal."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        print("\x1b[2J")
        return action_mask.int().argmax(1)


class Leaves(BaseAgent):
    """Ends the process as soon as it is asked."""

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        os._exit(0)


class Ends(BaseAgent):
    """The first legal action; ends its process at move ENDS_AT (3) as ENDS says, both of the environment."""

    def __init__(self) -> None:
        super().__init__()
        self.moves = 0

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        self.moves += 1
        if self.moves == int(os.environ.get("ENDS_AT", "3")):
            how = os.environ.get("ENDS")
            if how == "exit":
                ctypes.CDLL(None)._exit(0)
            elif how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            elif how == "segfault":
                ctypes.string_at(0)
            elif how == "raise":
                raise AttackError("on purpose")
        return action_mask.int().argmax(1)
