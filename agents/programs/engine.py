"""Agents that are programs in processes of their own, whatever protocol they speak."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent
from cellgames.envs.core import Game

from .process import BotProcess, Limits, ProgramError, command_of, identity_of_command, log_of

__all__ = ["Engine"]


class Engine(BaseAgent):
    """A program that plays all games of the agent in one process, which is started again when it is needed.

    Args:
        command: its command line.
        limits: of its time and memory.
        environment: of the program, None for that of this process.
        filter: see `supervisor`.

    Attributes:
        identity: see `identity_of_command`; None if the spec says who it is.
        clock: for the next question: `left`, `increment` and `move`, in seconds; None without a clock.
    """

    prefix: ClassVar[str]
    """The beginning of its spec, before the command line."""
    farewell: ClassVar[bytes]
    """The line that asks the program to end."""
    wrong_answer: ClassVar[type[ValueError]]
    """The error of an answer that is none."""

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
        except (ProgramError, self.wrong_answer) as error:
            self.close()
            raise ValueError(f"agent {self.name!r}: {error}") from None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        if game != self._game:
            self.close()
        self._game = game

    def close(self) -> None:
        """End the program; the next question starts it again."""
        if self._process is not None:
            self._process.close(self.farewell)
        self._process = None

    @abstractmethod
    def _greet(self, process: BotProcess, game: Game) -> None:
        """Exchange the first messages with a program that has just started."""

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
