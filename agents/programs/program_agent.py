"""Agents that are programs of any language: `exec:./mybot --flag`. docs/bots.md says how such a program speaks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import PartialAnswerError, must_start
from cellgames.agents.views import View, Views
from cellgames.envs.core import Game

from . import protocol
from .engine import Engine
from .process import BotProcess, Limits, ProgramError

__all__ = ["ProgramAgent"]

_SEEDS = 1 << 53  # numbers that every language reads
_MOST = 1024  # games of a message of arrays
_FAULTS = (ProgramError, protocol.ProtocolError)


class ProgramAgent(Engine):
    """A program that is asked about positions by messages.

    One process plays all games of the agent; its standard error goes to a file in the folder of the run,
    `logs/NAME.log`. A process that fails is started again for the next question, since each question tells the whole
    position; only the game that it was asked about is lost. Arguments and attributes are those of `Engine`.
    """

    prefix = "exec:"
    farewell = protocol.encoded({"type": "quit"})
    wrong_answer = protocol.ProtocolError
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

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Ask the program about each game.

        Raises:
            PartialAnswerError: it failed in some of them.
        """
        width = len(views[0].game.info.action_nvec)
        chosen: list[list[int]] = []
        failures: dict[int, str] = {}
        seeds = torch.randint(_SEEDS, (len(views),), generator=generator, device=generator.device).tolist()
        batched = None
        if self.clock is None and len(views) > 1:
            with contextlib.suppress(*_FAULTS), self._in_step():
                batched = self._asked_together(views, env_ids, seeds)
        for row, env_id in enumerate(env_ids.tolist()):
            try:
                chosen.append(batched[row] if batched is not None else self._asked(views[row], env_id, seeds[row]))
            except _FAULTS as error:
                failures[row] = str(error)
                chosen.append([-1] * width)
        actions = torch.tensor(chosen, device="cpu")
        actions = actions.squeeze(1) if width == 1 else actions
        if failures:
            raise PartialAnswerError(actions, failures)
        return actions

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
        answer, _ = process.exchange(protocol.encoded(hello), self._limits.start)
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

    def _question(self, process: BotProcess, view: View, env_id: int, seed: int) -> dict[str, object]:
        self._questions += 1
        return protocol.act(
            view,
            id=self._questions,
            game=self._tell(process, env_id, view.player),
            seed=seed,
            ready=self._ready,
            clock=self.clock,
        )

    @contextlib.contextmanager
    def _in_step(self) -> Iterator[None]:
        """End a program that fails, unless it says so: what it says next would be taken for another answer."""
        try:
            yield
        except protocol.SaidError:
            raise
        except _FAULTS:
            self.close()
            raise

    def _asked(self, view: View, env_id: int, seed: int) -> list[int]:
        with self._in_step():
            process = self._open(view.game)
            question = self._question(process, view, env_id, seed)
            answer, _ = process.exchange(protocol.encoded(question), self._patience())
            return protocol.read_action(protocol.parsed(answer), view, self._questions)

    def _asked_together(self, views: Sequence[View], env_ids: Tensor, seeds: Sequence[int]) -> list[list[int]] | None:
        """Return the answers to questions that were sent together; None if the program takes one by one."""
        process = self._open(views[0].game)
        if self._ready.arrays or self._takes_states(views[0].game):
            given, tensors = env_ids.tolist(), Views.of(views)
            parts = [slice(first, first + _MOST) for first in range(0, len(views), _MOST)]
            answers = [self._by_arrays(process, tensors[part], given[part], seeds[part.start]) for part in parts]
            return [answer for part in answers for answer in part]
        if not self._ready.batch:
            return None
        rows = zip(views, env_ids.tolist(), seeds, strict=True)
        questions = [self._question(process, view, env_id, seed) for view, env_id, seed in rows]
        line = protocol.encoded(protocol.acts(questions))
        answer, _ = process.exchange(line, self._patience() * len(views))
        ids = range(self._questions - len(views) + 1, self._questions + 1)
        return protocol.read_actions(protocol.parsed(answer), views, ids)

    def _takes_states(self, game: Game) -> bool:
        return self._ready.states and game.info.perfect_information and not game.info.simultaneous

    def _by_arrays(self, process: BotProcess, views: Views, env_ids: Sequence[int], seed: int) -> list[list[int]]:
        """Return the answers to one question about several games."""
        keys = zip(env_ids, views.players.tolist(), strict=True)
        numbers = [self._tell(process, env_id, player) for env_id, player in keys]
        self._questions += 1
        question = protocol.arrays(
            views, id=self._questions, games=numbers, seed=seed, states=self._takes_states(views.game)
        )
        answer, _ = process.exchange(protocol.encoded(question), self._patience() * len(views))
        return protocol.read_choices(protocol.parsed(answer), views.game, self._questions, len(views))
