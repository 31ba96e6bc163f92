"""Starting agents, asking them for actions, and checking what they give.

An agent is asked about many games in one call (`select`). Where it gives no legal action for some of them, it loses
these; where the call raises an `Exception`, it loses all games of the call. Programs find out themselves in which games
they have failed (`PartialAnswerError`). Only the process of a program can be ended, so an agent in this process that
does not return, or that ends the process, stops the run.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action, `B` games.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.envs.core.inputs import NO_TENSOR, ActionsError, as_actions
from cellgames.utils.errors import InputError, clipped, located, shown

from .base import AnswerError, AnyAgent, PartialAnswerError, acting, draw_seeds, takes_states, takes_views
from .time_control import Clocks
from .views import Views

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
        raise AgentError(agent.name, *told(agent, error)) from error


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


class Faults(dict[int, dict[int, tuple[str, str]]]):
    """The failures of a turn: by environment and seat, the reason and the trace, as in `Failure`."""

    def add(self, env_ids: Tensor, seats: Tensor, reason: str, trace: str = "") -> None:
        """Add the failure of a seat in each environment, unless it has one."""
        for env_id, seat in zip(env_ids.tolist(), seats.tolist(), strict=True):
            self.setdefault(env_id, {}).setdefault(seat, (reason, trace))

    def failures(self, turn: int) -> dict[int, Failure]:
        """Return the failures by environment, after `turn` turns."""
        found = sorted(self.items())
        return {env_id: Failure(tuple(sorted(seats)), turn, *seats[min(seats)]) for env_id, seats in found}


def told(agent: AnyAgent, error: Exception) -> tuple[str, str]:
    """Return the reason and the trace of an error of an agent; a `MemoryError` where it ran out of memory."""
    if isinstance(error, MACHINES_FAULT):
        why = f"agent {agent.name!r} ran out of memory ({reason_of(error)}); play fewer games at once (--chunk)"
        raise MemoryError(why) from error
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


def start(agent: AnyAgent, game: Game, players: Tensor, env_ids: Tensor, faults: Faults | None = None) -> None:
    """Start an agent in games that begin, as `Agent.start` does; if it fails, all of them are added to `faults`."""
    try:
        agent.start(game, players.clone(), env_ids.clone())
    except Exception as error:
        if faults is None:
            raise
        faults.add(env_ids, players, *told(agent, error))


def select(
    agent: AnyAgent,
    game: Game,
    state: State,
    env_ids: Tensor,
    generator: torch.Generator,
    players: Tensor | None = None,
    faults: Faults | None = None,
    clocks: Clocks | None = None,
) -> Tensor:
    """Ask an agent for its actions, and check them.

    Args:
        agent: asked once, by `act_on_state`, `act_on_views` or `act`.
        game: the rules.
        state: all games of the batch, [B].
        env_ids: int64 [L], ascending, the unfinished games to ask about.
        generator: consumed by the agent.
        players: int64 [L], the seats to act. Games in turns need none: it is whose turn it is.
        faults: gets the games in which the agent fails; without it such a game raises an error.
        clocks: clocks of the games, with `faults` only. The agent is then asked about one game after the other, and
            fails where its time runs out. A program is ended then; another agent is waited for.

    Returns:
        int64 [L], or [L, K], legal, on the state's device; -1 where the agent failed.

    Raises:
        ValueError: names agent, env, action and reason if an action is not legal; the agent cannot play this
            kind of game.
    """
    info, agent = game.info, acting(agent, game)
    if info.simultaneous and players is None:
        raise InputError("players", "players, since all seats act at once", None, where=game.id)
    players = state.current_player[env_ids] if players is None or not info.simultaneous else players
    if clocks is not None and len(env_ids) > 1:
        alone = zip(env_ids.split(1), players.split(1), strict=True)
        return torch.cat([select(agent, game, state, one, generator, seat, faults, clocks) for one, seat in alone])
    part = state[env_ids]  # a copy: what agents do to their arguments stays with them
    mask = game.legal_actions(part)
    if info.simultaneous:
        mask = mask[torch.arange(len(env_ids), device=state.device), players]
    if clocks is not None:
        clocks.start(int(env_ids), int(players))
        if hasattr(agent, "clock"):  # it wants to know, and keeps to it
            agent.clock = clocks.face(int(env_ids), int(players))
    ask = _call(agent, game, part, env_ids, players, mask, generator)
    shape, troubles = (len(env_ids), *info.action_shape[info.simultaneous :]), list[tuple[list[int], str, str]]()
    began = perf_counter()
    try:
        actions = as_actions(ask(), shape, state.device, "one action a game, ")
    except Exception as error:
        if isinstance(error, ActionsError):
            hint = "; cellgames.agents.PolicyAgent wraps a function of an observation"
            error = AnswerError(f"must give {error.expected}, got {error.got}{hint * (error.expected == NO_TENSOR)}")
        if faults is None:
            if isinstance(error, AnswerError):
                raise InputError(f"agent {shown(agent.name)}", cause=str(error)) from error.__cause__
            raise
        if isinstance(error, PartialAnswerError):
            actions, troubles = error.actions, [([row], reason_of(why), "") for row, why in error.failures.items()]
        else:
            actions, troubles = env_ids.new_full(shape, -1), [(list(range(len(env_ids))), *told(agent, error))]
    seconds = perf_counter() - began
    failed = {row for rows, *_ in troubles for row in rows}
    for row, component, action in _illegal(game, mask, actions):
        if row not in failed:
            reason = game.why_illegal(part[row], int(players[row]), component, action)
            if faults is None:
                illegal = game.illegal_action(part, row, int(players[row]), component, action)
                illegal.env_id = int(env_ids[row])
                raise located(illegal, f"agent {shown(agent.name)}")
            troubles.append(([row], reason_of(f"illegal action {action}: {reason}"), ""))
    if clocks is not None and (late := clocks.charge(int(env_ids), int(players), seconds)):
        troubles.insert(0, ([0], late, ""))  # which is told before what else is wrong
    if faults is not None and troubles:
        actions = actions.clone()
        for rows, reason, trace in troubles:
            faults.add(env_ids[rows], players[rows], reason, trace)
            actions[rows] = -1
    return actions


def _call(
    agent: Any, game: Game, part: State, env_ids: Tensor, players: Tensor, mask: Tensor, generator: torch.Generator
) -> Callable[[], Any]:
    """Return the call of the agent's method, with copies of everything, and in games of chance with other seeds."""
    if takes_states(agent, game):
        seen = part.clone()
        if game.info.stochastic:
            seen = seen.replace(seed=draw_seeds(len(env_ids), generator, part.device))
        return partial(agent.act_on_state, seen, env_ids.clone(), generator)
    if takes_views(agent):
        return partial(agent.act_on_views, Views(game, part, players, mask.clone()), env_ids.clone(), generator)
    return partial(agent.act, game.observe(part, players), mask.clone(), env_ids.clone(), generator)


def _illegal(game: Game, mask: Tensor, actions: Tensor) -> Iterator[tuple[int, int, int]]:
    """Yield each row with an illegal action, the first component at fault, and the choice there."""
    parts = actions.view(len(mask), len(game.info.action_nvec))
    wrong = ~game.info.admits(mask, parts)
    for row in wrong.any(1).nonzero().squeeze(1).tolist():
        component = int(wrong[row].int().argmax())
        yield row, component, int(parts[row, component])
