"""A check of a program that plays: a few games in which every message is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.play_loop import play, random_openings
from cellgames.agents.playouts import RandomAgent
from cellgames.agents.views import View
from cellgames.envs.core import Game, seeds

from .process import EngineError, ProgramError
from .program_agent import ProgramAgent

_PATIENCE = 5.0  # seconds in which a program must end after `quit`


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        passed: True if nothing is wrong.
        what: the check, in a few words.
        detail: the finding in words, "" without one.
    """

    passed: bool
    what: str
    detail: str = ""


class _Checked(ProgramAgent):
    """A program that is being checked; it gets a field that it does not know, and is to ignore it."""

    greeting: ClassVar[Mapping[str, str]] = {"x-unknown": "fields that a program does not know are to be ignored"}

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self.times: list[float] = []
        self._fault: Exception | None = None

    @override
    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        start = time.perf_counter()
        actions = super().act_on_views(views, env_ids, generator)
        self.times += [(time.perf_counter() - start) / len(views)] * len(views)
        return actions

    @override
    def _failed(self, error: Exception) -> None:
        self._fault = self._fault or error  # after one about several games, the games are asked about one by one
        super()._failed(error)

    def greet(self, game: Game) -> str:
        """Start the program; return what it says of itself."""
        self._open(game)
        ready = self._ready
        wants = [name for name in ("names", "arrays", "states") if getattr(ready, name)]
        wants += [f"observation as {ready.observation}"] * (ready.observation != "none")
        by = f" by {ready.author}" if ready.author else ""
        return f"name: {ready.name or 'none'}{by}; wants: {', '.join(wants) or 'nothing more than positions'}"

    def play(self, game: Game, games: int, seed: int, plies: int = 0) -> str:
        """Play games to their end, the program on one seat of each, in a process that is started anew."""
        self.close()
        players, chances = game.info.num_players, [torch.Generator().manual_seed(seed + number) for number in range(2)]
        seats = (torch.arange(games)[:, None] % players != torch.arange(players)).long()
        opening = random_openings(game, games, plies, chances[1]) if plies else None
        agents = (self, RandomAgent())
        played = play(game, agents, seats, seeds(seed, games), chances, opening=opening, forfeits=True)
        for env_id, failure in played.failures.items():
            seat = failure.seats[0]
            position = game.view_to_string(played.state[env_id], seat)
            raise EngineError(f"{failure.reason}; as {game.info.players[seat]} in the position {position!r}")
        if self._fault is not None:
            raise self._fault
        times = sorted(self.times)
        return f"{len(times)} actions, {1000 * median(times):.2f} ms in the median, {1000 * times[-1]:.2f} ms at most"

    def quit(self) -> str:
        """Ask the program to end."""
        process, start = self._process, time.perf_counter()
        assert process is not None
        process.wake()
        process.tell(self.farewell)
        while process.alive:
            if time.perf_counter() - start > _PATIENCE:
                raise ProgramError(f"it still runs {_PATIENCE:g} s after quit")
            time.sleep(0.005)
        return ""


def check_program(command: str, game: Game, *, games: int = 4, seed: int = 0) -> Iterator[Finding]:
    """Yield the result of each check of a program's command line; the first one that fails is the last.

    It plays a few games at the same time, on all seats by turns, against random play.
    """
    agent = _Checked(command)
    plies = min(3, game.info.max_turns - 1)
    steps: list[tuple[str, Callable[[], str]]] = [
        ("it starts and answers hello by ready", lambda: agent.greet(game)),
        (f"it plays {games} games at the same time by legal actions", lambda: agent.play(game, games, seed)),
        ("it plays on in a process that is started anew", lambda: agent.play(game, 2, seed + 1, plies)),
        ("it ends after quit", agent.quit),
    ]
    try:
        for what, step in steps:
            try:
                detail = step()
            except (ProgramError, EngineError) as error:
                yield Finding(False, what, str(error))
                return
            yield Finding(True, what, detail)
    finally:
        agent.close()
