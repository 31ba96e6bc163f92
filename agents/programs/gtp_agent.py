"""Agents that are GTP engines: `gtp:./engine`, for games of two players in turns whose stones stay where they are."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import PartialAnswerError, must_start
from cellgames.agents.views import View
from cellgames.envs.core import Game, State, seeds
from cellgames.utils.foreign_text import shown

from .engine import Engine
from .gtp_server import COLOURS, action_of
from .process import BotProcess, Limits, ProgramError

__all__ = ["GtpAgent", "GtpError"]


class GtpError(ValueError):
    """A response of an engine that is none, or that refuses a command."""


class GtpAgent(Engine):
    """A GTP engine that plays all games of the agent in one process, on one board.

    GTP knows moves, not positions. So the moves that lead to a position are found again: each places a stone that the
    position has. Arguments and attributes are those of `Engine`.
    """

    prefix = "gtp:"
    farewell = b"quit\n"
    wrong_answer = GtpError

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        super().__init__(command, limits)
        self._positions: dict[int, State] = {}  # by environment, as far as its moves are known
        self._moves: dict[int, list[str]] = {}
        self._on_board: list[str] | None = None  # the moves that the engine has been told; None before any game

    @override
    def check_game(self, game: Game) -> None:
        info = game.info
        if info.simultaneous or info.num_players != 2 or not info.perfect_information or len(info.action_nvec) > 1:
            raise ValueError(f"agent {self.name!r} plays games of two players in turns; {game.id} is another kind")
        super().check_game(game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        for env_id in env_ids.tolist():
            self._positions.pop(env_id, None)
            self._moves[env_id] = []

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Ask the engine about each game.

        Raises:
            PartialAnswerError: it failed in some of them.
        """
        chosen, failures = torch.full((len(views),), -1, dtype=torch.int64), {}
        for row, (view, env_id) in enumerate(zip(views, env_ids.tolist(), strict=True)):
            try:
                chosen[row] = self._asked(view, env_id)
            except (ProgramError, GtpError) as error:
                self.close()
                failures[row] = str(error)
        if failures:
            raise PartialAnswerError(chosen, failures)
        return chosen

    @override
    def _greet(self, process: BotProcess, game: Game) -> None:
        self._on_board = None
        if (version := self._said("protocol_version", self._limits.start)) != "2":
            raise GtpError(f"expected version 2 of GTP, got {shown(version)}")

    def _said(self, command: str, seconds: float) -> str:
        """Return what the engine says to a command."""
        assert self._process is not None
        answer, _ = self._process.exchange(command.encode() + b"\n", seconds, end=b"\n\n", pause=self.clock is not None)
        text = answer.decode(errors="replace").lstrip("\n")
        if not text.startswith("="):
            raise GtpError(f"it answered {command!r} by {shown(text)}")
        return text[1:].strip()

    def _asked(self, view: View, env_id: int) -> int:
        until = time.perf_counter() + self._patience()

        def say(command: str) -> str:
            return self._said(command, max(0.001, until - time.perf_counter()))

        if env_id not in self._moves:
            raise must_start(self)
        self._open(view.game)
        moves = self._moves_to(view, env_id)
        if self._on_board is None or moves[: len(self._on_board)] != self._on_board:
            if "size" in view.game.parameters:
                say(f"boardsize {view.game.parameters['size']}")
            say("clear_board")
            if self.clock is not None and "left" in self.clock:
                say(f"time_settings {int(self.clock['left'])} 0 0")
            self._on_board = []
        for move in moves[len(self._on_board) :]:
            say(f"play {move}")
            self._on_board.append(move)
        colour = COLOURS[view.player]
        if self.clock is not None and "left" in self.clock:
            say(f"time_left {colour} {int(self.clock['left'])} 0")
        vertex = say(f"genmove {colour}")
        try:
            action = action_of(view.game, vertex)
        except ValueError:
            raise GtpError(f"expected a move, got {shown(vertex)}") from None
        self._on_board.append(f"{colour} {view.game.action_to_string(action)}")
        return action

    def _moves_to(self, view: View, env_id: int) -> list[str]:
        """Return the moves that lead to the position, such as `b c4`; those since the last question are found."""
        game, target = view.game, view.state
        known = self._positions.get(env_id)
        state = game.init(seeds(0, 1)) if known is None else known
        board = game.board(target)
        while int(state.turn[0]) < int(target.turn[0]):
            actions = game.legal_actions(state)[0].nonzero().squeeze(1)
            after = game.step(state[[0] * len(actions)], actions, checked=False)
            boards = game.board(after)
            fits = ((boards == board) | (boards == game.board(state))).flatten(1).all(1) & (after.turn > state.turn)
            fits &= (boards != game.board(state)).flatten(1).any(1)
            if not fits.any():
                raise GtpError("the moves that led to the position cannot be found again")
            choice = int(fits.int().argmax())
            mover = COLOURS[int(state.current_player[0])]
            self._moves[env_id].append(f"{mover} {game.action_to_string(int(actions[choice]))}")
            state = after[choice]
        if game.state_to_string(state) != view.position:
            raise GtpError("the moves that led to the position cannot be found again")
        self._positions[env_id] = state
        return self._moves[env_id]
