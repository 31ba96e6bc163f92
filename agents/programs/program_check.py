"""A check of a program that plays: a few games in which every message is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import torch

from cellgames.agents.views import View, Views, views_of
from cellgames.envs.core import Game, State, seeds

from . import protocol
from .process import BotProcess, Limits, ProgramError, command_of
from .protocol import ProtocolError, Ready

__all__ = ["Finding", "check_program"]

_PATIENCE = 5.0  # seconds in which a program must end after `quit`


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        passed: True if nothing is wrong.
        what: the check, in a few words.
        detail: what was found, "" for nothing to say.
    """

    passed: bool
    what: str
    detail: str = ""


class _Check:
    """A program that is being checked.

    Args:
        command: its words.
        game: that it plays.
        limits: of its time.
    """

    def __init__(self, command: list[str], game: Game, limits: Limits) -> None:
        self.command, self.game, self.limits = command, game, limits
        self.times: list[float] = []
        self._process: BotProcess | None = None
        self._ready = Ready()
        self._questions = 0

    def greet(self) -> Ready:
        """Start the program; return what it says of itself."""
        self._process = BotProcess(self.command, self.limits)
        message = {
            **protocol.hello(self.game, self.limits),
            "x-unknown": "fields that a program does not know are to be ignored",
        }
        answer, _ = self._process.exchange(protocol.encoded(message), self.limits.start)
        self._ready = protocol.read_ready(protocol.parsed(answer))
        return self._ready

    def tell(self, message: dict[str, object]) -> None:
        """Send a message without an answer."""
        assert self._process is not None
        self._process.tell(protocol.encoded(message))

    def ask(self, view: View, game: int) -> list[int]:
        """Return the program's action in a position, which is legal."""
        assert self._process is not None
        self._questions += 1
        question = protocol.act(view, id=self._questions, game=game, seed=self._questions, ready=self._ready)
        answer, took = self._process.exchange(protocol.encoded(question), self.limits.move)
        self.times.append(took)
        choices = protocol.read_action(protocol.parsed(answer), view, self._questions)
        self._judge(view, choices)
        return choices

    def ask_together(self, views: list[View]) -> None:
        """Ask about several games in one message."""
        assert self._process is not None
        ids = range(self._questions + 1, self._questions + 1 + len(views))
        self._questions += len(views)
        questions = [
            protocol.act(view, id=id, game=game, seed=id, ready=self._ready)
            for game, (id, view) in enumerate(zip(ids, views, strict=True))
        ]
        answer, _ = self._process.exchange(protocol.encoded(protocol.acts(questions)), self.limits.move)
        for view, choices in zip(views, protocol.read_actions(protocol.parsed(answer), views, ids), strict=True):
            self._judge(view, choices)

    def ask_by_arrays(self, views: list[View]) -> None:
        """Ask about several games as arrays."""
        assert self._process is not None
        self._questions += 1
        seen, games = Views.of(views), range(len(views))
        question = protocol.arrays(seen, id=self._questions, games=games, seed=self._questions)
        answer, _ = self._process.exchange(protocol.encoded(question), self.limits.move)
        found = protocol.read_choices(protocol.parsed(answer), self.game, self._questions, len(views))
        for view, choices in zip(views, found, strict=True):
            self._judge(view, choices)

    def _judge(self, view: View, choices: list[int]) -> None:
        """Raise a `ProtocolError` unless the action is legal."""
        for component, (choice, legal) in enumerate(zip(choices, view.legal, strict=True)):
            if choice not in legal:
                part = f"component {component}: " if len(choices) > 1 else ""
                raise ProtocolError(
                    f"{part}action {choice} is illegal as {self.game.info.players[view.player]} in the position "
                    f"{view.position!r}"
                )

    def quit(self) -> float:
        """Ask the program to end; return the seconds that it took, infinity if it had to be ended."""
        assert self._process is not None
        start = time.perf_counter()
        self._process.wake()
        self.tell({"type": "quit"})
        while self._process.alive and time.perf_counter() - start < _PATIENCE:
            time.sleep(0.005)
        took = float("inf") if self._process.alive else time.perf_counter() - start
        self.close()
        return took

    def close(self) -> None:
        """End the program."""
        if self._process is not None:
            self._process.close()


def check_program(
    command: str, game: Game, *, games: int = 4, seed: int = 0, limits: Limits | None = None
) -> Iterator[Finding]:
    """Yield the result of each check of a program; the first one that fails is the last.

    Args:
        command: the command line.
        game: that it plays, on all seats by turns, against random play.
        games: how many at the same time.
        seed: of the games.
        limits: of the program's time; by default those of a tournament without a clock.
    """
    check = _Check(command_of(command), game, limits or Limits())
    try:
        yield from _checks(check, games, seed)
    finally:
        check.close()


def _checks(check: _Check, games: int, seed: int) -> Iterator[Finding]:
    steps: list[tuple[str, Callable[[], str]]] = [
        ("it starts and answers hello by ready", lambda: _greeting(check.greet())),
        (f"it plays {games} games at the same time by legal actions", lambda: _play(check, games, seed)),
        ("it plays on in a process that is started anew", lambda: _resume(check, seed)),
        ("it ends after quit", lambda: _quit(check)),
    ]
    for what, step in steps:
        try:
            detail = step()
        except (ProgramError, ProtocolError) as error:
            yield Finding(False, what, str(error))
            return
        yield Finding(True, what, detail)


def _greeting(ready: Ready) -> str:
    wants = [name for name in ("names", "batch", "arrays") if getattr(ready, name)]
    wants += [f"observation as {ready.observation}"] * (ready.observation != "none")
    by = f" by {ready.author}" if ready.author else ""
    return f"name: {ready.name or 'none'}{by}; wants: {', '.join(wants) or 'nothing more than positions'}"


def _play(check: _Check, games: int, seed: int) -> str:
    """Play games to their end, the program on one seat of each."""
    game, chance = check.game, torch.Generator().manual_seed(seed)
    own = [number % game.info.num_players for number in range(games)]
    state = game.init(seeds(seed, games))
    for number, player in enumerate(own):
        check.tell({"type": "start", "game": number, "player": player})
    while not state.done.all():
        actions = game.random_actions(state, chance)
        for number, player in enumerate(own):
            one = state[number]
            if bool(one.done[0]) or not (game.info.simultaneous or int(one.current_player[0]) == player):
                continue
            chosen = torch.tensor(check.ask(_view(game, one, player), number), device="cpu")
            place = (number, player) if game.info.simultaneous else (number,)
            actions[place] = chosen if len(chosen) > 1 else chosen[0]
        state = game.step(state, actions, checked=False)
    for number, player in enumerate(own):
        outcome = int(game.outcome(state)[number, player])
        check.tell({"type": "result", "game": number, "player": player, "outcome": outcome})
    times = sorted(check.times)
    return f"{len(times)} actions, {1000 * median(times):.2f} ms in the median, {1000 * times[-1]:.2f} ms at most"


def _resume(check: _Check, seed: int) -> str:
    """Ask about positions in the middle of games of which the program has heard nothing; several at once, if it can."""
    check.close()
    ready = check.greet()
    game, chance = check.game, torch.Generator().manual_seed(seed + 1)
    state = game.init(seeds(seed + 1, 2))
    for _ in range(min(3, game.info.max_turns - 1)):
        state = game.step(state, game.random_actions(state, chance), checked=False)
    going = [state[number] for number in range(2) if not bool(state.done[number])]
    views = [_view(game, one, 0 if game.info.simultaneous else int(one.current_player[0])) for one in going]
    for number, view in enumerate(views):
        check.ask(view, number)
    if ready.batch:
        check.ask_together(views)
    if ready.arrays:
        check.ask_by_arrays(views)
    return "also several games in one message" if ready.batch or ready.arrays else ""


def _quit(check: _Check) -> str:
    took = check.quit()
    if took > _PATIENCE:
        raise ProgramError(f"it still runs {_PATIENCE:g} s after quit")
    return ""


def _view(game: Game, state: State, player: int) -> View:
    mask = game.legal_actions(state)
    mask = mask[:, player] if game.info.simultaneous else mask
    return views_of(game, state, torch.tensor([player], device="cpu"), mask)[0]
