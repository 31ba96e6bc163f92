"""What `cellgames sweep` does: runs of training with different settings on a Ray cluster, and which did best.

What needs torch or Ray is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cluster.connection import LOCAL, load_ray
from cellgames.training.algorithms import ALGORITHMS
from cellgames.utils.status_line import StatusLine

from .commands import UserError, file_name, parameters, program, ray_address, stopped, warn
from .train_command import add_options, asked

if TYPE_CHECKING:
    from cellgames.training.sweeps.sweep import SweepProgress
    from cellgames.training.sweeps.sweep_reports import Sweep

__all__ = ["EXAMPLES", "TEXT", "USAGE", "add_sweep", "sweep"]

_OF_ONE_RUN = ("actors", "lag", "ray")  # settings of a run whose games others play; --ray is the sweep's

USAGE = "GAME --vary NAME=VALUES ... "
TEXT = (
    "Train with many settings side by side, and compare them. Settings are drawn from ranges and lists, or all\n"
    "combinations of lists are taken; each is a run of training on a Ray cluster, started here or joined. Runs\n"
    "whose score is low among those that got as far are stopped early. The folder gets a table, plots, the best\n"
    "agent and the folder of every run. A sweep that was stopped continues where it was; the same command with\n"
    "more --trials or --seeds lets it grow. All settings of `cellgames train` may be given, and hold for all."
)
EXAMPLES = (
    "torus-small-v0 --vary learning_rate=1e-4..1e-2 ent_coef=0,0.01,0.1 --total-steps 200000",
    "torus-v0 --size 3 --vary layers=1..4 channels=8,16,32 --trials 24 --seeds 2 --no-stopping",
    "torus-v0 --grid --vary num_epochs=1,2,4 'opponents=self=1|self=0.8,pool=0.2' --ray 10.0.0.5:6379",
)


def add_sweep(command: argparse.ArgumentParser) -> None:
    """The options; those of a game and of a folder are there already."""
    command.add_argument("--algo", choices=[*ALGORITHMS], default="ppo", help="how agents learn (default ppo)")
    command.add_argument(
        "--vary",
        metavar="NAME=VALUES",
        nargs="+",
        action="extend",
        required=True,
        help="a setting and what it may be: LOW..HIGH, by logarithms if HIGH is ten times LOW or more, or a list "
        "V,V,... (of text, V|V|...)",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument("--trials", metavar="N", type=int, help="settings to draw (default 12)")
    which.add_argument("--grid", action="store_true", help="all combinations of lists instead")
    command.add_argument("--seeds", metavar="N", type=int, default=1, help="runs of each setting (default 1)")
    command.add_argument(
        "--target", metavar="SPEC", default="", help="whom scores are against (default greedy, else random)"
    )
    command.add_argument(
        "--stopping",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="stop runs early whose score is low, by ASHA, and evaluate them in time for it (default yes)",
    )
    command.add_argument(
        "--ray",
        metavar="ADDRESS",
        type=ray_address,
        nargs="?",
        const=LOCAL,
        default=LOCAL,
        help="a Ray cluster to join, `auto` or HOST:PORT (default: one started on this machine)",
    )
    command.add_argument(
        "--ray-workers", metavar="N", type=int, help="runs side by side (default: as many as there is room for)"
    )
    command.add_argument(
        "--gpus", metavar="X", type=float, default=0, help="GPUs of each run, such as 1 or 0.25 (default 0)"
    )
    add_options(command, without=_OF_ONE_RUN)


def sweep(arguments: argparse.Namespace) -> int:
    """Train with many settings, or go on with it."""
    from cellgames.training.sweeps.sweep_space import parse_space

    address, arguments.ray = arguments.ray, None  # else taken for the setting of that name
    base = asked(arguments)
    space = parse_space(arguments.vary, type(base))
    if given := [name for name in space if getattr(arguments, name, None) is not None]:
        raise UserError(f"{given[0]} is varied, so --{given[0].replace('_', '-')} is not to be given")
    load_ray()  # or say at once that it is not installed
    from cellgames.training.sweeps import sweep as sweeps
    from cellgames.training.sweeps import sweep_base

    if arguments.stopping and arguments.eval_every is None:
        base = sweep_base.evaluated_in_time(base, space)

    out = arguments.out or _default_out(arguments)
    line, reported = StatusLine(not arguments.quiet, every_s=30.0), -1

    def report(at: SweepProgress) -> None:
        nonlocal reported
        line.show(_progress_text(at), news=at.done > reported)
        reported = at.done

    try:
        found = sweeps.sweep(
            base,
            space,
            out,
            trials=arguments.trials,
            grid=arguments.grid,
            seeds=arguments.seeds,
            target=arguments.target,
            stopping=arguments.stopping,
            address=address,
            workers=arguments.ray_workers,
            gpus=arguments.gpus,
            resume=not arguments.fresh,
            command=shlex.join(["cellgames", *arguments.command_line]),
            report=report,
            warn=warn,
        )
    except KeyboardInterrupt:
        return stopped(arguments, f"Runs that ended, and the others up to their last checkpoints, are kept in {out}")
    finally:
        line.end()
    _report(found, arguments)
    return 0 if found.best is not None else 1


def _default_out(arguments: argparse.Namespace) -> Path:
    words = [arguments.game, *sorted(f"{name}={value}" for name, value in parameters(arguments).items())]
    words += [arguments.algo, *(text.partition("=")[0] for text in arguments.vary), f"seed={arguments.seed}"]
    return Path("results") / "sweep" / file_name(words)


def _progress_text(at: SweepProgress) -> str:
    words = [f"{at.done} of {at.total} trials"]
    words += [f"{count} {word}" for count, word in ((at.stopped, "stopped early"), (at.failed, "failed")) if count]
    if at.running:
        words.append(f"{at.running} running")
    if not math.isnan(at.score):
        words.append(f"best so far {100 * at.score:.0f} % ({at.best})")
    return ", ".join(words)


def _report(found: Sweep, arguments: argparse.Namespace) -> None:
    """What came out, what to open, and what to do next."""
    from cellgames.training.sweeps.sweep_reports import page_rows, setting_rows

    if found.before == len(found.trials):
        print(f"Nothing to do: all {found.before} trials of {found.out} have ended.")
    elif found.before:
        print(f"{len(found.trials)} trials, {found.before} of them ended before.")
    print(f"Scores in % against {found.target}:")
    print(_columns(page_rows(found)))
    if arguments.seeds > 1:
        print("\nOver seeds:")
        print(_columns(setting_rows(found)))
    if found.best is not None and found.again is not None:
        low, high = found.again.interval
        print(
            f"\nBest: {found.best.name}. In {found.again.games} new games it is ahead of {found.target} in "
            f"{found.again.score:.1%} ({low:.0%} to {high:.0%})."
        )
    print(f"Written to {found.out}:")
    for name, text in (
        ("report.md", "all of it on one page"),
        ("best.safetensors", "the best agent"),
        ("settings.png", "the score by setting"),
        ("curves.png", "the score over steps"),
        ("trials.csv", "a line a trial"),
        ("trials", "the folder of each"),
    ):
        if (found.out / name).exists():
            print(f"  {name:16} {text}")
    print("Next:")
    if found.agent is not None:
        print(f"  {program()} evaluate {shlex.quote(str(found.agent))}   measure it")
    more = "--seeds" if arguments.grid else "--trials or --seeds"
    print(f"  the same command with more {more}: trains only what is missing")


def _columns(rows: Sequence[Sequence[Any]]) -> str:
    """Side by side, numbers to the right; the last column is text."""
    from cellgames.arena.report.report_parts import plain_table

    *front, last = zip(*rows, strict=True)
    lines = plain_table(list(zip(*front, strict=True))).splitlines()
    width = max(map(len, lines))
    return "\n".join(f"{line:{width}}  {text}".rstrip() for line, text in zip(lines, last, strict=True))
