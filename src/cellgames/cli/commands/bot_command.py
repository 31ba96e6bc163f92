"""Commands about programs that play, and games of your own.

`cellgames bot` is an agent as a program for other arenas, and `cellgames check-bot` checks such a program.
`cellgames check-game` checks whether a game keeps what agents, tournaments and records rely on.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import load
from cellgames.cli import shared_options as shared
from cellgames.cli.console import print_next, program
from cellgames.utils.errors import InputError
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.envs.core import Game

_BUFFER = 1 << 20  # bytes, since a question about many games is one long line

_TEXT = (
    "Run an agent as a program that answers messages on standard input and output. Other arenas can play against it\n"
    "then. The messages are JSON, one a line, as docs/bots.md describes them; the first one names the game."
)
_EXAMPLES = ("greedy", "my_bots:MyBot", "gumbel:64 --protocol gtp --game torus-v0")
_CHECK_TEXT = (
    "Check a program that plays. It plays a few games against random play, every message is checked, and the first\n"
    "one that is wrong is shown. docs/bots.md describes the messages."
)
_BOTS = ("torus-small-v0 --agent 'exec:./mybot --flag'", "toroidal-cup-small-v0 --agent 'exec:node bot.js'")


def add_bot(commands: Any) -> None:
    """Add `bot`."""
    command = shared.add_command(commands, "bot", "AGENT ", _run, _TEXT, _EXAMPLES)
    command.add_argument("agent", metavar="AGENT", help="a spec that `cellgames list` shows, or a file")
    text = "json (default), or gtp, which is GTP 2 and needs --game"
    command.add_argument("--protocol", choices=("json", "gtp"), default="json", help=text)
    command.add_argument("--game", metavar="GAME", type=shared.GameId, help="the game of a GTP engine")
    shared.add_parameters(command)


def add_check_bot(commands: Any) -> None:
    """Add `check-bot`."""
    command = shared.add_command(commands, "check-bot", "GAME --agent exec:COMMAND ", _check, _CHECK_TEXT, _BOTS)
    shared.add_game(command)
    command.add_argument("--agent", required=True, metavar="AGENT", help="the command line of the program")
    games = "games at the same time (default 4)"
    command.add_argument("--games", type=shared.whole(), default=4, metavar="N", help=games)
    shared.add_seed(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.agents.programs.serving import serve

    answers = sys.stdout.buffer

    def send(line: bytes) -> None:
        answers.write(line)
        answers.flush()

    loaded = partial(load, arguments.agent)
    if (arguments.protocol == "gtp") != (arguments.game is not None):
        raise InputError("--protocol", cause="gtp needs --game GAME; without it the first message names the game")
    with redirect_stdout(sys.stderr):  # what an agent prints is no message
        if arguments.protocol == "gtp":
            from cellgames.agents.programs.gtp import GtpServer, serve_gtp

            serve_gtp(GtpServer(shared.make_game(arguments), loaded), sys.stdin.buffer, send)
            return 0
        with open(sys.stdin.fileno(), "rb", buffering=_BUFFER, closefd=False) as lines:
            serve(loaded, lines, send)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from cellgames.agents.programs.program_check import check_program

    kind, colon, words = arguments.agent.partition(":")
    if kind != "exec" or not colon:
        raise InputError("--agent", "a program, such as exec:./mybot", arguments.agent)
    passed = True
    for finding in check_program(words, shared.make_game(arguments), games=arguments.games, seed=arguments.seed):
        passed &= finding.passed
        print(f"{'ok    ' if finding.passed else 'WRONG '} {finding.what}", flush=True)
        if finding.detail:
            print(f"       {finding.detail}")
    if passed:
        words = f"evaluate {shared.typed_game(arguments)} --agents {shlex.quote(arguments.agent)} random"
        print(f"\nIt is ready: {program()} {words}")
    return 0 if passed else 1


_GAME_TEXT = (
    "Check a game of your own or of another library. Seven games are played at random, and in every position the\n"
    "game is asked all that agents, tournaments and records ask. The first answer that is wrong is shown with its\n"
    "likely cause."
)
_GAME_EXAMPLES = (
    "my_game:my-game-v0",
    "openspiel:tic_tac_toe",
    "pettingzoo:pettingzoo.classic.connect_four_v3 --turns 12",
    "my_env.py:env",
)


def add_check_game(commands: Any) -> None:
    """Add `check-game`."""
    command = shared.add_command(commands, "check-game", "GAME ", _check_game, _GAME_TEXT, _GAME_EXAMPLES)
    shared.add_game(command)
    turns = "turns of games of other libraries (default 30)"
    command.add_argument("--turns", type=shared.whole(), default=30, metavar="N", help=turns)
    shared.add_seed(command)
    shared.add_quiet(command)


def _check_game(arguments: argparse.Namespace) -> int:
    from cellgames.envs.checking import check_game
    from cellgames.envs.foreign.game import ForeignGame

    game, began = shared.make_game(arguments), time.monotonic()
    if isinstance(game, ForeignGame):
        game = type(game)(**{**game.parameters, "max_turns": min(arguments.turns, game.info.max_turns)})
    print(_facts(game), flush=True)
    with waiting("Checking", shown=not arguments.quiet):
        check_game(game, seed=arguments.seed)
    print(f"ok     It keeps what agents, tournaments and records rely on ({time.monotonic() - began:.1f} s).")
    print_next((f"round-robin {shared.typed_game(arguments)} --agents random other=random", ""))
    return 0


def _facts(game: Game) -> str:
    """Return the facts of a game that decide which agents and tournaments take it, in a line."""
    info = game.info
    facts = (
        f"{info.num_players} players, {'all at once' if info.simultaneous else 'in turns'}",
        " x ".join(map(str, info.action_nvec)) + " actions",
        f"observations of {' x '.join(map(str, info.observation.shape))}",
        "nothing hidden" if info.perfect_information else "something hidden",
        "chance" if info.stochastic else "no chance",
    )
    return f"{game.id}: {', '.join(facts)}"
