"""A server for assistants, over the Model Context Protocol: tools to list games, read rules and play against agents."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from functools import partial
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError

from cellgames.utils.version import __version__

from . import catalog
from .assistant_games import AssistantGames, RefusedError

__all__ = ["make_server"]

_INSTRUCTIONS = (
    "Board games played with cells. list_games shows the games and the agents, read_rules tells the rules and how "
    "moves are named, start_game starts a game, and play_move plays a move and returns the position after the answer."
)


def make_server(games: AssistantGames) -> MCPServer[Any]:
    """Return the server; `run()` answers on standard input and output."""
    server: MCPServer[Any] = MCPServer(
        "cellgames", instructions=_INSTRUCTIONS, version=__version__, log_level="WARNING", lifespan=_without_output
    )
    tool = partial(server.tool, structured_output=False)

    def done(call: Callable[..., str], *arguments: object) -> str:
        try:
            return call(*arguments)
        except RefusedError as error:
            raise ToolError(str(error)) from None

    @tool()
    def list_games() -> str:
        """List the games, their seats and parameters, and the agents that play them."""
        return done(games.list_games)

    @tool()
    def read_rules(game: str, parameters: dict[str, bool | int | float | str] | None = None) -> str:
        """Read the rules of a game, how to read its positions, and how its moves are named."""
        return done(games.rules, game, parameters)

    @tool()
    def start_game(
        game: str,
        agent: str = "greedy",
        seat: str | None = None,
        parameters: dict[str, bool | int | float | str] | None = None,
        seed: int | None = None,
    ) -> str:
        """Start a game against an agent on all other seats. Returns its number, the position and the legal moves.

        Without a seat you get the first one. A seed repeats a game.
        """
        return done(games.start, game, agent, seat, parameters, seed)

    @tool()
    def show_position(game_number: int) -> str:
        """Show the position as text, and whether the game is over."""
        return done(games.position, game_number)

    @tool()
    def show_picture(game_number: int) -> Image:
        """Show the position as a picture."""
        try:
            return Image(data=games.picture(game_number), format="png")
        except (ImportError, RefusedError) as error:
            raise ToolError(str(error)) from None

    @tool()
    def list_legal_moves(game_number: int) -> str:
        """List your legal moves by name."""
        return done(games.legal_moves, game_number)

    @tool()
    def play_move(game_number: int, move: str) -> str:
        """Play a move by its name, or several moves of a turn with spaces between them.

        The other seats answer. Returns their moves, if you may know them, and the new position.
        """
        return done(games.play, game_number, move)

    @tool()
    def resign(game_number: int) -> str:
        """Resign a game."""
        return done(games.resign, game_number)

    for offer in catalog.games():
        server.resource(f"cellgames://rules/{offer['id']}", title=f"Rules of {offer['id']}", mime_type="text/plain")(
            _reader(games, offer["id"])
        )
    return server


@asynccontextmanager
async def _without_output(server: MCPServer[Any]) -> AsyncIterator[None]:
    """Let what agents print go to standard error, since standard output has the messages."""
    with redirect_stdout(sys.stderr):
        yield


def _reader(games: AssistantGames, id: str) -> Callable[[], str]:
    """Return the function that reads a resource."""

    def read() -> str:
        return games.rules(id)

    read.__name__, read.__doc__ = f"rules_{id}", f"Rules of {id}."
    return read
