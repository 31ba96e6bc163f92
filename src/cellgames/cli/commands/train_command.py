"""`cellgames train`: self-play; its options are made from the arguments of the algorithms."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from signal import SIGINT
from typing import TYPE_CHECKING, Any

from cellgames.cli import shared_options as shared
from cellgames.cli.console import print_kept, print_next, recorded, stopped, warn
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import GamePlugin
from cellgames.runs.run_folder import TIMING, RunOptions
from cellgames.training.arguments import ALGORITHMS, FREE, GROWS, Arguments, all_options, presets
from cellgames.utils.errors import InputError, shown
from cellgames.utils.options import Option
from cellgames.utils.progress import StatusLine

if TYPE_CHECKING:
    from cellgames.training.runs.run import Finished, Progress

_TEXT = (
    "Train an agent by self-play. Its strength against fixed agents is measured on the way. The folder gets\n"
    "the agent, a table and a curve of its strength, TensorBoard events and checkpoints. Ctrl-C\n"
    "writes a checkpoint, too. The same command continues a stopped run at its last checkpoint, and the run ends\n"
    "as if it had not been stopped. More --total-steps let a run grow."
)
_EXAMPLES = (
    "torus-small-v0 --total-steps 300000",
    "grid-adaptation-small-v0 --seed 1 --out results/mine",
    "torus-v0 --size 4 --opponents self=0.5,pool=0.3,greedy=0.2 --eval-opponents greedy mcts:64",
)


# ---------------------------------------------------------------- options


def add(commands: Any) -> None:
    """Add the command."""
    command = shared.add_command(commands, "train", "GAME ", _run, _TEXT, _EXAMPLES)
    shared.add_game(command)
    add_algorithm(command)
    shared.add_folder(command, "results/train/GAME-...")
    shared.add_options(command, RunOptions.options())
    add_arguments(command)


def add_algorithm(command: argparse.ArgumentParser) -> None:
    """Add the option for the algorithm, whose default `arguments_given` fills in."""
    special = [f"{plugin.algorithm} in {plugin.id}" for plugin in plugins() if plugin.algorithm != GamePlugin.algorithm]
    defaults = ", ".join((f"default {GamePlugin.algorithm}", *special))
    command.add_argument("--algo", choices=[*ALGORITHMS], help=f"algorithm ({defaults})")


def add_arguments(command: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    """Add an option for each argument of the algorithms, except those in `without`."""
    usual = command.add_argument_group("settings", "defaults may differ by game")
    special = command.add_argument_group("settings of some algorithms")
    for name, users in all_options().items():
        if name not in without:
            some = len(users) < len(ALGORITHMS)
            only = f"{', '.join(users)}: " if some else ""
            first = next(iter(users.values()))
            shared.add_options(special if some else usual, [first], only=only, default=partial(_default, users))


def _default(users: Mapping[str, Option], option: Option) -> str:
    by_game = any(option.name in preset.values for _, preset in presets())
    others = [f"{name} {other.default_text}" for name, other in users.items() if other.default != option.default]
    words = ", ".join(filter(None, [option.default_text, *others, "another for some games" * by_game]))
    return f" (default {words})" if words else ""


# ---------------------------------------------------------------- the command


def _run(arguments: argparse.Namespace) -> int:
    from cellgames.training.runs import run as runs

    settings = arguments_given(arguments)
    out = shared.folder_of(arguments, "train", _folder_words(arguments, settings))
    line = StatusLine(not arguments.quiet)
    began = False

    def report(at: Progress) -> None:
        nonlocal began
        began = True
        line.show(progress_text(at), news=at.steps >= at.total)

    try:
        finished = runs.train(
            settings,
            out,
            resume=RunOptions.from_given(vars(arguments)).resume,
            command=recorded(arguments),
            report=report,
            warn=warn,
        )
    except KeyboardInterrupt as error:
        stopped(arguments, _kept(out, error) if began else "Training had not begun")
        return 128 + getattr(error, "signal", SIGINT)
    finally:
        line.end()
    _report(finished, settings, arguments)
    return 0


def _kept(out: Path, error: KeyboardInterrupt) -> str:
    """Return a sentence on the steps that a stopped run keeps."""
    from cellgames.training.runs.checkpoints import steps_kept
    from cellgames.training.runs.interrupts import Stopped

    none = "No step of learning is kept"
    if isinstance(error, Stopped):
        over = "" if error.exact else ", but the games in progress are not, and others start in their place"
        return f"All {error.steps:,} steps of learning are kept in {out}{over}" if error.steps else none
    if steps := steps_kept(out):
        return f"The checkpoint in {out} has {steps:,} steps of learning; later ones are lost"
    return none


def arguments_given(arguments: argparse.Namespace) -> Arguments:
    """Return the arguments of the algorithm from the command line, and fill in the algorithm if none is given."""
    game = shared.make_game(arguments)
    arguments.algo = arguments.algo or plugin_of(game).algorithm
    if arguments.algo not in ALGORITHMS:
        expected = ", ".join(ALGORITHMS)
        raise InputError("--algo", f"one of {expected}", shown(arguments.algo), where=f"plugin of {game.id}")
    kind = ALGORITHMS[arguments.algo].arguments
    given = {name: value for name, value in vars(arguments).items() if value is not None and name in all_options()}
    known = [option.name for option in kind.options()]
    if foreign := [name for name in given if name not in known]:
        raise InputError(f"--{foreign[0].replace('_', '-')}", cause=f"it is not an option of {arguments.algo}")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return kind.fitted(game, **given)


def _folder_words(arguments: argparse.Namespace, asked: Arguments) -> list[str]:
    """Return the settings that cannot change when a run is continued, but for those that are usual for the game."""
    words = [arguments.algo, f"seed={asked.seed}"]
    usual = type(asked).fitted(shared.make_game(arguments))
    for option in type(asked).options():
        value = getattr(asked, option.name)
        if option.name not in (*FREE, GROWS, "seed") and value != getattr(usual, option.name):
            words.append(f"{option.name}={'+'.join(value) if isinstance(value, tuple) else value}")
    return words


def progress_text(at: Progress) -> str:
    """Return a line on the progress of a run."""
    words = [f"{min(at.steps / at.total, 1):4.0%}  {at.steps:,} steps"]
    if at.seconds >= 1:
        words[0] += f" in {at.seconds / 60:.0f} min" if at.seconds >= 600 else f" in {at.seconds:.0f} s"
    if at.steps_per_second > 0:
        words.append(f"{at.steps_per_second:,.0f} a second")
        if at.steps < at.total:
            left = (at.total - at.steps) / at.steps_per_second
            words.append(f"{left / 60:.0f} min left" if left >= 100 else f"{left:.0f} s left")
    words.append(f"{at.games:,} games")
    words += [f"{100 * share:.0f} % against {spec}" for spec, share in at.shares.items()]
    return ", ".join(words)


def _report(finished: Finished, asked: Arguments, arguments: argparse.Namespace) -> None:
    """Print the result, the files, and commands to type next."""
    if finished.before == finished.steps:
        print(f"Nothing to do: {finished.out} has learned from {finished.steps:,} steps.")
    else:
        before = f", {finished.before:,} of them before" if finished.before else ""
        print(f"Learned from {finished.steps:,} steps{before}.")
    last = finished.history[-1]
    for spec in asked.eval_agents:
        decided = last[f"{spec} decided"]
        print(f"  ahead of {spec} in {last[spec]:.1%} of {asked.eval_games} games ({decided:.0%} of them decided)")
    about = {
        finished.agent.name: "the agent",
        "curve.png": "its strength over steps",
        "progress.csv": "a line an evaluation",
        TIMING: "the seconds until each of them",
        "tensorboard": "for tensorboard --logdir",
    }
    print_kept(finished.out, about)
    agent = shlex.quote(str(finished.agent))
    game = shared.typed_game(arguments)
    own = f"{game} " if arguments.game.typed != arguments.game else ""  # else the weights name the game
    print_next(
        (f"evaluate {own}--agents {agent}", "measure it"),
        (f"play {game} --agents {agent}", ""),
        "the same command with more --total-steps goes on",
    )
