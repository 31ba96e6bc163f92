"""Guided games: sessions in which a lesson says what to play, with a scripted opponent or an agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, BaseAgent
from cellgames.agents.play_loop import parse_moves
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.web.live_game import RefusedError, Session
from cellgames.web.views import view_of

from .lesson import Lesson, Step, clicks

__all__ = ["GuidedGame"]

_RESUME_S = 5.0  # the most seconds that opponents may think about each move that is played again

SCRIPT = "teacher"
"""The name of a scripted opponent."""


class Script(BaseAgent):
    """An opponent that plays the moves of a line, and any legal one where a move of the line is not legal.

    Args:
        game: The rules.
        line: The moves of the whole game.
    """

    def __init__(self, game: Game, line: Sequence[str]) -> None:
        super().__init__(SCRIPT)
        self._game, self._line = game, line

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the line's move in each game, int64 [L]."""
        return torch.tensor([self._move(state[row : row + 1]) for row in range(len(state))], device="cpu")

    def _move(self, state: Any) -> int:
        legal, turn = self._game.legal_actions(state)[0], int(state.turn[0])
        if turn < len(self._line):
            action = int(parse_moves(self._game, [self._line[turn]], {})[0])
            if bool(legal[action]):
                return action
        return int(legal.nonzero()[0, 0])


class GuidedGame(Session):
    """A live game in which the person plays what a lesson asks for.

    Args:
        lesson: The lesson.
        load_agent: Makes an agent of a spec for a game.
    """

    def __init__(self, lesson: Lesson, load_agent: Callable[[str, Game], AnyAgent]) -> None:
        self._lesson, guide = lesson, lesson.guide
        game = registry.make(lesson.game, **guide.parameters)
        script = Script(game, guide.line)
        specs = [None, *[guide.opponent or SCRIPT] * (game.info.num_players - 1)]
        super().__init__(
            game,
            specs,
            lambda spec: load_agent(spec, game) if guide.opponent else script,
            seed=guide.seed,
            asked={"game": guide.next},
        )

    @property
    def _own(self) -> int:
        """The number of moves that the person has played."""
        if self.game.info.simultaneous:
            return self.turn
        return sum(event.seat in self.people for event in self._events)

    def _open(self) -> tuple[Step, list[dict[str, Any]]] | None:
        """Return the present step and the clicks of those of its moves that are still to be played; None at the end."""
        asked, own = self._lesson.guide.asked, self._own
        if self.done or own >= len(asked):
            return None
        step = asked[own][0]
        start = next(place for place, (one, _) in enumerate(asked) if one is step)
        played = [self._clicks(action) for action in self._actions()[start:]]
        return step, [found for move in step.moves.split() if (found := clicks(self.game, move)) not in played]

    @override
    def _checked(self, choices: Sequence[int], seat: int) -> Tensor:
        chosen = super()._checked(choices, seat)
        present = self._open()
        if present is not None and not present[0].free and self._clicks(choices) not in present[1]:
            raise RefusedError("The rules allow that, but the lesson asks for something else: see the frames.")
        return chosen

    def _clicks(self, choices: Sequence[int]) -> dict[str, Any]:
        return view_of(self.game).clicks(list(choices))

    @override
    def view(self, epoch: int = -1, since: int = 0) -> dict[str, Any]:
        with self._lock:
            return {**super().view(epoch, since), "lesson": self._told()}

    def _actions(self) -> list[list[int]]:
        """Return the person's actions so far."""
        if self.game.info.simultaneous:
            return [list(event.actions[self.people[0]]) for event in self._events]
        return [[self.game.string_to_action(event.move)] for event in self._events if event.seat in self.people]

    def resume(self, actions: Sequence[Sequence[int]]) -> None:
        """Play actions of an earlier visit again, as far as the lesson takes them."""
        for action in actions:
            end = time.monotonic() + _RESUME_S
            while self.thinking and time.monotonic() < end:
                time.sleep(0.005)
            if self.done:
                return
            try:
                self.move(action, self.turn)
            except RefusedError:
                return

    def _told(self) -> dict[str, Any]:
        """Return what the lesson says now, as JSON."""
        guide = self._lesson.guide
        about = {"game": self._lesson.game, "next": guide.next, "of": len(guide.steps), "actions": self._actions()}
        present = self._open()
        if present is None:
            return {**about, "step": len(guide.steps), "text": guide.end, "cells": [], "press": []}
        step, left = present
        number = next(place for place, one in enumerate(guide.steps) if one is step)
        cells = sorted({cell for one in left for cell in one["cells"]})
        target = {"cells": [], "press": []} if step.free else {"cells": cells, "press": left[0]["press"]}
        return {**about, "step": number, "text": step.text, "free": step.free, **target}
