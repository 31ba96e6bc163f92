"""Live games between a person at the page and agents, kept in memory.

A session is one game. The person's move is played at once; agents think on a thread of their own, a few at a time, so
that neither the page nor other sessions wait for them. An agent that fails forfeits.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.agents.play_loop import Played, moves
from cellgames.agents.time_control import OUT_OF_TIME, Clocks, TimeControl
from cellgames.arena.records.record_lines import Forfeit, Record, Result, plain
from cellgames.arena.records.replays import result, start
from cellgames.envs.core import Game, State
from cellgames.utils.version import __version__

from .agent_seats import AgentSeats
from .frames import frame, layout, step_frames
from .views import view_of
from .views.view import legal_bits

__all__ = ["PERSON", "BusyError", "Event", "RefusedError", "Session"]

PERSON = "human"
"""The person's name in records."""

_BACK = 300  # turns that can be taken back
_OWN_S = 0.1  # the person's own step is waited for so long; Life within it may take longer
_UNSEEN_S = 60.0  # without a request, after which agents wait for the next one; a page asks every 20 s
_LATE_S = 1.0  # after the end of its time, an agent that was not interrupted has lost
_STEPS_KEPT = 60  # last steps whose pictures are kept; a page asks for them at once, and more than once only if it must
_THINKING = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))  # agents that think at the same time


class RefusedError(ValueError):
    """The game does not allow this now; the message says why."""


class BusyError(RefusedError):
    """The request came at the wrong time: agents are thinking, or the page has not seen the last moves."""


@dataclass(frozen=True)
class Event:
    """A step as the page shows it: the frames from the position before to the one after it, and who did what.

    `action` is the person's own part of a joint action.
    """

    turn: int
    seat: int | None
    move: str
    frames: list[dict[str, Any]] = field(repr=False)
    action: tuple[int, ...] | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return {"turn": self.turn, "seat": self.seat, "move": self.move, "frames": self.frames}


class Session:
    """One live game.

    Args:
        game: The game with its parameters.
        specs: The agent of each seat, None for the person (one seat at most).
        load_agent: Makes an agent of a spec.
        seed: Seed of the game and of the agents' random draws.
        asked: The visitor's request, with which the page can ask for another such game.
        time_control: The limits of thinking, those of the person too; None without any.

    Raises:
        ValueError: The number of seats is wrong, there is more than one person, or an agent cannot play.
    """

    def __init__(
        self,
        game: Game,
        specs: Sequence[str | None],
        load_agent: Callable[[str], AnyAgent],
        *,
        seed: int = 0,
        asked: Mapping[str, Any] | None = None,
        time_control: TimeControl | None = None,
    ) -> None:
        info = game.info
        if len(specs) != info.num_players:
            raise ValueError(f"{game.id}: expected {info.num_players} seats, got {len(specs)}")
        people = [seat for seat, spec in enumerate(specs) if spec is None]
        if len(people) > 1:
            raise ValueError("expected one person at most; all other seats are played by agents")
        self.id = secrets.token_urlsafe(12)
        self.game, self.seed, self._asked = game, seed, dict(asked or {})
        self.person: int | None = people[0] if people else None
        self.names = tuple(PERSON if spec is None else spec for spec in specs)
        self._agents = AgentSeats(game, specs, load_agent, seed)
        self.layout = layout(game)
        self.stored = False
        self.undone = 0  # moves taken back
        self._lock = threading.RLock()
        self._states: dict[int, State] = {0: start(game, seed)}  # by turn, those of the last _BACK turns
        self._events: list[Event] = []
        self._epoch = 0
        self._thinking = False
        self._paused = False
        self._asked_at = time.monotonic()
        self._closed = False
        self._forfeit: Forfeit | None = None
        self._clocks = None if time_control is None else Clocks(time_control)
        self._place = False  # True while an agent of this game has one of the places to think
        self._begin()

    # --- what the server asks ---------------------------------------------------------------------------------

    @property
    def thinking(self) -> bool:
        """True while agents are at work in a game that goes on."""
        return self._thinking and not self.done

    @property
    def done(self) -> bool:
        """True if the game has ended, by its rules or by a forfeit; whose time is over forfeits when this is asked."""
        self._look_at_clock()
        return bool(self._now.done) or self._forfeit is not None

    @property
    def mark(self) -> tuple[int, int, bool]:
        """A value that changes whenever there is something new to see."""
        return self._epoch, len(self._events), self.thinking

    def move(self, choices: Sequence[int], turn: int, epoch: int = -1) -> None:
        """Play the person's action, and let agents go on.

        Where the action takes long, as one that ends a round of Life does, it goes on on the agents' thread.

        Args:
            choices: A number for each component of an action.
            turn: Number of turns that the person has seen; another number belongs to a move that came twice or too
                late.
            epoch: The epoch that the person has seen, -1 for any; another one belongs to a line of play that was taken
                back.

        Raises:
            BusyError: It is not the person's turn, or not this turn any more.
            RefusedError: The game is over, or the action is not legal; the message says why.
        """
        with self._lock:
            if self.done:
                raise RefusedError("the game is over")
            if self._thinking or not self._awaits_person():
                raise BusyError("it is not your turn yet")
            self._check_seen("the move", turn, epoch)
            chosen = self._checked(choices)
            self._stop_clock()
            if self._forfeit is not None:  # it came too late
                return
            played = self._think(chosen)
        played.wait(_OWN_S)

    def undo(self, turn: int | None = None, epoch: int = -1) -> None:
        """Go back to where the person last decided; agents start anew and remember nothing.

        Args:
            turn: Number of turns that the person has seen, None for any; another number belongs to a request that came
                twice or too late.
            epoch: The epoch that the person has seen, -1 for any.

        Raises:
            BusyError: Agents are thinking, or the person has seen another position.
            RefusedError: There is nothing to take back, or all act at once.
        """
        with self._lock:
            if self.game.info.simultaneous:
                raise RefusedError("where all play at once, moves cannot be taken back: you have seen the others'")
            if self._clocks is not None:
                raise RefusedError("in games with clocks, moves cannot be taken back")
            if self._thinking:
                raise BusyError("agents are thinking; wait for their move")
            self._check_seen("an undo", self._turn if turn is None else turn, epoch)
            own_turns = self._own_turns()
            if not own_turns:
                raise RefusedError("there is no move of yours to take back")
            self._states = {turn: state for turn, state in self._states.items() if turn <= own_turns[-1]}
            del self._events[own_turns[-1] :]
            self._epoch += 1
            self.undone += 1
            self.stored = False
            self._begin()

    def close(self) -> None:
        """Let agents stop after their present move."""
        self._closed = True

    def look(self) -> None:
        """Note that somebody asks for the game; agents that waited for that go on."""
        with self._lock:
            self._asked_at = time.monotonic()
            if self._paused and not self._thinking and not self._closed:
                self._think(None)

    def view(self, epoch: int = -1, since: int = 0) -> dict[str, Any]:
        """Return what the person may see and the events that the page has not shown, as JSON.

        Args:
            epoch: The epoch that the page has seen; an undo begins another one, and all events count as shown.
            since: Number of events that the page has shown.
        """
        with self._lock:
            state, done = self._now, self.done
            yours = not done and not self._thinking and self._awaits_person()
            fresh = self._events[since:] if epoch == self._epoch else []
            return {
                "id": self.id,
                "epoch": self._epoch,
                "turn": self._turn,
                "seed": self.seed if done else None,  # hidden draws follow from it
                "events": [event.to_data() | {"move": self._move_text(event.move)} for event in fresh],
                "frame": frame(self.game, state, self._before(), self._viewer(state), self._own_action()),
                "thinking": self._thinking and not done,
                "clocks": self._clock_data(),
                "yours": yours,
                "legal": legal_bits(self.game, state, self._mine) if yours else None,
                "controls": view_of(self.game).controls(state, self._mine) if yours else {},
                "can_undo": self._clocks is None
                and not self.game.info.simultaneous
                and not self._thinking
                and bool(self._own_turns()),
                "done": done,
                "result": self._result_data() if done else None,
                "forfeit": self._forfeit_words(),
                "stored": self.stored,
                "undone": self.undone,
            }

    def description(self) -> dict[str, Any]:
        """Return what stays the same for the whole game, as JSON."""
        return {
            "layout": self.layout,
            "game": self.game.id,
            "asked": self._asked,
            "parameters": plain(self.game.parameters),
            "nvec": list(self.game.info.action_nvec),
            "names": list(self.names),
            "person": self.person,
            "moves": [self._move_text(event.move) for event in self._events],
        }

    def snapshot(self) -> dict[str, Any]:
        """Return `about` and `view` of one moment for a page that has seen nothing yet; its events are in `moves`."""
        with self._lock:
            return {"about": self.description(), "view": self.view()}

    def record(self) -> Record:
        """Return the record of the finished game.

        Raises:
            RefusedError: The game is not finished.
        """
        with self._lock:
            if not self.done:
                raise RefusedError("the game is not finished, so there is no record of it yet")
            return Record(
                game=self.game.id,
                version=__version__,
                parameters=plain(self.game.parameters),
                seed=self.seed,
                agents=self.names,
                opening=0,
                moves=tuple(event.move for event in self._events),
                result=self._result(),
                summary=self.game.summary(self._now),
                seconds=() if self._clocks is None else self._clocks.times(0, len(self.names)),
            )

    # --- inside -----------------------------------------------------------------------------------------------

    @property
    def _turn(self) -> int:
        """The number of turns played."""
        return len(self._events)

    @property
    def _now(self) -> State:
        return self._states[self._turn]

    @property
    def _mine(self) -> int:
        return 0 if self.person is None else self.person

    def _awaits_person(self) -> bool:
        if self.person is None:
            return False
        return self.game.info.simultaneous or int(self._now.current_player) == self.person

    def _own_turns(self) -> list[int]:
        """Return the turns in which the person has decided, as far back as positions are kept."""
        if self.person is None:
            return []
        past = sorted(turn for turn in self._states if turn < self._turn)
        return [turn for turn in past if int(self._states[turn].current_player) == self.person]

    def _begin(self) -> None:
        """Start the agents, and let them play if it is their turn."""
        self._forfeit = self._agents.start()
        if not self._awaits_person() and not self.done:
            self._think(None)
        else:
            self._start_clock()

    def _check_seen(self, request: str, turn: int, epoch: int) -> None:
        """Refuse a request that belongs to another position than the present one."""
        if epoch not in (-1, self._epoch):
            raise BusyError(f"moves were taken back before {request} came; reload the game")
        if turn != self._turn:
            raise BusyError(f"expected {request} of turn {self._turn}, got one of turn {turn}; reload the game")

    def _checked(self, choices: Sequence[int]) -> Tensor:
        """Return the person's action as int64 [K]; refuse an illegal one."""
        game, state, seat = self.game, self._now, self._mine
        nvec = game.info.action_nvec
        if len(choices) != len(nvec):
            raise RefusedError(f"expected {len(nvec)} numbers, one for each part of an action, got {len(choices)}")
        for component, choice in enumerate(choices):
            if not 0 <= choice < nvec[component]:  # before a tensor has to hold it
                raise RefusedError(game.why_illegal(state, seat, component, choice))
        chosen = torch.tensor(list(choices), device="cpu")
        mask = game.legal_actions(state)[0]
        legal = game.info.admits(mask[seat] if game.info.simultaneous else mask, chosen)
        if not bool(legal.all()):
            component = int((~legal).nonzero()[0])
            raise RefusedError(game.why_illegal(state, seat, component, choices[component]))
        return chosen

    def _think(self, chosen: Tensor | None) -> threading.Event:
        """Let agents play on a thread until it is the person's turn.

        Args:
            chosen: The person's action, played first, or its part of a joint one; None for agents alone.

        Returns:
            An event that is set as soon as the person's own action has been played, if it is a step of its own.
        """
        played = threading.Event()
        self._thinking, self._paused = True, False
        threading.Thread(target=self._work, args=(chosen, played), daemon=True, name=f"agents of {self.id}").start()
        return played

    def _work(self, chosen: Tensor | None, played: threading.Event) -> None:
        try:
            if chosen is not None and not self.game.info.simultaneous:
                moved = self._step(chosen.reshape(1, *self.game.info.action_shape))
                with self._lock:
                    self._keep(*moved)
                    if self.done or self._awaits_person():
                        return
            played.set()
            while not self._closed:
                with self._lock:
                    waits = chosen is not None and self.game.info.simultaneous  # the person's part of this step
                    if not waits and time.monotonic() - self._asked_at > _UNSEEN_S:
                        self._paused = True
                        return
                self._take_place()
                try:
                    found = self._agents.act(self._now, None if chosen is None else (self._mine, chosen), self._clocks)
                    step = None if isinstance(found, Forfeit) else self._step(found)
                finally:
                    self._leave_place()
                with self._lock:
                    if self._forfeit is not None:  # it has lost, and answered too late
                        return
                    if isinstance(found, Forfeit):
                        self._forfeit = found
                    elif step is not None:
                        self._keep(*step)
                    if self.done or self._awaits_person():
                        return
        finally:
            with self._lock:
                self._thinking = False
                self._start_clock()
            played.set()

    def _take_place(self) -> None:
        _THINKING.acquire()
        self._place = True

    def _leave_place(self) -> None:
        """Let another game's agents think; also while an agent of this one, which has lost, does not answer."""
        with self._lock:
            if self._place:
                self._place = False
                _THINKING.release()

    # --- clocks

    def _start_clock(self) -> None:
        """Let the person's clock run if it is the person's turn."""
        if self._clocks is not None and self._forfeit is None and not bool(self._now.done) and self._awaits_person():
            self._clocks.start(0, self._mine)

    def _stop_clock(self) -> None:
        """Take the time of the person's move from the clock; the person forfeits if that was too long."""
        if self._clocks is not None and (ran := self._clocks.stop()) is not None:
            self._lose(ran[1], self._clocks.charge(*ran))

    def _look_at_clock(self) -> None:
        """Let the seat forfeit whose time is over, also if it is an agent that cannot be interrupted."""
        clocks = self._clocks
        if clocks is None or (running := clocks.running) is None:
            return
        with self._lock:
            env_id, seat, since = running
            seconds = time.perf_counter() - since
            patience = 0.0 if seat == self.person else _LATE_S  # an agent is interrupted, and says where it was
            if self._forfeit is None and clocks.running is running and clocks.late(env_id, seat, seconds - patience):
                self._lose(seat, clocks.charge(env_id, seat, seconds))
                self._clocks = Clocks(clocks.control, {key: list(own) for key, own in clocks.used.items()})
                # The answer of an agent may still come, and be timed.
                self._leave_place()

    def _lose(self, seat: int, reason: str) -> None:
        if reason:
            self._forfeit = Forfeit(seat, reason)

    def _clock_data(self) -> dict[str, Any] | None:
        """Return the seconds that each seat has left for its next move, and whose clock runs; None without clocks."""
        if self._clocks is None:
            return None
        running = None if self.done else self._clocks.running
        left = [self._clocks.patience(0, seat) for seat in range(len(self.names))]
        if running is not None:
            left[running[1]] = max(0.0, left[running[1]] - (time.perf_counter() - running[2]))
        if self._forfeit is not None and self._forfeit.reason.startswith(OUT_OF_TIME):
            left[self._forfeit.seat] = 0.0
        return {"left": [round(seconds, 3) for seconds in left], "running": None if running is None else running[1]}

    def _step(self, actions: Tensor) -> tuple[State, Event]:
        """Return the position after a step, [1, ...], and how the page shows it; nothing is changed yet."""
        before = self._now
        after = self.game.step(before, actions)
        own_action = None
        if self.game.info.simultaneous and self.person is not None:
            own_action = tuple(actions.view(self.game.info.num_players, -1)[self.person].tolist())
        pictures = step_frames(self.game, before, after, viewer=self._viewer(after), action=own_action)
        played = Played(actions[None], torch.ones(1, dtype=torch.int64, device="cpu"), after)
        (move,) = moves(self.game, played, 0)
        seat = None if self.game.info.simultaneous else int(before.current_player)
        return after, Event(self._turn + 1, seat, move, pictures, own_action)

    def _keep(self, after: State, event: Event) -> None:
        """Go on to a position of `_step`; positions of long ago are dropped, and of their steps only the names stay."""
        self._events.append(event)
        self._states[self._turn] = after
        self._states.pop(self._turn - _BACK, None)
        if (old := self._turn - _STEPS_KEPT) > 0:
            self._events[old - 1] = replace(self._events[old - 1], frames=[])

    def _move_text(self, move: str) -> str:
        """Return as much of a step as the person may know: the own part of a joint action, until the game is over."""
        if self.person is None or not self.game.info.simultaneous or self.done:
            return move
        return move.split(" ")[self.person]

    def _viewer(self, state: State) -> int | None:
        """Return the seat that looks at frames; None after the end, when everybody sees all."""
        return None if bool(state.done) else self.person

    def _own_action(self) -> tuple[int, ...] | None:
        """Return the person's own action in the last step, if all act at once."""
        return self._events[-1].action if self._events else None

    def _before(self) -> State | None:
        """Return the position since which changes are marked: the one after the person's last move."""
        own_turns = [] if self.game.info.simultaneous else self._own_turns()
        if self.game.info.simultaneous or self.person is None or (own_turns and own_turns[-1] == self._turn - 1):
            return self._states.get(self._turn - 1)
        return self._states.get(own_turns[-1] + 1 if own_turns else 0)

    def _result(self) -> Result:
        state, forfeit = self._now, self._forfeit
        if forfeit is None:
            return result(self.game, state)
        outcome = forfeit.outcome(self.game.info.num_players)
        return Result(outcome, tuple(state.scores[0].tolist()), self._turn, False, forfeit)

    def _result_data(self) -> dict[str, Any]:
        ended = self._result()
        return {"outcome": list(ended.outcome), "scores": list(ended.scores), "truncated": ended.truncated}

    def _forfeit_words(self) -> str | None:
        if self._forfeit is None:
            return None
        seats = " and ".join(self.game.info.players[seat] for seat in self._forfeit.seats)
        if self._forfeit.reason.startswith(OUT_OF_TIME):
            who = "you" if self._forfeit.seat == self.person else self.names[self._forfeit.seat]
            return f"{seats} ({who}) lost on time: {self._forfeit.reason.removeprefix(OUT_OF_TIME)}"
        return f"{self.names[self._forfeit.seat]} as {seats} forfeits: {self._forfeit.reason}"
