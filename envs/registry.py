"""The games by id: `make` creates one, `register` adds one, `plugin_of` finds what belongs to one.

The games of the suite are in `cellgames.plugins`. Games of other packages are added by `register`, which their module
calls when it is imported: by a script; by an installed package that names the module as an entry point of the group
`cellgames.games`; or by the environment variable `CELLGAMES_GAMES` (several modules with commas between them). An id
alone, such as one in a record, imports nothing new.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cellgames.plugins import SUITE, GamePlugin, resolve
from cellgames.utils.errors import MOST_SHOWN, InputError, check_one_of, clipped, shown

if TYPE_CHECKING:
    from .core import Game  # needs torch, and a leaderboard does without

ENTRY_POINTS = "cellgames.games"
"""The group of entry points in which installed packages name modules that register games."""

VARIABLE = "CELLGAMES_GAMES"
"""The environment variable that names such modules, too."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*-v[0-9]+")
_FOREIGN = re.compile(r"(pettingzoo|openspiel|pgx):\S.*|.+\.py:[A-Za-z_]\w*")
"""Names of games of other libraries, which `foreign.simulators` explains."""

_LIBRARIES = ("openspiel:", "pgx:", "pettingzoo:pettingzoo.")
"""The beginnings of names that import no other modules than the libraries' own."""


@dataclass(frozen=True)
class GameSpec:
    """An id that `make` takes: a game, perhaps with some of its parameters set.

    Attributes:
        id: `name-vN`.
        plugin: the game and what belongs to it.
        summary: one line for lists.
        parameters: those that this id sets; the others have their defaults.
    """

    id: str
    plugin: GamePlugin
    summary: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def entry_point(self) -> str:
        """Return the import path of the game's class, `package.module:Class`."""
        game = self.plugin.game
        return game if isinstance(game, str) else f"{game.__module__}:{game.__qualname__}"

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Return every parameter with the value that `make(id)` gives it, without importing the game."""
        return {**self.plugin.parameters, **self.parameters}


REGISTRY: dict[str, GameSpec] = {}
"""All ids that `make` takes, in the order of lists."""

_listeners: list[Callable[[GameSpec], None]] = []


def register(game: type[Game] | GamePlugin, *, id: str | None = None, summary: str = "", **parameters: Any) -> None:
    """Make a game of your own known to `make`, the command line and the registries of PettingZoo and Gymnasium.

    Args:
        game: a class; or a `GamePlugin`, which can also name the game's agents, networks, readers and page.
        id: `name-vN`, by default the class's; another one is a variant of the same game.
        summary: one line for lists, by default the first of the class's docstring.
        parameters: those in which the variant differs from the class's defaults.

    Raises:
        ValueError: the id is malformed or another game's, or the class takes no such parameters.
    """
    if not isinstance(game, GamePlugin):
        entries = [_described(game, id, summary, parameters)]
    elif id is not None or summary or parameters:
        raise InputError("game", "a GamePlugin alone", "an id, summary or parameters beside it", where=game.id)
    else:
        plugin = _completed(game)
        entries = [GameSpec(plugin.id, plugin, plugin.summary)]
        for each in (plugin, plugin.extension) if plugin.extension is not None else (plugin,):
            entries += [GameSpec(id, each, given.summary, given.parameters) for id, given in each.variants.items()]
    for entry in entries:
        if _ID.fullmatch(entry.id) is None and not is_foreign(entry.id):
            raise InputError("id", "an id such as 'strip-v0', lowercase and with a version", shown(entry.id))
        if entry.id in REGISTRY and REGISTRY[entry.id].entry_point != entry.entry_point:
            cause = f"{REGISTRY[entry.id].entry_point} has it, not {entry.entry_point}"
            raise InputError("id", "an id of no other game", shown(entry.id), cause)
    for entry in entries:
        REGISTRY[entry.id] = entry
        for listener in _listeners:
            listener(entry)


def follow(listener: Callable[[GameSpec], None]) -> None:
    """Call `listener` with every id, and once with each registered later; other libraries' registries follow so."""
    for entry in REGISTRY.values():
        listener(entry)
    if listener not in _listeners:
        _listeners.append(listener)


def _described(kind: type[Game], id: str | None, summary: str, parameters: Mapping[str, Any]) -> GameSpec:
    """Return the entry of a class; the game is made once, so that mistakes are found here."""
    plugin = _completed(GamePlugin(game=kind, summary=summary))
    id = plugin.id if id is None else id
    if id != plugin.id and plugin.id not in REGISTRY:
        raise InputError("id", repr(plugin.id), shown(id), "records name the game by it, so register it before presets")
    _made(id, *_class_for(REGISTRY[plugin.id].plugin if id != plugin.id else plugin, parameters))
    return GameSpec(id, plugin, plugin.summary, dict(parameters))


def _completed(plugin: GamePlugin) -> GamePlugin:
    """Return the plugin with the fields that the game's class determines."""
    kind = plugin.game
    if isinstance(kind, str):
        return plugin
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind) and hasattr(kind, "id")):
        got = getattr(kind, "__name__", None) or type(kind).__name__
        raise InputError("game", "a frozen dataclass on cellgames.envs.core.Game with an id, or a GamePlugin", got)
    if plugin.id not in ("", kind.id):
        raise InputError("plugin", f"the class's id {kind.id!r}, by which records name the game", f"{plugin.id!r}")
    made = _made(kind.id, kind, {})
    return dataclasses.replace(
        plugin,
        id=made.id,
        summary=plugin.summary or (kind.__doc__ or made.info.title).strip().splitlines()[0].rstrip("."),
        parameters=made.parameters,
        simultaneous=made.info.simultaneous,
    )


def is_foreign(id: object) -> bool:
    """Return True if an id is the name of a game of another library."""
    return isinstance(id, str) and _FOREIGN.fullmatch(id) is not None


def spec(id: str) -> GameSpec:
    """Return the entry of `id`; a `ValueError` names the known ones.

    Games of OpenSpiel, and those that PettingZoo itself has, are found by their names, also those in records.
    """
    if isinstance(id, str) and id.startswith(_LIBRARIES):
        import_games(id)
    if not isinstance(id, str) or id not in REGISTRY:
        check_one_of("game", id, REGISTRY, more=f", or a game of a module that {VARIABLE} names")
    return REGISTRY[id]


def make(id: str, **parameters: Any) -> Game:
    """Return the game called `id` with some parameters; see `cellgames.make`."""
    entry = spec(id)
    given = {name: v.tolist() if hasattr(v, "tolist") else v for name, v in parameters.items()}  # by NumPy
    return _made(entry.id, *_class_for(REGISTRY[entry.plugin.id].plugin, {**entry.parameters, **given}))


def as_game(game: Game | str) -> Game:
    """Return a game itself, or the one of an id that a user typed, as `cellgames.make` does (`import_games`)."""
    return make(import_games(game)) if isinstance(game, str) else game


def _class_for(plugin: GamePlugin, given: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Return the class that parameters ask for, the game's or its extension's, and the parameters that it takes."""
    kind = resolve(plugin.game)
    known = {f.name for f in dataclasses.fields(kind)}
    if plugin.extension is None or given.keys() <= known:
        return kind, given
    wider = resolve(plugin.extension.game)
    usual = {f.name: f.default for f in dataclasses.fields(wider)}
    more = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}  # as JSON has it
    if any(name not in known and (name not in usual or value != usual[name]) for name, value in more.items()):
        return wider, given
    return kind, {name: value for name, value in given.items() if name in known}


def plugins() -> list[GamePlugin]:
    """Return the plugin of every game, variants left out, in the order of lists."""
    return [entry.plugin for id, entry in REGISTRY.items() if id == entry.plugin.id]


def plugin_of(game: Game) -> GamePlugin:
    """Return the plugin of a game; an empty one for a game that is not registered."""
    if game.id not in REGISTRY:
        return GamePlugin(game=type(game), id=game.id)
    plugin = REGISTRY[game.id].plugin
    if plugin.extension is None or type(game) is resolve(plugin.game):
        return plugin
    return plugin.extension if isinstance(game, resolve(plugin.extension.game)) else plugin


def _made(id: str, kind: Any, parameters: Mapping[str, Any]) -> Game:
    known = [f.name for f in dataclasses.fields(kind)]
    if unknown := [name for name in parameters if name not in known]:
        check_one_of("parameter", unknown[0], known, id)
    try:
        game: Game = kind(**parameters)
    except InputError as error:
        if error.where == getattr(kind, "id", ""):
            error.where = id  # a preset
        raise
    for one in dataclasses.fields(kind):  # those that the game itself does not check
        value, usual = getattr(game, one.name), one.default
        if type(usual) in (bool, int, str) and value is not None and not isinstance(value, type(usual)):
            raise InputError(one.name, f"{type(usual).__name__}, as the default {usual!r} is", shown(value), where=id)
    return game


def load_plugins() -> None:
    """Import the modules that installed packages and `CELLGAMES_GAMES` name; done when this module is imported.

    One that fails warns: it must not stop those who want other games.
    """
    from importlib.metadata import entry_points

    named = _named_modules()
    if named:
        find_modules_here()
    for module in [*(point.module for point in entry_points(group=ENTRY_POINTS)), *named]:
        try:
            import_games(module) if is_foreign(module) else importlib.import_module(module)
        except (Exception, SystemExit) as error:
            text = f"the games of {module!r} are missing: importing it failed with {type(error).__name__}: {error}"
            warnings.warn(text, stacklevel=2)


def import_games(id: str) -> str:
    """Import the module in front of an id, such as `my_games:strip-v0` (Gymnasium's syntax); return the id alone.

    A game of another library, such as `pettingzoo:pettingzoo.classic.tictactoe_v3`, is registered by its whole name.

    The processes that this one starts import the module, too. Only what a user typed may go in here: an id that a
    record or a file of weights names imports nothing.

    Raises:
        ValueError: the module cannot be imported, or does not register the id.
    """
    if isinstance(id, str) and id.endswith(".py"):
        raise InputError("game", f"the name of its function, too, such as {id}:env", id)
    if not isinstance(id, str) or ":" not in id:  # `make` refuses what is no text
        return id
    if is_foreign(id):
        if id not in REGISTRY:
            from .foreign.game import foreign_class

            find_modules_here()
            register(foreign_class(id))
            if not id.startswith(_LIBRARIES):
                _tell_processes(id)
        return id
    module, _, name = id.partition(":")
    find_modules_here()
    try:
        importlib.import_module(module)
    except (Exception, SystemExit) as error:
        hint = ""
        if "/" in module or module.endswith(".py"):
            dotted = clipped(module.removesuffix(".py").strip("./").replace("/", "."), MOST_SHOWN)
            hint = f"; name the module as Python does: {dotted}:{name or 'ID'}"
        cause = f"importing {shown(module)} failed with {type(error).__name__}: {shown(str(error))}{hint}"
        raise InputError(shown(id), cause=cause) from error
    games = [id for id, entry in REGISTRY.items() if entry.entry_point.startswith((f"{module}:", f"{module}."))]
    if name not in REGISTRY:
        expected = f"an id that {module} registers ({', '.join(games) or 'it registers none'})"
        raise InputError(shown(id), expected, shown(name))
    _tell_processes(module)
    return name


def _tell_processes(module: str) -> None:
    """Let the processes that this one starts import a module, or register a game of another library."""
    if module not in _named_modules():
        os.environ[VARIABLE] = ",".join([*_named_modules(), module])


def _named_modules() -> list[str]:
    """Return the modules that the environment variable names; commas in parentheses are part of a name."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", os.environ.get(VARIABLE, "")) if name.strip()]


def find_modules_here() -> None:
    """Let modules of the current folder be found, as `python -m` does."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    importlib.invalidate_caches()


for _plugin in SUITE:
    register(_plugin)
load_plugins()  # last, since what is imported here imports this module


def board_title(game: Game) -> str:
    """Return a game's title, the size of its board, and its players if they are more than two.

    Such as "Torus, size 5", "Toroidal Cup, 24 x 48" and "Grid Adaptation, size 9, 4 players".
    """
    parts, size, shape = [game.info.title], game.parameters.get("size"), game.info.board.shape
    if isinstance(size, int):
        parts.append(f"size {size}")
    elif len(shape) >= 2:
        parts.append(f"{shape[-2]} x {shape[-1]}")
    if game.info.num_players > 2:
        parts.append(f"{game.info.num_players} players")
    return ", ".join(parts)


def setting_title(id: str, parameters: Mapping[str, Any]) -> str:
    """Return `board_title` of a game that is named in a file; its id if the game is not installed."""
    try:
        return board_title(make(id, **parameters))
    except (KeyError, ImportError, TypeError, ValueError):
        return id
