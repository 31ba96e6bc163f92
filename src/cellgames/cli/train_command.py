"""What `cellgames train` does, and its options, which are made from the arguments of the algorithms.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.arguments import FREE, GROWS, Arguments
from cellgames.training.presets import presets
from cellgames.utils.options import Option, Strings
from cellgames.utils.status_line import StatusLine

from .commands import UserError, file_name, make_game, parameters, program, stopped, warn

if TYPE_CHECKING:
    from cellgames.training.runs.run import Finished, Progress

__all__ = ["add_option", "add_options", "asked", "train"]

_ELSEWHERE = ("seed",)  # options that all commands with a game have


# ---------------------------------------------------------------- options


def add_options(command: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    """One for each field of the arguments, of all algorithms, but for some."""
    users: dict[str, list[str]] = {}
    known: dict[str, Option] = {}
    for name, algorithm in ALGORITHMS.items():
        for option in algorithm.arguments.options():
            users.setdefault(option.name, []).append(name)
            known.setdefault(option.name, option)
    groups = {len(ALGORITHMS): command.add_argument_group("settings", "defaults may differ by game")}
    for name, option in known.items():
        if name not in (*_ELSEWHERE, *without):
            count = len(users[name])
            if count not in groups:
                groups[count] = command.add_argument_group("settings of one algorithm only")
            only = "" if count == len(ALGORITHMS) else f"{', '.join(users[name])}: "
            add_option(groups[count], option, only)


def add_option(group: Any, option: Option, only: str = "") -> None:
    """Add an option to a parser or a group; `only` names the algorithms that have it."""
    flag = f"--{option.name.replace('_', '-')}"
    help = f"{only}{option.help}{_default(option)}".replace("%", "%%")
    shared: dict[str, Any] = {"dest": option.name, "default": None, "help": help}
    if option.kind is bool:
        group.add_argument(flag, action=argparse.BooleanOptionalAction, **shared)
    elif option.choices:
        group.add_argument(flag, choices=option.choices, **shared)
    elif option.kind == Strings:
        group.add_argument(flag, metavar=option.metavar or "SPEC", nargs="+", action="extend", **shared)
    else:
        metavar = option.metavar or {int: "N", float: "X", str: "TEXT"}[option.kind]
        group.add_argument(flag, metavar=metavar, type=option.kind, **shared)


def _default(option: Option) -> str:
    """What stands in brackets at the end of the help."""
    if any(option.name in preset.values for _, preset in presets()):
        return " (default by game)"
    if option.default in (None, "", ()):
        return ""
    value = {True: "yes", False: "no"}[option.default] if option.kind is bool else option.default
    return f" (default {value:g})" if option.kind is float else f" (default {value})"


# ---------------------------------------------------------------- the command


def train(arguments: argparse.Namespace) -> int:
    """Train, or go on training; of several processes, as torchrun starts them, the first one speaks."""
    from cellgames.training.distributed import ElsewhereError, launched
    from cellgames.training.runs import run as runs

    rank, world = launched()
    try:
        settings = asked(arguments)
    except (UserError, ValueError):  # something in the words, which the first process on a machine tells of
        if world > 1 and os.environ.get("LOCAL_RANK", "0") != "0":
            return 2
        raise
    out = arguments.out or _default_out(arguments, settings, world)
    line = StatusLine(not arguments.quiet and rank == 0)

    def report(at: Progress) -> None:
        line.show(_progress_text(at), news=at.steps >= at.total)

    try:
        finished = runs.train(
            settings,
            out,
            resume=not arguments.fresh,
            command=shlex.join(["cellgames", *arguments.command_line]),
            report=report,
            warn=warn,
        )
    except KeyboardInterrupt:
        return _stopped(arguments, f"What was learned up to the last checkpoint is kept in {out}", rank, world)
    except ElsewhereError:
        if rank == 0:
            raise
        return 2  # it was said already
    finally:
        line.end()
    if rank == 0:
        _report(finished, settings, arguments)
    return 0


def _stopped(arguments: argparse.Namespace, kept: str, rank: int, world: int) -> int:
    """As `stopped`, which knows of one process only."""
    if world == 1:
        return stopped(arguments, kept)
    if rank == 0:
        here = os.environ.get("LOCAL_WORLD_SIZE") == str(world)
        again = shlex.join(word for word in arguments.command_line if word != "--fresh")
        torchrun = f":\n  torchrun --nproc-per-node={world} -m cellgames {again}"
        how = torchrun if here else " type the same on every machine"
        print(f"\nStopped. {kept}; to continue{how}", file=sys.stderr)
    return 130


def asked(arguments: argparse.Namespace) -> Arguments:
    """The arguments of the algorithm, out of the command line."""
    kind = ALGORITHMS[arguments.algo].arguments
    given = {name: value for name, value in vars(arguments).items() if value is not None and name in _all_names()}
    known = [option.name for option in kind.options()]
    if foreign := [name for name in given if name not in known]:
        raise UserError(f"--{foreign[0].replace('_', '-')} is not an option of {arguments.algo}")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return kind.fitted(make_game(arguments), **given)


def _all_names() -> set[str]:
    return {option.name for algorithm in ALGORITHMS.values() for option in algorithm.arguments.options()}


def _default_out(arguments: argparse.Namespace, asked: Arguments, processes: int = 1) -> Path:
    """A folder named by what was asked for, as far as it cannot change when a run goes on."""
    words = [arguments.game, *sorted(f"{name}={value}" for name, value in parameters(arguments).items())]
    words += [arguments.algo, f"seed={asked.seed}"]
    usual = type(asked).fitted(make_game(arguments))
    for option in type(asked).options():
        value = getattr(asked, option.name)
        if option.name not in (*FREE, GROWS, *_ELSEWHERE) and value != getattr(usual, option.name):
            words.append(f"{option.name}={'+'.join(value) if isinstance(value, tuple) else value}")
    words += [f"processes={processes}"] if processes > 1 else []
    return Path("results") / "train" / file_name(words)


def _progress_text(at: Progress) -> str:
    words = [f"{min(at.steps / at.total, 1):4.0%}  {at.steps:,} steps"]
    if at.steps_per_second > 0:
        words.append(f"{at.steps_per_second:,.0f} a second")
        if at.steps < at.total:
            left = (at.total - at.steps) / at.steps_per_second
            words.append(f"{left / 60:.0f} min left" if left >= 100 else f"{left:.0f} s left")
    words.append(f"{at.games:,} games")
    words += [f"{100 * share:.0f} % against {spec}" for spec, share in at.shares.items()]
    return ", ".join(words)


def _report(finished: Finished, asked: Arguments, arguments: argparse.Namespace) -> None:
    """What came out, what to open, and what to do next."""
    if finished.before == finished.steps:
        print(f"Nothing to do: {finished.out} has learned from {finished.steps:,} steps.")
    else:
        before = f", {finished.before:,} of them before" if finished.before else ""
        print(f"Learned from {finished.steps:,} steps{before}.")
    last = finished.history[-1]
    for spec in asked.eval_opponents:
        decided = last[f"{spec} decided"]
        print(f"  ahead of {spec} in {last[spec]:.1%} of {asked.eval_games} games ({decided:.0%} of them decided)")
    print(f"Written to {finished.out}:")
    for name, text in (
        (finished.agent.name, "the agent"),
        ("curve.png", "its strength over steps"),
        ("progress.csv", "a line an evaluation"),
        ("tensorboard", "for tensorboard --logdir"),
    ):
        if (finished.out / name).exists():
            print(f"  {name:18} {text}")
    agent = shlex.quote(str(finished.agent))
    print("Next:")
    print(f"  {program()} evaluate {agent}   measure it")
    print(f"  {program()} play {_game(arguments)} --agent {agent}")
    print("  the same command with more --total-steps goes on")


def _game(arguments: argparse.Namespace) -> str:
    """The game as it was typed, with its parameters as options."""
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in parameters(arguments).items()]
    return shlex.join([arguments.game, *(word for text in given for word in ("--param", text))])
