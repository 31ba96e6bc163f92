"""An agent as a GTP engine: the Go Text Protocol, version 2, for games of two players in turns.

Specification: Gunnar Farnebäck, "GTP 2 draft", lysator.liu.se/~gunnar/gtp. Colours are `b` and `w`, the first and the
second player; a vertex is an action as the game writes it, such as `c4` and `c4+` in Torus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.selection import select
from cellgames.envs.core import Game, State, seeds
from cellgames.utils.errors import InputError
from cellgames.utils.foreign_text import clipped, shown
from cellgames.utils.version import __version__

COLOURS = ("b", "w")
_NAMES = {"b": 0, "black": 0, "w": 1, "white": 1}


def action_of(game: Game, vertex: str) -> int:
    """Return the action of a vertex, which GTP may write in capitals; raise a `ValueError` for another text."""
    try:
        return game.string_to_action(vertex)
    except ValueError:
        return game.string_to_action(vertex.lower())


class GtpServer:
    """The state of an engine: a game, its positions so far, and the agent.

    Args:
        game: a game of two players in turns.
        load: returns the agent for a game; the size of the board may change.
        seed: seed of the agent's random numbers.

    Raises:
        ValueError: a game of another kind.
    """

    def __init__(self, game: Game, load: Callable[[Game], AnyAgent], seed: int = 0) -> None:
        if game.info.num_players != 2 or game.info.simultaneous or len(game.info.action_nvec) > 1:
            raise InputError("game", "two players in turns, with plain actions, for GTP", game.id)
        self._load = load
        self._chance = torch.Generator().manual_seed(seed)
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
        try:
            return f"={number} {self._result(words[0], words[1:])}".rstrip(" ") + "\n\n"
        except ValueError as error:
            return f"?{number} {clipped(str(error))}\n\n"

    def _result(self, command: str, arguments: list[str]) -> str:
        if command not in COMMANDS:
            raise ValueError("unknown command")
        least, most, function = COMMANDS[command]
        if not least <= len(arguments) <= most:
            raise InputError("syntax error", f"{least} to {most} arguments", len(arguments))
        return function(self, *arguments)

    # ---------------------------------------------------------------- commands

    def boardsize(self, size: str, rows: str | None = None) -> str:
        """Begin anew on a board of another size; Hex programs also name the number of rows, which is the same."""
        if "size" not in self.game.parameters or rows not in (None, size):
            raise ValueError("unacceptable size")
        try:
            game = type(self.game)(**{**self.game.parameters, "size": int(size)})
        except ValueError:
            raise ValueError("unacceptable size") from None
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
            raise ValueError("illegal move") from None
        return ""

    def genmove(self, colour: str) -> str:
        """Let the agent play a move."""
        player, state = self._player(colour), self.state
        if bool(state.done[0]):
            return "resign" if int(self.game.outcome(state)[0, player]) < 0 else "pass"
        if int(state.current_player[0]) != player:
            raise ValueError(f"illegal move: it is the turn of {COLOURS[1 - player]}")
        action = int(select(self.agent, self.game, state, torch.tensor([0]), self._chance)[0])
        self.states.append(self.game.step(state, torch.tensor([action]), checked=False))  # `select` has checked it
        return self.game.action_to_string(action)

    def undo(self) -> str:
        """Take a move back."""
        if len(self.states) == 1:
            raise ValueError("cannot undo")
        self.states.pop()
        return ""

    def showboard(self) -> str:
        """Draw the position."""
        drawn = self.game.text(self.state)
        return "\n" + "\n".join(line.rstrip() or "." for line in drawn.splitlines())

    def final_score(self) -> str:
        """Return `B+` or `W+` for who has won; the margin where the game counts points."""
        if not bool(self.state.done[0]):
            raise ValueError("cannot score: the game goes on")
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
    """Answer commands until `quit` or the end of the lines.

    Args:
        server: the engine.
        lines: commands.
        send: gets each response.
    """
    for line in lines:
        text = line.decode(errors="replace").replace("\t", " ")
        text = "".join(letter for letter in text if letter.isprintable())
        answer = server.answer(text)
        if answer is not None:
            send(answer.encode())
            if text.partition("#")[0].split()[-1:] == ["quit"] and answer.startswith("="):
                return
