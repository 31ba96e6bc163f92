"""Agents that fail forfeit the games in which they fail, so that all other games go on.

An agent is asked about many games at once. When such a call fails as a whole (it raises, or gives something that is
no tensor with an action a game), the games are halved and each half is asked about anew, down to single games: those
that fail alone are forfeited. The generator is set back after each failure, so the same seed gives the same games.
Memory that an agent keeps is its own: a call that failed midway may have changed it.

Letters: `L` rows that an agent is asked about, `K` components of an action.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.utils.reasons import reason_of, trace_of
from cellgames.utils.time_limit import OutOfTimeError

from .base import AnswerError, PartialAnswerError
from .containment import AgentError, Asked
from .selection import question
from .time_control import Clocks

__all__ = ["Failure", "Faults", "select_or_fail", "start_or_fail"]

# What an agent of the package does wrong; `containment` finds what others do. Ctrl-C is not among them.
_AGENTS_FAULT = (Exception, SystemExit, asyncio.CancelledError, OutOfTimeError)
_MACHINES_FAULT = (MemoryError, torch.OutOfMemoryError)  # of the package's agents, which need what they need


@dataclass(frozen=True)
class Failure:
    """The reason why a game was stopped.

    Attributes:
        seats: that failed, all in the same turn; ascending.
        turn: turns played before; 0 also for an agent that failed at the start.
        reason: of the first of them, one line.
        trace: file, line and source of that agent's calls if it raised an error, several lines.
    """

    seats: tuple[int, ...]
    turn: int
    reason: str
    trace: str = ""


@dataclass(frozen=True)
class Fault:
    """The reason why one call failed.

    Attributes:
        reason: one line.
        trace: as in `Failure`.
    """

    reason: str
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Fault:
        """Return the fault of an error that an agent has raised."""
        if isinstance(error, AgentError):
            return cls(error.reason, error.trace)
        if isinstance(error, AnswerError):
            return cls(reason_of(str(error).split(";")[0]))
        return cls(reason_of(error), trace_of(error))


class Faults:
    """The failures of a turn: by environment, the fault of each seat."""

    def __init__(self) -> None:
        self._found: dict[int, dict[int, Fault]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, env_id: int, seat: int, fault: Fault, *, instead: bool = False) -> None:
        """Add the fault of a seat, unless it has one; or `instead` of that one."""
        of_env = self._found.setdefault(env_id, {})
        of_env[seat] = fault if instead else of_env.get(seat, fault)

    def failures(self, turn: int) -> dict[int, Failure]:
        """Return the failures by environment, after so many turns."""
        return {
            env_id: Failure(tuple(sorted(seats)), turn, seats[min(seats)].reason, seats[min(seats)].trace)
            for env_id, seats in sorted(self._found.items())
        }


def start_or_fail(agent: Asked, game: Game, players: Tensor, env_ids: Tensor, faults: Faults) -> None:
    """Start an agent; environments in which it fails are added to `faults`.

    Args:
        agent: to start.
        game: the rules.
        players: int64 [L], as in `Agent.start`.
        env_ids: int64 [L], ascending.
        faults: added to.
    """

    def attempt(rows: slice) -> Fault | None:
        try:
            agent.start(game, players[rows].clone(), env_ids[rows].clone())
        except _MACHINES_FAULT as error:
            raise _too_large(agent, error) from error
        except _AGENTS_FAULT as error:
            return Fault.of(error)
        return None

    _halving(agent, env_ids, players, attempt, faults)


def select_or_fail(
    agent: Asked,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor,
    faults: Faults,
    clocks: Clocks | None = None,
) -> Tensor:
    """Ask an agent as `select` does; environments that fail are added to `faults` and get -1.

    With clocks it is asked about one game after the other, and fails where its time runs out. If it does not answer
    then, it is interrupted.

    Args:
        agent: to ask.
        game: the rules.
        state: all games of the batch.
        env_ids: int64 [L], ascending, the games to ask about.
        generator: consumed by the agent.
        players: int64 [L], the seats to act.
        faults: added to.
        clocks: of all games of the batch.
    """
    chosen = torch.full((len(env_ids), *game.info.action_shape[game.info.simultaneous :]), -1, device=env_ids.device)

    seconds = [0.0]  # of the last question

    def attempt(rows: slice) -> Fault | None:
        saved = generator.get_state()
        asked = question(agent, game, state, env_ids[rows], generator, players[rows])
        failed: Mapping[int, str] = {}
        start = perf_counter()
        try:
            answer = asked.answer(generator)
        except PartialAnswerError as partial:
            answer, failed = partial.actions, partial.failures
        except _MACHINES_FAULT as error:
            raise _too_large(agent, error) from error
        except _AGENTS_FAULT as error:
            generator.set_state(saved)
            return Fault.of(error)
        finally:
            seconds[0] = perf_counter() - start
        places = torch.arange(len(env_ids), device=env_ids.device)[rows]
        for row, reason in failed.items():
            faults.add(int(env_ids[places[row]]), int(players[places[row]]), Fault(reason_of(reason)))
        wrong = asked.illegal(answer)
        wrong[list(failed)] = False
        chosen[rows] = answer
        chosen[places[list(failed)]] = -1
        if wrong.any():
            for row in wrong.any(1).nonzero().squeeze(1).tolist():
                action, why = asked.why_illegal(chosen[rows], row, int(wrong[row].int().argmax()))
                place = int(places[row])
                faults.add(
                    int(env_ids[place]), int(players[place]), Fault(reason_of(f"illegal action {action}: {why}"))
                )
                chosen[place] = -1
        return None

    if clocks is None:
        _halving(agent, env_ids, players, attempt, faults)
        return chosen
    for row, (env_id, player) in enumerate(zip(env_ids.tolist(), players.tolist(), strict=True)):
        clocks.start(env_id, player)
        if hasattr(agent, "clock"):  # it wants to know, and keeps to it
            agent.clock = clocks.face(env_id, player)
            fault = attempt(slice(row, row + 1))
        else:
            with clocks.limit(env_id, player):
                fault = attempt(slice(row, row + 1))
        if late := clocks.charge(env_id, player, seconds[0]):
            fault = Fault(late, "" if fault is None else fault.trace)
        if fault is not None:
            chosen[row] = -1
            faults.add(env_id, player, fault, instead=bool(late))
    return chosen


def _too_large(agent: Asked, error: BaseException) -> MemoryError:
    return MemoryError(
        f"agent {agent.name!r} ran out of memory ({reason_of(error)}); play fewer games at once (--chunk)"
    )


def _halving(
    agent: Asked, env_ids: Tensor, seats: Tensor, attempt: Callable[[slice], Fault | None], faults: Faults
) -> None:
    """Attempt all rows at once, or find the environments in which an attempt fails by itself.

    Where all fail this takes less than two attempts per env, where one does, two for each doubling of the envs. Rows
    of one env stay together.
    """
    if (fault := attempt(slice(None))) is None:
        return
    counts = env_ids.unique_consecutive(return_counts=True)[1]
    ends = [0, *counts.cumsum(0).tolist()]  # rows of env k are ends[k] to ends[k + 1]

    def blamed(first: int, last: int, fault: Fault) -> bool:
        """Return True if some of these environments, which failed together, fails alone."""
        if last - first == 1:
            for row in range(ends[first], ends[last]):
                faults.add(int(env_ids[row]), int(seats[row]), fault)
            return True
        middle = (first + last) // 2
        found = False
        for start, end in ((first, middle), (middle, last)):
            if again := attempt(slice(ends[start], ends[end])):
                found |= blamed(start, end, again)
        return found

    if not blamed(0, len(counts), fault):
        warnings.warn(
            f"agent {agent.name!r} failed when it was asked about several games at once ({fault.reason}), but in none "
            "of them alone: no game is forfeited, but it plays slowly",
            RuntimeWarning,
            stacklevel=2,
        )
