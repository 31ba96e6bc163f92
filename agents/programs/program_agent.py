"""Agents that are programs of any language: `exec:./mybot --flag`. docs/bots.md says how such a program speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import must_start
from cellgames.agents.views import View, Views
from cellgames.envs.core import Game

from . import protocol
from .engine import Engine, EngineError
from .process import BotProcess, Limits, ProgramError

_MOST = 1024  # games of a message of arrays


class ProgramAgent(Engine):
    """A program that is asked about positions by messages.

    One process plays all games of the agent; its standard error goes to a file in the folder of the run,
    `logs/NAME.log`. A process that fails is started again for the next question, since each question tells the whole
    position; only the game that it was asked about is lost. Arguments and attributes are those of `Engine`.
    """

    prefix = "exec:"
    farewell = protocol.encoded({"type": "quit"})
    greeting: ClassVar[Mapping[str, str]] = {}
    """More fields of the first message."""

    def __init__(self, command: str, limits: Limits | None = None, **around: Any) -> None:
        super().__init__(command, limits, **around)
        self._ready = protocol.Ready()
        self._numbers: dict[tuple[int, int], int] = {}  # of games, by environment and seat
        self._untold: set[tuple[int, int]] = set()
        self._games = self._questions = 0

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        new = set(env_ids.tolist())
        self._numbers = {key: number for key, number in self._numbers.items() if key[0] not in new}
        for env_id, player in zip(env_ids.tolist(), players.tolist(), strict=True):
            self._numbers[env_id, player] = self._games
            self._untold.add((env_id, player))
            self._games += 1

    def finish(self, players: Tensor, env_ids: Tensor, outcomes: Tensor) -> None:
        """Tell the program how games have ended; see `play_loop.play`."""
        rows = zip(players.tolist(), env_ids.tolist(), outcomes.tolist(), strict=True)
        for player, env_id, outcome in rows:
            number = self._numbers.pop((env_id, player), None)
            if number is not None and (env_id, player) not in self._untold and self._process is not None:
                message = {"type": "result", "game": number, "player": player, "outcome": outcome}
                self._process.tell(protocol.encoded(message))
            self._untold.discard((env_id, player))

    @override
    def _greet(self, process: BotProcess, game: Game) -> None:
        self._untold = set(self._numbers)
        hello = {**protocol.hello(game, self._limits), **self.greeting}
        answer = process.exchange(protocol.encoded(hello), self._limits.start)
        self._ready = protocol.read_ready(protocol.parsed(answer))

    def _tell(self, process: BotProcess, env_id: int, player: int) -> int:
        """Return the number of a game, of which the program has been told."""
        key = env_id, player
        if key not in self._numbers:
            raise must_start(self)
        if key in self._untold:
            process.tell(protocol.encoded({"type": "start", "game": self._numbers[key], "player": player}))
            self._untold.discard(key)
        return self._numbers[key]

    @override
    def _asked(self, view: View, env_id: int, seed: int) -> list[int]:
        process = self._open(view.game)
        number = self._tell(process, env_id, view.player)
        self._questions += 1
        question = protocol.act(view, id=self._questions, game=number, seed=seed, ready=self._ready, clock=self.clock)
        answer = process.exchange(protocol.encoded(question), self._patience())
        return protocol.read_action(protocol.parsed(answer), view.game, self._questions)

    @override
    def _asked_together(self, views: Sequence[View], env_ids: Tensor, seeds: Sequence[int]) -> list[list[int]] | None:
        game, given = views[0].game, env_ids.tolist()
        try:
            process = self._open(game)
            states = self._ready.states and game.info.perfect_information
            if not (self._ready.arrays or states):
                return None
            tensors, answers = Views.of(views), []
            for first in range(0, len(views), _MOST):
                part = slice(first, first + _MOST)
                keys = zip(given[part], tensors[part].players.tolist(), strict=True)
                games = [self._tell(process, env_id, player) for env_id, player in keys]
                number = self._questions = self._questions + 1
                question = protocol.arrays(tensors[part], id=number, games=games, seed=seeds[first], states=states)
                answer = process.exchange(protocol.encoded(question), self._patience() * len(games))
                answers += protocol.read_choices(protocol.parsed(answer), game, number, len(games))
            return answers
        except (ProgramError, EngineError) as error:
            self._failed(error)
            return None
