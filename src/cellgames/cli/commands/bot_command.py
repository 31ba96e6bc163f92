"""Commands about programs that play.

`cellgames bot` is an agent as a program for other arenas, and `cellgames check-bot` checks such a program.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import UserError
from cellgames.cli.shared_options import GameId, add_command, add_game, add_parameters, add_seed, make_game, whole

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
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
_CHECK_EXAMPLES = ("torus-small-v0 --agent 'exec:./mybot --flag'", "toroidal-cup-small-v0 --agent 'exec:node bot.js'")


def add_bot(commands: Any) -> None:
    """Add `bot`."""
    command = add_command(commands, "bot", "AGENT ", _run, _TEXT, _EXAMPLES)
    command.add_argument("agent", metavar="AGENT", help="a spec that `cellgames list` shows, or a file")
    command.add_argument(
        "--protocol",
        choices=("json", "gtp"),
        default="json",
        help="json (default), or gtp, which is GTP 2 and needs --game",
    )
    command.add_argument("--game", metavar="GAME", type=GameId, help="the game of a GTP engine")
    add_parameters(command)


def add_check_bot(commands: Any) -> None:
    """Add `check-bot`."""
    command = add_command(commands, "check-bot", "GAME --agent exec:COMMAND ", _check, _CHECK_TEXT, _CHECK_EXAMPLES)
    add_game(command)
    command.add_argument("--agent", required=True, metavar="AGENT", help="the command line of the program")
    command.add_argument("--games", type=whole(), default=4, metavar="N", help="games at the same time (default 4)")
    add_seed(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.agents.loading import load
    from cellgames.agents.programs.serving import serve

    answers = sys.stdout.buffer

    def send(line: bytes) -> None:
        answers.write(line)
        answers.flush()

    def loaded(game: Game) -> AnyAgent:
        return load(arguments.agent, game)

    if (arguments.protocol == "gtp") != (arguments.game is not None):
        raise UserError("--protocol gtp needs --game GAME; without it the first message names the game")
    with redirect_stdout(sys.stderr):  # what an agent prints is no message
        if arguments.protocol == "gtp":
            from cellgames.agents.programs.gtp import GtpServer, serve_gtp

            serve_gtp(GtpServer(make_game(arguments), loaded), sys.stdin.buffer, send)
            return 0
        with open(sys.stdin.fileno(), "rb", buffering=_BUFFER, closefd=False) as lines:
            serve(loaded, lines, send)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from cellgames.agents.programs.program_check import check_program

    kind, colon, words = arguments.agent.partition(":")
    if kind != "exec" or not colon:
        raise UserError(f"expected a program, such as exec:./mybot, after --agent; got {arguments.agent}")
    passed = True
    for finding in check_program(words, make_game(arguments), games=arguments.games, seed=arguments.seed):
        passed &= finding.passed
        print(f"{'ok    ' if finding.passed else 'WRONG '} {finding.what}", flush=True)
        if finding.detail:
            print(f"       {finding.detail}")
    if passed:
        print(f"\nIt is ready: cellgames evaluate {arguments.game} --agents '{arguments.agent}' random")
    return 0 if passed else 1
