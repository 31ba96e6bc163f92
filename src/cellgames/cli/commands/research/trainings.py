"""The options and settings that commands which train several agents have in common."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cellgames.cli.commands.train_command import add_algorithm, add_arguments, arguments_given
from cellgames.cli.console import UserError
from cellgames.cli.shared_options import add_folder, add_options, add_ray, add_store

if TYPE_CHECKING:
    from cellgames.training.arguments import Arguments
    from cellgames.utils.options import Option

__all__ = ["add_trainings", "check_steps", "settings_of"]


def add_trainings(
    command: argparse.ArgumentParser,
    *,
    steps: str,
    folder: str,
    options: Sequence[Option],
    shared: str,
    without: Sequence[str],
) -> None:
    """Add `--steps`, the algorithm with its settings, the folder, options, the store and the cluster.

    Args:
        command: the parser.
        steps: help of `--steps`.
        folder: the default folder, for help.
        options: of the command itself.
        shared: what workers of a cluster do.
        without: settings of `cellgames train` that the command makes itself.
    """
    command.add_argument("--steps", metavar="N", type=int, required=True, help=steps)
    add_algorithm(command)
    add_folder(command, folder)
    add_options(command, options)
    add_store(command)
    add_ray(command, shared)
    add_arguments(command, without=without)


def check_steps(arguments: argparse.Namespace) -> None:
    """Raise a `UserError` unless a training has steps."""
    if arguments.steps < 1:
        raise UserError(f"--steps must be a whole number of at least 1, got {arguments.steps}")


def settings_of(arguments: argparse.Namespace) -> Arguments:
    """Return the settings of each training; `--ray` is the command's and no setting of a training."""
    cluster, arguments.ray = arguments.ray, None
    arguments.total_steps = arguments.steps
    settings = arguments_given(arguments)
    arguments.ray = cluster
    return settings
