"""Calls of agents that are not part of the package: what they raise has a name, and what they change is put back.

Such an agent runs in this process. Whatever it raises, also `SystemExit` or an error of its own that is no `Exception`,
becomes an `AgentError` that names it; only the user's Ctrl-C stops the run. The state of the process is put back after
every call (`process_state`), and the agent draws from global random generators of its own. A process that it forks
ends when the call does. A call that exceeds a `time_limit` is interrupted. `os._exit` and `os.abort` are errors of the
agent that calls them. What else ends the process at once, such as a fault in native code, cannot be caught: `last_call`
says whose call it was.

Agents of the package are called as they are, at no cost.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeAlias, TypeVar

import torch
from torch import Tensor

from cellgames.envs.core import Game
from cellgames.utils import last_call
from cellgames.utils.reasons import reason_of, trace_of
from cellgames.utils.time_limit import limited

from .base import AnswerError, AnyAgent, acting, takes_states
from .policy import PolicyAgent
from .process_state import ProcessState, Streams, ThreadState, handler_of_interrupts
from .views import takes_views

__all__ = ["AgentError", "Asked", "Contained", "contain", "guarded", "inner", "kept_streams", "name_of"]

T = TypeVar("T")

_PACKAGE = "cellgames."


class AgentError(RuntimeError):
    """An error in the program of an agent.

    Attributes:
        agent: its name.
        reason: what it raised, one line.
        trace: file, line and source of its own calls, bounded.
    """

    def __init__(self, agent: str, reason: str, trace: str) -> None:
        super().__init__(agent, reason, trace)
        self.agent = agent
        self.reason = reason
        self.trace = trace

    def __str__(self) -> str:
        return f"agent {self.agent!r} failed: {self.reason}"


class Contained:
    """An agent that is not part of the package, in one game.

    Args:
        agent: to call.
        game: that it plays.
        seed: of its global random generators.
        keep: as for `Streams`.

    Attributes:
        game: that it plays.
        inner: the agent, or the one that it is in this game (`ByGame`).
        name: its name.
        on_state: True if it is asked by `act_on_state`.
        on_views: True if it is asked by `act_on_views`.

    Raises:
        ValueError: it cannot play this kind of game.
    """

    def __init__(self, agent: AnyAgent, game: Game, seed: int, *, keep: bool = False) -> None:
        self.game, self._streams = game, Streams(seed, keep=keep)
        try:
            self.name = name_of(agent)
        except ValueError:
            self.name = type(agent).__name__
        self.inner = acting(agent, game)
        try:
            self.on_state = self._guarded("its methods", lambda: takes_states(agent, game))
            self.on_views = self._guarded("its methods", lambda: takes_views(self.inner))
        except ValueError:
            raise
        except Exception:  # what cannot be looked at may fail when it is asked
            self.on_state = self.on_views = False

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Start games, as `Agent.start`; raise an `AgentError` if the agent fails."""
        self._guarded("the start of games", lambda: self.inner.start(game, players, env_ids), exceptions=True)

    def call(self, function: Callable[[], T]) -> T:
        """Return what a function of the agent's moves returns.

        Raises:
            AnswerError: raised by the function.
            AgentError: the function raised something else.
        """
        return self._guarded("a move", function, exceptions=True)

    def _guarded(self, purpose: str, function: Callable[[], T], *, exceptions: bool = False) -> T:
        return guarded(self.name, purpose, function, exceptions=exceptions, streams=self._streams)


Asked: TypeAlias = AnyAgent | Contained
"""An agent as the loops ask it."""


def contain(agent: AnyAgent, game: Game, generator: torch.Generator | None = None, *, keep: bool = False) -> Asked:
    """Return the agent itself if it is part of the package, else with its calls contained.

    Args:
        agent: any.
        game: that it plays.
        generator: its own; the agent's global random generators are seeded by the seed of this one.
        keep: as for `Streams`.

    Raises:
        ValueError: it cannot play this kind of game.
    """
    if _is_ours(agent) and _is_ours(acting(agent, game)):
        takes_states(agent, game)
        return agent
    seed = generator.initial_seed() if generator is not None else _seed_of(agent)
    return Contained(agent, game, seed, keep=keep)


@contextmanager
def kept_streams() -> Iterator[None]:
    """Put back Python's generator in the end, for calls of agents that were contained with `keep`."""
    try:
        yield
    finally:
        Streams.release()


def inner(agent: Asked) -> AnyAgent:
    """Return the agent that is called."""
    return agent.inner if isinstance(agent, Contained) else agent


def name_of(agent: AnyAgent) -> str:
    """Return the agent's name; a `ValueError` if it has none that can be read."""
    if _is_ours(agent):
        return agent.name
    kind = type(agent).__name__
    try:
        name = guarded(kind, "its name", lambda: agent.name, exceptions=True)
    except AgentError as error:
        raise ValueError(f"expected an agent with a name, got a {kind}, whose name raises {error.reason}") from None
    if not isinstance(name, str):
        raise ValueError(f"expected an agent with a name, a text; a {kind} has a {type(name).__name__}")
    return str.__getitem__(name, slice(None))  # no text of its own making


class ProcessExitError(BaseException):
    """A call of `os._exit` or `os.abort` by an agent; what agents usually catch does not catch it."""


def _exits() -> dict[tuple[Any, str], Any]:
    """Return the functions that end the process at once, by module and name."""
    modules = (os, importlib.import_module(os.name))  # `os` has those of `posix` or `nt`
    return {(module, name): getattr(module, name) for module in modules for name in ("_exit", "abort")}


class _Process:
    """The state of the process while agents are called, by one thread or several at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._before: ProcessState | None = None
        self._exits = _exits()
        self._callers: dict[int, int] = {}  # threads in calls of agents, with the number of calls within calls

    def exit(self, status: int) -> NoReturn:
        """End the process, whatever an agent has made of `os._exit`."""
        self._exits[os, "_exit"](status)
        raise AssertionError("the process goes on after its end")

    def enter(self) -> bool:
        """Take note of the state, if no other thread is in a call; return True in that case."""
        with self._lock:
            first = self._calls == 0
            if first:
                self._before = ProcessState()
                for (module, name), function in self._exits.items():
                    setattr(module, name, self._refusing(name, function))
            self._calls += 1
            thread = threading.get_ident()
            self._callers[thread] = self._callers.get(thread, 0) + 1
            return first

    def _refusing(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that raises an error in a call of an agent, and else does what the given one does."""
        process = os.getpid()

        def refuse(*arguments: Any, **named: Any) -> Any:
            if os.getpid() != process or threading.get_ident() not in self._callers:
                return function(*arguments, **named)
            raise ProcessExitError(f"os.{name}({', '.join(map(repr, arguments))}) would end the process")

        return refuse

    def leave(self) -> None:
        """Put back the state from before the calls that go on."""
        with self._lock:
            self._calls -= 1
            thread = threading.get_ident()
            self._callers[thread] -= 1
            if not self._callers[thread]:
                del self._callers[thread]
            if not self._calls:
                for (module, name), function in self._exits.items():
                    setattr(module, name, function)
            assert self._before is not None  # enter has set it
            self._before.restore()


class _Interrupts:
    """A handler of Ctrl-C that remembers that there was one, and does what the one before does."""

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread() and callable(handler_of_interrupts()):
            self._before = handler_of_interrupts(self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            self.pressed = True
            raise

    def close(self) -> None:
        """Put back the handler from before."""
        if self._before is not None:
            handler_of_interrupts(self._before)


_PROCESS = _Process()


def guarded(
    agent: str,
    purpose: str,
    function: Callable[[], T],
    *,
    exceptions: bool = False,
    streams: Streams | None = None,
) -> T:
    """Return what a function that calls the code of an agent returns, with the state of the process put back.

    The function is interrupted at the limit of `time_limit`, if there is one around the call.

    Args:
        agent: the agent's name.
        purpose: what the agent is asked for, such as "a move".
        function: to call.
        exceptions: True to turn every exception but `AnswerError` into an `AgentError`; False to do so only with what
            is no `Exception`.
        streams: the agent's global random generators; None lets it draw from those of the process.

    Raises:
        AgentError: the function raised something that is no `Exception`, or, with `exceptions`, anything.
        KeyboardInterrupt: the user pressed Ctrl-C.
    """
    answered = last_call.asking(agent, purpose)
    process = os.getpid()
    first = _PROCESS.enter()
    interrupts, thread = _Interrupts(), ThreadState()
    if first and streams is not None:
        streams.enter()
    failure: AgentError | None = None
    try:
        return limited(function)
    except AnswerError:
        raise
    except BaseException as error:
        if os.getpid() != process:
            _PROCESS.exit(1)
        if interrupts.pressed or (isinstance(error, Exception) and not exceptions):
            raise
        failure = AgentError(agent, reason_of(error), trace_of(error))
    finally:
        if os.getpid() != process:  # a child that the agent forked: the games are the parent's
            _PROCESS.exit(0)
        if first and streams is not None:
            streams.leave()
        thread.restore()
        interrupts.close()
        _PROCESS.leave()
        if answered is not None:
            answered()
        if interrupts.pressed:  # also if the agent has swallowed it
            raise KeyboardInterrupt
    raise failure


def _is_ours(agent: object) -> bool:
    """Return True for an agent whose class is part of the package and calls nothing else."""
    kind = type(agent)
    if isinstance(agent, PolicyAgent) or not str(kind.__module__).startswith(_PACKAGE):
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind


def _seed_of(agent: AnyAgent) -> int:
    """Return a seed for an agent that has no generator of its own, by its class."""
    kind = type(agent)
    return int.from_bytes(hashlib.blake2b(f"{kind.__module__}.{kind.__name__}".encode(), digest_size=7).digest(), "big")
