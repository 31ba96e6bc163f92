"""`cellgames check-game`: whether a game keeps what agents, tournaments and records rely on.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import time
import traceback
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import UserError, print_next
from cellgames.cli.shared_options import add_command, add_game, add_quiet, add_seed, make_game, whole
from cellgames.utils.progress import waiting

if TYPE_CHECKING:
    from cellgames.envs.core import Game

_TEXT = (
    "Check a game of your own or of another library. Seven games are played at random, and in every position the\n"
    "game is asked all that agents, tournaments and records ask. The first answer that is wrong is shown with its\n"
    "likely cause."
)
_EXAMPLES = (
    "my_game:my-game-v0",
    "openspiel:tic_tac_toe",
    "pettingzoo:pettingzoo.classic.connect_four_v3 --turns 12",
    "my_env.py:env",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "check-game", "GAME ", _run, _TEXT, _EXAMPLES)
    add_game(command)
    turns = "turns of games of other libraries (default 30)"
    command.add_argument("--turns", type=whole(), default=30, metavar="N", help=turns)
    add_seed(command)
    add_quiet(command)


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.envs.checking import ContractError, check_game
    from cellgames.envs.foreign.game import ForeignGame

    game, began = make_game(arguments), time.monotonic()
    if isinstance(game, ForeignGame):
        game = type(game)(**{**game.parameters, "max_turns": min(arguments.turns, game.info.max_turns)})
    print(_facts(game), flush=True)
    try:
        with waiting("Checking", shown=not arguments.quiet):
            check_game(game, seed=arguments.seed)
    except ContractError:
        raise
    except Exception as error:  # whatever the game's own code raises
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise UserError(f"{at.filename}, line {at.lineno}, in {at.name}: {type(error).__name__}: {error}") from error
    print(f"ok     It keeps what agents, tournaments and records rely on ({time.monotonic() - began:.1f} s).")
    print_next((f"round-robin {arguments.game} --agents random random", ""))
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
