"""Failures of agents: an agent that raises an error or gives no legal action loses the games that the call was about.

An agent is asked about many games in one call (`selection.select`). Where it gives no legal action for some of them, it
loses these; where the call raises an `Exception`, it loses all games of the call. Programs find out themselves in which
games they have failed (`PartialAnswerError`). Only the process of a program can be ended, so an agent in this process
that does not return, or that ends the process, stops the run.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.utils.foreign_text import clipped

from .base import AnswerError, AnyAgent

MACHINES_FAULT = (MemoryError, torch.OutOfMemoryError)
"""Errors for which no agent forfeits."""

_MOST_REASON = 200  # characters
_FRAMES = 20  # of a traceback, the innermost
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


class AgentError(RuntimeError):
    """An error in the program of an agent, where nobody forfeits.

    Attributes:
        agent: its name.
        reason: the agent's error, one line.
        trace: file, line and source of its calls.
    """

    def __init__(self, agent: str, reason: str, trace: str) -> None:
        super().__init__(agent, reason, trace)
        self.agent, self.reason, self.trace = agent, reason, trace

    def __str__(self) -> str:
        return f"agent {self.agent!r} failed: {self.reason}"


@contextmanager
def naming(agent: AnyAgent) -> Iterator[None]:
    """Turn what an agent raises into an `AgentError`, which names it."""
    try:
        yield
    except MACHINES_FAULT:
        raise
    except Exception as error:
        raise AgentError(agent.name, *told(error)) from error


@dataclass(frozen=True)
class Failure:
    """The reason why a game was stopped.

    Attributes:
        seats: seats that failed, all in the same turn; ascending.
        turn: turns played before; 0 also for an agent that failed at the start.
        reason: reason of the first failure, one line.
        trace: file, line and source of that agent's calls if it raised an error, several lines.
    """

    seats: tuple[int, ...]
    turn: int
    reason: str
    trace: str = ""


class Faults:
    """The failures of a turn: by environment and seat, the reason and the trace, as in `Failure`."""

    def __init__(self) -> None:
        self._found: dict[int, dict[int, tuple[str, str]]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, env_ids: Tensor, seats: Tensor, reason: str, trace: str = "") -> None:
        """Add the failure of a seat in each environment, unless it has one."""
        for env_id, seat in zip(env_ids.tolist(), seats.tolist(), strict=True):
            self._found.setdefault(env_id, {}).setdefault(seat, (reason, trace))

    def failures(self, turn: int) -> dict[int, Failure]:
        """Return the failures by environment, after `turn` turns."""
        found = sorted(self._found.items())
        return {env_id: Failure(tuple(sorted(seats)), turn, *seats[min(seats)]) for env_id, seats in found}


def told(error: Exception) -> tuple[str, str]:
    """Return the reason and the trace of an error that an agent has raised."""
    if isinstance(error, AnswerError):
        return reason_of(str(error).split(";")[0]), ""
    frames = traceback.extract_tb(error.__traceback__)
    while frames and frames[0].filename.startswith(_PACKAGE):  # the agent's own are told
        frames.pop(0)
    calls = _without_addresses("".join(traceback.format_list(frames[-_FRAMES:])))
    return reason_of(error), f"{calls}{reason_of(error)}"


def reason_of(fault: str | BaseException) -> str:
    """Return one line of bounded length, without addresses, which differ by process."""
    if isinstance(fault, BaseException):
        fault = f"{type(fault).__name__}: {fault}".removesuffix(": ")
    return clipped(_without_addresses(fault), _MOST_REASON)


def _without_addresses(text: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]+", "0x...", text)


def too_large(agent: AnyAgent, error: BaseException) -> MemoryError:
    """Return the error of an agent that ran out of memory, which advises to play fewer games at once."""
    return MemoryError(
        f"agent {agent.name!r} ran out of memory ({reason_of(error)}); play fewer games at once (--chunk)"
    )
