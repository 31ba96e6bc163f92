"""The program `cellgames`: the parser with all commands, and the exit code.

Exit codes: 0 done, 1 a record does not reproduce or the program failed, 2 a mistake in the options or in a file that
they name, 130 stopped by Ctrl-C. A reader that closes the pipe, such as `head`, stops no command (`PrintableStream`).
Importing this imports no torch, so that help answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import logging
import os
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn

from typing_extensions import override

from cellgames.agents.agent_specs import with_options, wrapped
from cellgames.plugins import additions
from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.version import __version__

from .console import MOST_MESSAGE, print_columns, print_error, print_heading, printable_output, program, warn

_PLACE, _CALLS = "cellgames.cli.commands.", "cellgames.agents.language_models.calls"
_NO_COMMAND = ("-h", "--help", "--version")

_COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Play and watch": {
        "list": ("list_command:add_list", "Show all games and agents"),
        "rules": ("play_command:add_rules", "Show the rules of a game in brief"),
        "play": ("play_command:add_play", "Play a game at the terminal"),
        "serve": ("serve_command", "Watch, play and read ratings in the browser"),
        "replay": ("replay_command", "Play recorded games again"),
    },
    "Train agents": {"train": ("train_command", "Train an agent by self-play")},
    "Compare agents": {
        "evaluate": ("evaluate_command", "Measure an agent against others"),
        "round-robin": ("tournament_command:add_round_robin", "Let every agent play every other one"),
        "free-for-all": ("tournament_command:add_free_for_all", "Let agents play games of any number of seats"),
        "ladder": ("tournament_command:add_ladder", "Find the place of an agent on the ladder of a game"),
        "season": ("season_command", "Play a season and its playoffs"),
        "leaderboard": ("leaderboard_command", "Show the ratings of all agents from all games in the store"),
    },
    "Understand games and agents": {"analyse": ("analyse_command", "Analyse a position, or games")},
    "Work with other programs": {
        "bot": ("bot_command:add_bot", "Run an agent as a program that answers messages on standard input and output"),
        "check-bot": ("bot_command:add_check_bot", "Check a program that plays"),
        "check-game": ("bot_command:add_check_game", "Check a game of your own or of another library"),
        "export": ("format_commands:add_export", "Write recorded games in the format of other programs"),
        "import": ("format_commands:add_import", "Read games or a position from another program's file"),
    },
    "This installation": {
        "doctor": (
            "list_command:add_doctor",
            "Show what this installation has and lacks: versions, devices, native kernels, extras",
        )
    },
}
"""The commands by purpose, each with its module in `commands` and its help line, which begins its description.

A function that adds the command stands behind the module's name if it is not `add`. `additions` has more commands.
"""

_EXAMPLES = {
    "Play and watch": "play torus-v0 --agents greedy",
    "Train agents": "train torus-small-v0",
    "Compare agents": "round-robin torus-v0 --agents random greedy rollout:64",
    "Understand games and agents": 'analyse torus-small-v0 --moves "c3 a1+ b2"',
    "Work with other programs": "check-bot torus-small-v0 --agent exec:./mybot",
    "This installation": "doctor",
}


class _Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line, in the name of the command, and what was meant.

    Options are not abbreviated: an option that a later version adds never changes what a command means.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(allow_abbrev=False, **more)

    @override
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, unknown = super().parse_known_args(args, namespace)
        match self._get_positional_actions(), unknown:
            # Options stand between two words of which the first may be missing: argparse takes it for the second.
            case [first, second], [word] if getattr(found, first.dest) is None and not word.startswith("-"):
                return super().parse_known_args([getattr(found, second.dest), word], found)
        if unknown:
            known, (name, equals, _) = self._option_string_actions, unknown[0].partition("=")
            near = difflib.get_close_matches(name, known, n=1)
            if equals and not near and "--param" in known and not name.startswith("-"):
                near = [f"--param {unknown[0]}"]
            self.error(f"unrecognized arguments: {' '.join(unknown)}{_meant(near)}")
        return found, unknown

    @override
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        near = difflib.get_close_matches(str(value).lower(), names, n=1)
        known = ", ".join(names)
        if isinstance(action.choices, dict):
            meant = _meant(near) or f"; the commands are {known}"
            raise argparse.ArgumentError(None, f"there is no command {shown(value)}{meant}")
        raise argparse.ArgumentError(action, f"invalid choice: {shown(value)} (choose from {known}){_meant(near)}")

    def error(self, message: str) -> NoReturn:
        print_error(f"{self.prog}: {clipped(message)} (see {self.prog} --help)")
        self.exit(2)


def _meant(near: Sequence[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""


class _TopParser(_Parser):
    """The parser of the whole command line, with all or some commands; its help has them by their purpose."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        super().__init__(prog="cellgames")
        self.add_argument("--version", action="version", version=f"cellgames {__version__}")
        commands = self.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
        for name, (place, _) in chain.from_iterable(names.items() for _, names, _ in groups()):
            if wanted is None or name in wanted:
                module, _, function = place.partition(":")
                getattr(import_module(module), function or "add")(commands)

    @override
    def print_help(self, file: Any = None) -> None:
        print("usage: cellgames COMMAND ...\n\nBoard games played with cells, for people and for programs that learn.")
        most = max(len(name) for _, names, _ in groups() for name in names)
        for title, names, example in groups():
            print()
            print_heading(title)
            print_columns([(name.ljust(most), text) for name, (_, text) in names.items()])
            print(f"  Example: {program()} {example}")
        print("\n`cellgames COMMAND --help` explains a command; --version prints the version.")


@cache
def groups() -> list[tuple[str, dict[str, tuple[str, str]], str]]:
    """Return title, commands with whole names of modules, those of `additions` too, and example of each group."""
    own = {
        title: {name: (_PLACE + place, text) for name, (place, text) in _COMMANDS[title].items()} for title in _COMMANDS
    }
    return [(title, {**own[title], **additions().commands.get(title, {})}, _EXAMPLES[title]) for title in own]


def parser(word: str = "") -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of those lines that begin with the name of a command.

    The help of the whole needs no parsers of commands.
    """
    known = any(word in names for _, names, _ in groups())
    return _TopParser([word] if known else [] if word in _NO_COMMAND else None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (by default the process's own) and return the exit code."""
    # Before torch is imported: threads that spin while they wait are slow beside other busy processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    given = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    with printable_output():
        try:
            arguments = parser(given[0]).parse_args(given)
            arguments.command_line = given
            warn.cache_clear()
            if getattr(arguments, "wrapper", "") and arguments.agents:
                arguments.agents = [wrapped(agent, arguments.wrapper) for agent in arguments.agents]
            asked: dict[str, str | int] = {"retries": 0} if getattr(arguments, "strict", False) else {}
            asked |= {"legal_moves": how} if (how := getattr(arguments, "legal_moves", None)) else {}
            if asked and arguments.agents:
                arguments.agents = [with_options(agent, **asked) for agent in arguments.agents]
            _limit_spending(arguments)
            with _shown_log(arguments.debug):
                try:
                    code: int = arguments.run(arguments)
                except SystemExit as error:  # of a game or an agent
                    at = traceback.extract_tb(error.__traceback__)[-1]
                    raise InputError(f"{at.filename}, line {at.lineno}", cause=f"it raised {error!r}") from error
            sys.stdout.flush()
        except KeyboardInterrupt:
            print("\nStopped.", file=sys.stderr)
            return 130
        except Exception as error:
            if "--debug" in given:
                traceback.print_exc()
            return _complain(error)
        finally:
            for line in sys.modules[_CALLS].SPENDING.lines() if _CALLS in sys.modules else ():
                print(f"cellgames: {line}", file=sys.stderr)
    return code


def _limit_spending(arguments: argparse.Namespace) -> None:
    """Set the limits of what language models may take."""
    limits = getattr(arguments, "max_calls", None), getattr(arguments, "max_tokens", None)
    if limits != (None, None) and (getattr(arguments, "workers", None) or 1) > 1:
        raise InputError("--workers", cause="--max-calls and --max-tokens count the calls of one process only")
    if limits == (None, None) and _CALLS not in sys.modules:
        return
    from cellgames.agents.language_models.calls import SPENDING

    SPENDING.clear(*limits)


@contextmanager
def _shown_log(debug: bool) -> Iterator[None]:
    """Show with `--debug` what the package logs, such as tracebacks of agents that forfeit games, on standard error."""
    logger = logging.getLogger("cellgames")
    handler, level, propagates = logging.StreamHandler(), logger.level, logger.propagate
    handler.setFormatter(logging.Formatter("cellgames: %(message)s"))
    if debug:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


def _complain(error: Exception) -> int:
    """Print one line on standard error and return the exit code."""
    text = clipped(str(error), MOST_MESSAGE)
    if isinstance(error, OSError) and error.strerror:
        text = f"{clipped(str(error.filename), 400)}: {error.strerror}" if error.filename else error.strerror
    known = isinstance(error, ValueError | OSError | ImportError)
    if not known or type(error) is ValueError:  # whatever the code of a game or an agent raises
        at = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{at.filename}, line {at.lineno}, in {at.name}: {type(error).__name__}: {text}"
    print_error(f"cellgames: {text}")
    return 2 if known else 1
