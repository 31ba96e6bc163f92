"""Agents that are programs in processes of their own, whatever protocol they speak."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent, PartialAnswerError
from cellgames.agents.views import View
from cellgames.envs.core import Game
from cellgames.utils.errors import located

from .process import BotProcess, Limits, ProgramError, command_of, identity_of_command, log_of

_SEEDS = 1 << 53  # numbers that every language reads


class EngineError(ValueError):
    """A malformed answer of a program; the text states the expected answer and the received one."""

    goes_on: ClassVar[bool] = False
    """True if the program goes on after it; else what it says next would be taken for another answer."""


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
        """Ask the program about each game.

        Raises:
            PartialAnswerError: it failed in some of them.
        """
        width = len(views[0].game.info.action_nvec)
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
        """End a program that has failed, unless it goes on."""
        if not (isinstance(error, EngineError) and error.goes_on):
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
