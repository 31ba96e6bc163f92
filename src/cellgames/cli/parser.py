"""What the command `cellgames` takes: its sub-commands, their options, and what is said of them.

Importing this imports no torch, so that help answers at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from cellgames.arena.defaults import CHUNK, GAMES, OPENING_PLIES
from cellgames.arena.season.schedule import DAYS, WITHIN
from cellgames.cluster.connection import LOCAL
from cellgames.training.algorithms import ALGORITHMS
from cellgames.utils.version import __version__

from . import analyse_games as strategy_command
from . import commands as run
from . import leaderboard_command, sweep_command
from .analyse_command import add_analysis, analyse
from .evaluate_command import DEFAULT_GAMES, evaluate
from .free_for_all_command import free_for_all
from .leaderboard_command import add_store_options
from .replay_command import replay
from .season_command import season
from .serve_command import add_serve, serve
from .train_command import add_options, train

__all__ = ["parser"]


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = _Parser(
        prog="cellgames",
        description="Board games played with cells, for people and for programs that learn.",
        epilog="Examples:\n"
        "  cellgames list\n"
        "  cellgames play torus-v0 --agent greedy\n"
        "  cellgames train torus-small-v0\n"
        "  cellgames round-robin torus-v0 --agents random greedy rollout:64\n\n"
        "`cellgames COMMAND --help` explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"cellgames {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for add in (
        _add_list,
        _add_play,
        _add_train,
        _add_sweep,
        _add_evaluate,
        _add_analyse,
        _add_round_robin,
        _add_free_for_all,
        _add_season,
        _add_leaderboard,
        _add_replay,
        _add_serve,
    ):
        add(commands)
    return top


def _command(
    commands: Any,
    name: str,
    usage: str,
    execute: Callable[[argparse.Namespace], int],
    text: str,
    examples: Sequence[str],
) -> argparse.ArgumentParser:
    """A sub-command; the first sentence of `text` stands in the list of commands."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text.split(". ")[0].rstrip("."),
        usage=f"cellgames {name} {usage}[options]",
        description=text,
        epilog="Examples:\n" + "\n".join(f"  cellgames {name} {example}".rstrip() for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=execute)
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _add_game(command: argparse.ArgumentParser) -> None:
    command.add_argument("game", metavar="GAME", help="an id that `cellgames list` shows")
    _add_parameters(command)


def _add_parameters(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set a parameter of the game, such as size=5; may be given several times",
    )
    command.add_argument("--size", metavar="N", help="short for --param size=N")
    command.add_argument("--seed", metavar="N", type=int, default=0, help="of all chance (default 0)")


def _add_folder(command: argparse.ArgumentParser, folder: str, run: str = "run", quiets: str = "progress") -> None:
    """Where a run is kept, whether it begins anew, and whether it reports on the way."""
    command.add_argument("--out", metavar="DIR", type=Path, help=f"the folder (default {folder})")
    command.add_argument("--fresh", action="store_true", help=f"delete the {run} in the folder first")
    command.add_argument("--quiet", action="store_true", help=f"no {quiets} on standard error")


def _add_ray(command: argparse.ArgumentParser, pieces: str) -> None:
    """Whether the work, in pieces of what, is done on a Ray cluster."""
    command.add_argument(
        "--ray",
        metavar="ADDRESS",
        nargs="?",
        const=LOCAL,
        type=run.ray_address,
        help="share the work on a Ray cluster: one started on this machine, or at `auto` or HOST:PORT",
    )
    command.add_argument(
        "--ray-workers", metavar="N", type=int, help=f"{pieces} at a time (default the cores of the cluster)"
    )


def _add_list(commands: Any) -> None:
    text = "Show all games and agents."
    command = _command(commands, "list", "", run.list_all, text, ("", "--json"))
    command.add_argument("--json", action="store_true", help="as JSON, for programs")


def _add_play(commands: Any) -> None:
    text = "Play a game at the terminal. Against an agent, or watch agents play each other."
    examples = (
        "torus-v0",
        "torus-v0 --size 5 --agent rollout:64 --as white",
        "torus-v0 --watch --agent greedy --agent random --record game.jsonl",
        "torus-v0 --size 3 --position 'x../.../... .../.o./... b'",
    )
    command = _command(commands, "play", "GAME ", run.play, text, examples)
    _add_game(command)
    command.add_argument(
        "--agent",
        metavar="SPEC",
        action="append",
        help="who plays the other seats, in their order (default random); `cellgames list` shows the agents",
    )
    command.add_argument("--as", dest="seat", metavar="PLAYER", help="your seat, such as black (default the first)")
    command.add_argument("--watch", action="store_true", help="agents play all seats")
    command.add_argument("--position", metavar="TEXT", default="", help="where to start, as `position` prints it")
    command.add_argument("--record", metavar="FILE", type=Path, help="add the finished game to a file of records")


def _add_train(commands: Any) -> None:
    text = (
        "Train an agent by self-play. Its strength against fixed agents is measured on the way. The folder gets\n"
        "the agent, a table and a curve of its strength, TensorBoard events and checkpoints. A run that was\n"
        "stopped continues at its last checkpoint and ends as if it had not been; more --total-steps let it grow."
    )
    examples = (
        "torus-small-v0 --total-steps 300000",
        "grid-adaptation-small-v0 --seed 1 --out results/mine",
        "torus-v0 --size 4 --opponents self=0.5,pool=0.3,greedy=0.2 --eval-opponents greedy mcts:64",
    )
    command = _command(commands, "train", "GAME ", train, text, examples)
    _add_game(command)
    command.add_argument("--algo", choices=[*ALGORITHMS], default="ppo", help="how it learns (default ppo)")
    _add_folder(command, "results/train/GAME-...")
    add_options(command)


def _add_sweep(commands: Any) -> None:
    this = sweep_command
    command = _command(commands, "sweep", this.USAGE, this.sweep, this.TEXT, this.EXAMPLES)
    _add_game(command)
    _add_folder(command, "results/sweep/GAME-...", "sweep")
    this.add_sweep(command)


def _add_evaluate(commands: Any) -> None:
    text = (
        "Measure an agent against others. Games for two start from random openings, each played in both seats; in\n"
        "larger games the agent and one opponent at a time take turns on all seats. Scores come with 95 %\n"
        "intervals."
    )
    examples = (
        "results/train/torus-small-v0-ppo-seed=0/agent.safetensors",
        "greedy --game torus-small-v0 --against random rollout:64 --games 400",
        "trained --game grid-adaptation-small-v0 --against greedy --out results/grid",
    )
    command = _command(commands, "evaluate", "AGENT ", evaluate, text, examples)
    command.add_argument("agent", metavar="AGENT", help="a spec that `cellgames list` shows, such as a file of weights")
    command.add_argument(
        "--game", metavar="GAME", help="an id that `cellgames list` shows (default the one that the file was made for)"
    )
    _add_parameters(command)
    command.add_argument(
        "--against", metavar="SPEC", nargs="+", default=[], help="opponents (default random, and greedy where it is)"
    )
    command.add_argument(
        "--games", metavar="N", type=int, default=DEFAULT_GAMES, help=f"of each pair, even (default {DEFAULT_GAMES})"
    )
    command.add_argument(
        "--opening-plies",
        metavar="N",
        type=int,
        default=OPENING_PLIES,
        help=f"random moves before agents move, in games for two (default {OPENING_PLIES})",
    )
    add_store_options(command)
    command.add_argument("--out", metavar="DIR", type=Path, help="a folder for the table and a record of every game")
    command.add_argument("--quiet", action="store_true", help="no progress on standard error")


def _add_analyse(commands: Any) -> None:
    text = (
        "Analyse a position, or games. Of a position an agent that searches tells what it makes of the moves: how\n"
        "often it tried each, what it is worth, and the line it expects; --out draws the same on the board.\n\n"
        f"{strategy_command.TEXT}"
    )
    examples = (
        'torus-v0 --size 5 --moves "c3 a1+ b2"',
        "torus-v0 --size 3 --position 'x../.../... .../.o./... b' --agent mcts:2000 --json",
        "--record results/torus5/games.jsonl --game-number 17 --ply 12 --out position.svg",
        *strategy_command.EXAMPLES,
    )
    command = _command(commands, "analyse", "GAME ", analyse, text, examples)
    command.add_argument(
        "game", metavar="GAME", nargs="?", help="an id that `cellgames list` shows; a record knows its own"
    )
    _add_parameters(command)
    add_analysis(command)


def _add_round_robin(commands: Any) -> None:
    text = (
        "Let every agent play every other one. Games start from random openings, each played in both\n"
        "seats. The folder gets ratings, a cross table and a seat table (CSV, Markdown, PNG), and a record\n"
        "of every game. A run that was stopped continues where it was; the same command with more agents\n"
        "or more games lets it grow."
    )
    examples = (
        "torus-v0 --agents random greedy rollout:64",
        "torus-v0 --agents random greedy --games 400 --param size=5 --out results/torus5",
        "torus-v0 --agents greedy my_bots:MyBot --anchor greedy",
        "torus-small-v0 --agents random greedy trained --games 50 --until-certain --budget 4000",
        "torus-v0 --agents greedy trained mcts:400 --ray",
    )
    command = _command(commands, "round-robin", "GAME --agents SPEC SPEC ... ", run.round_robin, text, examples)
    _add_game(command)
    _add_run(command, "of each pair, even", "openings", OPENING_PLIES, "results/GAME-...")
    command.add_argument(
        "--gif",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw the longest game of the two best agents (default yes)",
    )
    command.add_argument(
        "--until-certain",
        action="store_true",
        help="add games where the order of the agents is open; --games is then a multiple of twice --chunk",
    )
    command.add_argument(
        "--budget",
        metavar="N",
        type=int,
        help="games in all at which that ends (default ten times the first)",
    )


def _add_free_for_all(commands: Any) -> None:
    text = (
        "Let agents play games of any number of seats. All seats are taken by the agents, each as often as the\n"
        "others and in every seat alike; with fewer agents than seats they have several, with more they take\n"
        "turns. Ratings count who finishes ahead of whom. The folder gets them, finishing places and scores,\n"
        "also by seat (CSV, Markdown, PNG), and a record of every game. A run that was stopped continues where\n"
        "it was; the same command with more games lets it grow."
    )
    examples = (
        "toroidal-cup-small-v0 --param teams=4 --agents random greedy",
        "toroidal-cup-small-v0 --param teams=4 --agents greedy rollout:16 --games 300",
    )
    command = _command(commands, "free-for-all", "GAME --agents SPEC SPEC ... ", free_for_all, text, examples)
    _add_game(command)
    _add_run(command, "best a multiple of the agents", "games", 0, "results/free-for-all/GAME-...")


def _add_run(command: argparse.ArgumentParser, games: str, chunks: str, opening_plies: int, folder: str) -> None:
    """Who plays, how many games (`games` says of what), in chunks of what, and where they are kept."""
    command.add_argument(
        "--agents", metavar="SPEC", nargs="+", required=True, help="two or more that `cellgames list` shows"
    )
    command.add_argument("--games", metavar="N", type=int, default=GAMES, help=f"{games} (default {GAMES})")
    command.add_argument(
        "--opening-plies",
        metavar="N",
        type=int,
        default=opening_plies,
        help=f"random moves before agents move (default {opening_plies})",
    )
    command.add_argument(
        "--chunk",
        metavar="N",
        type=int,
        default=CHUNK,
        help=f"{chunks} played side by side, and lost together when a run is stopped (default {CHUNK})",
    )
    command.add_argument("--anchor", metavar="SPEC", help="the agent rated 0 (default: the mean is 0)")
    add_store_options(command)
    _add_ray(command, "chunks")
    _add_folder(command, folder)


def _add_season(commands: Any) -> None:
    text = (
        "Play a season and its playoffs. Two leagues of two divisions play their days, the four best of each\n"
        "league go to the playoffs. Teams with agents play any game for two; teams without agents play the\n"
        "Toroidal Cup as the real one is played, with random arrangements of the patterns. The folder gets\n"
        "schedule, standings, bracket and a record of every game; a season that was stopped continues where\n"
        "it was."
    )
    examples = (
        "--game toroidal-cup-v0 --teams 20 --seed 1",
        "--game torus-small-v0 --teams 12 --days 21 --agents random greedy rollout:64",
        "--game toroidal-cup-v0 --teams my_teams.csv --patterns randys donutpi",
    )
    command = _command(commands, "season", "--game GAME ", season, text, examples)
    command.add_argument("--game", metavar="GAME", required=True, help="an id that `cellgames list` shows")
    _add_parameters(command)
    command.add_argument(
        "--teams",
        metavar="N|FILE",
        default="20",
        help="how many to make up (default 20), or a file with a name a line, or CSV with a header: name, and "
        "agent, league, division if you like",
    )
    command.add_argument(
        "--agents", metavar="SPEC", nargs="+", default=[], help="play for the teams that have none, in turn"
    )
    command.add_argument(
        "--league-sizes",
        metavar="N",
        type=int,
        nargs="+",
        help="teams of the two leagues, or of their four divisions (default as even as can be)",
    )
    command.add_argument("--days", metavar="N", type=int, default=DAYS, help=f"odd (default {DAYS})")
    command.add_argument(
        "--within",
        metavar="SHARE",
        type=float,
        default=WITHIN,
        help=f"of the games within the divisions, about; the rest is within the leagues (default {WITHIN:g})",
    )
    command.add_argument(
        "--patterns", metavar="NAME", nargs="+", help="of teams without agents (default all of the Cup's)"
    )
    command.add_argument(
        "--opening-plies",
        metavar="N",
        type=int,
        help=f"random moves before agents move (default {OPENING_PLIES})",
    )
    command.add_argument(
        "--chunk", metavar="N", type=int, help="games played side by side, about, and lost together when stopped"
    )
    add_store_options(command)
    _add_ray(command, "batches of games")
    _add_folder(command, "results/season/GAME-...", "season", "progress and standings")


def _add_leaderboard(commands: Any) -> None:
    this = leaderboard_command
    command = _command(commands, "leaderboard", this.USAGE, this.leaderboard, this.TEXT, this.EXAMPLES)
    this.add_options(command)


def _add_replay(commands: Any) -> None:
    text = (
        "Play recorded games again. Checks every move and the result; exit code 1 if one differs. Takes the\n"
        "games of every season too."
    )
    examples = (
        "results/torus5/games.jsonl",
        "results/torus5/games.jsonl --game 17 --show",
        "game.jsonl --gif game.gif",
        "results/torus5/games.jsonl --game 17 --html game.html",
    )
    command = _command(commands, "replay", "FILE ", replay, text, examples)
    command.add_argument("file", metavar="FILE", type=Path, help="records, one a line")
    which = command.add_mutually_exclusive_group()
    which.add_argument("--game", metavar="N", type=int, help="only the game of line N, from 1")
    which.add_argument("--all", action="store_true", help="all games of the file (the default)")
    command.add_argument("--html", metavar="OUT", type=Path, help="save one game as a page that plays offline")
    command.add_argument("--gif", metavar="OUT", type=Path, help="save one game as a GIF")
    command.add_argument("--show", action="store_true", help="print every position of one game; of Life, start and end")


def _add_serve(commands: Any) -> None:
    text = (
        "Watch, play and read ratings in the browser. The page shows the records in the results folder and in the\n"
        "store, every game can be played against any agent, and nobody else reaches it unless --host says so."
    )
    command = _command(commands, "serve", "", serve, text, ("--open", "--port 8080 --results results/mine"))
    add_serve(command)
