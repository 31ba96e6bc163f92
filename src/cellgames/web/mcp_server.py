"""A server for assistants, over the Model Context Protocol: tools to list games, read rules and play against agents.

As on the page, games, parameters and agents are taken from the catalog only, so that no text of an assistant imports
code, opens a file or starts a program.
"""

from __future__ import annotations

import json
import secrets
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, redirect_stdout
from functools import partial
from typing import Any, TypeAlias

import torch
from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError

from cellgames.agents.language_models.prompts import legal_moves, position_text, read_move, rules_text
from cellgames.agents.views import View, Views
from cellgames.envs.core.raster import to_png
from cellgames.utils.foreign_text import shown
from cellgames.utils.version import __version__

from . import catalog
from .live_game import Session
from .sessions import specs_of

MOST_GAMES = 16
"""Games at the same time; another one takes the place of the first."""

_MOST_MOVES = 100  # in one call
_INSTRUCTIONS = (
    "Board games played with cells. list_games shows the games and the agents, read_rules tells the rules and how "
    "moves are named, start_game starts a game, and play_move plays a move and returns the position after the answer."
)

Parameters: TypeAlias = dict[str, bool | int | float | str]


@contextmanager
def _tool() -> Iterator[None]:
    """Let an assistant read why a tool refuses something."""
    try:
        yield
    except (ImportError, ValueError) as error:
        raise ToolError(str(error)) from None


class AssistantGames:
    """The games of one assistant, by number. The methods are the tools; each refusal is a `ToolError`.

    Args:
        listed: specs of agents that the owner offers, by name, besides those of the catalog.
    """

    def __init__(self, listed: Mapping[str, str] | None = None) -> None:
        self._listed = dict(listed or {})
        self._games: dict[int, Session] = {}
        self._started = 0

    @_tool()
    def list_games(self) -> str:
        """List the games, their seats and parameters, and the agents that play them."""
        paragraphs = []
        for offer in catalog.games():
            how = "all at once" if offer["simultaneous"] else "in turns"
            paragraphs.append(
                f"{offer['id']}: {offer['summary']}\n  seats ({how}): {', '.join(offer['players'])}\n"
                f"  parameters: {'; '.join(map(_range, offer['settings']))}"
            )
        agents = [f"{kind.usage.partition('[')[0]}: {kind.summary}" for kind in catalog.OPEN_AGENTS.values()]
        agents += [f"{name}: offered by the owner of this server" for name in self._listed]
        paragraphs.append("\n  ".join(["Agents (some play some of the games only):", *agents]))
        return "\n\n".join(paragraphs)

    @_tool()
    def read_rules(self, game: str, parameters: Parameters | None = None) -> str:
        """Read the rules of a game, how to read its positions, and how its moves are named."""
        return rules_text(catalog.check_parameters(game, parameters or {}))

    @_tool()
    def start_game(
        self,
        game: str,
        agent: str = "greedy",
        seat: str | None = None,
        parameters: Parameters | None = None,
        seed: int | None = None,
    ) -> str:
        """Start a game against an agent on all other seats. Returns its number, the position and the legal moves.

        Without a seat you get the first one. A seed repeats a game.
        """
        made = catalog.check_parameters(game, parameters or {})
        players = made.info.players
        if seat is not None and seat not in players:
            raise ToolError(f"expected a seat of {', '.join(players)}, got {shown(seat)}")
        if seed is not None and not 0 <= seed < 1 << 62:
            raise ToolError(f"expected a seed from 0 to 2^62 - 1, got {shown(seed)}")
        own = 0 if seat is None else players.index(seat)
        session = Session(
            made,
            specs_of([own], [agent], players),
            lambda spec: catalog.load_agent(spec, made, self._listed),
            seed=secrets.randbelow(1 << 31) if seed is None else seed,
        )
        if len(self._games) >= MOST_GAMES:
            self._games.pop(next(iter(self._games))).close()
        self._started += 1
        self._games[self._started] = session
        text = _text(session, 0)
        head = f"This is game {self._started}: {made.id}, you are {players[own]} against {shown(agent)}."
        return "\n\n".join([head, text, *([] if session.done else [legal_moves(_view(session))])])

    @_tool()
    def show_position(self, game_number: int) -> str:
        """Show the position as text, and whether the game is over."""
        session = self._get(game_number)
        return _text(session, session.turn)

    @_tool()
    def show_picture(self, game_number: int) -> Image:
        """Show the position as a picture."""
        session = self._get(game_number)
        return Image(data=to_png(session.game.draw_for(session.state, session.people[0]), 1.0), format="png")

    @_tool()
    def list_legal_moves(self, game_number: int) -> str:
        """List your legal moves by name."""
        return legal_moves(_view(self._get(game_number)))

    @_tool()
    def play_move(self, game_number: int, move: str) -> str:
        """Play a move by its name, or several moves of a turn with spaces between them.

        The other seats answer. Returns their moves, if you may know them, and the new position.
        """
        session, words, turn = self._get(game_number), move.split(), 0
        if not 1 <= len(words) <= _MOST_MOVES or not all(word.isprintable() and len(word) <= 200 for word in words):
            raise ToolError(f"expected the name of a move, got {shown(move)}")
        for place, word in enumerate(words):
            before = f"; played before it: {' '.join(words[:place])}" if place else ""
            try:
                choices, turn = read_move(word, _view(session)), session.turn
                session.move(choices, turn)
            except ValueError as error:
                raise ToolError(f"{error}{before}") from None
            _wait(session)
        return f"You played {words[-1]}. {_text(session, turn + 1)}"

    @_tool()
    def resign(self, game_number: int) -> str:
        """Resign a game of two players."""
        session = self._get(game_number)
        session.resign(session.people[0])
        return _text(session, session.turn)

    def _get(self, number: int) -> Session:
        """Return a game when its agents have moved."""
        if (session := self._games.get(number)) is None:
            known = ", ".join(map(str, self._games))
            raise ToolError(f"there is no game {shown(number)}; games: {known or 'none, start one'}")
        return _wait(session)


def make_server(games: AssistantGames) -> MCPServer[Any]:
    """Return the server; `run()` answers on standard input and output."""
    server: MCPServer[Any] = MCPServer(
        "cellgames", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING", lifespan=_without_output
    )
    for name, method in vars(AssistantGames).items():
        if not name.startswith("_"):
            server.tool(structured_output=False)(method.__get__(games))
    for id in (offer["id"] for offer in catalog.games()):
        about: dict[str, Any] = {"name": f"rules_{id}", "title": f"Rules of {id}", "mime_type": "text/plain"}
        server.resource(f"cellgames://rules/{id}", **about)(partial(games.read_rules, id, None))
    return server


@asynccontextmanager
async def _without_output(server: MCPServer[Any]) -> AsyncIterator[None]:
    """Let what agents print go to standard error, since standard output has the messages."""
    with redirect_stdout(sys.stderr):
        yield


def _wait(session: Session) -> Session:
    """Return a game when it is the assistant's turn, or the game is over."""
    while session.thinking:
        time.sleep(0.002)
    return session


def _view(session: Session) -> View:
    """Return the assistant's view."""
    if session.done:
        raise ToolError("the game is over; start a new one")
    game, own = session.game, session.people[0]
    mask = game.legal_actions(session.state)
    own_mask = mask[:, own] if game.info.simultaneous else mask
    (view,) = Views(game, session.state, torch.tensor([own], device="cpu"), own_mask)
    return view


def _text(session: Session, first: int) -> str:
    """Return the answers from a turn on, the position, and who is to move or has won."""
    game, (own,) = _wait(session).game, session.people
    answers = [] if game.info.simultaneous else session.moves[first:]
    parts = [f"The answer: {' '.join(answers)}"] if answers else []
    parts.append(position_text(game, session.state, own))
    if not session.done:
        return "\n\n".join([*parts, f"It is your move as {game.info.players[own]}."])
    ended, forfeit = session.record().result, session.view()["forfeit"]
    rows = zip(game.info.players, ended.outcome, ended.scores, strict=True)
    seats = "; ".join(f"{name}: {outcome}, score {score:g}" for name, outcome, score in rows)
    why = f" {forfeit}" if forfeit else ""
    return "\n\n".join([*parts, f"The game is over. You: {ended.outcome[own]}. ({seats}){why}"])


def _range(setting: Mapping[str, Any]) -> str:
    choices, default = setting["choices"], setting["default"]
    if isinstance(default, bool):
        return f"{setting['name']} (true or false, default {json.dumps(default)})"
    allowed = json.dumps(list(choices)) if choices else f"{setting['low']} to {setting['high']}"
    return f"{setting['name']} ({allowed}, default {default})"
