"""Agents that are programs in processes of their own: `exec:./mybot --flag`, whose protocol docs/bots.md describes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent, PartialAnswerError, must_start
from cellgames.agents.programs import protocol
from cellgames.agents.views import View, Views
from cellgames.envs.core import Game
from cellgames.utils.errors import located

from .process import BotProcess, EngineError, Limits, ProgramError, command_of, identity_of_command, log_of

_SEEDS = 1 << 53  # numbers that every language reads


class Engine(BaseAgent):
    """A program that plays all games of the agent in one process, which is started again when it is needed.

    Args:
        command: its command line.
        limits: limits of its time and memory.
        environment: environment of the program, None for that of this process.
        filter: see `supervisor`.

    Attributes:
        identity: see `identity_of_command`; None if the spec says who it is.
        clock: for the next question: `left`, `increment` and `move`, in seconds; None without a clock.
    """

    prefix: ClassVar[str]
    """The beginning of its spec, before the command line."""
    farewell: ClassVar[bytes]
    """The line that asks the program to end."""

    def __init__(
        self,
        command: str,
        limits: Limits | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        filter: bytes = b"",
    ) -> None:
        super().__init__(f"{self.prefix}{command}")
        self.identity: str | None = identity_of_command(command)
        self.clock: Mapping[str, float] | None = None
        self._words, self._limits = command_of(command), limits or Limits()
        self._environment, self._filter = environment, filter
        self._process: BotProcess | None = None
        self._game: Game | None = None

    def words(self) -> list[str]:
        """Return the words of the command line that is run."""
        return self._words

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the program starts and answers the first message."""
        try:
            self._open(game)
        except (ProgramError, EngineError) as error:
            self.close()
            raise located(error, f"agent {self.name!r}") from None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        if game != self._game:
            self.close()
        self._game = game

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Ask the program about each game; raise a `PartialAnswerError` if it failed in some of them."""
        game = views.game if isinstance(views, Views) else views[0].game  # without a view that is made again below
        width = len(game.info.action_nvec)
        seeds = torch.randint(_SEEDS, (len(views),), generator=generator, device=generator.device).tolist()
        chosen, failures = torch.full((len(views), width), -1, dtype=torch.int64, device="cpu"), dict[int, str]()
        answers = self._asked_together(views, env_ids, seeds) if self.clock is None and len(views) > 1 else None
        for row, env_id in enumerate(env_ids.tolist()):
            try:
                answer = self._asked(views[row], env_id, seeds[row]) if answers is None else answers[row]
                chosen[row] = torch.tensor(answer, device="cpu")
            except (ProgramError, EngineError) as error:
                self._failed(error)
                failures[row] = str(error)
        actions = chosen.squeeze(1) if width == 1 else chosen
        if failures:
            raise PartialAnswerError(actions, failures)
        return actions

    def close(self) -> None:
        """End the program; the next question starts it again."""
        if self._process is not None:
            self._process.close(self.farewell)
        self._process = None

    @abstractmethod
    def _greet(self, process: BotProcess, game: Game) -> None:
        """Exchange the first messages with a program that has just started."""

    @abstractmethod
    def _asked(self, view: View, env_id: int, seed: int) -> Sequence[int]:
        """Return the program's action in one game, a choice for each component."""

    def _asked_together(
        self, views: Sequence[View], env_ids: Tensor, seeds: Sequence[int]
    ) -> Sequence[Sequence[int]] | None:
        """Return the actions in several games; None if the program has to be asked about one by one."""
        return None

    def _failed(self, error: Exception) -> None:
        """End a program that has failed, for its next line would be taken for another answer, unless it goes on."""
        if not isinstance(error, protocol.SaidError):
            self.close()

    def _open(self, game: Game) -> BotProcess:
        """Return the running program, which knows the game."""
        if self._process is None or not self._process.alive or game != self._game:
            self.close()
            self._game = game
            log = partial(log_of, self.name)
            self._process = BotProcess(self.words(), self._limits, log, self._environment, self._filter)
            self._greet(self._process, game)
        return self._process

    def _patience(self) -> float:
        """Return the seconds for which an answer is waited for."""
        if self.clock is None:
            return self._limits.move
        return min(value for name, value in self.clock.items() if name in ("left", "move"))


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
        (answer,) = process.exchange_all(protocol.encoded(hello), 1, self._limits.start)
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
        (answer,) = process.exchange_all(protocol.encoded(question), 1, self._patience())
        return protocol.read_action(protocol.parsed(answer), view.game, self._questions)

    @override
    def _asked_together(self, views: Sequence[View], env_ids: Tensor, seeds: Sequence[int]) -> list[list[int]] | None:
        if not isinstance(views, Views):
            return None
        game, given = views.game, env_ids.tolist()
        try:
            process = self._open(game)
            states = self._ready.states and game.info.perfect_information
            if not (self._ready.arrays or states):
                return None
            answers: list[list[int]] = []
            for first in range(0, len(views), _MOST):
                part = slice(first, first + _MOST)
                keys = zip(given[part], views[part].players.tolist(), strict=True)
                games = [self._tell(process, env_id, player) for env_id, player in keys]
                number = self._questions = self._questions + 1
                question = protocol.arrays(views[part], id=number, games=games, seed=seeds[first], states=states)
                (answer,) = process.exchange_all(protocol.encoded(question), 1, self._patience() * len(games))
                answers += protocol.read_choices(protocol.parsed(answer), game, number, len(games))
            return answers
        except (ProgramError, EngineError) as error:
            self._failed(error)
            return None
