"""Agents that fail forfeit the games in which they fail, so that all other games go on.

An agent is asked about many games at once. When such a call fails as a whole (it raises, or gives something that is
no tensor with an action a game), the games are halved and each half is asked about anew, down to single games: those
that fail alone are forfeited. The generator is set back after each failure, so the same seed gives the same games.
Memory that an agent keeps is its own: a call that failed midway may have changed it.

Letters: `L` rows that an agent is asked about, `K` components of an action.
"""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.envs.core import Game, State

from .base import AnyAgent
from .selection import question

__all__ = ["MOST_REASON", "Failure", "Faults", "reason_of", "select_or_fail", "start_or_fail"]

MOST_REASON = 200
"""Characters of a reason."""

# What a bot does wrong, also leaving by sys.exit or out of a coroutine. Ctrl-C is not among them.
_BOTS_FAULT = (Exception, SystemExit, asyncio.CancelledError)
_MACHINES_FAULT = (MemoryError, torch.OutOfMemoryError)


@dataclass(frozen=True)
class Failure:
    """The reason why a game was stopped.

    Attributes:
        seats: that failed, all in the same turn; ascending.
        turn: turns played before; 0 also for an agent that failed at the start.
        reason: of the first of them, one line.
    """

    seats: tuple[int, ...]
    turn: int
    reason: str


class Faults:
    """The failures of a turn: by environment, the reason of each seat."""

    def __init__(self) -> None:
        self._found: dict[int, dict[int, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, env_id: int, seat: int, reason: str) -> None:
        """Add the reason of a seat, unless it has one."""
        self._found.setdefault(env_id, {}).setdefault(seat, reason)

    def failures(self, turn: int) -> dict[int, Failure]:
        """Return the failures by environment, after so many turns."""
        return {
            env_id: Failure(tuple(sorted(seats)), turn, seats[min(seats)])
            for env_id, seats in sorted(self._found.items())
        }


def reason_of(fault: str | BaseException) -> str:
    """Return one line of at most `MOST_REASON` printable characters, without addresses, which differ by process."""
    if isinstance(fault, BaseException):
        try:
            said = str(fault)
        except Exception:  # a bot may have errors of its own making
            said = ""
        fault = f"{type(fault).__name__}: {said}" if said else type(fault).__name__
    line = " ".join(re.sub(r"\b0x[0-9a-fA-F]+", "0x...", fault).split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= MOST_REASON else line[: MOST_REASON - 3] + "..."


def start_or_fail(agent: AnyAgent, game: Game, players: Tensor, env_ids: Tensor, faults: Faults) -> None:
    """Start an agent; environments in which it fails are added to `faults`.

    Args:
        agent: to start.
        game: the rules.
        players: int64 [L], as in `Agent.start`.
        env_ids: int64 [L], ascending.
        faults: added to.
    """

    def attempt(rows: slice) -> str:
        try:
            agent.start(game, players[rows].clone(), env_ids[rows].clone())
        except _MACHINES_FAULT:
            raise
        except _BOTS_FAULT as error:
            return reason_of(error)
        return ""

    _halving(agent, env_ids, players, attempt, faults)


def select_or_fail(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor,
    faults: Faults,
) -> Tensor:
    """Ask an agent as `select` does; environments that fail are added to `faults` and get -1.

    Args:
        agent: to ask.
        game: the rules.
        state: all games of the batch.
        env_ids: int64 [L], ascending, the games to ask about.
        generator: consumed by the agent.
        players: int64 [L], the seats to act.
        faults: added to.
    """
    chosen = torch.full((len(env_ids), *game.info.action_shape[game.info.simultaneous :]), -1, device=env_ids.device)

    def attempt(rows: slice) -> str:
        saved = generator.get_state()
        asked = question(agent, game, state, env_ids[rows], generator, players[rows])
        try:
            answer = asked.answer(generator)
            if fault := asked.fault(answer):
                generator.set_state(saved)
                return reason_of(fault.split(";")[0])
            wrong, legal = asked.illegal(answer)
        except _MACHINES_FAULT:
            raise
        except _BOTS_FAULT as error:
            generator.set_state(saved)
            return reason_of(error)
        chosen[rows] = legal
        if wrong.any():
            places = torch.arange(len(env_ids), device=env_ids.device)[rows]
            for row in wrong.any(1).nonzero().squeeze(1).tolist():
                action, why = asked.why_illegal(chosen[rows], row, int(wrong[row].int().argmax()))
                place = int(places[row])
                faults.add(int(env_ids[place]), int(players[place]), reason_of(f"illegal action {action}: {why}"))
                chosen[place] = -1
        return ""

    _halving(agent, env_ids, players, attempt, faults)
    return chosen


def _halving(agent: AnyAgent, env_ids: Tensor, seats: Tensor, attempt: Callable[[slice], str], faults: Faults) -> None:
    """Attempt all rows at once, or find the environments in which an attempt fails by itself.

    Where all fail this takes less than two attempts per env, where one does, two for each doubling of the envs. Rows
    of one env stay together.
    """
    if not (reason := attempt(slice(None))):
        return
    counts = env_ids.unique_consecutive(return_counts=True)[1]
    ends = [0, *counts.cumsum(0).tolist()]  # rows of env k are ends[k] to ends[k + 1]

    def blamed(first: int, last: int, reason: str) -> bool:
        """Return True if some of these environments, which failed together, fails alone."""
        if last - first == 1:
            for row in range(ends[first], ends[last]):
                faults.add(int(env_ids[row]), int(seats[row]), reason)
            return True
        middle = (first + last) // 2
        found = False
        for start, end in ((first, middle), (middle, last)):
            if again := attempt(slice(ends[start], ends[end])):
                found |= blamed(start, end, again)
        return found

    if not blamed(0, len(counts), reason):
        warnings.warn(
            f"agent {agent.name!r} failed when it was asked about several games at once ({reason}), but in none of "
            "them alone: no game is forfeited, but it plays slowly",
            RuntimeWarning,
            stacklevel=2,
        )
