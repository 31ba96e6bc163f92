"""Lessons: pages that teach a game with boards, and a guided first game, from the texts of its plugin.

Positions are moves that the real game plays, so a change of its rules changes the pictures, or fails loudly. In a
guided game a lesson says what to play, with a scripted opponent or an agent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, BaseAgent
from cellgames.agents.play_loop import parse_moves
from cellgames.arena.records.replays import after_moves
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.utils.errors import shown

from .frames import frame, layout
from .live_game import RefusedError, Session
from .views import view_of

SCRIPT = "teacher"
"""The name of a scripted opponent."""

_RESUME_S = 5.0  # the most seconds that opponents may think about each move that is played again


@dataclass(frozen=True)
class Board:
    """A position of a lesson with a caption.

    Attributes:
        caption: a sentence below it.
        moves: those that lead to it, separated by spaces; joint ones, of a part for each player, by " | ".
        parameters: parameters of the game.
        marked: names of actions of the first player, whose cells are framed.
    """

    caption: str
    moves: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    marked: Sequence[str] = ()


@dataclass(frozen=True)
class Step:
    """A thing that a guided game tells, and the moves by which the learner does it.

    Attributes:
        text: what to do, and why.
        moves: the learner's, separated by spaces. The person plays them in any order.
        replies: those of a scripted opponent after them.
        free: True if any legal moves do.
    """

    text: str
    moves: str
    replies: str = ""
    free: bool = False


@dataclass(frozen=True)
class Guide:
    """A guided first game; the learner has the first seat.

    Attributes:
        steps: in their order.
        end: summary of the lesson, told when the game is over.
        next: id of the preset for the learner's first own game.
        parameters: parameters of the game, a small one.
        opponent: the agent of the other seats; "" for the replies of the steps.
        seed: seed of the game and of the opponent.
    """

    steps: Sequence[Step]
    end: str
    next: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    opponent: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Lesson:
    """A lesson: sections on how to play a game, and a guided first game.

    Attributes:
        game: its id.
        parts: the sections of the page: a title, a text of a few sentences, and boards.
        guide: the guided first game.
    """

    game: str
    parts: Sequence[tuple[str, str, Sequence[Board]]]
    guide: Guide

    def to_data(self) -> dict[str, Any]:
        """Return the page as JSON."""
        about = layout(registry.make(self.game))
        parts = [
            {"title": title, "text": text, "boards": [self._board(board) for board in boards]}
            for title, text, boards in self.parts
        ]
        head = {name: about[name] for name in ("title", "credit", "goals", "players")}
        moves = sum(len(step.moves.split()) for step in self.guide.steps)
        return {"game": self.game, **head, "parts": parts, "moves": moves}

    def _board(self, board: Board) -> dict[str, Any]:
        game = registry.make(self.game, **board.parameters)
        marked = [cell for name in board.marked for cell in clicks(game, name)["cells"]]
        moves = board.moves.split(" | " if game.info.simultaneous else None)
        drawn = frame(game, after_moves(game, moves))
        return {"layout": layout(game), "frame": drawn, "caption": board.caption, "marked": marked}


@cache
def lesson_of(id: str) -> Lesson:
    """Return the lesson of a game by its id or that of a preset; raise a `LookupError` if it has none."""
    plugin = registry.spec(id).plugin if id in registry.REGISTRY else None
    if plugin is None or plugin.page is None or not plugin.page.lesson:
        raise LookupError(f"there is no lesson for {shown(id)}")
    if plugin.id != id:
        return lesson_of(plugin.id)
    told = plugin.page.lesson
    parts = [(part["title"], part["text"], [Board(**one) for one in part.get("boards", ())]) for part in told["parts"]]
    return Lesson(id, parts, Guide(**told["guide"] | {"steps": [Step(**step) for step in told["guide"]["steps"]]}))


def clicks(game: Game, move: str) -> dict[str, Any]:
    """Return the clicks of the first player for a move: `cells`, and `press`, the buttons after them."""
    return view_of(game).clicks(game.info.unravel_action(game.string_to_action(move)))


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
        """Choose the line's move in the one game that there is, int64 [1]."""
        legal, turn = self._game.legal_actions(state)[0], int(state.turn)
        if turn < len(self._line) and bool(legal[action := parse_moves(self._game, [self._line[turn]], {})]):
            return action
        return legal.nonzero()[0]


class GuidedGame(Session):
    """A live game in which the person plays what a lesson asks for.

    Args:
        lesson: The lesson.
        load_agent: Makes an agent of a spec for a game.
    """

    def __init__(self, lesson: Lesson, load_agent: Callable[[str, Game], AnyAgent]) -> None:
        self._lesson, guide = lesson, lesson.guide
        game = registry.make(lesson.game, **guide.parameters)
        script = Script(game, [move for step in guide.steps for move in (*step.moves.split(), *step.replies.split())])
        specs = [None, *[guide.opponent or SCRIPT] * (game.info.num_players - 1)]
        agent = (lambda spec: load_agent(spec, game)) if guide.opponent else lambda spec: script
        super().__init__(game, specs, agent, seed=guide.seed, asked={"game": guide.next})

    def _open(self) -> tuple[int, Step, list[dict[str, Any]]] | None:
        """Return the present step with its number, and the clicks of those of its moves that are still to be played."""
        if self.done:
            return None
        played = [*map(view_of(self.game).clicks, self._actions())]
        for number, step in enumerate(self._lesson.guide.steps):
            moves = step.moves.split()
            if len(played) < len(moves):
                return number, step, [asked for move in moves if (asked := clicks(self.game, move)) not in played]
            played = played[len(moves) :]
        return None

    @override
    def _check(self, choices: Sequence[int], seat: int) -> Tensor:
        chosen = super()._check(choices, seat)
        present, asked = self._open(), view_of(self.game).clicks(choices)
        if present is not None and not present[1].free and asked not in present[2]:
            raise RefusedError(cause="The rules allow that, but the lesson asks for something else: see the frames.")
        return chosen

    @override
    def view(self, epoch: int = -1, since: int = 0) -> dict[str, Any]:
        with self._lock:
            return {**super().view(epoch, since), "lesson": self._told()}

    def _actions(self) -> list[list[int]]:
        """Return the person's actions so far."""
        (own,) = self.people
        parts = own if self.game.info.simultaneous else 0
        return [list(step.parts[parts]) for step in self.steps if step.seat in (None, own)]

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
        """Return the current step of the lesson, as JSON."""
        guide = self._lesson.guide
        about = {"game": self._lesson.game, "next": guide.next, "of": len(guide.steps), "actions": self._actions()}
        present = self._open()
        if present is None:
            return {**about, "step": len(guide.steps), "text": guide.end, "cells": [], "press": []}
        number, step, left = present
        cells = sorted({cell for one in left for cell in one["cells"]})
        target = {"cells": [], "press": []} if step.free else {"cells": cells, "press": left[0]["press"]}
        return {**about, "step": number, "text": step.text, "free": step.free, **target}
