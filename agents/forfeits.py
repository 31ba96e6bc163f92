"""Forfeits: an agent that raises an error or gives no legal action loses the games that the call was about.

An agent is asked about many games in one call. Where it gives no legal action for some of them, it loses these; where
the call raises an `Exception`, it loses all games of the call. Programs find out themselves in which games they have
failed (`PartialAnswerError`). Only the process of a program can be ended, so an agent in this process that does not
return, or that ends the process, stops the run.

Letters: `L` games that wait for an agent, `K` components of an action.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.utils.foreign_text import clipped

from .base import AnswerError, AnyAgent, PartialAnswerError
from .selection import Question, question
from .time_control import Clocks

_MACHINES_FAULT = (MemoryError, torch.OutOfMemoryError)
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
    except _MACHINES_FAULT:
        raise
    except Exception as error:
        raise AgentError(agent.name, *_told(error)) from error


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
        return {
            env_id: Failure(tuple(sorted(seats)), turn, *seats[min(seats)])
            for env_id, seats in sorted(self._found.items())
        }


def _told(error: Exception) -> tuple[str, str]:
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


def start_or_fail(agent: AnyAgent, game: Game, players: Tensor, env_ids: Tensor, faults: Faults) -> None:
    """Start an agent; if it fails, all environments are added to `faults`.

    Args:
        agent: to start.
        game: the rules.
        players: int64 [L], as in `Agent.start`.
        env_ids: int64 [L], ascending.
        faults: added to.
    """
    try:
        agent.start(game, players.clone(), env_ids.clone())
    except _MACHINES_FAULT as error:
        raise _too_large(agent, error) from error
    except Exception as error:
        faults.add(env_ids, players, *_told(error))


def select_or_fail(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor,
    faults: Faults,
    clocks: Clocks | None = None,
) -> Tensor:
    """Ask an agent as `select` does; environments that fail are added to `faults` and get -1.

    With clocks it is asked about one game after the other, and fails where its time runs out. A program is ended
    then; another agent is waited for.

    Args:
        agent: to ask.
        game: the rules.
        state: all games of the batch.
        env_ids: int64 [L], ascending, the games to ask about.
        generator: consumed by the agent.
        players: int64 [L], the seats to act.
        faults: added to.
        clocks: clocks of all games of the batch.
    """
    if clocks is None:
        return _asked(question(agent, game, state, env_ids, generator, players), generator, faults)[0]
    chosen = []
    for env_id, player in zip(env_ids.split(1), players.split(1), strict=True):
        place = int(env_id), int(player)
        clocks.start(*place)
        if hasattr(agent, "clock"):  # it wants to know, and keeps to it
            agent.clock = clocks.face(*place)
        asked = question(agent, game, state, env_id, generator, player)
        own = Faults()
        actions, seconds = _asked(asked, generator, own)
        if late := clocks.charge(*place, seconds):  # which is told before what else is wrong
            faults.add(env_id, player, late)
            actions = torch.full_like(actions, -1)
        for failure in own.failures(0).values():
            faults.add(env_id, player, failure.reason, failure.trace)
        chosen.append(actions)
    return torch.cat(chosen)


def _asked(asked: Question, generator: torch.Generator, faults: Faults) -> tuple[Tensor, float]:
    """Return the actions, -1 where the agent failed, and the seconds that it took."""
    env_ids, players, info = asked.env_ids, asked.players, asked.game.info
    failed: Mapping[int, str] = {}
    start = perf_counter()
    try:
        actions = asked.answer(generator)
    except PartialAnswerError as partial:
        actions, failed = partial.actions, partial.failures
    except _MACHINES_FAULT as error:
        raise _too_large(asked.agent, error) from error
    except Exception as error:
        seconds = perf_counter() - start
        faults.add(env_ids, players, *_told(error))
        shape = (len(env_ids), *info.action_shape[info.simultaneous :])
        return torch.full(shape, -1, device=env_ids.device), seconds
    seconds = perf_counter() - start
    for row, reason in failed.items():
        faults.add(env_ids[row : row + 1], players[row : row + 1], reason_of(reason))
    wrong = asked.illegal(actions)
    wrong[list(failed)] = False
    rows = wrong.any(1).nonzero().squeeze(1).tolist()
    for row in rows:
        action, why = asked.why_illegal(actions, row, int(wrong[row].int().argmax()))
        faults.add(env_ids[row : row + 1], players[row : row + 1], reason_of(f"illegal action {action}: {why}"))
    if failed or rows:
        actions = actions.clone()
        actions[[*failed, *rows]] = -1
    return actions, seconds


def _too_large(agent: AnyAgent, error: BaseException) -> MemoryError:
    return MemoryError(
        f"agent {agent.name!r} ran out of memory ({reason_of(error)}); play fewer games at once (--chunk)"
    )
