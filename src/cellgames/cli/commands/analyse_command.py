"""`cellgames analyse`: a position by search, or games."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.loading import load
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Record, plain, records_file
from cellgames.arena.records.store import Setting
from cellgames.cli import shared_options as shared
from cellgames.cli.console import print_table, warn
from cellgames.envs import registry
from cellgames.plugins import additions, resolve
from cellgames.runs.run_folder import check_writable
from cellgames.utils.errors import InputError, check_place
from cellgames.utils.files import write_atomic
from cellgames.utils.progress import progress, waiting

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent
    from cellgames.arena.analyse.reader import Games
    from cellgames.envs.core import Game, State
    from cellgames.utils.report.model import Report, Section

_TOP = 8

_POSITION = ("moves", "position", "record", "ply", "top", "mistakes")
_MORE = ("games", "opening_plies", "only", "positions", "draws")

_TEXT = (
    "Analyse a position, or games. For a position, an agent that searches shows how often it tried each move,\n"
    "what the move is worth, and the line that it expects; --out draws the same on the board. --record chooses\n"
    "the position from recorded games. --mistakes reviews every move of a game instead, and marks ?! ? ??.\n\n"
    "With a PATH, --store or several --agents the command analyses games: openings and their results, where\n"
    "agents place, games over time, and how differently agents behave. The folder gets report.md with plots,\n"
    "report.json, and all tables as CSV."
)
_EXAMPLES = (
    'torus-v0 --size 5 --moves "c3 a1+ b2"',
    "torus-v0 --size 3 --position 'x../.../... .../.o./... b' --agents mcts:2000 --json",
    "results/torus5 --record 17 --mistakes",
    "results/torus5 --agents greedy trained",
    "torus-small-v0 --agents greedy trained rollout:64 --games 200 --out results/how-they-play",
    "grid-adaptation-v0 --store results/matches.sqlite --only places flows",
)


def add(commands: Any) -> None:
    """Add the command."""
    command = shared.add_command(commands, "analyse", "[GAME or PATH] ", _run, _TEXT, _EXAMPLES)
    shared.add_game(command, otherwise="that of the records; or their PATH")
    shared.add_seed(command)
    shared.add_agents(
        command,
        "for a position, the agent that searches (default gumbel:256 if there are weights for the game, else "
        "mcts:1000); for games, the agents whose behaviour is compared. Without other games several agents play some "
        "first",
        required=False,
    )
    command.add_argument("--moves", metavar="TEXT", default="", help='moves played first, such as "c3 a1+ b2"')
    command.add_argument("--position", metavar="TEXT", default="", help="start position, as `position` prints it")
    text = "take the position from this game of --records, from 1; a file of one game needs only --ply"
    shared.add_record(command, text)
    command.add_argument("--ply", metavar="N", type=int, help="moves before the position (default: all but the last)")
    command.add_argument("--top", metavar="N", type=shared.whole(), help=f"number of moves to show (default {_TOP})")
    text = "review each move of the record, or of --moves: mistakes with the better move and the lost win chance"
    command.add_argument("--mistakes", action="store_true", help=text)
    shared.add_out(command, "draw the position (.svg, .png), or the folder for a report", "PATH")
    shared.add_json(command)
    shared.add_quiet(command)
    group = command.add_argument_group("games instead of a position")
    text = "files of records, or folders of round robins, free-for-all games, evaluations and seasons"
    group.add_argument("--records", metavar="PATH", type=Path, nargs="+", help=text)
    text = "take the games from a store, such as results/store.sqlite"
    group.add_argument("--store", metavar="FILE", type=Path, help=text)
    text = f"games of each pair of --agents (default {MatchOptions.games})"
    group.add_argument("--games", metavar="N", type=shared.whole(), help=text)
    text = "random moves before --agents move (default 2 in Torus, else 0)"
    group.add_argument("--opening-plies", metavar="N", type=shared.whole(0), help=text)
    group.add_argument("--only", metavar="PART", nargs="+", choices=PARTS, help=f"parts out of {', '.join(PARTS)}")
    text = "positions that agents are asked about (default 200)"
    group.add_argument("--positions", metavar="N", type=shared.whole(), help=text)
    text = "times that an agent that draws its moves is asked (default 8)"
    group.add_argument("--draws", metavar="N", type=shared.whole(), help=text)


def _run(arguments: argparse.Namespace) -> int:
    if (game := arguments.game) and game not in registry.REGISTRY and records_file(game).is_file():
        arguments.game, arguments.records = None, [Path(game), *(arguments.records or ())]
    run = _run_games if _is_of_games(arguments) else _run_mistakes if arguments.mistakes else _run_position
    return run(arguments)


def _is_of_games(arguments: argparse.Namespace) -> bool:
    """Return True if games are to be analysed, and not a position; an `InputError` names options that do not fit."""
    position = [name for name in _POSITION if _given(arguments, name)]
    sources = ["store"] * _given(arguments, "store")
    several = len(arguments.agents or ()) > 1
    if not position and (sources or several or arguments.records):
        return True
    more = [name for name in _MORE if _given(arguments, name)]
    if position and (others := [*sources, *["agents"] * several, *more]):
        what = "several --agents" if others[0] == "agents" else _option(others[0])
        cause = f"it is for the analysis of a position, and {what} for that of games; leave out one of them"
        raise InputError(_option(position[0]), cause=cause)
    if more:
        cause = "it is for an analysis of games; say of which with --records, --store, or two or more --agents"
        raise InputError(_option(more[0]), cause=cause)
    return False


def _given(arguments: argparse.Namespace, name: str) -> bool:
    return getattr(arguments, name) not in (None, "", False)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _run_position(arguments: argparse.Namespace) -> int:
    from cellgames.arena.analyse import search_analysis as analysis
    from cellgames.arena.records import replays

    game, states, moves = _played(arguments)
    ply, most = arguments.ply, len(moves)
    if ply is not None and not 0 <= ply <= most:
        raise InputError("ply", f"a ply from 0 to {most - 1}", ply, f"the game is over after {most} moves")
    state = states[most - bool(arguments.records) if ply is None else ply]  # a record's last move ends its game
    replays.check_unfinished(game, state)
    agent = load(arguments.agents[0], game) if arguments.agents else analysis.default_agent(game)
    with waiting("Searching the position", shown=not arguments.quiet):
        found = analysis.analyse(game, state, agent, arguments.seed)
    if arguments.json:
        print(json.dumps(analysis.to_data(found), indent=2))
    else:
        print(f"{game.text(state)}\n\n{analysis.summary(found)}\n")
        print(analysis.table(found, arguments.top or _TOP))
        print(f"\nLine: {analysis.line_text(found)}")
    if arguments.out is not None:
        write_atomic(arguments.out, analysis.content(game, state, found, arguments.out.suffix))
        if not arguments.json:
            print(f"Saved {arguments.out}")
    return 0


def _run_mistakes(arguments: argparse.Namespace) -> int:
    """Review the moves of a game, as the page does; print its mistakes."""
    from cellgames.arena.analyse import search_analysis

    for name in ("out", "top"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name}", cause="it is for one position, and --mistakes reviews a game; leave one out")
    game, states, moves = _played(arguments)
    if arguments.ply is not None and not 1 <= arguments.ply <= len(moves):
        raise InputError("--ply", f"1 to {len(moves)}, the moves of the game", arguments.ply)
    moves = moves[: arguments.ply]
    if not moves:
        raise InputError("--moves", "moves to review, or a record with --records", "none")
    agent = load(arguments.agents[0], game) if arguments.agents else search_analysis.default_agent(game)

    def search(state: State) -> search_analysis.Analysis:
        return search_analysis.analyse(game, state, agent, arguments.seed)

    reviews = []
    with progress(len(moves), label="review", unit="moves", shown=not arguments.quiet, after_s=2.0) as advance:
        for seen in search_analysis.review_game(game, states, moves, search):
            reviews.append(seen)
            advance(1)
    if arguments.json:
        data = {"game": game.id, "parameters": game.parameters, "agent": agent.name}
        found = [{"move": number, **search_analysis.review_data(seen)} for number, seen in enumerate(reviews, 1)]
        print(json.dumps({**data, "moves": found}, indent=2))
        return 0
    print(f"{game.info.title}, {len(moves)} moves, searched by {agent.name}\n")
    if any(seen.mark is not None for seen in reviews):
        print_table(search_analysis.mistakes_table(game, reviews))
        print()
    print(search_analysis.mistakes_text(game, reviews))
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Complain before anything is searched."""
    from cellgames.arena.analyse.search_analysis import check_suffix

    if not arguments.records:
        if arguments.record is not None or arguments.ply is not None:
            raise InputError("--record and --ply", cause="they choose a position of --records FILE, which is not given")
        if arguments.game is None:
            raise InputError("GAME", "a game, or --records with a file of games", "none")
    elif arguments.moves or arguments.position:
        raise InputError("--records", cause="it says where the position comes from; leave out --moves and --position")
    elif len(arguments.records) > 1:
        raise InputError("--records", "one file, for a position", len(arguments.records))
    if arguments.out is not None:
        check_suffix(arguments.out)
        check_place("--out", arguments.out)


def _played(arguments: argparse.Namespace) -> tuple[Game, list[State], list[str]]:
    """Return the game of a record or of --moves, its positions, and the moves between them."""
    from cellgames.arena.records import replays

    _check(arguments)
    if arguments.records:
        record = _record(arguments)
        return replays.game_of(record), replays.replay(record), list(record.moves)
    game = shared.make_game(arguments)
    moves = arguments.moves.replace(",", " ").split()
    return game, list(replays.states_of_moves(game, moves, position=arguments.position, seed=arguments.seed)), moves


def _record(arguments: argparse.Namespace) -> Record:
    """Return the record that the command line chooses; an `InputError` tells if it is of another game."""
    from cellgames.arena.records import replays

    path = records_file(arguments.records[0])
    record = replays.pick(path, arguments.record)
    if arguments.game is not None and registry.make(arguments.game).id != record.game:
        raise InputError("GAME", record.game, arguments.game, where=path)
    for name, value in shared.parameters(arguments).items():
        if record.parameters.get(name) != value:
            recorded = record.parameters.get(name, "no such parameter")
            raise InputError(name, f"{recorded}, as in the record", value, where=path)
    return record


# ---------------------------------------------------------------- games

PARTS = ("openings", "places", *additions().parts, "flows", "behaviour")
"""The parts of a report."""


def _run_games(arguments: argparse.Namespace) -> int:
    """Analyse games, write a report for each kind of game, and print it."""
    from cellgames.arena.analyse.report import write_report

    _check_games(arguments)
    reports = _reports(arguments)
    for folder, report in reports:
        with waiting("Writing the report", shown=not arguments.quiet):
            files = write_report(folder, report, warn)
        if not arguments.json:
            _print(folder, report, files)
    if arguments.json:
        data = [{**report.data, "folder": str(folder)} for folder, report in reports]
        print(json.dumps({"reports": data}, indent=1, ensure_ascii=False, allow_nan=False))
    return 0


def _check_games(arguments: argparse.Namespace) -> None:
    """Complain before anything is read or played."""
    plays = arguments.agents and not (arguments.records or arguments.store)
    for name in ("games", "opening_plies"):
        if getattr(arguments, name) is not None and not plays:
            raise InputError(_option(name), cause="it says what --agents play, but the games are given; leave it out")
    if plays and arguments.game is None:
        raise InputError("GAME", "a game for --agents to play", "none")
    if arguments.only and "behaviour" in arguments.only and not arguments.agents:
        raise InputError("--only behaviour", "--agents, since it asks them", "none", "records only name their agents")
    check_writable(arguments.out or Path("results"))
    if arguments.out is not None and arguments.out.suffix in (".svg", ".png"):
        raise InputError("--out", "a folder for an analysis of games, not one picture", arguments.out)


def _reports(arguments: argparse.Namespace) -> list[tuple[Path, Report]]:
    """Return a report for each kind of game, and the folder where it belongs."""
    from cellgames.arena.analyse.report import analyse_games

    groups, sources, agents = _games(arguments)
    found = []
    for games in groups:
        left = games.forfeited
        report = analyse_games(
            games.game,
            games.records,
            only=arguments.only or PARTS,
            behaviour=_behaviour(arguments, games, agents) if agents else None,
            sources=[*sources, *[f"{left} more games ended by a forfeit and are left out"] * bool(left)],
            warn=warn,
        )
        if not report.data["sections"]:
            raise InputError("--only", f"parts that are known of {games.game}", " ".join(arguments.only))
        found.append((_folder(arguments, games.game, alone=len(groups) == 1), report))
    return found


def _games(arguments: argparse.Namespace) -> tuple[list[Games], list[str], Mapping[str, AnyAgent] | None]:
    """Return the games by kind, texts that say where they come from, and the agents to ask, None for none."""
    from cellgames.arena.analyse.reader import Games
    from cellgames.arena.play.evaluation import opening_plies, play_some

    if arguments.records or arguments.store is not None:
        groups, sources = _read(arguments)
        if not arguments.agents:
            return groups, sources, None
        if len(groups) > 1:
            raise InputError("--agents", "one kind of game", _kinds(groups), "choose with GAME and --param")
        return groups, sources, shared.loaded_agents(arguments.agents, groups[0].game)
    game = shared.make_game(arguments)
    agents = shared.loaded_agents(arguments.agents, game)
    count = MatchOptions.games if arguments.games is None else arguments.games
    plies = opening_plies(game) if arguments.opening_plies is None else arguments.opening_plies
    records = play_some(game, agents, count, seed=arguments.seed, plies=plies, shown=not arguments.quiet)
    source = f"{len(records)} games of {', '.join(agents)} with seed {arguments.seed}"
    source += f", each after {plies} random moves" if plies else ""
    return [Games(game, tuple(records))], [source], agents


def _read(arguments: argparse.Namespace) -> tuple[list[Games], list[str]]:
    from cellgames.arena.analyse.reader import grouped, read_paths
    from cellgames.arena.report.leaderboard import matching

    records, sources = [], []
    if arguments.records:
        records += read_paths(arguments.records, warn)
        sources += [str(path) for path in arguments.records]
    if arguments.store is not None:
        from cellgames.arena.records.store import Store

        with Store(arguments.store, create=False) as store:
            records += store.games(None if arguments.game is None else registry.make(arguments.game).id)
        sources.append(str(arguments.store))
    found = [*grouped(records)]
    kinds = [Setting(games.game.id, plain(games.game.parameters), len(games.records), (), ()) for games in found]
    wanted = matching(kinds, arguments.game, shared.parameters(arguments))
    groups = [games for games, kind in zip(found, kinds, strict=True) if kind in wanted]
    if not groups:
        asked = "" if arguments.game is None else f" of {arguments.game}"
        settings = ", ".join(f"{name}={value}" for name, value in shared.parameters(arguments).items())
        expected = f"games{asked}{' with ' * bool(settings)}{settings}"
        raise InputError("--records", expected, _kinds(found) or "none at all", where=", ".join(sources))
    if empty := [games for games in groups if not games.records]:
        got = f"{empty[0].forfeited} forfeits of {empty[0].game}"
        raise InputError("--records", "games that were played to their end", got, where=", ".join(sources))
    return groups, sources


def _kinds(groups: Sequence[Games]) -> str:
    return "; ".join(f"{len(games.records)} of {games.game}" for games in groups)


def _behaviour(
    arguments: argparse.Namespace, games: Games, agents: Mapping[str, AnyAgent]
) -> Callable[[], Sequence[Section]] | None:
    own, asked = registry.plugin_of(games.game).game, additions().asked_sections
    if len(agents) < 2 and own not in asked:
        if arguments.only and "behaviour" in arguments.only:
            raise InputError("--only behaviour", "two or more --agents, which it compares", ", ".join(agents))
        return None
    given = {name: vars(arguments)[name] for name in ("positions", "draws") if vars(arguments)[name] is not None}

    def made() -> list[Section]:
        asking = {"seed": arguments.seed, "shown": not arguments.quiet, **given}
        targets = [target for kind in (None, own) for target in asked.get(kind, ())]
        return [part for target in targets for part in resolve(target)(games.game, agents, games.records, **asking)]

    return made


def _folder(arguments: argparse.Namespace, game: Game, *, alone: bool) -> Path:
    """Return the folder of a report; each of several kinds of games has one of its own."""
    from cellgames.arena.report.leaderboard import title

    name = shared.file_name(title(game.id, game.parameters).split())
    if arguments.out is not None:
        return Path(arguments.out) if alone else Path(arguments.out) / name
    source = (arguments.records or [arguments.store])[0]
    words = [name, source.stem if source.stem != "games" else source.parent.name] if source is not None else [name]
    return Path("results") / "analyse" / shared.file_name(words)


def _print(folder: Path, report: Report, files: Sequence[Path]) -> None:
    """Print a report."""
    from cellgames.arena.analyse.report import counted

    print(f"{report.title}: {counted(report.data)}")
    for section in report.data["sections"]:
        print(f"\n{section['title']}\n{'-' * len(section['title'])}\n{_plain(section['text'])}")
    kinds = {suffix: sum(path.suffix == suffix for path in files) for suffix in (".csv", ".png")}
    print(f"\nWritten to {folder}:")
    print("  report.md    all of this with tables and plots")
    print(f"  report.json  the same for programs; and {kinds['.csv']} tables (CSV), {kinds['.png']} plots (PNG, SVG)\n")


def _plain(text: str) -> str:
    """Return Markdown without its signs, one paragraph after the other."""
    words = re.sub(r"\\([^\w\s])", r"\1", re.sub(r"(?<!\\)[`*]", "", text))
    return re.sub(r"\n{2,}", "\n", words)
