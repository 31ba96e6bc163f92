"""Options that several commands share: how they are added to a command, and how their values are read.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from cellgames.agents.agent_specs import by_name, file_of, matched, split_name
from cellgames.agents.loading import load
from cellgames.agents.networks.agent_files import MODEL_SUFFIX, WEIGHTS_SUFFIX
from cellgames.arena.records.store import DEFAULT_STORE, Store, StoreError, default_store
from cellgames.envs import registry
from cellgames.utils.errors import InputError, listed, located, shown
from cellgames.utils.options import Integers, Option, Strings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cellgames.agents.base import AnyAgent
    from cellgames.envs.core import Game

WHERE_STORE = f"default {DEFAULT_STORE.as_posix()}, or the file that CELLGAMES_STORE names"

# ---------------------------------------------------------------- a command


def add_command(
    commands: Any, name: str, usage: str, run: Callable[[argparse.Namespace], int], text: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    """Add a command and return its parser.

    Args:
        commands: the program's sub-parsers.
        name: name of the command.
        usage: the arguments in front of the options, with a space after them.
        run: gets the parsed arguments and returns the exit code.
        text: its description; its first sentence stands in the list of commands.
        examples: arguments.
    """
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        usage=f"cellgames {name} {usage}[options]",
        description=text,
        epilog="Examples:\n" + "\n".join(f"  cellgames {name} {example}".rstrip() for example in examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    help = "show the tracebacks of errors, also those of agents that forfeit games"
    command.add_argument("--debug", action="store_true", help=help)
    return command


# ---------------------------------------------------------------- options of a dataclass


def add_options(
    group: Any,
    options: Iterable[Option],
    *,
    without: Sequence[str] = (),
    only: str = "",
    default: Callable[[Option], str] | None = None,
) -> None:
    """Add an option for each field of a dataclass of options; those that are not given parse as None.

    Args:
        group: a parser or an argument group.
        options: options of the dataclass.
        without: names of options to leave out.
        only: text in front of each help line.
        default: gives the text at the end of each help line on the default; None for "(default ...)".
    """
    for option in (option for option in options if option.name not in without):
        more: dict[str, Any]
        if option.kind is bool:
            more = {"action": argparse.BooleanOptionalAction}
        elif option.choices:
            more = {"choices": option.choices}
        elif option.kind in (Strings, Integers):
            kind, placeholder = (str, "AGENT") if option.kind == Strings else (int, "N")
            more = {"metavar": option.metavar or placeholder, "nargs": "+", "action": "extend", "type": kind}
        else:
            placeholder = {int: "N", float: "X", str: "TEXT"}[option.kind]
            more = {"metavar": option.metavar or placeholder, "type": option.kind}
        end = default(option) if default else f" (default {option.default_text})" * bool(option.default_text)
        flag, help = f"--{option.name.replace('_', '-')}", f"{only}{option.help}{end}".replace("%", "%%")
        group.add_argument(flag, dest=option.name, default=None, help=help, **more)


# ---------------------------------------------------------------- game and seed


class GameId(str):
    """The id of a game on the command line; making it imports the module in front of it, if there is one.

    Attributes:
        typed: the id with its module, for commands to type next.
    """

    typed: str

    def __new__(cls, typed: str) -> GameId:
        """Return the id; an `argparse.ArgumentTypeError` says what is wrong with the module."""
        try:
            made = super().__new__(cls, registry.import_games(typed))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        made.typed = typed
        return made


def add_game(command: argparse.ArgumentParser, otherwise: str = "") -> None:
    """Add the game and its parameters; `otherwise` says what a command does that may go without a game."""
    text, more = "an id that `cellgames list` shows, or MODULE:ID for a game of your own", dict[str, Any]()
    if otherwise:
        text, more = f"{text} (default: {otherwise})", {"nargs": "?"}
    command.add_argument("game", metavar="GAME", type=GameId, help=text, **more)
    add_parameters(command)


def add_parameters(command: argparse.ArgumentParser) -> None:
    """Add the parameters of the game."""
    text = "set a parameter of the game, such as size=5; may be given several times"
    command.add_argument("--param", metavar="NAME=VALUE", action="append", default=[], help=text)
    command.add_argument("--size", metavar="N", help="short for --param size=N")


def add_seed(command: argparse.ArgumentParser) -> None:
    """Add the seed."""
    command.add_argument("--seed", metavar="N", type=int, default=0, help="seed of all random numbers (default 0)")


def parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the game's parameters that the command line sets."""
    given = list(arguments.param) + ([] if arguments.size is None else [f"size={arguments.size}"])
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError("--param", "NAME=VALUE, such as size=5", shown(text))
        if name in found:
            raise InputError("--param", "each parameter once", shown(name))
        found[name] = typed_value(value)
    return found


def typed_game(arguments: argparse.Namespace) -> str:
    """Return the game as it was typed, with its parameters as options, for commands to type next."""
    given = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in parameters(arguments).items()]
    return shlex.join([arguments.game.typed, *(word for text in given for word in ("--param", text))])


def typed_value(text: str) -> Any:
    """Return a number, true, false or null as JSON has them, else the text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text


def take_game(arguments: argparse.Namespace, agent: str) -> None:
    """Set the game and its parameters to those of an agent's weights, unless the command line names a game.

    Raises:
        InputError: neither names one.
    """
    if arguments.game is not None:
        return
    file = file_of(split_name(agent)[1])
    if file is None or file.path.suffix == MODEL_SUFFIX or file.before:
        expected = f"a game, unless AGENT is a file of weights ({WEIGHTS_SUFFIX}) or a run's folder"
        raise InputError("GAME", expected, "none", f"{agent} does not say what it plays")
    from cellgames.agents.networks.saved import read_about

    about, given = read_about(file.path), parameters(arguments)
    arguments.game, usual = GameId(about["game"]), registry.spec(about["game"]).defaults
    own = {name: value for name, value in about["parameters"].items() if name not in given and value != usual.get(name)}
    arguments.param = [*arguments.param, *(f"{name}={json.dumps(value)}" for name, value in own.items())]


def make_game(arguments: argparse.Namespace) -> Game:
    """Return the game with the parameters of the command line."""
    try:
        return registry.make(arguments.game, **parameters(arguments))
    except TypeError as error:  # a parameter of a kind that the game did not expect
        raise located(error, arguments.game) from error


# ---------------------------------------------------------------- agents and the folder of a run


def add_agents(
    command: Any,
    text: str = "two or more that `cellgames list` shows; NAME=SPEC gives a name",
    *,
    required: bool = True,
    play: bool = True,
    one: bool = False,
) -> None:
    """Add the agents, or a list of one; without any, it is None. They play, or else their names select games."""
    several: dict[str, Any] = {"nargs": 1, "dest": "agents"} if one else {"nargs": "+", "action": _Agents}
    command.add_argument("--agent" if one else "--agents", metavar="AGENT", required=required, help=text, **several)
    if play:
        add_isolation(command)


class _Agents(argparse.Action):
    """Adds agents to those before; a pattern of files is an agent for each."""

    @override
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*before, *chain.from_iterable(map(matched, values))])


def loaded_agents(specs: Sequence[str], game: Game | None = None) -> dict[str, AnyAgent]:
    """Return the agents of specs by name; an error of loading comes before anything else happens."""
    return {name: load(str(spec), game, name=name) for name, spec in by_name(specs).items()}


def add_isolation(command: Any) -> None:
    """Add the processes of agents that are not part of the package."""
    apart = command.add_mutually_exclusive_group()
    ways: dict[str, Any] = {"action": "store_const", "dest": "wrapper", "default": "isolated"}
    text = "run agents that are not part of the package in this process instead of processes of their own"
    apart.add_argument("--in-process", const="", help=text, **ways)
    text = "run them without network, and with files that they can only read, as sandboxed:AGENT does"
    apart.add_argument("--sandbox", const="sandboxed", help=text, **ways)


def add_spending(command: argparse.ArgumentParser) -> None:
    """Add the limits of what language models may take, and how they are asked."""
    for what in ("calls", "tokens"):
        text = f"stop when language models (llm:MODEL) have taken so many {what} in this run; it can go on later"
        command.add_argument(f"--max-{what}", metavar="N", type=whole(), help=text)
    text = "tell language models which moves are legal (default shown)"
    command.add_argument("--legal-moves", choices=("shown", "hidden"), help=text)
    text = "language models forfeit by the first answer that is no legal move"
    command.add_argument("--strict", action="store_true", help=text)


def whole(least: int = 1) -> Callable[[str], int]:
    """Return a parser of whole numbers from a least one on, as the type of an option."""

    def parse(text: str) -> int:
        if not (text.isdecimal() and text.isascii() and least <= int(text[:20]) < 1 << 53):
            raise argparse.ArgumentTypeError(f"expected a whole number from {least}, got {shown(text)}")
        return int(text)

    return parse


def add_record(command: argparse.ArgumentParser, text: str) -> None:
    """Add the number of a record."""
    command.add_argument("--record", metavar="N", type=whole(), help=text)


def chosen_games(arguments: argparse.Namespace, records: Sequence[Any], seed: int | None = None) -> list[int]:
    """Return the numbers of the games that --record, --agents and a seed choose, from 1."""
    if arguments.record is not None and arguments.record > len(records):
        raise InputError("--record", f"1 to {len(records)}", arguments.record)
    wanted, known = arguments.agents or [], dict.fromkeys(name for record in records for name in record.agents)
    if unknown := [name for name in wanted if name not in known]:
        raise InputError("--agents", f"some that play: {listed([*known], 12)}", unknown[0])
    numbers = [
        number
        for number, record in enumerate(records, 1)
        if arguments.record in (None, number) and seed in (None, record.seed) and {*wanted} <= {*record.agents}
    ]
    if not numbers:
        cause = f"none of the {len(records)} games has all of that; `cellgames replay PATH --list` shows them"
        raise InputError(cause=cause)
    return numbers


def add_out(command: argparse.ArgumentParser, text: str, metavar: str = "DIR") -> None:
    """Add the file or folder that the command writes."""
    command.add_argument("--out", metavar=metavar, type=Path, help=text)


def add_quiet(command: Any, quiet: str = "show no progress") -> None:
    """Add the option that hides the progress."""
    command.add_argument("--quiet", action="store_true", help=f"{quiet} on standard error")


def add_json(command: argparse.ArgumentParser) -> None:
    """Add the output for programs."""
    command.add_argument("--json", action="store_true", help="print JSON")


def add_folder(command: argparse.ArgumentParser, folder: str, quiet: str = "show no progress") -> None:
    """Add the folder of a run, and whether progress is shown."""
    add_out(command, f"the folder (default {folder})")
    add_quiet(command, quiet)


def folder_of(arguments: argparse.Namespace, kind: str, words: Sequence[str]) -> Path:
    """Return the folder that is given, or one of a kind that is named after the game and some words.

    The words name what cannot change when a run goes on.
    """
    own = sorted(f"{name}={value}" for name, value in parameters(arguments).items())
    return arguments.out or Path("results") / kind / file_name([arguments.game, *own, *words])


def file_name(words: Sequence[str]) -> str:
    """Return the name of a folder made of words, without characters that are special to shells or file systems."""
    return "-".join("".join(c if c.isalnum() or c in "=._-" else "_" for c in word) for word in words)


# ---------------------------------------------------------------- store and processes


def add_store(command: argparse.ArgumentParser) -> None:
    """Add the store that a run adds its games to."""
    group = command.add_mutually_exclusive_group()
    group.add_argument("--store", metavar="FILE", type=Path, help=f"add the games to this store ({WHERE_STORE})")
    group.add_argument("--no-store", action="store_true", help="add the games to no store")


def store_of(arguments: argparse.Namespace) -> Path | None:
    """Return the file that a run adds its games to, or None.

    Raises:
        InputError: another kind of file, or one that cannot be written.
    """
    if arguments.no_store:
        return None
    path: Path = arguments.store or default_store()
    try:
        Store(path).close()
    except StoreError as error:
        cause = f"{error}; --store FILE names another store, and --no-store plays without one"
        raise InputError(cause=cause) from None
    return path


def add_workers(command: argparse.ArgumentParser, pieces: str) -> None:
    """Add the processes that share the work; `pieces` says what one gets at a time."""
    text = f"processes that share the work, {pieces} at the same time (default 1: this process alone)"
    command.add_argument("--workers", metavar="N", type=whole(), default=1, help=text)


def workers_of(arguments: argparse.Namespace) -> AbstractContextManager[Executor | None]:
    """Return the processes that --workers asks for; as a context they are None for this process alone."""
    from cellgames.runs.workers import processes

    return processes(arguments.workers) if arguments.workers > 1 else nullcontext()
