"""Lessons: pages that teach a game with boards, and a guided first game, from the texts of its plugin.

Positions are moves that the real game plays, so a change of its rules changes the pictures, or fails loudly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from cellgames.agents.play_loop import parse_moves
from cellgames.arena.records.replays import start
from cellgames.envs import registry
from cellgames.envs.core import Game, State
from cellgames.web.frames import frame, layout
from cellgames.web.views import view_of

__all__ = ["Board", "Guide", "Lesson", "Part", "Step", "clicks", "lesson_of"]


@dataclass(frozen=True)
class Board:
    """A picture of a position.

    Attributes:
        caption: a sentence below it.
        moves: those that lead to it, separated by spaces; joint ones, of a part for each player, by " | ".
        parameters: of the game.
        seed: of the game.
        marked: names of actions of the first player, whose cells are framed.
    """

    caption: str
    moves: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    marked: Sequence[str] = ()

    def state(self, game: Game) -> State:
        """Return the position."""
        state: State = start(game, self.seed)
        for move in self.moves.split(" | ") if game.info.simultaneous else self.moves.split():
            state = game.step(state, parse_moves(game, [move], {}))
        return state


@dataclass(frozen=True)
class Part:
    """A section of a page: a heading, a text of a few sentences, and boards."""

    title: str
    text: str
    boards: Sequence[Board] = ()


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
        end: what the learner has learned, told when the game is over.
        next: id of the preset for the learner's first own game.
        parameters: of the game, a small one.
        opponent: the agent of the other seats; "" for the replies of the steps.
        seed: of the game and of the opponent.
    """

    steps: Sequence[Step]
    end: str
    next: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    opponent: str = ""
    seed: int = 0

    @cached_property
    def asked(self) -> list[tuple[Step, str]]:
        """Each of the learner's moves with its step."""
        return [(step, move) for step in self.steps for move in step.moves.split()]

    @cached_property
    def line(self) -> list[str]:
        """All moves of a game with a scripted opponent."""
        return [move for step in self.steps for move in (*step.moves.split(), *step.replies.split())]


@dataclass(frozen=True)
class Lesson:
    """A lesson: sections on how to play a game, and a guided first game.

    Attributes:
        game: its id.
        parts: the sections of the page.
        guide: the guided first game.
    """

    game: str
    parts: Sequence[Part]
    guide: Guide

    def to_data(self) -> dict[str, Any]:
        """Return the page as JSON."""
        whole = registry.make(self.game)
        parts = [
            {"title": part.title, "text": part.text, "boards": [self._board(board) for board in part.boards]}
            for part in self.parts
        ]
        about = layout(whole)
        head = {"game": self.game, "title": about["title"], "credit": about["credit"], "goals": about["goals"]}
        return {**head, "players": about["players"], "parts": parts, "moves": len(self.guide.asked)}

    def _board(self, board: Board) -> dict[str, Any]:
        game = registry.make(self.game, **board.parameters)
        marked = [cell for name in board.marked for cell in clicks(game, name)["cells"]]
        return {
            "layout": layout(game),
            "frame": frame(game, board.state(game)),
            "caption": board.caption,
            "marked": marked,
        }


def lesson_of(id: str) -> Lesson | None:
    """Return the lesson of a game by its id or that of a preset; None if it has none."""
    return _lesson(registry.spec(id).plugin.id) if id in registry.REGISTRY else None


@cache
def _lesson(game: str) -> Lesson | None:
    page = registry.spec(game).plugin.page
    if page is None or not page.lesson:
        return None
    parts, guide = page.lesson["parts"], page.lesson["guide"]
    sections = [Part(**part | {"boards": [Board(**board) for board in part.get("boards", ())]}) for part in parts]
    return Lesson(game, sections, Guide(**guide | {"steps": [Step(**step) for step in guide["steps"]]}))


def clicks(game: Game, move: str) -> dict[str, Any]:
    """Return what the first player clicks for a move: `cells`, and `press`, the buttons after them."""
    (action,) = parse_moves(game, [move if not game.info.simultaneous else _alone(game, move)], {}).tolist()
    first = action[0] if game.info.simultaneous else action
    return view_of(game).clicks(first if isinstance(first, list) else [first])


def _alone(game: Game, move: str) -> str:
    """Return a joint move in which the others do the same."""
    return " ".join([move] * game.info.num_players)
