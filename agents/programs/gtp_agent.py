"""Agents that are GTP engines: `gtp:./engine`, for games of two players in turns whose stones stay where they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import must_start
from cellgames.agents.views import View
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.solo import Solo
from cellgames.utils.errors import InputError, shown

from .engine import Engine, EngineError
from .gtp_server import COLOURS, action_of
from .process import BotProcess, Limits


class GtpError(EngineError):
    """A malformed response of a GTP engine, a rejected command, or a resignation."""


class GtpAgent(Engine):
    """A GTP engine that plays all games of the agent in one process, on one board.

    GTP knows moves, not positions. So the moves that lead to a position are found again: each places a stone that the
    position has, but for a first move that a swap has changed. The engine gets all commands of a question at once, and
    answers one after the other. Arguments and attributes are those of `Engine`.
    """

    prefix = "gtp:"
    farewell = b"quit\n"

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        super().__init__(command, limits)
        self._games: dict[int, Solo] = {}  # by environment, as far as their moves are known
        self._moves: dict[int, list[str]] = {}
        self._on_board: list[str] | None = None  # the moves that the engine has been told; None before any game

    @override
    def check_game(self, game: Game) -> None:
        info = game.info
        if info.simultaneous or info.num_players != 2 or not info.perfect_information or len(info.action_nvec) > 1:
            raise InputError(f"agent {self.name!r}", "a game of two players in turns", game.id)
        super().check_game(game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        for env_id in env_ids.tolist():
            self._games.pop(env_id, None)
            self._moves[env_id] = []

    @override
    def _greet(self, process: BotProcess, game: Game) -> None:
        self._on_board = None
        (version,) = self._said(["protocol_version"], self._limits.start)
        if version != "2":
            raise GtpError(f"expected version 2 of GTP, got {shown(version)}")

    def _said(self, commands: Sequence[str], seconds: float) -> list[str]:
        """Return the answers of the engine to some commands."""
        assert self._process is not None
        lines = "".join(f"{command}\n" for command in commands).encode()
        answers = self._process.exchange_all(lines, len(commands), seconds, end=b"\n\n")
        said = []
        for command, answer in zip(commands, answers, strict=True):
            text = answer.decode(errors="replace").lstrip("\n")
            if not text.startswith("="):
                raise GtpError(f"it answered {command!r} by {shown(text)}")
            said.append(text[1:].strip())
        return said

    @override
    def _asked(self, view: View, env_id: int, seed: int) -> list[int]:
        until = time.perf_counter() + self._patience()
        if env_id not in self._moves:
            raise must_start(self)
        self._open(view.game)
        moves = self._moves_to(view, env_id)
        colour, clock = COLOURS[view.player], self.clock if self.clock is not None and "left" in self.clock else None
        commands = []
        known = self._on_board
        if known is None or moves[: len(known)] != known:
            if "size" in view.game.parameters:
                commands.append(f"boardsize {view.game.parameters['size']}")
            commands.append("clear_board")
            if clock is not None:
                commands.append(f"time_settings {int(clock['left'])} 0 0")
            known = []
        commands += [f"play {move}" for move in moves[len(known) :]]
        if clock is not None:
            commands.append(f"time_left {colour} {int(clock['left'])} 0")
        vertex = self._said([*commands, f"genmove {colour}"], max(0.001, until - time.perf_counter()))[-1]
        if vertex.lower() == "resign":
            raise GtpError("resigned")
        try:
            action = action_of(view.game, vertex)
        except ValueError:
            raise GtpError(f"expected a move, got {shown(vertex)}") from None
        self._on_board = [*moves, f"{colour} {view.game.action_to_string(action)}"]
        return [action]

    def _moves_to(self, view: View, env_id: int) -> list[str]:
        """Return the moves that lead to the position, such as `b c4`; those since the last question are found."""
        game, found = view.game, list(self._moves[env_id])
        solo = self._games.get(env_id) or game.solo(game.init(seeds(0, 1)))
        for beginning in _beginnings(solo):
            if (way := _way(game, solo, beginning, view)) is not None:
                moves, self._games[env_id] = way
                self._moves[env_id] = found + moves
                return self._moves[env_id]
        raise GtpError("the moves that led to the position cannot be found again")


def _beginnings(solo: Solo) -> Iterator[list[int]]:
    """Yield actions with which a way may begin: none, as a rule; else any one, or one and another that it allows."""
    # A swap in Hex, the second turn, changes the stone that made it legal, so both have to be tried.
    yield []
    if solo.turn > 1:
        return
    legal = solo.legal_actions()
    actions = legal.nonzero()[0].tolist()
    yield from ([action] for action in actions)
    for action in actions:
        after = solo.copy()
        after.step(action)
        yield from ([action, other] for other in (after.legal_actions() & ~legal).nonzero()[0].tolist())


def _way(game: Game, solo: Solo, beginning: Sequence[int], view: View) -> tuple[list[str], Solo] | None:
    """Return the moves from a game to a position, after some actions, and the game there; None if there is no way."""
    target, moves = game.board(view.state)[0].numpy(force=True), []
    for action in beginning:
        moves.append(f"{COLOURS[solo.current_player]} {game.action_to_string(action)}")
        solo = solo.copy()
        solo.step(action)
    while solo.turn < view.turn:
        if (placed := _placed(solo, target)) is None:
            return None
        moves.append(f"{COLOURS[solo.current_player]} {game.action_to_string(placed[0])}")
        solo = placed[1]
    return (moves, solo) if game.state_to_string(solo.state()) == view.position else None


def _placed(solo: Solo, target: np.ndarray[Any, Any]) -> tuple[int, Solo] | None:
    """Return an action that changes the board to what the target has there, and the game after it; None if none."""
    board, legal = solo.board(), solo.legal_actions()
    actions = legal.nonzero()[0]
    if board.ndim == 1 and len(board) <= len(legal):  # as a rule an action for each cell: try those that differ first
        same = np.append(board == target, np.zeros(len(legal) - len(board), np.bool_))
        actions = actions[np.argsort(same[actions], kind="stable")]
    for action in actions.tolist():
        after = solo.copy()
        after.step(action)
        changed = (now := after.board()) != board
        if after.turn > solo.turn and changed.any() and (now == target)[changed].all():
            return action, after
    return None
