"""The Go Text Protocol, version 2, for games of two players in turns: engines as agents, and agents as engines.

Specification: Gunnar Farnebäck, "GTP 2 draft", lysator.liu.se/~gunnar/gtp. Colours are `b` and `w`, the first and the
second player; a vertex is an action as the game writes it, such as `c4` and `c4+` in Torus.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AnyAgent, must_start
from cellgames.agents.selection import select
from cellgames.agents.views import View
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.solo import Solo
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.version import __version__

from .process import BotProcess, EngineError, Limits
from .program_agent import Engine

COLOURS = ("b", "w")
_NAMES = {"b": 0, "black": 0, "w": 1, "white": 1}


def action_of(game: Game, vertex: str) -> int:
    """Return the action of a vertex, which GTP may write in capitals; raise a `ValueError` for another text."""
    try:
        return game.string_to_action(vertex)
    except ValueError:
        return game.string_to_action(vertex.lower())


class GtpServer:
    """The state of an engine: a game of two players in turns, its positions so far, and the agent.

    `load` returns the agent for a game, since the size of the board may change. A `ValueError` refuses other games.
    """

    def __init__(self, game: Game, load: Callable[[Game], AnyAgent]) -> None:
        if game.info.num_players != 2 or game.info.simultaneous or len(game.info.action_nvec) > 1:
            raise InputError("game", "two players in turns, with plain actions, for GTP", game.id)
        self._load = load
        self._chance = torch.Generator().manual_seed(0)
        self._begin(game)

    def _begin(self, game: Game) -> None:
        self.game, self.agent = game, self._load(game)
        self.clear_board()

    @property
    def state(self) -> State:
        """The position."""
        return self.states[-1]

    def answer(self, line: str) -> str | None:
        """Return the response to a line, with its empty line; None for a line without a command."""
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isdecimal() and words[0].isascii() else ""
        if not words:
            return None
        command, *arguments = words
        try:
            if command not in COMMANDS:
                raise InputError("unknown command")
            least, most, function = COMMANDS[command]
            if not least <= len(arguments) <= most:
                count = f"{least}" if least == most else f"{least} to {most}"
                raise InputError("syntax error", f"arguments: {count}", len(arguments))
            return f"={number} {function(self, *arguments)}".rstrip(" ") + "\n\n"
        except ValueError as error:
            return f"?{number} {clipped(str(error))}\n\n"

    # ---------------------------------------------------------------- commands

    def boardsize(self, size: str, rows: str | None = None) -> str:
        """Begin anew on a board of another size; Hex programs also name the number of rows, which is the same."""
        if "size" not in self.game.parameters or rows not in (None, size):
            raise InputError("unacceptable size")
        try:
            game = type(self.game)(**{**self.game.parameters, "size": int(size)})
        except ValueError:
            raise InputError("unacceptable size") from None
        self._begin(game)
        return ""

    def clear_board(self) -> str:
        """Begin anew."""
        self.states: list[State] = [self.game.init(seeds(0, 1))]
        for seat in range(2):
            self.agent.start(self.game, torch.tensor([seat]), torch.tensor([0]))
        return ""

    def play(self, colour: str, vertex: str) -> str:
        """Play a move."""
        player, state = self._player(colour), self.state
        try:
            if bool(state.done[0]) or int(state.current_player[0]) != player:
                raise ValueError
            self.states.append(self.game.step(state, torch.tensor([action_of(self.game, vertex)])))
        except ValueError:
            raise InputError("illegal move") from None
        return ""

    def genmove(self, colour: str) -> str:
        """Let the agent play a move."""
        player, state = self._player(colour), self.state
        if bool(state.done[0]):
            return "resign" if int(self.game.outcome(state)[0, player]) < 0 else "pass"
        if int(state.current_player[0]) != player:
            raise InputError("illegal move", cause=f"it is the turn of {COLOURS[1 - player]}")
        action = int(select(self.agent, self.game, state, torch.tensor([0]), self._chance)[0])
        self.states.append(self.game.step(state, torch.tensor([action]), checked=False))  # `select` has checked it
        return self.game.action_to_string(action)

    def undo(self) -> str:
        """Take a move back."""
        if len(self.states) == 1:
            raise InputError("cannot undo")
        self.states.pop()
        return ""

    def showboard(self) -> str:
        """Draw the position."""
        drawn = self.game.text(self.state)
        return "\n" + "\n".join(line.rstrip() or "." for line in drawn.splitlines())

    def final_score(self) -> str:
        """Return `B+` or `W+` for who has won; the margin where the game counts points."""
        if not bool(self.state.done[0]):
            raise InputError("cannot score", cause="the game goes on")
        winner = self.game.outcome(self.state)[0].tolist()
        margin = abs(float(self.state.scores[0, 0] - self.state.scores[0, 1]))
        if winner[0] == winner[1]:
            return "0"
        return f"{'B' if winner[0] > winner[1] else 'W'}+{margin:g}"

    def position(self, *words: str) -> str:
        """Return the position as a line of text, or set it."""
        if not words:
            return self.game.state_to_string(self.state)
        state = self.game.string_to_state(" ".join(words))
        self.clear_board()
        self.states = [state]
        return ""

    def _player(self, colour: str) -> int:
        if (player := _NAMES.get(colour.lower())) is None:
            raise InputError("syntax error", "b or w", shown(colour))
        return player


COMMANDS: dict[str, tuple[int, int, Callable[..., str]]] = {
    "protocol_version": (0, 0, lambda server: "2"),
    "name": (0, 0, lambda server: f"cellgames {server.agent.name}"),
    "version": (0, 0, lambda server: __version__),
    "known_command": (1, 1, lambda server, name: "true" if name in COMMANDS else "false"),
    "list_commands": (0, 0, lambda server: "\n".join(COMMANDS)),
    "quit": (0, 0, lambda server: ""),
    "boardsize": (1, 2, GtpServer.boardsize),
    "clear_board": (0, 0, GtpServer.clear_board),
    "komi": (1, 1, lambda server, points: ""),
    "play": (2, 2, GtpServer.play),
    "genmove": (1, 1, GtpServer.genmove),
    "undo": (0, 0, GtpServer.undo),
    "showboard": (0, 0, GtpServer.showboard),
    "final_score": (0, 0, GtpServer.final_score),
    "time_settings": (3, 3, lambda server, main, byo_yomi, stones: ""),
    "time_left": (3, 3, lambda server, colour, seconds, stones: ""),
    "cellgames-position": (0, 8, GtpServer.position),
}
"""The commands: the least and the most arguments, and what they do."""


def serve_gtp(server: GtpServer, lines: Iterable[bytes], send: Callable[[bytes], None]) -> None:
    """Answer commands until `quit` or the end of the lines; `send` gets each response."""
    for line in lines:
        text = line.decode(errors="replace").replace("\t", " ")
        text = "".join(letter for letter in text if letter.isprintable())
        answer = server.answer(text)
        if answer is not None:
            send(answer.encode())
            if text.partition("#")[0].split()[-1:] == ["quit"] and answer.startswith("="):
                return


class GtpAgent(Engine):
    """A GTP engine that plays all games of the agent in one process, on one board.

    GTP knows moves, not positions. So the moves that lead to a position are found again: each places a stone that the
    position has. A swap is told as the stone that it leaves, since after the word itself Benzene's programs leave the
    board as it was and change players; engines that refuse a colour twice get the word. The engine gets all commands of
    a question at once, and answers one after the other. Arguments and attributes are those of `Engine`.
    """

    prefix = "gtp:"
    farewell = b"quit\n"

    def __init__(self, command: str, limits: Limits | None = None) -> None:
        super().__init__(command, limits)
        self._games: dict[int, Solo] = {}  # by environment, as far as their moves are known
        self._moves: dict[int, list[str]] = {}
        self._on_board: list[str] | None = None  # the moves that the engine has been told; None before any game
        self._says_swap = False  # to an engine that has refused the stone that a swap leaves

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
            raise EngineError(f"expected version 2 of GTP, got {shown(version)}")

    def _said(self, commands: Sequence[str], seconds: float) -> list[str]:
        """Return the answers of the engine to some commands."""
        assert self._process is not None
        lines = "".join(f"{command}\n" for command in commands).encode()
        answers = self._process.exchange_all(lines, len(commands), seconds, end=b"\n\n")
        said = []
        for command, answer in zip(commands, answers, strict=True):
            text = answer.decode(errors="replace").lstrip("\n")
            if not text.startswith("="):
                raise _RefusedError(f"it answered {command!r} by {shown(text)}")
            said.append(text[1:].strip())
        return said

    @override
    def _asked(self, view: View, env_id: int, seed: int) -> list[int]:
        until = time.perf_counter() + self._patience()
        if env_id not in self._moves:
            raise must_start(self)
        self._open(view.game)
        moves = self._moves_to(view, env_id)
        told = moves if self._says_swap else _swapped(view.game, moves)
        try:
            return self._answered(view, told, until)
        except _RefusedError:
            if told == moves:
                raise
            self._says_swap, self._on_board = True, None
            return self._answered(view, moves, until)

    def _answered(self, view: View, moves: list[str], until: float) -> list[int]:
        """Return the action that the engine answers after some moves."""
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
            raise EngineError("resigned")
        try:
            action = action_of(view.game, vertex)
        except ValueError:
            raise EngineError(f"expected a move, got {shown(vertex)}") from None
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
        raise EngineError("the moves that led to the position cannot be found again")


class _RefusedError(EngineError):
    """The engine refused a command."""


def _swapped(game: Game, moves: list[str]) -> list[str]:
    """Return the moves with the stone that a swap leaves in the place of the first two."""
    solo = game.solo(game.init(seeds(0, 1)))
    for move in moves[:2]:
        solo.step(game.string_to_action(move[2:]))
    stones = (board := solo.board().ravel()).nonzero()[0].tolist()
    if len(stones) != 1 or board[stones[0]] != 2:  # a stone of the second player alone
        return moves
    return [f"{COLOURS[1]} {game.action_to_string(stones[0])}", *moves[2:]]


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
