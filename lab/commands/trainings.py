"""The options and settings that commands which train several agents have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cellgames.cli.commands.train_command import add_algorithm, add_arguments, arguments_given
from cellgames.cli.console import recorded, warn
from cellgames.cli.shared_options import add_folder, add_options, add_store, add_workers, store_of, workers_of
from cellgames.utils.errors import check_at_least
from cellgames.utils.progress import StatusLine

if TYPE_CHECKING:
    from cellgames.training.arguments import Arguments
    from cellgames.utils.options import Option, Options

T = TypeVar("T")


def add_trainings(
    command: argparse.ArgumentParser,
    *,
    steps: str,
    folder: str,
    options: Sequence[Option],
    shared: str,
    without: Sequence[str],
    required: bool = True,
) -> None:
    """Add `--steps`, the algorithm with its settings, the folder, options, the store and the workers.

    Args:
        command: the parser.
        steps: help of `--steps`.
        folder: the default folder, for help.
        options: options of the command itself.
        shared: the pieces of work of a worker.
        without: settings of `cellgames train` that the command makes itself.
        required: True if the command always trains.
    """
    command.add_argument("--steps", metavar="N", type=int, required=required, help=steps)
    add_algorithm(command)
    add_folder(command, folder)
    add_options(command, options)
    add_store(command)
    add_workers(command, shared)
    add_arguments(command, without=without)


def settings_of(arguments: argparse.Namespace) -> Arguments:
    """Return the settings of each training; `--workers` is the command's and no setting of a training.

    Raises:
        InputError: a training without steps, or a setting that `arguments_given` refuses.
    """
    check_at_least(1, **{"--steps": arguments.steps})
    workers, arguments.workers = arguments.workers, None
    arguments.total_steps = arguments.steps
    settings = arguments_given(arguments)
    arguments.workers = workers
    return settings


def run_trainings(
    arguments: argparse.Namespace,
    train: Callable[..., T],
    settings: Arguments,
    out: Path,
    options: Options,
    text: Callable[[Any], tuple[str, bool]],
) -> T:
    """Return the result of a run of trainings; a line on standard error shows its progress.

    Args:
        arguments: arguments of the command.
        train: the run.
        settings: settings of each training.
        out: the folder.
        options: options of the command itself.
        text: returns a line on the progress, and True if it is news.
    """
    line = StatusLine(not arguments.quiet)

    def report(at: Any) -> None:
        words, news = text(at)
        line.show(words, news=news)

    try:
        with workers_of(arguments) as workers:
            return train(
                settings,
                out,
                options,
                store=store_of(arguments),
                command=recorded(arguments),
                warn=warn,
                workers=workers,
                **({} if arguments.quiet else {"report": report}),
            )
    finally:
        line.end()
