"""The server for assistants, asked by the SDK's own client over standard input and output."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import browser
import pytest

if TYPE_CHECKING:
    import mcp
    import mcp.types as types
else:
    mcp = pytest.importorskip("mcp", reason="needs mcp: pip install mcp")
    types = pytest.importorskip("mcp.types")

from mcp.server.mcpserver.exceptions import ToolError

from cellgames.web.mcp_server import MOST_GAMES, AssistantGames

TOOLS = {
    *("list_games", "read_rules", "start_game", "show_position", "show_picture"),
    *("list_legal_moves", "play_move", "resign"),
}


def talk(to: Callable[[mcp.Client], Awaitable[None]], tmp_path: Path, *words: str) -> None:
    """Run the command and let a client talk to it."""
    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "cellgames", "mcp", *words],
        env={"PYTHONPATH": ":".join(filter(None, [str(tmp_path), *sys.path])), "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
    )

    async def run() -> None:
        async with mcp.Client(parameters) as client:
            await to(client)

    browser.close()
    asyncio.run(asyncio.wait_for(run(), 120))


async def said(client: mcp.Client, tool: str, *, fails: bool = False, **arguments: object) -> str:
    """Return the text that a tool answers."""
    answer = await client.call_tool(tool, arguments)
    (content,) = answer.content
    assert isinstance(content, types.TextContent)
    assert bool(answer.is_error) == fails, content.text
    return content.text


@pytest.mark.slow
def test_an_assistant_plays_a_game_over_standard_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text(
        "from cellgames.agents import BaseAgent\n"
        "class Chatty(BaseAgent):\n"
        "    def act(self, observation, action_mask, env_ids, generator):\n"
        "        print('{\"jsonrpc\": 1}')\n"
        "        return action_mask.int().argmax(1)\n"
    )

    async def play(client: mcp.Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        games = await said(client, "list_games")
        assert "torus-v0: " in games
        assert "cloth-of-gold-small-v0" in games
        assert "chatty" in games
        rules = await said(client, "read_rules", game="torus-v0")
        assert "Black wins with h = 0" in rules
        resources = {str(resource.uri) for resource in (await client.list_resources()).resources}
        assert "cellgames://rules/torus-v0" in resources
        (read,) = (await client.read_resource("cellgames://rules/torus-v0")).contents
        assert isinstance(read, types.TextResourceContents)
        assert read.text == rules

        started = await said(client, "start_game", game="torus-v0", agent="chatty", parameters={"size": 2})
        assert "This is game 1: torus-v0, you are black against 'chatty'" in started
        assert "Legal moves (8): a1 b1" in started
        after = await said(client, "play_move", game_number=1, move="a1")
        assert "You played a1. The answer: b1" in after
        assert "b1" in await said(client, "play_move", game_number=1, move="b1", fails=True)
        picture = await client.call_tool("show_picture", {"game_number": 1})
        (content,) = picture.content
        assert isinstance(content, types.ImageContent)
        image = pytest.importorskip("PIL.Image").open(BytesIO(base64.b64decode(content.data)))
        assert image.format == "PNG"
        assert min(image.size) > 50
        assert "a2" in await said(client, "list_legal_moves", game_number=1)
        assert "You: win" in await said(client, "play_move", game_number=1, move="a2")
        assert "the game is over" in await said(client, "play_move", game_number=1, move="b2", fails=True)

    talk(play, tmp_path, "--agents", "chatty=chatty:Chatty")


def test_games_of_all_kinds_and_their_ends() -> None:
    games = AssistantGames()
    for id in ("cloth-of-gold-small-v0", "grid-adaptation-small-v0", "toroidal-cup-small-v0", "torus-small-v0"):
        text = games.start_game(id, "random", seed=1)
        number = int(text.split()[3].rstrip(":"))
        turns = 0
        while "It is your move" in games.show_position(number) and turns < 6:
            options = games.list_legal_moves(number)
            first = options.rpartition("gives the move ")[2] if "several parts" in options else options.split()[3]
            games.play_move(number, first)
            turns += 1
        if id == "toroidal-cup-small-v0":
            assert "The game is over" in games.show_position(number)
    assert "You: loss" in games.resign(4)
    with pytest.raises(ToolError, match="the game is over"):
        games.play_move(4, "a1")


def test_secrets_of_the_others_stay_hidden() -> None:
    games = AssistantGames()
    text = games.start_game("grid-adaptation-small-v0", "random", seat="player_1", seed=2)
    assert "sequences:?," in text
    played = games.play_move(1, "r0c0,r0c1,r0c2")
    assert "The answer" not in played


def test_bad_requests_are_refused_in_words() -> None:
    games = AssistantGames({"mine": "random"})
    games.start_game("torus-small-v0", "mine", seed=1)
    refused: dict[str, Callable[[], str]] = {
        "expected a game of": lambda: games.start_game("chess", "random"),
        "expected an agent of": lambda: games.start_game("torus-v0", "exec:touch hacked"),
        "amaf:N": lambda: games.start_game("torus-v0", "isolated"),
        "one that the page lists": lambda: games.start_game("torus-v0", "my_bots:MyBot"),
        "from 2 to 16": lambda: games.start_game("torus-v0", "random", parameters={"size": 1000}),
        "expected a seat of black, white": lambda: games.start_game("torus-v0", "random", seat="red"),
        "expected a seed": lambda: games.start_game("torus-v0", "random", seed=-1),
        "there is no game 7; games: 1": lambda: games.play_move(7, "a1"),
        "expected the name of a move": lambda: games.play_move(1, " "),
        "got 'z9'": lambda: games.play_move(1, "z9"),
    }
    for words, call in refused.items():
        with pytest.raises(ToolError) as caught:
            call()
        assert words in str(caught.value)
    with pytest.raises(ToolError, match="played before it: a1"):
        games.play_move(1, "a1 a1")


def test_the_number_of_games_is_bounded() -> None:
    games = AssistantGames()
    for _ in range(MOST_GAMES):
        games.start_game("torus-v0", "random", parameters={"size": 2})
    assert f"This is game {MOST_GAMES + 1}:" in games.start_game("torus-v0", "random", parameters={"size": 2})
    with pytest.raises(ToolError, match="there is no game 1; games: 2"):
        games.show_position(1)
