"""Layers of a game, each with defaults: notation, drawing, symmetries, hints for search, single games.

A function that needs one layer alone may say so in its types; all games have all layers.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator

import torch
from torch import Tensor

from cellgames.utils.foreign_text import shown

from .base_game import BaseGame
from .chance import seeds
from .drawing import Notes, Picture, draw_board, grid, headed, to_svg
from .errors import GameError
from .solo import BatchOfOne, Solo
from .state import S, State

__all__ = ["Drawing", "Notation", "SearchHints", "SingleGame", "Symmetries"]


class Notation(BaseGame[S]):
    """Actions and positions as text. By default actions are numbers and positions JSON."""

    def action_to_string(self, action: int) -> str:
        """Return the action as records and people write it.

        Args:
            action: a number; of an action with components its place among all combinations, in which the last
                component varies fastest.
        """
        most = math.prod(self.info.action_nvec)
        if not 0 <= action < most:
            raise GameError(self.id, f"expected an action from 0 to {most - 1}, got {action}")
        return str(action)

    def string_to_action(self, text: str) -> int:
        """Return the action of a text by `action_to_string`; a `ValueError` says what was expected."""
        most = math.prod(self.info.action_nvec)
        if not (text.isdecimal() and text.isascii() and int(text) < most):
            raise GameError(self.id, f"expected an action from 0 to {most - 1}, got {shown(text)}")
        return int(text)

    def action_in_words(self, state: S, player: int, action: int) -> str:
        """Return an action as lists for people show it: its name, and what the position says of it.

        Args:
            state: the position before the action, a batch of one.
            player: whose action it is.
            action: as in `action_to_string`, whose text is the default.
        """
        return self.action_to_string(action)

    def choice_to_string(self, component: int, choice: int) -> str:
        """Return one component's choice as people write it; the action's name if there is only one component."""
        return self.action_to_string(choice) if len(self.info.action_nvec) == 1 else str(choice)

    def state_to_string(self, state: S) -> str:
        """Return the position of a batch of one as one line of text."""
        return json.dumps({name: field[0].tolist() for name, field in _position(state).items()}, separators=(",", ":"))

    def view_to_string(self, state: S, player: int) -> str:
        """Return what a player may know of the position of a batch of one, as one line of text.

        It tells no more than `observe` does. The default is the line by `state_to_string` in games with perfect
        information, and the observation as JSON in others.
        """
        if self.info.perfect_information:
            return self.state_to_string(state)
        return json.dumps(self.observe(state, player)[0].tolist(), separators=(",", ":"))

    def string_to_state(self, text: str, seed: int = 0) -> S:
        """Return a batch of one with the position of a line by `state_to_string`; a `ValueError` says what is wrong.

        The default checks names and shapes. It does not check that play can lead to the position.
        """
        state = self.init(torch.tensor([seed], device="cpu"))
        expected = _position(state)
        try:
            given = json.loads(text)
            fields = {
                name: torch.tensor([given.pop(name)], dtype=field.dtype, device="cpu")
                for name, field in expected.items()
            }
            same = not given and all(fields[name].shape == field.shape for name, field in expected.items())
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            same = False
        if not same:
            raise GameError(
                self.id, f"expected a position such as {shown(self.state_to_string(state), 150)}, got {shown(text)}"
            ) from None
        return state.replace(**fields)


def _position(state: State) -> dict[str, Tensor]:
    """Return the fields that make up a position: all but the seed and the rewards of the last step."""
    names = [field.name for field in dataclasses.fields(state) if field.name not in ("seed", "rewards")]
    return {name: getattr(state, name) for name in names}


class Drawing(BaseGame[S]):
    """Positions as pictures and as text for a terminal. By default both show the board's numbers."""

    def draw(self, state: S) -> Picture:
        """Return the first game of the batch as a drawing (`core.drawing` turns it into SVG, pixels or HTML)."""
        return draw_board(self.board(state)[0].numpy(force=True), self.info.title)

    def draw_for(self, state: S, player: int) -> Picture:
        """Return the first game of the batch as one player may know it; in games with secrets, the observation."""
        if self.info.perfect_information:
            return self.draw(state)
        return draw_board(self.observe(state, player)[0].numpy(force=True), self.info.title)

    def draw_batch(self, state: S, most: int = 4) -> Picture:
        """Return the first games of the batch, at most `most`, as one drawing, in about as many rows as columns."""
        pictures = [self.draw(state[env_id]) for env_id in range(min(most, len(state)))]
        if len(pictures) == 1:
            return pictures[0]
        title = f"{self.info.title}, {len(pictures)} of {len(state)} games"
        columns = math.isqrt(max(len(pictures) - 1, 0)) + 1
        return grid(pictures, columns, title=title, scale=1 / columns)

    def frames(self, before: S, after: S) -> Iterator[Picture]:
        """Yield the step from one position to the next as pictures of one size; the last one is that of `after`.

        Only the first games of both batches are drawn. A step gives one picture, unless much happens within it.
        """
        yield self.draw(after)

    def draw_annotated(self, state: S, notes: Notes) -> Picture:
        """Return the first game of the batch, unfinished, with an analysis drawn on its board.

        By default the picture stands below the title of the notes, and the rest is not drawn.
        """
        return headed(self.draw(state), notes.title)

    def text(self, state: S) -> str:
        """Return the first game of the batch for a terminal."""
        return _rows(self.board(state)[0])

    def text_for(self, state: S, player: int) -> str:
        """Return what `draw_for` shows, for a terminal."""
        return self.text(state) if self.info.perfect_information else _rows(self.observe(state, player)[0])

    def _repr_html_(self) -> str:
        """Return the start of a game as SVG, for notebooks."""
        return to_svg(self.draw(self.init(seeds(0, 1))))


def _rows(board: Tensor) -> str:
    """Return an array of numbers as lines of text."""
    return "\n".join(" ".join(map(str, row)) for row in board.reshape(-1, board.shape[-1]).tolist())


class Symmetries(BaseGame[S]):
    """Ways of moving the board that keep the game. By default there are none."""

    @property
    def symmetries(self) -> int:
        """The number of ways of moving the board that keep the game, with seats exchanged or not; 0 moves nothing."""
        return 1

    def transform(self, observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
        """Return what a seat sees, and numbers by action, as they are on a board moved by symmetries.

        Args:
            observation: [L, ...], of `L` positions, as `observe` shows them.
            actions: [L, ..., A], such as masks and policies, of any dtype.
            which: int64 [L], each from 0 to `symmetries` - 1.
        """
        return observation, actions


class SearchHints(BaseGame[S]):
    """Answers that a game can give a search quickly. By default nothing is known."""

    def is_last_turn(self, state: S) -> Tensor:
        """Return where the next step surely ends the game, bool [B]; False where that is unknown and after the end."""
        return torch.zeros_like(state.done)

    def winning_actions(self, state: S, player: Tensor | None = None) -> Tensor | None:
        """Return the legal actions that win at once for the mover, while all others lose: bool [B, A].

        For games in turns. None if the game has no quick way to tell. Nothing wins after the end.

        Args:
            state: the games.
            player: int64 [B], who is taken to be the mover; None for those whose turn it is.
        """
        return None

    def defending_actions(self, state: S) -> Tensor | None:
        """Return the legal actions after which the opponent cannot win at once: bool [B, A].

        For games of two players in turns. None if the game has no quick way to tell. The answer has no meaning where
        the mover can win at once. Where a game is over nothing is legal.
        """
        return None

    def random_outcome(self, state: S, generator: torch.Generator) -> Tensor | None:
        """Return `outcome` after one random playout of each game, each independent of the others: int8 [B, P].

        None, with the generator left alone, if playouts have to be played.
        """
        return None


class SingleGame(BaseGame[S]):
    """One game outside a batch. By default it is a batch of one."""

    def solo(self, state: S) -> Solo:
        """Return one game outside a batch, for interfaces that play a single game; `state` has one env."""
        return BatchOfOne(self, state)
