"""`cellgames analyse` for games: openings, places and behaviour.

What needs torch is imported by the function that uses it, so that help answers at once.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from cellgames.agents.agent_specs import by_name
from cellgames.arena.play.match_options import MatchOptions
from cellgames.cli.console import UserError, warn
from cellgames.cli.shared_options import file_name, make_game, parameters
from cellgames.envs import registry
from cellgames.plugins import additions, resolve
from cellgames.runs.run_folder import check_writable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cellgames.agents.base import AnyAgent
    from cellgames.arena.analyse.record_groups import Games
    from cellgames.arena.analyse.report import Report
    from cellgames.envs.core import Game
    from cellgames.utils.report.model import Section

PARTS = ("openings", "places", *additions().parts, "flows", "behaviour")
"""The parts of a report."""


def run_games(arguments: argparse.Namespace) -> int:
    """Analyse games, write a report for each kind of game, and print it; return the exit code."""
    from cellgames.arena.analyse.report import to_data, write_report
    from cellgames.utils.progress import waiting

    _check(arguments)
    reports = [(folder, report) for folder, report in _reports(arguments)]
    for folder, report in reports:
        with waiting("Writing the report", shown=not arguments.quiet):
            files = write_report(folder, report, warn)
        if not arguments.json:
            _print(folder, report, files)
    if arguments.json:
        data = [{**to_data(report), "folder": str(folder)} for folder, report in reports]
        print(json.dumps({"reports": data}, indent=1, ensure_ascii=False, allow_nan=False))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Complain before anything is read or played."""
    for name in ("games", "positions", "draws"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise UserError(f"--{name} must be at least 1, got {value}")
    if arguments.opening_plies is not None and arguments.opening_plies < 0:
        raise UserError(f"--opening-plies must be at least 0, got {arguments.opening_plies}")
    given = arguments.records or arguments.store is not None
    plays = arguments.agents and not given
    for name in ("games", "opening_plies"):
        if getattr(arguments, name) is not None and not plays:
            raise UserError(
                f"--{name.replace('_', '-')} says what --agents play, but the games are given; leave it out"
            )
    if plays and arguments.game is None:
        raise UserError("GAME is needed, so that --agents know what to play")
    if arguments.only and "behaviour" in arguments.only and not arguments.agents:
        raise UserError("--only behaviour needs --agents, since it asks them; records only name their agents")
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise UserError(f"--out {arguments.out} is a file; an analysis of games needs a folder")
    check_writable(arguments.out or Path("results"))
    if arguments.out is not None and arguments.out.suffix in (".svg", ".png"):
        raise UserError(f"--out {arguments.out}: an analysis of games writes a folder, not one picture")


def _reports(arguments: argparse.Namespace) -> list[tuple[Path, Report]]:
    """Return a report for each kind of game, and the folder where it belongs."""
    from cellgames.arena.analyse.report import analyse_games

    groups, sources, agents = _games(arguments)
    found = []
    for games in groups:
        report = analyse_games(
            games.game,
            games.records,
            only=arguments.only or PARTS,
            behaviour=_behaviour(arguments, games, agents) if agents else None,
            sources=[*sources, *_left_out(games)],
            warn=warn,
        )
        if not report.sections:
            raise UserError(f"--only {' '.join(arguments.only)}: nothing of that is known of {games.game}")
        found.append((_folder(arguments, games.game, alone=len(groups) == 1), report))
    return found


def _games(arguments: argparse.Namespace) -> tuple[list[Games], list[str], Mapping[str, AnyAgent] | None]:
    """Return the games by kind, texts that say where they come from, and the agents to ask, None for none."""
    from cellgames.arena.analyse.record_groups import Games
    from cellgames.arena.play.evaluation import opening_plies, play_some

    if arguments.records or arguments.store is not None:
        groups, sources = _read(arguments)
        if not arguments.agents:
            return groups, sources, None
        if len(groups) > 1:
            raise UserError(
                f"--agents can be asked about one kind of game, and there are {_kinds(groups)}; choose with GAME and "
                "--param"
            )
        return groups, sources, _load(arguments.agents, groups[0].game)
    game = make_game(arguments)
    agents = _load(arguments.agents, game)
    count = MatchOptions.games if arguments.games is None else arguments.games
    plies = opening_plies(game) if arguments.opening_plies is None else arguments.opening_plies
    records = play_some(game, agents, count, seed=arguments.seed, plies=plies, shown=not arguments.quiet)
    source = f"{len(records)} games of {', '.join(agents)} with seed {arguments.seed}"
    source += f", each after {plies} random moves" if plies else ""
    return [Games(game, tuple(records))], [source], agents


def _read(arguments: argparse.Namespace) -> tuple[list[Games], list[str]]:
    from cellgames.arena.analyse.record_groups import grouped, read_paths

    records, sources = [], []
    if arguments.records:
        records += read_paths(arguments.records, warn)
        sources += [str(path) for path in arguments.records]
    if arguments.store is not None:
        from cellgames.arena.records.store.store import Store

        with Store(arguments.store, create=False) as store:
            records += store.games(None if arguments.game is None else _id(arguments))
        sources.append(str(arguments.store))
    groups = [games for games in grouped(records) if _fits(arguments, games)]
    if not groups:
        asked = "" if arguments.game is None else f" of {arguments.game}"
        settings = ", ".join(f"{name}={value}" for name, value in parameters(arguments).items())
        raise UserError(
            f"{', '.join(sources)}: found no games{asked}{' with ' * bool(settings)}{settings}, but "
            f"{_kinds(grouped(records)) or 'none at all'}"
        )
    if empty := [games for games in groups if not games.records]:
        raise UserError(f"{', '.join(sources)}: all {empty[0].forfeited} games of {empty[0].game} ended by a forfeit")
    return groups, sources


def _id(arguments: argparse.Namespace) -> str:
    """Return the game's own id, not that of a smaller one."""
    game: str = registry.make(arguments.game).id
    return game


def _fits(arguments: argparse.Namespace, games: Games) -> bool:
    """Return True if the command line asks for this kind of game."""
    wanted_parameters = parameters(arguments)
    if arguments.game is not None:
        if games.game.id != _id(arguments):
            return False
        wanted_parameters = {**registry.spec(arguments.game).parameters, **wanted_parameters}
    fields = dataclasses.fields(games.game)  # type: ignore[arg-type]  # every game is a dataclass
    has = json.loads(json.dumps({field.name: getattr(games.game, field.name) for field in fields}))
    return all(name in has and has[name] == json.loads(json.dumps(value)) for name, value in wanted_parameters.items())


def _kinds(groups: Sequence[Games]) -> str:
    return "; ".join(f"{len(games.records)} of {games.game}" for games in groups)


def _left_out(games: Games) -> list[str]:
    return [f"{games.forfeited} more games ended by a forfeit and are left out"] if games.forfeited else []


def _load(specs: Sequence[str], game: Game) -> dict[str, AnyAgent]:
    from cellgames.agents.loading import load

    return {name: load(str(spec), game, name=name) for name, spec in by_name(specs).items()}


def _behaviour(
    arguments: argparse.Namespace, games: Games, agents: Mapping[str, AnyAgent]
) -> Callable[[], Sequence[Section]] | None:
    own, asked = registry.plugin_of(games.game).game, additions().asked_sections
    if len(agents) < 2 and own not in asked:
        if arguments.only and "behaviour" in arguments.only:
            raise UserError(f"--only behaviour compares agents; give two or more, got {', '.join(agents)}")
        return None
    given = {name: vars(arguments)[name] for name in ("positions", "draws") if vars(arguments)[name] is not None}

    def made() -> list[Section]:
        asking = {"seed": arguments.seed, "shown": not arguments.quiet, **given}
        targets = [target for kind in (None, own) for target in asked.get(kind, ())]
        return [part for target in targets for part in resolve(target)(games.game, agents, games.records, **asking)]

    return made


def _folder(arguments: argparse.Namespace, game: Game, *, alone: bool) -> Path:
    """Return the folder of a report; each of several kinds of games has one of its own."""
    name = file_name(_words(game))
    if arguments.out is not None:
        return Path(arguments.out) if alone else Path(arguments.out) / name
    source = (arguments.records or [arguments.store])[0]
    words = [name, source.stem if source.stem != "games" else source.parent.name] if source is not None else [name]
    return Path("results") / "analyse" / file_name(words)


def _words(game: Game) -> list[str]:
    """Return the id that makes this very game, or the game's own id with the settings that differ from the defaults."""
    for id, spec in registry.REGISTRY.items():
        if spec.plugin.id == game.id and registry.make(id) == game:
            return [id]
    usual = registry.make(game.id).parameters
    changed = {name: value for name, value in game.parameters.items() if name not in usual or usual[name] != value}
    return [game.id, *(f"{name}={value}" for name, value in changed.items())]


def _print(folder: Path, report: Report, files: Sequence[Path]) -> None:
    """Print a report."""
    print(f"{report.title}: {report.counted}")
    for section in report.sections:
        print(f"\n{section.title}\n{'-' * len(section.title)}\n{_plain(section.text)}")
    kinds = {suffix: sum(path.suffix == suffix for path in files) for suffix in (".csv", ".png")}
    print(f"\nWritten to {folder}:")
    print("  report.md    all of this with tables and plots")
    print(f"  report.json  the same for programs; and {kinds['.csv']} tables (CSV), {kinds['.png']} plots (PNG, SVG)\n")


def _plain(text: str) -> str:
    """Return Markdown without its signs, one paragraph after the other."""
    words = re.sub(r"\\([^\w\s])", r"\1", re.sub(r"(?<!\\)[`*]", "", text))
    return re.sub(r"\n{2,}", "\n", words)
