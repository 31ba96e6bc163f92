"""Live games of people at one screen and agents. A game is saved after each move, and read again from what was saved.

A session is one game. A person's move is played at once; agents think on a thread of their own, a few at a time, so
that neither the page nor other sessions wait for them. An agent that fails forfeits. Where agents play all seats, they
go only as far as somebody asks (`Session.go`).

Several people share one screen. Where they may not see each other's cards or choices, the session shows nothing until
the next person says that the screen is theirs (`Session.sit`). In a game by link each person has a screen and a secret
address (`Session.invite`, `Seated`).
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, TypeAlias

from torch import Tensor
from typing_extensions import override

from cellgames.agents.agent_specs import HUMAN
from cellgames.agents.base import AnyAgent
from cellgames.agents.time_control import OUT_OF_TIME, Clocks, TimeControl
from cellgames.arena.records.record_lines import RESIGNED, Forfeit, Record, forfeit_of, plain
from cellgames.arena.records.replays import check_unfinished
from cellgames.envs.core import Game, State
from cellgames.plugins.levels import levels
from cellgames.utils.errors import InputError

from .agent_seats import AgentSeats, Hint, hint
from .frames import frame, layout, step_data, trial_data
from .limits import MOVE_S, OutOfTimeError, limited
from .seated_game import RefusedError as RefusedError
from .seated_game import SeatedGame, Step, checked
from .views import view_of
from .views.view import legal_bits

_OWN_S = 0.1  # the person's own step is waited for so long; Life within it may take longer
_LATE_S = 1.0  # after the end of its time, an agent that was not interrupted has lost
_STEPS_KEPT = 60  # last steps whose pictures are kept; a page asks for them at once, and more than once only if it must
_RESULT = ("outcome", "scores", "truncated")  # of a game, as the page shows it
_NO_PICTURES: Mapping[str, Any] = {"frames": [], "film": None}
_THINKING = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))  # agents that think at the same time

_Pictures: TypeAlias = Mapping[int | None, Mapping[str, Any]]  # of a step, by seat that looks (`frames.step_data`)
_Drawn: TypeAlias = tuple[State, Step, _Pictures]


class Session(SeatedGame):
    """One live game.

    Args:
        game: The game with its parameters.
        specs: The agent of each seat, None for a person.
        load_agent: Makes an agent of a spec.
        seed: Seed of the game and of the agents' random draws.
        asked: The visitor's request, with which the page can ask for another such game.
        time_control: The limits of thinking, those of people too; None without any.
        position: Where the game starts, as the game writes positions; "" for the usual start.
        saved: What `saved` returned for this game earlier; None for a new game. Agents start anew.

    Raises:
        ValueError: The number of seats is wrong, an agent cannot play, or the position is not one of this game, or one
            in which the game is over.

    Requests raise a `RefusedError` if the game does not allow them now, or if the page has not seen the last moves.
    """

    _asking: int | None = None  # in games by link, the seat of the person who asks (`Seated`)

    def __init__(
        self,
        game: Game,
        specs: Sequence[str | None],
        load_agent: Callable[[str], AnyAgent],
        *,
        seed: int = 0,
        asked: Mapping[str, Any] | None = None,
        time_control: TimeControl | None = None,
        position: str = "",
        saved: Mapping[str, Any] | None = None,
    ) -> None:
        info = game.info
        if len(specs) != info.num_players:
            raise InputError("specs", f"{info.num_players} seats", len(specs), where=game.id)
        names = [HUMAN if spec is None else spec for spec in specs]
        super().__init__(game, names, [seat for seat, spec in enumerate(specs) if spec is None], seed, position)
        check_unfinished(game, self.state)
        self.id, self._asked = secrets.token_urlsafe(12), dict(asked or {})
        self._agents = AgentSeats(game, specs, load_agent, seed)
        self.layout = layout(game)
        self.stored = False
        self.undone = 0  # moves taken back
        self._lock = threading.RLock()
        self._pictures: dict[int, _Pictures] = {}  # by turn, those of the last _STEPS_KEPT steps
        self._epoch = 0
        self._thinking = False
        self._closed = False
        self._left: tuple[int, float] | None = None  # whose clock goes on in the file, and since when (Unix time)
        self._clocks = None if time_control is None else Clocks(time_control)
        secret = info.simultaneous or not info.perfect_information
        self._passed = len(self.people) > 1 and secret  # True where people must not see what others see or choose
        self._chosen: dict[int, Tensor] = {}  # people's parts of the next step, where all act at once
        self._sitting: int | None = None  # who looks at the screen; None until the next person has said so
        self._until = 0  # turns to which agents go if they play all seats
        self._place = ExitStack()  # the place to think that an agent of this game has; one that has lost gives it back
        self.keys: dict[int, str] = {}  # in games by link, the secret of each person's seat
        self._came: set[int] = set()  # in games by link, the seats whose people have looked
        self._save: Callable[[], None] | None = None
        self.visitor, self.asked_at = "", 0.0  # who has it in memory, and when it was last asked for (`Sessions`)
        self.unsaved = ""  # why the game could not be saved
        if saved is not None:
            self._restore(saved)
        self._begin(saved)

    # --- what the server asks ---------------------------------------------------------------------------------

    @property
    def thinking(self) -> bool:
        """True while agents are at work in a game that goes on."""
        return self._thinking and not self.done

    @property
    @override
    def done(self) -> bool:
        """True if the game has ended, by its rules or by a forfeit; whose time is over forfeits when this is asked."""
        self._look_at_clock()
        return super().done

    @property
    def mark(self) -> tuple[int, int, bool]:
        """A value that changes whenever there is something new to see."""
        return self._epoch, self.turn, self.pending

    @property
    def pending(self) -> bool:
        """True while somebody else is to act: an agent, or in a game by link another person."""
        return self.thinking or (bool(self.keys) and not self.done and self._asking not in self._awaited())

    @property
    def address(self) -> str:
        """The id, in a game by link with the secret of the seat that asks."""
        return self.id if self._asking is None else f"{self.id}.{self.keys[self._asking]}"

    def invite(self) -> None:
        """Make this new game one by link; raise a `ValueError` if it cannot be one."""
        if len(self.people) < 2:
            raise InputError("seats", "at least two people, for a game by link", len(self.people))
        if self._clocks is not None and self.game.info.simultaneous:
            raise InputError("clock", "none, for a game by link in which all act at once")
        with self._lock:
            self.keys = {seat: secrets.token_urlsafe(12) for seat in self.people}
            self._passed = False
            if self._clocks is not None:
                self._clocks.running = None

    def move(self, choices: Sequence[int], turn: int, epoch: int = -1, seat: int | None = None) -> None:
        """Play the action of the person who is to act, and let agents go on.

        Where the action takes long, as one that ends a round of Life does, it goes on on the agents' thread. Where all
        act at once, the step waits for the actions of all people.

        Args:
            choices: A number for each component of an action.
            turn: Number of turns that the person has seen; another number belongs to a move that came twice or too
                late. This and `epoch` are the same in all requests.
            epoch: The epoch that the person has seen, -1 for any; another one belongs to a line of play that was taken
                back.
            seat: The person's; None for whoever is to act.

        Raises:
            RefusedError: It is not the person's turn, or not this turn any more, or the action is not legal.
        """
        with self._lock:
            mover = self._mover("the move", turn, epoch, seat)
            chosen = self._check(choices, mover)
            self._stop_clock()
            if self.forfeit is not None:  # it came too late
                return
            self._sitting = None
            if self.game.info.simultaneous:
                self._chosen[mover] = chosen
                if self._awaited():
                    self._start_clock()
                    return
            played = self._think(None if self._chosen else chosen.reshape(1, *self.game.info.action_shape))
        played.wait(_OWN_S)

    def sit(self, seat: int, turn: int, epoch: int = -1) -> None:
        """Show the game to the person of a seat, whose turn it is and who has the screen now."""
        with self._lock:
            self._check_seen("a request", turn, epoch)
            if self.done or self._thinking or seat not in self._awaited():
                raise RefusedError(cause="it is not your turn yet")
            self._sitting = seat
            self._start_clock()

    def go(self, until: int) -> None:
        """Let agents that play all seats go on to a number of turns; fewer than before stops them there."""
        with self._lock:
            if self.people:
                raise RefusedError(cause="agents of a game with people go on by themselves")
            self._until = until
            if self.turn < until and not self._thinking and not self.done and not self._closed:
                self._think()

    def resign(self, seat: int, epoch: int = -1) -> None:
        """Let the person of a seat, of two, lose the game; also while agents think."""
        with self._lock:
            if self.done:
                raise RefusedError(cause="the game is over")
            if seat not in self.people:
                raise RefusedError(cause="agents play this seat")
            if (count := len(self.names)) != 2:
                raise RefusedError("game", "two players", count, "the others would go on")
            if epoch not in (-1, self._epoch) or seat != self._seat():
                raise RefusedError(cause="it is the turn of somebody else; reload the game")
            self._stop_clock()
            if self.forfeit is None:
                self.forfeit = Forfeit(seat, RESIGNED)
                self._place.close()
            self._changed()

    def undo(self, turn: int, epoch: int = -1) -> None:
        """Go back to where the person last decided, in a game in turns; agents start anew and remember nothing."""
        with self._lock:
            if why := self._no_undo():
                raise RefusedError(cause=why)
            self._check_seen("an undo", turn, epoch)
            self.take_back(self.turns_of(self.people)[-1])
            self._epoch += 1
            self.undone += 1
            self.stored = False
            self._changed()
            self._begin()

    def hint(self, turn: int, epoch: int = -1) -> Hint:
        """Return a move that an agent suggests to the person who is to act; arguments as for `move`."""
        with self._lock:
            seat, state = self._mover("a hint", turn, epoch), self.state
        try:
            return limited(MOVE_S, lambda: hint(self.game, state, seat))
        except OutOfTimeError:
            raise RefusedError(cause="a hint would take too long in this position") from None

    def trial(self, choices: Sequence[int] | None, turn: int, epoch: int = -1) -> dict[str, Any]:
        """Return a film of what would happen if nobody placed anything more (see `frames.trial_data`).

        Args:
            choices: An action that the person would choose now; None for what is on the board.
            turn: As for `move`.
            epoch: As for `move`.
        """
        with self._lock:
            seat, state = self._mover("a trial run", turn, epoch), self.state
            if choices is not None:
                checked(self.game, state, seat, choices, legal=False)
        try:
            return trial_data(self.game, state, seat, choices)
        except ValueError as error:
            raise RefusedError(cause=str(error)) from None

    def close(self, *, leave: bool = False) -> None:
        """Let agents stop after their present move, and save the game no more.

        Args:
            leave: Save it once more with the clock that runs, which goes on until the game is read again.
        """
        with self._lock:
            if leave and self._clocks is not None and (running := self._clocks.running) is not None:
                self._left = running[1], time.time() - (time.perf_counter() - running[2])
                self._changed()
            self._closed = True

    def keep(self, save: Callable[[], None]) -> None:
        """Call a function that saves the game (`saved`), now and after each change."""
        with self._lock:
            self._save = save
            self._changed()

    def note_stored(self) -> None:
        """Note that the game is in the store."""
        with self._lock:
            self.stored = True
            self._changed()

    def saved(self) -> dict[str, Any]:
        """Return all that is needed to go on with the game later, and what a list of games shows, as JSON."""
        with self._lock:
            return {
                "id": self.id,
                "game": self.game.id,
                "asked": self._asked,
                "seats": [None if seat in self.people else name for seat, name in enumerate(self.names)],
                "seed": self.seed,
                "keys": [*self.keys.items()],
                "moves": self.moves,
                "epoch": self._epoch,
                "undone": self.undone,
                "stored": self.stored,
                "seconds": self._seconds(),
                "running": self._left,
                "forfeit": None if self.forfeit is None else self.forfeit.to_data(),
                "title": self.layout["title"],
                "players": self.layout["players"],
                "outcome": self.result().outcome if super().done else None,
            }

    def view(self, epoch: int = -1, since: int = 0) -> dict[str, Any]:
        """Return the person's view, and the events that the page has not shown, as JSON.

        Args:
            epoch: The epoch that the page has seen; an undo begins another one, and all events count as shown.
            since: Number of events that the page has shown.
        """
        with self._lock:
            state, done, curtain, viewer = self.state, self.done, self._curtain(), self._viewer(self.state)
            seat = self._seat()
            action = self.steps[-1].own(seat) if self.steps else None
            yours = not done and not self._thinking and curtain is None and seat in self._awaited()
            fresh = range(since, self.turn) if epoch == self._epoch and not curtain else ()
            result = self.result() if done else None
            shown = None if curtain else frame(self.game, state, self._before(), viewer, action)
            return {
                "id": self.address,
                "epoch": self._epoch,
                "turn": self.turn,
                "seed": self.seed if done else None,  # hidden draws follow from it
                "events": [self._event(turn, viewer) for turn in fresh],
                "frame": shown,
                "seat": seat,
                "curtain": curtain,
                "thinking": self._thinking and not done,
                "pending": self.pending,
                "clocks": self._clock_data(),
                "yours": yours,
                "legal": legal_bits(self.game, state, seat) if yours and seat is not None else None,
                "controls": view_of(self.game).controls(state, seat) if yours and seat is not None else {},
                "can_undo": not self._no_undo(),
                "can_resign": not done and len(self.names) == 2 and seat is not None and curtain is None,
                "done": done,
                "result": result and plain({name: getattr(result, name) for name in _RESULT}),
                "forfeit": self._forfeit_words(),
                "stored": self.stored,
                "undone": self.undone,
                "unsaved": self.unsaved,
            }

    def description(self) -> dict[str, Any]:
        """Return the constant data of the whole game, as JSON."""
        own = self._asking
        others = {self.layout["players"][seat]: f"{self.id}.{key}" for seat, key in self.keys.items() if seat != own}
        parameters = plain(self.game.parameters)
        offered = levels(self._asked.get("game", self.game.id), self.game.id, parameters)
        called = {level.agent: level.name for level in offered}
        return {
            "layout": self.layout,
            "links": others if own is not None and own == self.people[0] else {},
            "patterns": view_of(self.game).patterns(),
            "game": self.game.id,
            "asked": self._asked,
            "parameters": parameters,
            "nvec": list(self.game.info.action_nvec),
            "names": list(self.names),
            "called": [called.get(name) for name in self.names],
            "people": list(self.people) if own is None else [own],
            "moves": [] if self._curtain() else [*map(self._move_text, self.steps)],
        }

    def snapshot(self, last: bool = False) -> dict[str, Any]:
        """Return `about` and `view` of one moment for a page that has seen nothing yet; its events are in `moves`.

        Args:
            last: Give `view` the last event, for a person who has not seen it.
        """
        with self._lock:
            view = self.view(self._epoch, max(0, self.turn - 1)) if last else self.view()
            return {"about": self.description(), "view": view}

    @override
    def record(self) -> Record:
        with self._lock:
            if not self.done:
                raise RefusedError(cause="the game is not finished, so there is no record of it yet")
            return replace(super().record(), seconds=tuple(self._seconds()))

    # --- inside -----------------------------------------------------------------------------------------------

    def _awaited(self) -> list[int]:
        """Return the seats of the people who may act now, the next one first; none while it is the agents' turn.

        By link all people may choose at the same time, at one screen one after the other.
        """
        if self.game.info.simultaneous:
            free = [seat for seat in self.people if seat not in self._chosen]
            return free if self.keys else free[:1]
        mover = int(self.state.current_player)
        return [mover] if mover in self.people else []

    def _seat(self) -> int | None:
        """Return the seat of the person at the screen; None for spectators, and before the next person sits down."""
        if self.keys:
            return self._asking
        if self._passed:
            return self._sitting
        if len(self.people) < 2:
            return self.people[0] if self.people else None
        own_turns = self.turns_of(self.people)
        last = self.steps[own_turns[-1]].seat if own_turns else self.people[0]
        return next(iter(self._awaited()), last)

    def _curtain(self) -> dict[str, Any] | None:
        """Return for whom the screen shows nothing until that person sits down; None if it shows the game.

        `seat` is None while agents think.
        """
        if not self._passed or self._sitting is not None or self.done:
            return None
        return {"seat": None if self._thinking else next(iter(self._awaited()), None)}

    def _no_undo(self) -> str:
        """Return why no move can be taken back, "" if one can."""
        at_once = self.game.info.simultaneous
        reasons = {
            "where all play at once, moves cannot be taken back: you have seen the others'": at_once,
            "in games with clocks, moves cannot be taken back": self._clocks is not None,
            "in games by link, moves cannot be taken back": self.keys,
            "agents are thinking; wait for their move": self._thinking,
            "there is no move of yours to take back": not self.turns_of(self.people),
        }
        return next((why for why, holds in reasons.items() if holds), "")

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """Play the moves of a saved game again; raise a `ValueError` if they do not fit the game."""
        self.id, self._epoch = saved["id"], saved["epoch"]
        self.stored, self.undone = saved["stored"], saved["undone"]
        self.keys = dict(saved["keys"])
        self._passed = self._passed and not self.keys
        self._came = {*self.people} if saved["moves"] else set()
        for move in saved["moves"]:
            self.play(move)
        if self._clocks is not None:
            self._clocks.used = {(0, seat): list(own) for seat, own in enumerate(saved["seconds"])}

    def _changed(self) -> None:
        """Save the game; one that cannot be saved goes on, and the page says so."""
        if self._save is None or self._closed:
            return
        try:
            self._save()
            self.unsaved = ""
        except OSError as error:
            self.unsaved = f"This game cannot be saved: {error.strerror}. It ends with the server."

    def _begin(self, saved: Mapping[str, Any] | None = None) -> None:
        """Start the agents, and let them play if it is their turn; a saved game has its forfeit and its clock."""
        self.forfeit = self._agents.start()
        if saved is not None and saved["forfeit"] is not None:
            self.forfeit = forfeit_of(saved["forfeit"])
        self._sitting = None
        if self.people and not self._awaited() and not self.done:
            self._think()
        else:
            self._start_clock()
        if saved is not None and saved["running"] and self._clocks is not None and (running := self._clocks.running):
            since = time.perf_counter() - max(0.0, time.time() - saved["running"][1])
            self._clocks.running = (*running[:2], since)

    def _mover(self, request: str, turn: int, epoch: int, seat: int | None = None) -> int:
        """Return the seat of the person who is to act and sees the present position; refuse other requests."""
        if self.done:
            raise RefusedError(cause="the game is over")
        awaited = self._awaited()
        mover = self._asking if self.keys else next(iter(awaited), None)
        if self._thinking or mover not in awaited or seat not in (None, mover) or self._curtain() is not None:
            raise RefusedError(cause="it is not your turn yet")
        self._check_seen(request, turn, epoch)
        assert mover is not None
        return mover

    def _check_seen(self, request: str, turn: int, epoch: int) -> None:
        """Refuse a request that belongs to another position than the present one."""
        if epoch not in (-1, self._epoch):
            raise RefusedError(cause=f"moves were taken back before {request} came; reload the game")
        if turn != self.turn:
            raise RefusedError("turn", f"{request} of turn {self.turn}", turn, "reload the game")

    def _check(self, choices: Sequence[int], seat: int) -> Tensor:
        """Return the action of the person at `seat` as int64 [K]; refuse an illegal one."""
        return checked(self.game, self.state, seat, choices)

    def _think(self, own: Tensor | None = None) -> threading.Event:
        """Let agents play on a thread until it is a person's turn.

        Args:
            own: The step of a person, played first, int64 [1] or [1, K]; None where agents have a part in it.

        Returns:
            An event that is set as soon as the person's own action has been played, if it is a step of its own.
        """
        played = threading.Event()
        self._thinking = True
        threading.Thread(target=self._work, args=(own, played), daemon=True, name=f"agents of {self.id}").start()
        return played

    def _work(self, own: Tensor | None, played: threading.Event) -> None:
        try:
            while not self._closed:
                if own is not None:
                    found: Forfeit | _Drawn = self._drawn(own)
                    own = None
                else:
                    played.set()
                    found = self._of_agents()
                with self._lock:
                    if self.forfeit is not None:  # it has lost, and answered too late
                        return
                    if isinstance(found, Forfeit):
                        self.forfeit = found
                    else:
                        after, step, pictures = found
                        self.advance(after, step)
                        self._pictures[self.turn] = pictures
                    self._changed()
                    if self.done or (self._awaited() if self.people else self.turn >= self._until):
                        return
        finally:
            with self._lock:
                self._thinking = False
                self._start_clock()
            played.set()

    def _of_agents(self) -> Forfeit | _Drawn:
        """Return the step of the agents, or a forfeit of one of them, when there is a place to think."""
        self._place.enter_context(_THINKING)
        try:
            found = self._agents.act(self.state, self._chosen, self._clocks)
            return found if isinstance(found, Forfeit) else self._drawn(found)
        finally:
            with self._lock:
                self._place.close()

    # --- clocks

    def _start_clock(self) -> None:
        """Let a person's clock run if it is the person's turn, and the person sees the game."""
        if self._clocks is None or self._clocks.running or super().done or self._curtain() is not None:
            return
        if self.keys and self._came != {*self.people}:  # nobody waits for one who has not come yet
            return
        for mover in self._awaited()[:1]:
            self._clocks.start(0, mover)

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
            patience = 0.0 if seat in self.people else _LATE_S  # an agent is interrupted, and says where it was
            if self.forfeit is None and clocks.running is running and clocks.late(env_id, seat, seconds - patience):
                self._lose(seat, clocks.charge(env_id, seat, seconds))
                self._clocks = Clocks(clocks.control, {key: list(own) for key, own in clocks.used.items()})
                # The answer of an agent may still come, and be timed.
                self._place.close()

    def _lose(self, seat: int, reason: str) -> None:
        if reason:
            self.forfeit = Forfeit(seat, reason)
            self._changed()

    def _clock_data(self) -> dict[str, Any] | None:
        """Return the seconds that each seat has left for its next move, and whose clock runs; None without clocks."""
        if self._clocks is None:
            return None
        running = None if self.done else self._clocks.running
        left = [self._clocks.patience(0, seat) for seat in range(len(self.names))]
        if running is not None:
            left[running[1]] = max(0.0, left[running[1]] - (time.perf_counter() - running[2]))
        if self.forfeit is not None and self.forfeit.reason.startswith(OUT_OF_TIME):
            left[self.forfeit.seat] = 0.0
        return {"left": [round(seconds, 3) for seconds in left], "running": None if running is None else running[1]}

    def _drawn(self, actions: Tensor) -> _Drawn:
        """Return the position after a step, the step, and its pictures by seat that looks; nothing is changed yet."""
        before, (after, step) = self.state, self.step(actions)
        viewers: Sequence[int | None] = (self._viewer(after),)
        if (self._passed or self.keys) and not bool(after.done):
            viewers = self.people
        pictures = {
            viewer: step_data(self.game, before, after, viewer=viewer, action=step.own(viewer)) for viewer in viewers
        }
        return after, step, pictures

    @override
    def advance(self, after: State, step: Step) -> None:
        super().advance(after, step)
        self._chosen.clear()
        self._pictures.pop(self.turn - _STEPS_KEPT, None)

    def _event(self, turn: int, viewer: int | None) -> dict[str, Any]:
        """Return a step as the page shows it to a seat: the position that it led to, who acted, and the move.

        The pictures are the same for all, unless information is hidden. After the end, all may see those of any seat.
        """
        step, pictures = self.steps[turn], self._pictures.get(turn + 1, {})
        shown = pictures.get(viewer) or next(iter(pictures.values()), _NO_PICTURES)
        return {"turn": turn + 1, "seat": step.seat, **shown, "move": self._move_text(step)}

    def _move_text(self, step: Step) -> str:
        """Return as much of a step as the person may know: the own part of a joint action, until the game is over."""
        if not self.people or not self.game.info.simultaneous or self.done:
            return ", ".join(step.words)
        seat = self._seat()
        return "" if seat is None else step.words[seat]

    def _viewer(self, state: State) -> int | None:
        """Return the seat that looks at frames; None after the end, when everybody sees all."""
        return None if bool(state.done) or self.forfeit is not None else self._seat()

    def _before(self) -> State | None:
        """Return the position since which changes are marked: the one after the last move of who looks."""
        seat = self._seat()
        if self.game.info.simultaneous or seat is None:
            return self.states.get(self.turn - 1)
        own_turns = self.turns_of([seat])
        return self.states.get(min(own_turns[-1] + 1, self.turn - 1) if own_turns else 0)

    def _seconds(self) -> Sequence[tuple[float, ...]]:
        return () if self._clocks is None else self._clocks.times(0, len(self.names))

    def _forfeit_words(self) -> str | None:
        if (forfeit := self.forfeit) is None:
            return None
        seats, name = " and ".join(self.layout["players"][seat] for seat in forfeit.seats), self.names[forfeit.seat]
        if forfeit.reason == RESIGNED:
            return f"{seats} resigned."
        if forfeit.reason.startswith(OUT_OF_TIME):
            who = "you" if self.people == (forfeit.seat,) else name
            return f"{seats} ({who}) lost on time: {forfeit.reason.removeprefix(OUT_OF_TIME)}"
        return f"{name} as {seats} forfeits: {forfeit.reason}"


class Seated(Session):
    """A game by link as the person of one seat has it: all attributes are the session's but the seat that asks."""

    __slots__ = ("_asking",)

    def __init__(self, session: Session, seat: int) -> None:
        self.__dict__ = session.__dict__
        self._asking = seat
        if seat not in self._came:
            with self._lock:
                self._came.add(seat)
                if not self._thinking:
                    self._start_clock()
